#include "tests/service/hostile_clients.hpp"

#include <deque>
#include <optional>

#include "actors/basics/basics_module.hpp"
#include "runtime/service/wire/frame.hpp"
#include "runtime/service/wire/wire.hpp"
#include "tests/service/raw_client.hpp"
#include "tests/service/strangers.hpp"
#include "tests/service/tls_peer.hpp"

namespace rondo_test {

namespace {

namespace basics = rondo::basics;
using rondo::endpoint;
using rondo::service::frame_builder;
using rondo::service::request_frame;

std::string text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}
/// A frame with the request that `body` makes.
template <class Body>
std::string frame(std::uint64_t id, Body body) {
  auto& b = frame_builder();
  return text_of(request_frame(b, id, body(b)));
}
template <class Message>
std::string message(std::uint64_t id, char const* actor, Message const& m, bool wants_reply,
                    std::uint64_t key = 0, bool wait_for_room = false, std::uint64_t trace = 0) {
  return frame(id, [&](auto& b) {
    auto const name = b.CreateString(actor);
    auto const payload = b.CreateVector(reinterpret_cast<std::uint8_t const*>(&m), sizeof m);
    return wire::Createsend(b, nullptr, name, rondo::type_id<Message>, 128, wants_reply, wait_for_room, 0,
                            key, 0, payload, trace);
  });
}

/// A connection whose token the service knows.
class insider {
 public:
  insider(hostile_target const& at, std::uint64_t session) : line_(at.port) {
    line_.limit_sends();
    if (!line_.shake_hands()) throw std::runtime_error("no handshake");
    say(frame(1, [&](auto& b) {
      return wire::Createhello(b, wire::protocol_version, session, b.CreateString(at.token));
    }));
  }
  void say(std::string const& frames) {
    if (!line_.send(line_.sealed(frames))) throw std::runtime_error("hung up");
  }
  /// Takes the responses that have come.
  void read() {
    bool const open = line_.take_what_came();
    line_.take_text();
    if (!open) throw std::runtime_error("hung up");
  }

 private:
  tls_peer line_;
};

/// Has several insiders and lets one of them, or all, send some requests, again and again.
class filler : public hostile_client {
 public:
  filler(hostile_target const& at, std::size_t insiders, std::uint64_t first)
      : next_(first | 2), at_(at), most_(insiders) {}
  void act(std::mt19937_64& random) final {
    if (all_.size() < most_) return void(all_.push_back(std::make_unique<insider>(at_, random() | 1)));
    if (!together_) return act_as(all_[random() % all_.size()], random);
    for (auto& one : all_) act_as(one, random);
  }

 protected:
  virtual std::string requests(std::mt19937_64& random) = 0;
  bool reads_ = true, together_ = false;
  std::uint64_t next_;  // id, key, and number of a name that no other filler uses

 private:
  void act_as(std::unique_ptr<insider>& one, std::mt19937_64& random) {
    try {
      if (random() % 512 == 0) throw std::runtime_error("leaves");
      one->say(requests(random));
      if (reads_) one->read();
    } catch (std::runtime_error const&) {
      one = std::make_unique<insider>(at_, random() | 1);
    }
  }

