// Durable messages: each is handled once, even if the service or the server is killed.
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <random>
#include <thread>

#include "runtime/checkpoint.hpp"
#include "runtime/nats/durable_intake.hpp"
#include "runtime/nats/durable_notes.hpp"
#include "tests/long_runs.hpp"
#include "tests/nats/publisher.hpp"
#include "tests/seed.hpp"
#include "tests/service/http_client.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo::service;
using namespace rondo_test;

namespace durable_test {

struct note {};
/// Is not in checkpoints, as the actors of graphs.
struct apart {
  static constexpr bool saved_apart = true;
  using messages = rondo::messages<note>;
  void on(rondo::context&, note const&) {}
};
RONDO_MODULE(cast, apart)

}  // namespace durable_test

namespace {

/// The server, directory and configuration of services with the durable actor `clicks`.
struct durable_site : nats_site {
  using nats_site::nats_site;
  std::filesystem::path checkpoint(std::string const& name = "service") const {
    return folder.directory / (name + ".checkpoint");
  }
  std::filesystem::path durable_config(std::string const& name = "service",
                                       std::string const& more = "") const {
    return config(name, "\"checkpoint\": \"" + checkpoint(name).string() + "\", " + more +
                            "\"nats_wait_ms\": 5000,\n\"actors\": [{\"name\": \"clicks\", "
                            "\"behaviour\": \"counter\", \"durable\": true}]");
  }
};

std::uint16_t metrics_port(serve_process const& service) {
  auto const& log = service.log();
  std::string const before_port = "metrics at http://127.0.0.1:";
  return static_cast<std::uint16_t>(std::stoi(log.substr(log.find(before_port) + before_port.size())));
}

/// A service creates its stream at start.
void make_stream(std::filesystem::path const& config) {
  serve_process first(config);
  REQUIRE(first.wait_ready());
  REQUIRE(ended_well(first.end(SIGTERM)));
}

}  // namespace

TEST_CASE("a durable actor handles each message once, whenever its service is killed", "[nats][G1]") {
  std::mt19937_64 random(seed_of("durable"));
  auto const kills = static_cast<std::uint64_t>(rondo_test::times(6, 50));
  constexpr std::uint64_t per_life = 100, left_by_a_stop = 10;
  auto const messages = kills * per_life;
  durable_site const site("kill");
  auto const config = site.durable_config();
  publisher to(site.server.url());
  make_stream(config);
  // Relaxed: it only shows the progress of the load, and the thread is joined before its number is used.
  std::atomic<std::uint64_t> published = 0;
  int early = 0, stopped = 0, unfinished = 0;
  for (std::uint64_t life = 0; life < kills; ++life) {
    serve_process victim(config);
    // Half of the runs end at a random instant. Others stop first, so that some messages are certainly left.
    bool const before_ready = life % 4 == 0, stops = life % 4 == 1;
    if (!before_ready) REQUIRE(victim.wait_ready());
    std::latch last_ones(1);
    std::jthread load([&] {
      for (std::uint64_t i = 0; i < per_life; ++i) {
        if (stops && i == per_life - left_by_a_stop) last_ones.wait();
        auto const number = published.load(std::memory_order_relaxed);  // relaxed: see there
        to.add(amount_of(number), "number " + std::to_string(number));
        published.store(number + 1, std::memory_order_relaxed);  // relaxed: see there
      }
    });
    if (before_ready) {
      ++early;  // it is ready after about a twentieth of a second
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    } else {
      auto const moment = life * per_life + random() % (per_life - left_by_a_stop);
      while (published.load(std::memory_order_relaxed) < moment)
        std::this_thread::yield();  // relaxed: see there
      if (!stops) std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    }
    if (stops) {
      ++stopped;
      bool const stands = victim.stop();
      last_ones.count_down();
      load.join();
      REQUIRE(stands);
      REQUIRE(to.stored() >= left_by_a_stop);
    }
    CHECK(WIFSIGNALED(victim.end(SIGKILL)));
    unfinished += to.stored() != 0;
  }
  serve_process last(config);
  REQUIRE(last.wait_ready());
  REQUIRE(to.emptied());
  std::uint64_t wanted = 0;
  for (std::uint64_t i = 0; i < messages; ++i) wanted += amount_of(i);
  CHECK(to.sum() == wanted);
  CHECK(unfinished >= stopped);
  std::printf("durable kill: %d kills, %d of them early, %d after a stop, %d with messages left\n",
              static_cast<int>(kills), early, stopped, unfinished);
  REQUIRE(ended_well(last.end(SIGTERM)));
  serve_process again(config);
  REQUIRE(again.wait_ready());
  CHECK(to.sum() == wanted);
}

