// The context that a team gives to the handlers of a portable behaviour (kernels/portable/behaviour.hpp): what they may
// do wherever they run, and no more.
#pragma once

#include <concepts>

#include "kernels/actor/context.hpp"

namespace rondo {

// -- for the runtime
/// RONDO_PORTABLE_BEHAVIOUR declares others; nvcc looks for them only where there is one.
kernel_entry const* rondo_kernel_of(struct no_behaviour const*);

// -- for programs

/// Made by RONDO_PORTABLE_BEHAVIOUR.
template <class B>
concept portable_behaviour = requires(B const* b) {
  { rondo_kernel_of(b) } -> std::same_as<kernel_entry const*>;
};

namespace detail {

template <class List>
struct packed_list;
template <class... Entries>
struct packed_list<messages<Entries...>> {
  static constexpr std::uint32_t size = sizeof...(Entries);
  // One more, because there are no arrays without elements.
  static constexpr packed_entry entries[size + 1] = {
      {type_id<typename entry_traits<Entries>::request>, sizeof(typename entry_traits<Entries>::request),
       reply_id<typename entry_traits<Entries>::reply>}...,
      {}};
  static constexpr std::uint32_t types[size + 1] = {type_id<typename entry_traits<Entries>::request>..., 0};
};

}  // namespace detail

/// `Message`: what is being handled; void: on_start.
template <class Behaviour, class Message>
class portable_context {
 public:
  // -- for the runtime
  RONDO_HD explicit portable_context(context& ctx) noexcept : ctx_(ctx) {}

  // -- for handlers
  /// This actor.
  RONDO_HD actor_id self() const noexcept { return ctx_.self(); }
  /// Sends a message of the behaviour's `sends`. See kernels/portable/behaviour.hpp.
  template <class Target, class Told>
  RONDO_HD void tell(address<Target> to, Told const& m, unsigned priority = default_priority) noexcept {
    static_assert(detail::find_entry<Told, typename Behaviour::sends>::taken,
                  "a portable behaviour lists in `sends` what it tells");
    static_assert(detail::send_check<Target, Told>::done);
    ctx_.tell_patiently(to.id, m, static_cast<std::uint8_t>(priority));
  }
  /// Answers the request, once; nothing if no sender waits for an answer.
  template <class Reply>
  RONDO_HD void reply(Reply const& answer) noexcept {
    static_assert(std::is_same_v<Reply, reply_to_t<Behaviour, Message>>,
                  "the answer is what rondo::ask<Message, Reply> declares for the message");
    static_cast<void>(ctx_.reply(answer));
  }
  /// Fails the handler. What it has done and sent so far stays.
  RONDO_HD void fail(errc reason = errc::handler_failed) noexcept { ctx_.fail(reason); }

 private:
  context& ctx_;
};

// -- for the runtime

/// What packs need to know of a behaviour.
template <portable_behaviour B>
inline constexpr packed_behaviour packed_behaviour_of = {
    rondo_kernel_of(static_cast<B const*>(nullptr)),
    sizeof(B),
    {detail::packed_list<typename B::messages>::entries, detail::packed_list<typename B::messages>::size},
    {detail::packed_list<typename B::sends>::types, detail::packed_list<typename B::sends>::size}};

namespace detail {

template <class B, class M>
struct context_for {
  using type = context;
};
template <portable_behaviour B, class M>
struct context_for<B, M> {
  using type = portable_context<B, M>;
};
/// What a team gives to the handler of M.
template <class B, class M>
using context_of = typename context_for<B, M>::type;

}  // namespace detail

}  // namespace rondo
