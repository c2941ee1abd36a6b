// The configuration of a service, and the sockets and files that it accepts.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstring>
#include <fstream>
#include <regex>
#include <thread>

#include "tests/catch.hpp"
#include "tests/certificate.hpp"
#include "tests/service/raw_client.hpp"
#include "tests/service/service_fixture.hpp"
#include "tests/service/tls_peer.hpp"

using namespace rondo_test;
using rondo::endpoint;
using rondo::service::client_options;
using rondo::service::parse_service_config;

namespace {

/// Leaves the socket of a dead service at `path`.
void abandon_socket(std::string const& path) {
  boost::asio::io_context io;
  boost::asio::local::stream_protocol::acceptor const left(io, path);
}

std::string file_text(std::string const& path) {
  std::ifstream in(std::string(RONDO_SOURCE_DIR "/") + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The keys of the object in which a configuration has the wrong key "zzz".
std::vector<std::string> keys_where_wrong(std::string const& configuration) {
  std::string why;
  try {
    parse_service_config(configuration, "x");
  } catch (rondo::config_error const& e) {
    why = e.what();
  }
  std::smatch list;
  if (!std::regex_search(why, list, std::regex("zzz: unknown field; expected one of ([a-z_, ]+)"))) return {};
  std::vector<std::string> keys;
  auto const all = list[1].str();
  std::regex const word("[a-z_]+");
  for (std::sregex_iterator at(all.begin(), all.end(), word), end; at != end; ++at) keys.push_back(at->str());
  return keys;
}

}  // namespace

TEST_CASE("the fuzzers of configurations know each key that there is", "[service][config]") {
  auto const misses = [](std::string const& dictionary, std::vector<std::string> const& keys) {
    auto const words = file_text("tests/fuzz/" + dictionary);
    std::string missing;
    for (auto const& key : keys)
      if (words.find("\"\\\"" + key + "\\\"\"\n") == std::string::npos) missing += key + ' ';
    return missing;
  };
  std::vector<std::string> of_runtime;
  auto const schema = file_text("schemas/config.fbs");
  std::regex const field("\n  ([a-z_]+):[a-z_]+ ");
  for (std::sregex_iterator at(schema.begin(), schema.end(), field), end; at != end; ++at)
    of_runtime.push_back((*at)[1].str());
  REQUIRE(of_runtime.size() > 30);
  CHECK(misses("config.dict", of_runtime) == "");
  for (auto const* const wrong : {R"({"zzz": 1})", R"({"limits": {"zzz": 1}})", R"({"tokens": [{"zzz": 1}]})",
                                  R"({"actors": [{"zzz": 1}]})"}) {
    INFO(wrong);
    auto const keys = keys_where_wrong(wrong);
    REQUIRE(keys.size() >= 3);
    CHECK(misses("service_config.dict", keys) == "");
  }
}

TEST_CASE("a service's configuration is read, including the runtime's", "[service][config]") {
  auto const c = parse_service_config(R"({ // with a comment, as people write it
    "name": "demo", "listen": ["unix:/run/x.sock", "tcp:[::1]:7400"],
    "limits": {"clients": 3, "hello_ms": 10, "keys": 77}, "stop_limit_ms": 9000, "checkpoint": "file", "checkpoint_s": 5, "recording": "run.rec",
    "runtime": {"teams": 3, "device": "cpu", "polling": true},
    "actors": [{"name": "a", "behaviour": "counter", "capacity": 7, "pinned": true}]})",
                                      "demo.json");
  REQUIRE(c.name == "demo");
  REQUIRE(c.listen.size() == 2);
  REQUIRE(c.listen[1].path == "::1");
  REQUIRE(c.listen[1].text() == "tcp:[::1]:7400");
  REQUIRE(c.limits.clients == 3);
  REQUIRE(c.limits.hello == 10ms);
  REQUIRE(c.limits.keys == 77);
  REQUIRE(c.stop_limit == 9s);
  REQUIRE(c.runtime.teams == 3);
  REQUIRE(c.runtime.polling);
  REQUIRE(c.actors.at(0).options.capacity == 7u);
  REQUIRE(c.actors.at(0).options.pinned);
}

