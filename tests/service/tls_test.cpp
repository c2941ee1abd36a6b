// TLS: data arrives, and a client that breaks off, stalls or resets at any byte of a handshake, a login or a request
// harms nobody else.
#include <fstream>

#include "tests/catch.hpp"
#include "tests/certificate.hpp"
#include "tests/service/raw_client.hpp"
#include "tests/service/service_fixture.hpp"
#include "tests/service/tls_peer.hpp"

using namespace rondo_test;

namespace {

constexpr char const* token = "a long word that clients say";

/// A service with TLS and a token on a temporary port, in addition to its Unix socket.
struct tls_site {
  explicit tls_site(rondo::service::client_limits const& limits = {}) {
    auto const folder = files.directory;
    std::ofstream(folder / "token") << token;
    std::filesystem::permissions(folder / "token", std::filesystem::perms::owner_read);
    write_certificate(folder / "certificate", folder / "key", "rondo.test");
    rondo::service::service_config c;
    c.listen = {{true, (folder / "socket").string(), 0}, {false, "127.0.0.1", 0}};
    c.token_file = folder / "token";
    c.tls_certificate = folder / "certificate";
    c.tls_key = folder / "key";
    c.limits = limits;
    s = std::make_unique<served>(std::move(c));
  }
  /// Another certificate for the same name, in the same files.
  void renew_certificate() const {
    for (auto const* file : {"certificate", "key"}) std::filesystem::remove(files.directory / file);
    write_certificate(files.directory / "certificate", files.directory / "key", "rondo.test");
  }
  rondo::endpoint port() const { return s->it->listens_at()[1]; }
  rondo::service::client_options options() const {
    return {.at = port(),
            .token = token,
            .tls = true,
            .authorities = files.directory / "certificate",
            .server_name = "rondo.test"};
  }
  /// Requires that another client is answered, over TLS and over the Unix socket.
  void require_service() const {
    for (auto const& o : {options(), s->options()}) {
      rondo::service::client c(o);
      auto const mirror = c.find<basics::echo>("mirror");
      REQUIRE(mirror.has_value());
      for (std::uint64_t i = 0; i < 5; ++i)
        REQUIRE(mirror->ask(basics::ping{i}, 60s, rondo::block).value().number == i);
    }
  }

  scratch_directory files{"tls"};
  std::unique_ptr<served> s;
};

std::string text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

std::string hello(std::string const& word) {
  auto& b = rondo::service::frame_builder();
  auto const said = b.CreateString(word);
  return text_of(rondo::service::request_frame(b, 1, wire::Createhello(b, wire::protocol_version, 0, said)));
}

std::string ask_mirror(std::uint64_t id) {
  auto& b = rondo::service::frame_builder();
  basics::ping const m{id};
  auto const name = b.CreateString("mirror");
  auto const payload = b.CreateVector(reinterpret_cast<std::uint8_t const*>(&m), sizeof m);
  return text_of(rondo::service::request_frame(
      b, id,
      wire::Createsend(b, nullptr, name, rondo::type_id<basics::ping>, 128, true, false, 0, 0, 0, payload)));
}

/// How a client disconnects.
enum class leaving { closes, resets };

void leave(tls_peer& p, leaving how) {
  if (how == leaving::resets) p.reset();
}

}  // namespace

TEST_CASE("data arrives over TLS, even byte by byte", "[service][tls]") {
  tls_site const site;
  site.require_service();
  tls_peer slow(site.port());
  for (char const c : slow.step()) REQUIRE(slow.send({&c, 1}));
  REQUIRE(slow.receive());
  REQUIRE(slow.shake_hands());
  for (char const c : slow.sealed(hello(token) + ask_mirror(7))) REQUIRE(slow.send({&c, 1}));
  REQUIRE(!slow.read().empty());
  CHECK_FALSE(slow.can_resume());  // the service keeps no sessions
  site.require_service();
}

TEST_CASE("a client that breaks off at any byte of its handshake harms nobody", "[service][tls][hostile]") {
  tls_site const site;
  for (auto const how : {leaving::closes, leaving::resets}) {
    std::size_t all = 1;
    for (std::size_t cut = 0; cut <= all; cut += cut < 8 ? 1 : 17) {
      tls_peer p(site.port());
      auto const first = p.step();
      all = first.size();
      REQUIRE(p.send(std::string_view(first).substr(0, cut)));
      leave(p, how);
    }
    // All of it, and disconnected before the answer can be written: a write to a closed peer must not raise a signal.
    for (int i = 0; i < 100; ++i) {
      tls_peer p(site.port());
      REQUIRE(p.send(p.step()));
      leave(p, how);
    }
    // The answer has arrived, and the client sends a part of the last flight.
    for (std::size_t cut = 0; cut < 80; cut += 5) {
      tls_peer p(site.port());
      REQUIRE(p.send(p.step()));
      REQUIRE(p.receive());
      p.send(std::string_view(p.step()).substr(0, cut));
      leave(p, how);
    }
  }
  site.require_service();
}

