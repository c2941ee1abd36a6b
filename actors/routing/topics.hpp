// Topics: an actor that passes each published message on to the actors that have subscribed to its topic.
//
//   struct price_topics : rondo::topics<price> {};                                              // in the module
//   news.ask(rondo::subscribe<price>{rondo::topic_id("steel"), w.where()}, 1s, rondo::block);   // w takes a price
//   news.try_tell(rondo::publish<price>{rondo::topic_id("steel"), {7}});
//
// Subscribers may be of different behaviours. They get the message with the priority, the deadline and the trace of
// `publish`, and from one publisher in order.
//
// Nobody: a message to a topic without subscribers is handled, and goes nowhere.
// Full: a message that some subscribers had no room for becomes a dead letter with mailbox_full; the others have got
// it.
// Gone: the subscription of an actor that has terminated ends when a message finds it gone.
// Other devices: a subscriber there is never seen to be full or gone. A message to it waits in the host, as with
// context::tell.
#pragma once

#include "actors/routing/fixed_set.hpp"
#include "kernels/actor/context.hpp"

namespace rondo {

/// The number of the topic `name`: its hash (64-bit FNV-1a). Any other numbers do as well.
RONDO_HD constexpr std::uint64_t topic_id(char const* name) noexcept {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325ull;
  for (; *name != 0; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100'0000'01b3ull;
  return hash;
}

/// A tell.
template <class Message>
struct publish {
  std::uint64_t topic;  // its number
  Message message;      // for the subscribers
};
/// Without effect if there is this subscription. Rejected with table_full.
template <class Message>
struct subscribe {
  std::uint64_t topic;                   // its number
  address<any_that_takes<Message>> who;  // the subscriber

  /// For an actor that takes the message.
  template <class Behaviour>
  requires takes<Behaviour, Message> RONDO_HD constexpr subscribe(std::uint64_t to,
                                                                  address<Behaviour> actor) noexcept
      : topic(to), who{actor.id} {}
};
/// Without effect if there is no such subscription.
template <class Message>
struct unsubscribe {
  std::uint64_t topic;                   // its number
  address<any_that_takes<Message>> who;  // the subscriber

  /// For an actor that takes the message.
  template <class Behaviour>
  requires takes<Behaviour, Message> RONDO_HD constexpr unsubscribe(std::uint64_t from,
                                                                    address<Behaviour> actor) noexcept
      : topic(from), who{actor.id} {}
};
/// Asks how many there are. Those that have terminated count until a message finds them gone.
template <class Message>
struct count_subscribers {
  std::uint64_t topic;  // its number
};
/// The answer to these three: the subscribers of the topic.
struct subscriber_count {
  std::uint32_t subscribers;  // how many there are
};

/// A behaviour with at most `Most` subscriptions, of all topics together. It never fails, so it keeps them.
template <class Message, std::uint32_t Most = 32>
class topics {
 public:
  /// Those of this header.
  using messages = rondo::messages<publish<Message>, ask<subscribe<Message>, subscriber_count>,
                                   ask<unsubscribe<Message>, subscriber_count>,
                                   ask<count_subscribers<Message>, subscriber_count>>;

  /// Passes the message on.
  RONDO_HD void on(context& ctx, publish<Message> const& m) {
    auto refused = errc::ok;
    subscriptions_.keep_if([&](subscription const& s) {
      if (s.topic != m.topic) return true;
      auto const outcome = ctx.forward(address<any_that_takes<Message>>{s.who}, m.message);
      if (outcome != errc::ok && outcome != errc::actor_gone) refused = outcome;
      return outcome != errc::actor_gone;
    });
    if (refused != errc::ok) ctx.reject(refused);
  }
  /// Adds a subscription.
  RONDO_HD subscriber_count on(context& ctx, subscribe<Message> const& m) {
    if (!subscriptions_.add({m.topic, m.who.id})) ctx.reject(errc::table_full);
    return count(m.topic);
  }
  /// Removes a subscription.
  RONDO_HD subscriber_count on(context&, unsubscribe<Message> const& m) {
    subscriptions_.remove({m.topic, m.who.id});
    return count(m.topic);
  }
  /// Counts the subscribers.
  RONDO_HD subscriber_count on(context&, count_subscribers<Message> const& m) { return count(m.topic); }

 private:
  struct subscription {
    std::uint64_t topic;
    actor_id who;
    RONDO_HD friend bool operator==(subscription const& a, subscription const& b) noexcept {
      return a.topic == b.topic && a.who == b.who;
    }
  };

  RONDO_HD subscriber_count count(std::uint64_t topic) const noexcept {
    subscriber_count n{0};
    for (std::uint32_t i = 0; i < subscriptions_.size(); ++i)
      n.subscribers += subscriptions_[i].topic == topic;
    return n;
  }

  fixed_set<subscription, Most> subscriptions_{};
};

}  // namespace rondo