// It showed those of rondo::config: 4096 asks, and mailboxes of 32 messages.
TEST_CASE("the description of a service's configuration has the defaults of its runtime",
          "[service][config]") {
  auto const text = rondo::service::describe_service_config();
  auto const runtime = rondo::service::service_config::default_runtime();
  auto const has_default = [&](std::string const& field, std::uint64_t value) {
    auto const at = text.find("\n" + field + " (RONDO_");
    REQUIRE(at != std::string::npos);
    auto const given = text.find("; default ", at);
    CHECK(text.substr(given, text.find('\n', given) - given) == "; default " + std::to_string(value));
  };
  has_default("asks", runtime.asks);
  has_default("default_capacity", runtime.default_capacity);
  has_default("guest_teams", runtime.guest_teams);
  has_default("teams", runtime.teams);
}

TEST_CASE("an invalid configuration is refused with file, field, the value found and the expected one",
          "[service][config]") {
  struct wrong {
    char const *text, *says;
  };
  for (auto const& w : {
           wrong{"[]", "x.json: is a list; it must be an object"},
           wrong{"{\"name\": 3}", "x.json: name: is 3; it must be a string"},
           wrong{"{\"nane\": \"a\"}", "x.json: nane: unknown field; expected one of actors, checkpoint"},
           wrong{"{\"limits\": {\"clients\": 0}}",
                 "x.json: limits.clients: is 0; it must be a whole number from 1 to"},
           wrong{"{\"limits\": {\"clients\": 1.5}}", "x.json: limits.clients: is 1.5"},
           wrong{"{\"listen\": [\"udp:1\"]}",
                 "x.json: listen[0]: 'udp:1' begins with neither unix: nor tcp:"},
           wrong{"{\"listen\": [\"tcp:localhost:1\"]}", "does not have a numeric address"},
           wrong{"{\"runtime\": {\"teams\": \"2\"}}",
                 "x.json: runtime: teams: is a string; it must be a whole number"},
           wrong{"{\"runtime\": {\"team\": 2}}", "runtime: team: unknown field; expected one of"},
           wrong{"{\"actors\": [{\"name\": \"a\"}]}", "x.json: actors[0].behaviour: is missing"},
           wrong{"{\"checkpoint_s\": 5}", "requires `checkpoint`"},
           wrong{"{\"name\": \"a\",\n\n oops}", "x.json: line 3, column 2: "},
           wrong{"{} {}", "unexpected text after"},
           wrong{"{\"name\": \"a\", \"name\": \"b\"}", "name"},
           wrong{"", "x.json"},
       }) {
    INFO(w.text);
    REQUIRE_THROWS_WITH(parse_service_config(w.text, "x.json"), Catch::Contains(w.says));
  }
}

