// The end of a service: what it still does, what it drops, and its limit of time. And the checkpoint, which belongs to
// one process.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <latch>
#include <thread>

#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/service/guest_client.hpp"
#include "tests/service/serve_process.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;
using Catch::Matchers::Contains;

namespace {

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

/// A configuration file with a checkpoint.
struct kept_site {
  scratch_directory folder{"stop"};
  std::filesystem::path checkpoint = folder.directory / "actors";
  std::filesystem::path config(std::string const& name, std::string const& more = {}) const {
    return write_config(folder.directory, name, "",
                        R"("actors": [{"name": "clicks", "behaviour": "counter"}], "checkpoint": ")" +
                            checkpoint.string() + "\"" + more);
  }
};

}  // namespace

TEST_CASE("a stop drops what only looks at the service, however much of it waits", "[service][stop]") {
  served s;
  // Reads wait for a checkpoint, which does not end before the stop has begun.
  std::latch writes(1), may_end(1);
  s.it->stop();
  s.it =
      std::make_unique<rondo::service::service>(*s.rt, s.config, std::vector<std::span<std::byte const>>{});
  s.it->checkpoint_with([&] {
    writes.count_down();
    may_end.wait();
  });
  s.it->start();
  std::jthread writer([&] { s.it->checkpoint(); });
  struct let_go {
    std::latch& held;
    ~let_go() {
      if (!held.try_wait()) held.count_down();
    }
  } const if_it_fails{may_end};
  writes.wait();
  auto const at = s.it->listens_at().front();
  std::vector<std::unique_ptr<guest_client>> all;
  for (int i = 0; i < 20; ++i) {
    auto& c = *all.emplace_back(std::make_unique<guest_client>(at));
    for (int k = 0; k < 3; ++k) c.request(2, [](auto& b) { return wire::Createwatch(b); });
    if (i % 2 == 0) all.pop_back();  // its client leaves
  }
  guest_client asks(at);
  REQUIRE(asks.send(asks.frame_for(2, "mirror", basics::ping{1}, true)));
  REQUIRE(asks.verdict() == "ok");
  REQUIRE(eventually([&] { return s.it->counters().requests.load() == 20 + 20 + 2; }));
  std::uint64_t left = 99;
  std::jthread ender([&] { left = s.it->stop(); });
  // While no read can begin: the request is answered, before the farewell, which has the number 0.
  for (auto& c : all) {
    auto const* const r = c->receive();
    REQUIRE(r != nullptr);
    CHECK(r->id() == 2);
    REQUIRE(r->body_as_outcome() != nullptr);
    CHECK_THAT(r->body_as_outcome()->reason()->str(), Contains("the service is stopping"));
  }
  may_end.count_down();
  ender.join();
  CHECK(left == 0);
}

TEST_CASE("a stop that takes too long ends at its limit, and says what it was doing", "[service][stop]") {
  kept_site const files;
  serve_process service(files.config("slow", R"(, "stop_limit_ms": 300)"));
  REQUIRE(service.wait_ready());
  // The checkpoint is written to a pipe that nobody reads.
  auto const temporary = files.checkpoint.string() + ".tmp-" + std::to_string(service.pid());
  REQUIRE(::mkfifo(temporary.c_str(), 0600) == 0);
  auto const status = service.end(SIGTERM);
  CHECK(code_of(status) == 1);
  CHECK_THAT(service.log(),
             Contains("not stopped within 300 ms (stop_limit_ms), while writing the checkpoint"));
}

TEST_CASE("a checkpoint belongs to one service", "[service][stop]") {
  kept_site const files;
  serve_process first(files.config("first"));
  REQUIRE(first.wait_ready());
  serve_process second(files.config("second"));
  CHECK_FALSE(second.wait_ready());
  CHECK(code_of(second.wait()) == 78);
  CHECK_THAT(second.log(), Contains("another process holds its lock"));
  CHECK(code_of(first.end(SIGTERM)) == 0);
  serve_process third(files.config("third"));
  CHECK(third.wait_ready());
  CHECK(code_of(third.end(SIGTERM)) == 0);
}

TEST_CASE("a checkpoint that others can write is not restored", "[service][stop]") {
  kept_site const files;
  {
    serve_process first(files.config("first"));
    REQUIRE(first.wait_ready());
    REQUIRE(code_of(first.end(SIGTERM)) == 0);
  }
  auto const refusal = [&] {
    serve_process again(files.config("again"));
    CHECK_FALSE(again.wait_ready());
    CHECK(code_of(again.wait()) == 78);
    return again.log();
  };
  REQUIRE(::chmod(files.checkpoint.c_str(), 0622) == 0);
  CHECK_THAT(refusal(), Contains("is writable by other users; run chmod 600"));
  REQUIRE(::chmod(files.checkpoint.c_str(), 0600) == 0);
  if (::geteuid() != 0) return;  // only root can give a file away
  REQUIRE(::chown(files.checkpoint.c_str(), 12345, 0) == 0);
  CHECK_THAT(refusal(), Contains("belongs to user 12345"));
}