TEST_CASE("a client that breaks off at any byte of its login or a request harms nobody",
          "[service][tls][hostile]") {
  tls_site const site;
  for (auto const how : {leaving::closes, leaving::resets})
    for (std::size_t cut = 0; cut < 200; cut += 13) {
      tls_peer p(site.port());
      REQUIRE(p.shake_hands());
      auto const login = p.sealed(hello(cut % 2 == 0 ? token : "another word"));
      p.send(std::string_view(login).substr(0, cut));
      if (cut >= login.size()) {
        std::string requests;
        for (std::uint64_t id = 2; id < 40; ++id) requests += ask_mirror(id);
        p.send(p.sealed(requests));  // and it leaves while the answers are pending
      }
      leave(p, how);
    }
  site.require_service();
}

TEST_CASE("half a TLS record does not keep other clients from being answered", "[service][tls][hostile]") {
  tls_site const site;
  auto const stall = [&](std::string_view bytes) {
    auto p = std::make_unique<tls_peer>(site.port());
    REQUIRE(p->send(bytes));
    return p;
  };
  auto const one =
      stall(std::string_view("\x16\x03\x01\x02\x00"
                             "AAAA",
                             9));
  site.require_service();
  auto const two = stall(std::string_view("\x16\x03\x01", 3));
  site.require_service();
  // Half a record after a login.
  tls_peer late(site.port());
  REQUIRE(late.shake_hands());
  REQUIRE(late.send(late.sealed(hello(token))));
  REQUIRE(!late.read().empty());
  auto const request = late.sealed(ask_mirror(2));
  REQUIRE(late.send(std::string_view(request).substr(0, request.size() / 2)));
  site.require_service();
  REQUIRE(late.send(std::string_view(request).substr(request.size() / 2)));
  REQUIRE(!late.read().empty());
}

TEST_CASE("a client reports at once why it does not trust a service", "[service][tls]") {
  tls_site const site;
  auto const why = [](rondo::service::client_options const& o) {
    rondo::service::client c(o);
    auto const began = std::chrono::steady_clock::now();
    CHECK(c.find<basics::echo>("mirror").error() == errc::service_refuses);
    CHECK(std::chrono::steady_clock::now() - began < o.connect_timeout);
    return c.last_words();
  };
  auto o = site.options();
  o.connect_timeout = 60s;
  auto other = o;
  other.server_name = "another.test";
  CHECK(says(why(other), "its certificate is not valid for the name 'another.test'"));
  scratch_directory const files("authorities");
  write_certificate(files.directory / "certificate", files.directory / "key", "rondo.test");
  other = o;
  other.authorities = files.directory / "certificate";
  CHECK(says(why(other), "its certificate is not trusted: "));
  // A service without TLS.
  rondo::service::service_config c;
  c.listen = {{false, "127.0.0.1", 0}};
  served plain(c);
  other = o;
  other.at = plain.it->listens_at().front();
  CHECK(says(why(other), "it does not speak TLS"));
}

TEST_CASE("a client that does not speak TLS is disconnected", "[service][tls][hostile]") {
  tls_site const site;
  tls_peer p(site.port());
  REQUIRE(p.send("GET / HTTP/1.1\r\n\r\n"));
  while (p.receive()) continue;
  site.require_service();
}

TEST_CASE("a client that sends nothing but TLS's own messages delays nobody, and is dropped with a reason",
          "[service][tls][hostile]") {
  tls_site const site({.hello = 1h});
  bool const has_token = GENERATE(false, true);
  tls_peer p(site.port());
  REQUIRE(p.shake_hands());
  if (has_token) {
    REQUIRE(p.send(p.sealed(hello(token))));
    REQUIRE(!p.read().empty());
  }
  p.send(p.key_updates(2000));  // it may be dropped before the last one
  site.require_service();
  while (p.receive()) continue;
  auto const& dropped = site.s->it->counters().dropped;
  CHECK(dropped[static_cast<std::size_t>(rondo::service::drop_reason::malformed)] == 1);
  CHECK(says(site.s->log(), "is dropped (malformed): it sent more than"));
  site.require_service();
}

TEST_CASE("a renewed certificate is used from the next connection on, and its expiry is reported",
          "[service][tls]") {
  tls_site const site;
  rondo::service::client early(site.options());
  auto const mirror = early.find<basics::echo>("mirror").value();
  std::filesystem::copy_file(site.files.directory / "certificate", site.files.directory / "old");
  auto const& expires = site.s->it->counters().certificate_expires;
  auto const expected = std::chrono::system_clock::now() + 24h;
  CHECK(std::chrono::abs(std::chrono::sys_seconds(std::chrono::seconds(expires)) - expected) < 1h);
  SECTION("a valid one") {
    site.renew_certificate();
    site.s->it->reload(site.s->config);
    site.require_service();
    auto o = site.options();
    o.authorities = site.files.directory / "old";
    rondo::service::client distrusts(o);
    CHECK(distrusts.find<basics::echo>("mirror").error() == errc::service_refuses);
  }
  SECTION("one that cannot be read changes nothing") {
    std::filesystem::remove(site.files.directory / "key");
    auto const before = expires.load();
    CHECK_THROWS_WITH(site.s->it->reload(site.s->config), Catch::Contains("key: cannot be read"));
    CHECK(expires == before);
    site.require_service();
  }
  SECTION("none at all") {
    auto without = site.s->config;
    without.tls_certificate.clear();
    without.tls_key.clear();
    CHECK_THROWS_WITH(site.s->it->reload(without), Catch::Contains("restart"));
    site.require_service();
  }
  // Connections keep what they began with.
  CHECK(mirror.ask(basics::ping{7}, 60s, rondo::block).value().number == 7);
  CHECK(early.connections_made() == 1);
}