  hostile_target at_;
  std::size_t most_;
  std::vector<std::unique_ptr<insider>> all_;
};

std::string launch(std::uint64_t id, std::string const& actor, std::uint32_t capacity = 0,
                   bool pinned = false) {
  return frame(id, [&](auto& b) {
    auto const name = b.CreateString(actor), behaviour = b.CreateString("counter");
    return wire::Createlaunch(b, name, behaviour, capacity, 0, pinned);
  });
}
std::string terminate(std::uint64_t id, std::string const& actor) {
  return frame(id, [&](auto& b) {
    return wire::Createcontrol(b, b.CreateString(actor), wire::control_kind_terminate_discard);
  });
}

/// Asks an actor that does not answer.
struct asks_in_vain final : filler {
  using filler::filler;
  std::string requests(std::mt19937_64&) override {
    std::string all;
    for (int i = 0; i < 64; ++i) all += message(next_++, "silent", basics::get{}, true);
    return all;
  }
};

/// Tells that wait for room at an actor that is full.
struct waits_for_room final : filler {
  using filler::filler;
  std::string requests(std::mt19937_64&) override {
    std::string all;
    for (int i = 0; i < 64; ++i) all += message(next_++, "full", basics::add{1}, false, 0, true);
    return all;
  }
};

/// Keys that it never settles, in a few sessions.
struct keeps_keys final : filler {
  using filler::filler;
  std::string requests(std::mt19937_64&) override {
    std::string all;
    for (int i = 0; i < 64; ++i) all += message(next_, "clicks", basics::add{1}, false, next_), ++next_;
    return all;
  }
};

/// One key in each of many sessions.
struct has_many_sessions final : hostile_client {
  explicit has_many_sessions(hostile_target where) : at(std::move(where)) {}
  void act(std::mt19937_64& random) override {
    all.push_back(std::make_unique<insider>(at, random() | 1));
    all.back()->say(message(2, "clicks", basics::add{1}, false, 1));
    if (all.size() > 8) all.pop_front();  // by then its message has been taken
  }
  hostile_target at;
  std::deque<std::unique_ptr<insider>> all;
};

/// As many connections as the service has places for, which is more than a peer may have; then it begins again, so that
/// other clients with its token can connect. It does not look which were refused: that may come late.
struct connects final : hostile_client {
  explicit connects(hostile_target where) : at(std::move(where)) {}
  void act(std::mt19937_64&) override {
    if (all.size() == at.connections) all.clear();
    all.push_back(std::make_unique<insider>(at, 0));
  }
  hostile_target at;
  std::vector<std::unique_ptr<insider>> all;
};

/// Actors, of which some share mail rings and some have their own. Sometimes it terminates all, so that others get
/// their turn. Its names are always the same: what was lost with a connection is made up for later.
struct launches final : filler {
  using filler::filler;
  std::string requests(std::mt19937_64&) override {
    std::string all;
    if (turn++ % 256 == 255)
      for (int i = 0; i < 1024; ++i) all += terminate(next_++, name(i));
    for (int i = 0; i < 16; ++i, ++last) all += launch(next_++, name(last % 1024), last % 2 == 0 ? 0 : 64);
    return all;
  }
  std::string name(int i) const { return "actor " + std::to_string(own) + " " + std::to_string(i); }
  std::uint64_t const own = next_;
  std::uint64_t turn = 0;
  int last = 0;
};

/// Actors that each take much of something: it has many for a while, and then none, so that others get the rest.
struct launches_costly final : filler {
  launches_costly(hostile_target const& at, std::uint64_t first, std::uint32_t of, bool are_pinned)
      : filler(at, 1, first), capacity(of), pinned(are_pinned) {}
  std::string requests(std::mt19937_64&) override {
    auto all = frame(next_++, [](auto& b) { return wire::Createfind(b, b.CreateString("nobody")); });
    bool const has = turn++ % 16 < 4;
    for (int i = 0; i < 24; ++i) {
      auto const name = "costly " + std::to_string(own) + " " + std::to_string(i);
      all += has ? launch(next_++, name, capacity, pinned) : terminate(next_++, name);
    }
    return all;
  }
  std::uint64_t const own = next_;
  std::uint32_t capacity;
  bool pinned;
  std::uint64_t turn = 0;
};

/// Very many operations at once.
struct operates final : filler {
  operates(hostile_target const& at, std::size_t n, std::uint64_t first) : filler(at, n, first) {
    together_ = true;
  }
  std::string requests(std::mt19937_64&) override {
    std::string all;
    for (int i = 0; i < 64; ++i)
      all += frame(next_++, [&](auto& b) { return wire::Createinspect(b, b.CreateString("clicks")); });
    return all;
  }
};

/// Has all its messages traced, and sometimes looks at the traces.
struct traces final : filler {
  using filler::filler;
  std::string requests(std::mt19937_64& random) override {
    std::string all;
    for (int i = 0; i < 64; ++i)
      all += message(next_++, "clicks", basics::add{1}, false, 0, false, random() | 1);
    if (random() % 64 == 0) all += frame(next_++, [](auto& b) { return wire::Createtraces(b); });
    return all;
  }
};

/// Wants long responses, and reads none: their bytes, and the queue of slow work.
struct reads_nothing final : filler {
  reads_nothing(hostile_target const& at, std::size_t n, std::uint64_t first) : filler(at, n, first) {
    reads_ = false;
  }
  std::string requests(std::mt19937_64&) override {
    std::string all;
    for (int i = 0; i < 16; ++i) {
      all += frame(next_++, [](auto& b) { return wire::Createwatch(b); });
      all += frame(next_++, [](auto& b) { return wire::Createlist(b); });
      all += frame(next_++, [](auto& b) { return wire::Createdescribe(b); });
    }
    return all;
  }
};

/// A good token, and then bytes that are no requests.
struct talks_junk final : hostile_client {
  explicit talks_junk(hostile_target where) : at(std::move(where)) {}
  void act(std::mt19937_64& random) override {
    insider one(at, 0);
    auto junk = message(2, "clicks", basics::get{}, true);
    for (int i = 0; i < 8; ++i) {
      auto damaged = junk;
      damaged[random() % damaged.size()] = static_cast<char>(random());
      one.say(damaged);
    }
    one.read();
  }
  hostile_target at;
};

/// Connections that say nothing: to the port, and to the metrics.
struct says_nothing final : hostile_client {
  says_nothing(endpoint where, std::size_t connections) : at(std::move(where)), most(connections) {}
  void act(std::mt19937_64&) override {
    held.push_back(std::make_unique<raw_client>(at));
    if (held.size() > most) held.pop_front();
  }
  endpoint at;
  std::size_t most;
  std::deque<std::unique_ptr<raw_client>> held;
};

/// A handshake, and then records that bring no data.
struct updates_keys final : hostile_client {
  explicit updates_keys(endpoint where) : at(std::move(where)) {}
  void act(std::mt19937_64&) override {
    if (!line) {
      line.emplace(at);
      line->limit_sends();
      if (!line->shake_hands()) return line.reset();
    }
    if (!line->send(line->key_updates(2000))) line.reset();
  }
  endpoint at;
  std::optional<tls_peer> line;
};

/// TLS 1.2: a handshake, and another one on the same connection.
struct renegotiates final : hostile_client {
  explicit renegotiates(endpoint where) : at(std::move(where)) {}
  void act(std::mt19937_64&) override {
    tls_peer line(at, TLS1_2_VERSION);
    line.limit_sends();
    if (!line.shake_hands()) return;
    if (line.send(line.renegotiation())) line.receive();  // a refusal, or the end of the connection
  }
  endpoint at;
};

/// The beginning of a handshake, byte by byte.
struct dribbles final : hostile_client {
  explicit dribbles(endpoint where) : at(std::move(where)) {}
  void act(std::mt19937_64&) override {
    if (!line) {
      line.emplace(at);
      left = line->step();
    }
    if (left.empty() || !line->send(left.substr(0, 1))) return line.reset();
    left.erase(0, 1);
  }
  endpoint at;
  std::optional<tls_peer> line;
  std::string left;
};

/// Many requests for metrics, whose answers nobody reads.
struct scrapes final : hostile_client {
  explicit scrapes(endpoint where) : at(std::move(where)) {}
  void act(std::mt19937_64& random) override {
    raw_client one(at);
    one.send(std::string(random() % 2 == 0 ? "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
                                           : "GET /metrics HTTP/1.1\r\nX: "));
    held.push_back(std::make_unique<raw_client>(at));
    held.back()->send(std::string("GET /healthz HTTP/1.1\r\n"));
    if (held.size() > 16) held.pop_front();
  }
  endpoint at;
  std::deque<std::unique_ptr<raw_client>> held;
};

struct walks final : hostile_client {
  walks(endpoint const& where, std::uint64_t seed) : all(where, seed) {}
  void act(std::mt19937_64&) override { all.step(); }
  strangers all;
};

}  // namespace