TEST_CASE("a durable actor requires a NATS server and a checkpoint", "[service][config]") {
  auto const read = [](std::string const& more) {
    auto const c = parse_service_config(
        "{" + more + R"("actors": [{"name": "a", "behaviour": "counter", "durable": true}]})", "x.json");
    REQUIRE(c.actors.at(0).durable);
    rondo::service::check_service_config(c);
  };
  read(R"("nats": "nats://127.0.0.1:4222", "checkpoint": "file", )");
  REQUIRE_THROWS_WITH(read(R"("checkpoint": "file", )"), Catch::Contains("actor 'a': durable: needs `nats`"));
  REQUIRE_THROWS_WITH(read(R"("nats": "nats://127.0.0.1:4222", )"),
                      Catch::Contains("actor 'a': durable: needs `checkpoint`"));
}

// An address in text must be parsed: this once made an endpoint with an empty path.
template <class Address>
concept gives_options = requires(Address at) {
  client_options{.at = at};
};
static_assert(gives_options<endpoint> && !gives_options<char const*>);

TEST_CASE("a public address requires a token and TLS", "[service][config]") {
  rondo::service::service_config c;
  c.listen = {endpoint::parse("tcp:0.0.0.0:0", "test")};
  REQUIRE_THROWS_WITH(served(c), Catch::Contains("needs token_file, tls_certificate and tls_key"));
}

TEST_CASE("a service's name cannot lead to another folder", "[service][config]") {
  REQUIRE_THROWS_WITH(rondo::service::default_socket("../x"), Catch::Contains("must consist of letters"));
  rondo::service::service_config c;
  c.name = "../x";
  REQUIRE_THROWS_WITH(rondo::service::check_service_config(c), Catch::Contains("must consist of letters"));
}

TEST_CASE("reloading before the start and after the stop waits for no thread", "[service][config]") {
  served s;
  rondo::service::service early(*s.rt, s.config, {});
  early.reload(s.config);
  CHECK(early.connections() == 0);
  s.it->reload(s.config);
  s.it->stop();
  s.it->reload(s.config);
  CHECK(s.it->connections() == 0);
}

TEST_CASE("reloading refuses what starting refuses: a public address without a token", "[service][config]") {
  scratch_directory const files("reload");
  auto const folder = files.directory;
  std::ofstream(folder / "token") << "a long random word";
  std::filesystem::permissions(folder / "token", std::filesystem::perms::owner_read);
  write_certificate(folder / "certificate", folder / "key", "rondo.test");
  rondo::service::service_config c;
  c.listen = {endpoint::parse("tcp:0.0.0.0:0", "test")};
  c.token_file = folder / "token";
  c.tls_certificate = folder / "certificate";
  c.tls_key = folder / "key";
  served s(c);
  auto next = s.config;
  next.token_file.clear();
  next.limits.clients = 1;
  REQUIRE_THROWS_WITH(s.it->reload(next), Catch::Contains("needs token_file, tls_certificate and tls_key"));
  // The token is still required, and the old limits apply.
  tls_peer one(s.it->listens_at().front()), two(s.it->listens_at().front());
  REQUIRE(one.shake_hands());
  REQUIRE(two.shake_hands());
  auto& b = rondo::service::frame_builder();
  auto const frame = rondo::service::request_frame(
      b, 1, rondo::wire::Createhello(b, rondo::wire::protocol_version, 0, b.CreateString("another word")));
  REQUIRE(two.send(two.sealed({reinterpret_cast<char const*>(frame.data()), frame.size()})));
  std::string words;
  for (std::string more; !(more = two.read()).empty();) words += more;
  REQUIRE(words.find("the token is missing or wrong") != std::string::npos);
}

TEST_CASE("a wrong path makes no folders; only the folder of default sockets is made", "[service][config]") {
  scratch_directory const files("folders");
  rondo::service::service_config c;
  c.listen = {{true, (files.directory / "no" / "x").string(), 0}};
  REQUIRE_THROWS_WITH(served(c), Catch::Contains("does not exist; create it, or choose another path"));
  REQUIRE(!std::filesystem::exists(files.directory / "no"));
  auto const* const before = std::getenv("XDG_RUNTIME_DIR");
  std::string const kept = before != nullptr ? before : "";
  ::setenv("XDG_RUNTIME_DIR", files.directory.c_str(), 1);
  c.listen = {rondo::service::default_socket("x")};
  served s(c);
  CHECK(s.it->listens_at().front().path == files.directory / "rondo" / "x.sock");
  CHECK(std::filesystem::is_socket(files.directory / "rondo" / "x.sock"));
  before != nullptr ? ::setenv("XDG_RUNTIME_DIR", kept.c_str(), 1) : ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_CASE("a path that is not a socket of this user is not removed", "[service][config]") {
  scratch_directory const files("path");
  auto const path = files.directory / "taken";
  rondo::service::service_config c;
  c.listen = {{true, path.string(), 0}};
  auto const refused = [&] { REQUIRE_THROWS_WITH(served(c), Catch::Contains("this path is not a socket")); };
  std::ofstream(path) << "what somebody wrote";
  refused();
  REQUIRE(std::filesystem::file_size(path) == 19);
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  refused();
  REQUIRE(std::filesystem::is_directory(path));
  std::filesystem::remove(path);
  std::filesystem::create_symlink("nowhere", path);
  refused();
  REQUIRE(std::filesystem::is_symlink(path));
  std::filesystem::remove(path);
  // It is in use, although a stream cannot connect to it.
  int const other = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::strncpy(at.sun_path, path.c_str(), sizeof at.sun_path - 1);
  REQUIRE(::bind(other, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  REQUIRE_THROWS_WITH(served(c), Catch::Contains("may be in use"));
  REQUIRE(std::filesystem::is_socket(path));
  ::close(other);
}

TEST_CASE("a service that ends leaves the path alone if another service has taken it", "[service][config]") {
  served first;
  std::filesystem::path const path = first.config.listen.front().path;
  std::filesystem::remove(path);
  // The lock file belongs to the socket that was there.
  std::filesystem::remove(path.string() + ".lock");
  rondo::service::service second(*first.rt, first.config, {});
  second.start();
  first.it.reset();
  REQUIRE(std::filesystem::is_socket(path));
  rondo::service::client c({.at = second.listens_at().front()});
  REQUIRE(c.find<basics::echo>("mirror").has_value());
}

TEST_CASE("of several services that start on one path exactly one gets it", "[service][config]") {
  served s;
  for (int round = 0; round < 20; ++round) {
    scratch_directory const folder("race");
    auto config = s.config;
    config.listen = {{true, (folder.directory / "socket").string(), 0}};
    abandon_socket(config.listen.front().path);
    std::atomic<int> started{0};
    std::barrier together(3), ended(3);
    std::vector<std::jthread> all;
    for (int i = 0; i < 3; ++i)
      all.emplace_back([&] {
        rondo::service::service one(*s.rt, config, {});
        together.arrive_and_wait();
        try {
          one.start();
          ++started;
        } catch (std::exception const&) {  // another one was first
        }
        ended.arrive_and_wait();
      });
    all.clear();
    REQUIRE(started == 1);
  }
}

TEST_CASE("files and folders that other users could replace are refused", "[service][config]") {
  scratch_directory const files("others");
  auto const open = files.directory / "open";
  std::filesystem::create_directory(open);
  REQUIRE(::chmod(open.c_str(), 0777) == 0);
  rondo::service::service_config c;
  c.listen = {{true, (open / "socket").string(), 0}};
  REQUIRE_THROWS_WITH(served(c), Catch::Contains("is writable by other users"));
  c = {};
  c.token_file = open / "token";
  std::ofstream(c.token_file) << "a long word that nobody guesses\n";
  REQUIRE(::chmod(c.token_file.c_str(), 0600) == 0);
  REQUIRE_THROWS_WITH(served(c), Catch::Contains("is writable by other users"));
  REQUIRE(::chmod(open.c_str(), 01777) == 0);
  REQUIRE_NOTHROW(served(c));
}

TEST_CASE("folders of other users are refused", "[service][config][root]") {
  if (::geteuid() != 0) {
    WARN("skipped: only root can make a folder of another user");
    return;
  }
  scratch_directory const files("others");
  auto const folder = files.directory / "rondo";
  std::filesystem::create_directory(folder);
  REQUIRE(::chmod(folder.c_str(), 0700) == 0);
  rondo::service::service_config c;
  c.token_file = folder / "token";
  std::ofstream(c.token_file) << "a long word that nobody guesses\n";
  REQUIRE(::chmod(c.token_file.c_str(), 0600) == 0);
  REQUIRE_NOTHROW(served(c));
  REQUIRE(::chown(folder.c_str(), 12345, 0) == 0);
  REQUIRE_THROWS_WITH(served(c), Catch::Contains("belongs to user 12345"));
  // At the default socket's place.
  REQUIRE(::setenv("XDG_RUNTIME_DIR", files.directory.c_str(), 1) == 0);
  CHECK_THROWS_WITH(rondo::service::default_socket("demo"), Catch::Contains("belongs to user 12345"));
  std::filesystem::remove_all(files.directory / "rondo");
  std::ofstream(files.directory / "rondo") << "a file";
  CHECK_THROWS_WITH(rondo::service::default_socket("demo"), Catch::Contains("rondo: is not a folder"));
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_CASE("two services do not share a socket, and an abandoned socket is taken over", "[service][config]") {
  served s;
  rondo::service::service second(*s.rt, s.config, {});
  REQUIRE_THROWS_WITH(second.start(), Catch::Contains("another service listens there"));
  auto const path = s.config.listen.front().path;
  REQUIRE(std::filesystem::status(path).permissions() ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  s.it.reset();
  REQUIRE_FALSE(std::filesystem::exists(path));
  abandon_socket(path);
  s.start();
  rondo::service::client c(s.options());
  REQUIRE(c.find<basics::echo>("mirror").has_value());
}

TEST_CASE("invalid actors are refused by name", "[service][config]") {
  rondo::service::service_config c;
  c.actors = {{"a", "nothing"}};
  REQUIRE_THROWS_WITH(served(c),
                      Catch::Contains("actor 'a' could not be launched: unknown behaviour 'nothing'"));
}
