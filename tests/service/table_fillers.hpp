// Clients with tokens that take every place they get in the tables that all clients share: asks, keys and their sessions, waiting
// tells, actors, connections. They need actors `silent` and `full`, which handle nothing.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "actors/basics/basics_module.hpp"
#include "runtime/service/client/client.hpp"
#include "runtime/service/wire/frame.hpp"
#include "runtime/service/wire/wire.hpp"

namespace rondo_test {

class table_fillers {
 public:
  /// `base` has the address; `sender` and `launcher` are tokens of these roles.
  table_fillers(rondo::service::client_options base, std::string sender, std::string launcher)
      : base_(std::move(base)), sender_(std::move(sender)), launcher_(std::move(launcher)) {}

  /// Takes places until it is refused. They are given back when this object ends.
  void fill() {
    namespace basics = rondo::basics;
    for (int i = 0; i < 4; ++i) {
      auto& c = connect(sender_);
      for (int k = 0; k < 200; ++k) {
        send(c, "silent", basics::get{}, {.wants_reply = true});
        send(c, "full", basics::add{1}, {.wait_for_room = true});
      }
    }
    auto& c = connect(launcher_);
    for (int i = 0; launches(c, "filler" + std::to_string(i)); ++i) continue;
    ++*refused_;
  }
  /// How many requests were refused.
  std::uint64_t refused() const noexcept { return *refused_; }

 private:
  rondo::service::client& connect(std::string const& token) {
    auto o = base_;
    o.token = token;
    return *clients_.emplace_back(std::make_unique<rondo::service::client>(o));
  }
  template <class Message>
  void send(rondo::service::client& c, char const* actor, Message const& m,
            rondo::service::client::send_options const& options) {
    c.send({.name = actor}, rondo::type_id<Message>, std::as_bytes(std::span(&m, 1)), options,
           rondo::answer_handler([n = refused_](rondo::answer const& a) {
             using enum rondo::errc;
             if (a.reason == ask_limit || a.reason == mailbox_full || a.reason == service_refuses) ++*n;
           }));
  }
  static bool launches(rondo::service::client& c, std::string const& name) {
    namespace wire = rondo::wire;
    auto& b = rondo::service::frame_builder();
    auto const actor = b.CreateString(name), behaviour = b.CreateString("counter");
    auto const r = c.request(rondo::service::request_frame(b, 1, wire::Createlaunch(b, actor, behaviour)),
                             std::chrono::seconds(60));
    if (r.ec) return false;
    auto const* const said = rondo::service::verified<wire::response>(r.frame);
    // In an earlier round the actor stayed.
    auto const* const o = said->body_as_outcome();
    return o == nullptr || o->status() == static_cast<std::uint32_t>(rondo::errc::name_taken);
  }

  rondo::service::client_options base_;
  std::string sender_, launcher_;
  std::shared_ptr<std::atomic<std::uint64_t>> refused_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::vector<std::unique_ptr<rondo::service::client>> clients_;
};

}  // namespace rondo_test