std::vector<named_hostile_client> table_fillers(hostile_target const& at, std::uint64_t seed) {
  using rondo::service::table;
  std::vector<named_hostile_client> all;
  auto const add = [&](char const* name, table t, auto client) {
    all.push_back({name, t, std::move(client)});
  };
  auto operating = at;
  operating.token = at.operating_token;
  auto first = [n = seed << 32]() mutable { return n += std::uint64_t{1} << 28; };
  add("asks in vain", table::asks, std::make_unique<asks_in_vain>(at, 4, first()));
  add("waits for room", table::waiting_tells, std::make_unique<waits_for_room>(at, 4, first()));
  add("operates", table::controls, std::make_unique<operates>(operating, 8, first()));
  add("launches large mailboxes", table::actor_bytes,
      std::make_unique<launches_costly>(operating, first(), 65'536, false));
  add("launches pinned actors", table::pinned_teams,
      std::make_unique<launches_costly>(operating, first(), 0, true));
  add("launches", table::actors, std::make_unique<launches>(at, 4, first()));
  add("launches on shared rings", table::mail_rings, std::make_unique<launches>(at, 1, first()));
  add("keeps keys", table::keys, std::make_unique<keeps_keys>(at, 2, first()));
  add("has many sessions", table::key_sessions, std::make_unique<has_many_sessions>(operating));
  add("reads nothing", table::response_bytes, std::make_unique<reads_nothing>(at, 16, first()));
  add("traces", table::traces, std::make_unique<traces>(at, 2, first()));
  add("connects", table::connections, std::make_unique<connects>(at));
  return all;
}

hostile_crowd hostile_clients(hostile_target const& at, std::uint64_t seed) {
  hostile_crowd all{table_fillers(at, seed), {}};
  all.fillers.push_back(
      {"silent at the port", rondo::service::table::strangers, std::make_unique<says_nothing>(at.port, 200)});
  auto const add = [&](char const* name, std::unique_ptr<hostile_client> client) {
    all.others.emplace_back(name, std::move(client));
  };
  add("talks junk", std::make_unique<talks_junk>(at));
  add("silent at the metrics", std::make_unique<says_nothing>(at.metrics, 48));
  add("updates keys", std::make_unique<updates_keys>(at.port));
  add("renegotiates", std::make_unique<renegotiates>(at.port));
  add("dribbles", std::make_unique<dribbles>(at.port));
  add("scrapes", std::make_unique<scrapes>(at.metrics));
  add("walks at random", std::make_unique<walks>(at.port, seed));
  return all;
}

}  // namespace rondo_test
