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
using rondo::service::endpoint;
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
  /// Reads what has come; returns how many requests were refused.
  std::uint64_t refusals() {
    std::uint64_t refused = 0;
    bool const open = line_.take_what_came();
    auto const text = line_.take_text();
    auto const room = in_.room(text.size());
    std::ranges::copy(std::as_bytes(std::span(text)), room.begin());
    in_.came(text.size());
    std::span<std::byte const> one;
    while (in_.next(one) == rondo::service::frame_reader::state::frame)
      if (auto const* const r = rondo::service::verified<wire::response>(one))
        if (auto const* const o = r->body_as_outcome()) refused += o->status() != 0;
    if (!open) throw std::runtime_error("hung up");
    return refused;
  }

 private:
  tls_peer line_;
  rondo::service::frame_reader in_{16 << 20};
};

/// Has several insiders and lets one of them send some requests, until the table is full; and goes on.
class filler : public hostile_client {
 public:
  filler(hostile_target const& at, std::size_t insiders) : at_(at), most_(insiders) {}
  void act(std::mt19937_64& random) final {
    if (all_.size() < most_) return void(all_.push_back(std::make_unique<insider>(at_, random() | 1)));
    auto& one = all_[random() % all_.size()];
    try {
      if (random() % 512 == 0) throw std::runtime_error("leaves");
      one->say(requests(random));
      if (reads_) refused_ += one->refusals();
    } catch (std::runtime_error const&) {
      one = std::make_unique<insider>(at_, random() | 1);
      if (!reads_) ++refused_;  // it was cut off
    }
  }
  bool has_filled() const final { return refused_ != 0; }

 protected:
  virtual std::string requests(std::mt19937_64& random) = 0;
  bool reads_ = true;
  std::uint64_t next_ = 2;  // id, key, and number of a name

 private:
  hostile_target at_;
  std::size_t most_;
  std::vector<std::unique_ptr<insider>> all_;
  std::uint64_t refused_ = 0;
};

/// Asks an actor that does not answer: the table of asks.
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

/// Keys that it never settles, in many sessions: the tables of keys and of sessions.
struct keeps_keys final : filler {
  using filler::filler;
  std::string requests(std::mt19937_64&) override {
    std::string all;
    for (int i = 0; i < 256; ++i) all += message(next_, "clicks", basics::add{1}, false, next_), ++next_;
    return all;
  }
};

/// The table of actors: launches, and now and then terminates one.
struct launches final : filler {
  using filler::filler;
  std::string requests(std::mt19937_64& random) override {
    std::string all;
    for (int i = 0; i < 16; ++i, ++next_)
      all += frame(next_, [&](auto& b) {
        auto const name = b.CreateString("actor " + std::to_string(next_)),
                   behaviour = b.CreateString("counter");
        return wire::Createlaunch(b, name, behaviour);
      });
    all += frame(next_, [&](auto& b) {
      auto const name = b.CreateString("actor " + std::to_string(2 + random() % next_));
      return wire::Createcontrol(b, name, wire::control_kind_terminate_discard);
    });
    return all;
  }
};

/// Operations on an actor that does not get round to them.
struct operates final : filler {
  using filler::filler;
  std::string requests(std::mt19937_64&) override {
    std::string all;
    for (int i = 0; i < 32; ++i)
      all += frame(next_++, [&](auto& b) {
        return wire::Createcontrol(b, b.CreateString("full"), wire::control_kind_terminate_drain);
      });
    return all;
  }
};

/// The table of traces.
struct traces final : filler {
  using filler::filler;
  std::string requests(std::mt19937_64& random) override {
    std::string all;
    for (int i = 0; i < 32; ++i)
      all += message(next_++, "clicks", basics::add{1}, false, 0, false, random() | 1);
    all += frame(next_++, [](auto& b) { return wire::Createtraces(b); });
    return all;
  }
  traces(hostile_target const& at, std::size_t n) : filler(at, n) { reads_ = false; }
};

/// Wants long answers, and reads none: the bytes of unread answers, and the queue of slow work.
struct reads_nothing final : filler {
  using filler::filler;
  std::string requests(std::mt19937_64&) override {
    std::string all;
    for (int i = 0; i < 16; ++i) {
      all += frame(next_++, [](auto& b) { return wire::Createwatch(b); });
      all += frame(next_++, [](auto& b) { return wire::Createlist(b); });
      all += frame(next_++, [](auto& b) { return wire::Createdescribe(b); });
    }
    return all;
  }
  reads_nothing(hostile_target const& at, std::size_t n) : filler(at, n) { reads_ = false; }
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
    one.refusals();
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

std::vector<named_hostile_client> hostile_clients(hostile_target const& at, std::uint64_t seed) {
  std::vector<named_hostile_client> all;
  auto const add = [&](char const* name, std::unique_ptr<hostile_client> client) {
    all.push_back({name, std::move(client)});
  };
  add("asks in vain", std::make_unique<asks_in_vain>(at, 64));
  add("waits for room", std::make_unique<waits_for_room>(at, 16));
  add("keeps keys", std::make_unique<keeps_keys>(at, 8));
  add("launches", std::make_unique<launches>(at, 8));
  add("operates", std::make_unique<operates>(at, 16));
  add("traces", std::make_unique<traces>(at, 4));
  add("reads nothing", std::make_unique<reads_nothing>(at, 16));
  add("talks junk", std::make_unique<talks_junk>(at));
  add("silent at the port", std::make_unique<says_nothing>(at.port, 600));
  add("silent at the metrics", std::make_unique<says_nothing>(at.metrics, 48));
  add("updates keys", std::make_unique<updates_keys>(at.port));
  add("dribbles", std::make_unique<dribbles>(at.port));
  add("scrapes", std::make_unique<scrapes>(at.metrics));
  add("walks at random", std::make_unique<walks>(at.port, seed));
  return all;
}

}  // namespace rondo_test