TEST_CASE("a durable actor handles each message once, even if the server is killed", "[nats][G1]") {
  durable_site site("server_kill");
  auto& server = site.server;
  serve_process service(site.durable_config());
  REQUIRE(service.wait_ready());
  publisher to(site.server.url());
  std::uint64_t wanted = 0, number = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 100; ++i, ++number) {
      to.add(amount_of(number), "number " + std::to_string(number));
      wanted += amount_of(number);
    }
    server.kill();
    server.start();
    REQUIRE(to.link.wait_connected(patience));
  }
  // Not until the stream is empty: a server that is killed may keep a message whose acknowledgement it had confirmed.
  CHECK(to.reached(wanted));
  CHECK(to.sum() == wanted);
  CHECK(ended_well(service.end(SIGTERM)));
}

TEST_CASE("a service that starts with a backlog handles each of its messages once", "[nats][G1]") {
  durable_site const site("backlog");
  auto const config = site.durable_config();
  publisher to(site.server.url());
  make_stream(config);
  // When run by hand: BACKLOG=100000.
  auto const* const wished = std::getenv("BACKLOG");
  std::uint64_t const messages = wished != nullptr ? std::strtoull(wished, nullptr, 10) : 20'000;
  std::uint64_t wanted = 0;
  for (std::uint64_t i = 0; i < messages; ++i) {
    auto const amount = amount_of(i);
    wanted += amount;
    nats_message const m("rondo.demo.durable.clicks", bytes(amount), {.type = "rondo.basics.add"});
    to.link.publish(m);
    if (i % 1000 == 999) to.link.flush(patience);
  }
  auto const end = std::chrono::steady_clock::now() + patience;
  while (to.stored() != messages && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
  REQUIRE(to.stored() == messages);
  serve_process service(config);
  REQUIRE(service.wait_ready());
  REQUIRE(to.emptied());
  CHECK(to.sum() == wanted);
  CHECK(ended_well(service.end(SIGTERM)));
}

TEST_CASE("durable messages that arrive one after another share checkpoints", "[nats]") {
  durable_site const site("shared_checkpoints");
  serve_process service(site.durable_config());
  REQUIRE(service.wait_ready());
  publisher to(site.server.url());
  std::uint64_t sent = 0, checkpoints = 0;
  timespec last{};
  auto const began = std::chrono::steady_clock::now();
  auto const took = [&] { return std::chrono::steady_clock::now() - began; };
  while (took() < 1s) {
    to.add(1, "number " + std::to_string(sent++));
    struct stat about {};
    if (::stat(site.checkpoint().c_str(), &about) != 0) continue;  // there is none yet
    if (about.st_mtim.tv_sec == last.tv_sec && about.st_mtim.tv_nsec == last.tv_nsec) continue;
    last = about.st_mtim;
    ++checkpoints;
  }
  // One every 250 ms, unless 256 messages have arrived.
  INFO(sent << " messages, " << checkpoints << " checkpoints");
  CHECK(checkpoints <= static_cast<std::uint64_t>(took() / 250ms) + sent / 256 + 2);
  REQUIRE(to.emptied());
  REQUIRE(std::filesystem::exists(site.checkpoint()));
  CHECK(to.sum() == sent);
  CHECK(ended_well(service.end(SIGTERM)));
}

TEST_CASE("durable messages that cannot be handled leave the stream, and the reason is logged", "[nats]") {
  durable_site const site("refused");
  serve_process service(site.durable_config("service", "\"metrics\": \"127.0.0.1:0\", "));
  REQUIRE(service.wait_ready());
  publisher to(site.server.url());
  to.add(1, "a", "nobody");
  to.add(1, "b", "clicks", "rondo.basics.put");
  to.add(1, "c", "clicks", "");
  to.add(5, "d");
  REQUIRE(to.emptied());
  CHECK(to.sum() == 5);
  auto const& log = service.log();
  auto const metrics = service_test::get(metrics_port(service), "/metrics");
  INFO(metrics);
  for (auto const* const line :
       {"connected 1", "messages_taken_total{kind=\"durable\"} 4", "messages_taken_total{kind=\"request\"} 1",
        "messages_refused_total{kind=\"durable\"} 3", "messages_refused_total{kind=\"request\"} 0",
        "messages_redelivered_total 0", "messages_acknowledged_total 1"})
    CHECK(metrics.find(std::string("\nrondo_nats_") + line + "\n") != std::string::npos);
  CHECK(ended_well(service.end(SIGTERM)));
  CHECK(log.find("refused message 1 for rondo.demo.durable.nobody: this actor is not `durable`") !=
        std::string::npos);
  CHECK(log.find(
            "refused message 2 for rondo.demo.durable.clicks: 'clicks' does not accept rondo.basics.put") !=
        std::string::npos);
  CHECK(log.find("refused message 3 for rondo.demo.durable.clicks: the header Rondo-Type is missing") !=
        std::string::npos);
}

TEST_CASE("whoever publishes refused durable messages does not fill the log: each is counted", "[nats]") {
  constexpr int messages = 500;
  durable_site const site("flood");
  serve_process service(site.durable_config());
  REQUIRE(service.wait_ready());
  publisher to(site.server.url());
  for (int i = 0; i < messages; ++i) to.add(1, std::to_string(i), "nobody");
  REQUIRE(to.emptied());
  auto const& log = service.log();
  auto const count = [&](std::string const& what, auto&& use) {
    for (auto at = log.find(what); at != std::string::npos; at = log.find(what, at + 1)) use(at);
  };
  int lines = 0, left_out = 0;
  REQUIRE(eventually([&] {
    service.listen();
    lines = left_out = 0;
    count(" NATS: refused message ", [&](auto) { ++lines; });
    count(" more durable messages were refused",
          [&](auto at) { left_out += std::stoi(log.substr(log.rfind(' ', at - 1) + 1)); });
    return lines + left_out == messages;
  }));
  CHECK(left_out > 0);
  CHECK(ended_well(service.end(SIGTERM)));
}

TEST_CASE("a stream or a consumer that is removed while a service runs is made again", "[nats]") {
  durable_site const site("removed");
  serve_process service(site.durable_config("service", "\"metrics\": \"127.0.0.1:0\", "));
  REQUIRE(service.wait_ready());
  publisher to(site.server.url());
  to.add(1, "before");
  REQUIRE(to.emptied());
  for (int round = 1; round <= 2; ++round) {
    REQUIRE(js_DeleteStream(to.js.get(), "rondo_demo", nullptr, nullptr) == NATS_OK);
    to.add(1, "after " + std::to_string(round));  // until there is a stream again
    REQUIRE(to.reached(static_cast<std::uint64_t>(1 + round)));
  }
  REQUIRE(js_DeleteConsumer(to.js.get(), "rondo_demo", "service", nullptr, nullptr) == NATS_OK);
  to.add(1, "last");
  REQUIRE(to.reached(4));
  CHECK(to.sum() == 4);
  CHECK(service_test::get(metrics_port(service), "/readyz").find("ready\n") != std::string::npos);
  CHECK(ended_well(service.end(SIGTERM)));
  CHECK(service.log().find("restart") == std::string::npos);
  CHECK(service.log().find("name must not") == std::string::npos);
}

TEST_CASE(
    "a service that NATS refuses says so, is ready for other work, and takes all that was stored when it is "
    "let in",
    "[nats]") {
  durable_site site("let_in");
  auto& server = site.server;
  serve_process service(site.durable_config("service", "\"metrics\": \"127.0.0.1:0\", "));
  REQUIRE(service.wait_ready());
  auto const port = metrics_port(service);
  auto const shows = [&](char const* path, char const* text) {
    return eventually([&] { return service_test::get(port, path).find(text) != std::string::npos; });
  };
  CHECK(shows("/metrics", "rondo_nats_login_refused 0\n"));
  CHECK(shows("/metrics", "rondo_nats_durable_ready 1\n"));
  server.kill();
  server.start({"--user", "u", "--pass", "SECRET"});
  REQUIRE(shows("/metrics", "rondo_nats_login_refused 1\n"));
  {  // a publisher that knows the password stores messages meanwhile
    auto url = server.url();
    publisher knows(url.insert(url.find("//") + 2, "u:SECRET@"));
    for (int i = 0; i < 10; ++i) knows.add(1, std::to_string(i));
  }
  auto const answer = service_test::get(port, "/readyz");
  INFO(answer);
  CHECK(answer.find("HTTP/1.1 200") == 0);
  CHECK(answer.find("ready\nNATS at " + server.url() + ": the server refuses the login") !=
        std::string::npos);
  CHECK(shows("/metrics", "rondo_nats_connected 0\n"));
  server.kill();
  server.start();
  publisher to(server.url());
  CHECK(to.reached(10));
  CHECK(to.sum() == 10);
  CHECK(shows("/metrics", "rondo_nats_login_refused 0\n"));
  CHECK(ended_well(service.end(SIGTERM)));
  CHECK(service.log().find("SECRET") == std::string::npos);
}

TEST_CASE("a second process cannot take durable messages", "[nats]") {
  durable_site const site("second");
  auto const config = site.durable_config();
  serve_process first(config);
  REQUIRE(first.wait_ready());
  serve_process same(config);
  CHECK_FALSE(same.wait_ready());
  same.wait();
  CHECK(same.log().find("another process holds its lock") != std::string::npos);
  // With another checkpoint file, as on another machine.
  serve_process other(site.durable_config("other", "\"drain_ms\": 100, "));
  CHECK_FALSE(other.wait_ready());
  other.wait();
  CHECK(other.log().find("only one process may take messages that its state depends on") !=
        std::string::npos);
  publisher to(site.server.url());
  to.add(3, "a");
  REQUIRE(to.emptied());
  CHECK(to.sum() == 3);
}

TEST_CASE("a stream that was recreated starts from the beginning", "[nats]") {
  durable_site const site("anew");
  auto const config = site.durable_config();
  publisher to(site.server.url());
  for (int life = 1; life <= 2; ++life) {
    serve_process service(config);
    REQUIRE(service.wait_ready());
    to.add(1, "life " + std::to_string(life));
    REQUIRE(to.emptied());
    CHECK(to.sum() == static_cast<std::uint64_t>(life));
    CHECK(ended_well(service.end(SIGTERM)));
    if (life == 1) REQUIRE(js_DeleteStream(to.js.get(), "rondo_demo", nullptr, nullptr) == NATS_OK);
  }
}

TEST_CASE("each checkpoint names the stored messages that it contains, whoever requested it", "[nats]") {
  durable_site const site("notes");
  auto const config = site.durable_config();
  auto const file = site.checkpoint();
  auto const taken = [&] {
    rondo::config settings;
    settings.device = "cpu";
    settings.teams = 1;
    return decode_notes(rondo::restore(*start_basics(settings), file)).taken.text();
  };
  publisher to(site.server.url());
  {
    serve_process service(config);
    REQUIRE(service.wait_ready());
    for (int i = 0; i < 3; ++i) to.add(1, std::to_string(i));
    REQUIRE(to.emptied());
    std::filesystem::remove(file);
    auto const command = RONDO_COMMAND " checkpoint --at " + site.socket_of("service").text();
    REQUIRE(std::system((command + " >/dev/null").c_str()) == 0);
    CHECK(taken() == "3");
    std::filesystem::remove(file);
    REQUIRE(ended_well(service.end(SIGTERM)));
    CHECK(taken() == "3");
  }
  // A run without NATS keeps notes that it does not understand.
  serve_process alone(
      write_config(site.folder.directory, "alone", "", "\"checkpoint\": \"" + file.string() + "\""));
  REQUIRE(alone.wait_ready());
  std::filesystem::remove(file);
  REQUIRE(ended_well(alone.end(SIGTERM)));
  CHECK(taken() == "3");
}

TEST_CASE("periodic checkpoints continue while durable messages arrive", "[nats]") {
  durable_site const site("periodic");
  auto const config = site.durable_config("service", "\"checkpoint_s\": 1, ");
  serve_process service(config);
  REQUIRE(service.wait_ready());
  publisher to(site.server.url());
  auto const file = site.checkpoint();
  to.add(1, "first");
  REQUIRE(to.emptied());
  std::filesystem::remove(file);
  // No message arrives: this checkpoint is caused by the clock.
  auto const end = std::chrono::steady_clock::now() + patience;
  while (!std::filesystem::exists(file) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(5ms);
  REQUIRE(std::filesystem::exists(file));
  CHECK(WIFSIGNALED(service.end(SIGKILL)));
  serve_process again(config);
  REQUIRE(again.wait_ready());
  to.add(1, "second");
  REQUIRE(to.emptied());
  CHECK(to.sum() == 2);
}

TEST_CASE(
    "the actors that checkpoints of durable messages leave out are logged by name, whenever they change",
    "[nats]") {
  linked at("left-out");
  scratch_directory const folder("left-out");
  rondo::runtime rt{rondo::use<durable_test::cast>, {.device = "cpu", .teams = 1}};
  rt.launch<durable_test::apart>("first");
  inbox log;
  nats_counters counters;
  durable_intake intake(
      rt, at.link,
      {.counters = counters, .service = "left-out", .checkpoint = folder.directory / "checkpoint"},
      [&](std::string const& line) { log.put(line); });
  intake.start();
  intake.checkpoint();
  intake.checkpoint();
  CHECK(log.sorted() == std::vector<std::string>{"checkpoints leave out the actors of graphs: first"});
  rt.launch<durable_test::apart>("second");
  intake.checkpoint();
  REQUIRE(log.size() == 2);
  CHECK(log.sorted().back() == "checkpoints leave out the actors of graphs: first, second");
}
