// A team packs mail of portable behaviours (kernels/actor/mail_pack.hpp) instead of handling it.
//
// Threads: the team.
#pragma once

#include "kernels/actor/mail_pack.hpp"
#include "kernels/actor/owned_actor.hpp"

namespace rondo {

// -- for the runtime

/// Whether teams may pack mail of the module. A GPU's do not: their handlers run there.
template <class Module>
#if defined(__CUDA_ARCH__)
inline constexpr bool packs_mail = false;
#else
inline constexpr bool packs_mail = Module::has_portable;
#endif
struct packs_nothing {};

/// The packs of one team.
struct team_packs {
  pack_desk* desk = nullptr;
  mail_pack* open = nullptr;  // that the team fills; null: none

  /// Whether mail of this behaviour is to be packed; there is a pack for it then.
  bool takes(std::uint16_t behaviour) noexcept {
    auto const most = desk->packs(behaviour);
    if (most == 0) return false;
    if (open == nullptr && (open = desk->open()) != nullptr && open->empty()) open->opened_ns = now_ns();
    if (open != nullptr && most < open->most_messages) open->most_messages = most;
    return open != nullptr;
  }
  void play() noexcept {
    if (open == nullptr) return;
    open->empty() ? desk->close(*open) : desk->play(*open);
    open = nullptr;
  }
};

/// Where the payloads of `count` messages go. Null: they are to be handled here, or there is no room.
inline std::byte* packed_at(mail_pack& pack, packed_behaviour const& portable, message_header const& h,
                            std::uint32_t count) {
  if ((h.flags & flag_traced) != 0 || (h.deadline != 0 && h.expired(rondo::now_ns()))) return nullptr;
  for (auto const& e : portable.takes)
    if (e.type == h.type)
      return pack.add(static_cast<std::uint32_t>(&e - portable.takes.data()), e.bytes,
                      (h.flags & flag_wants_reply) != 0, count);
  return nullptr;
}
/// Packs the messages of an actor that come next, with its state. False: there are none, or the first of them is to be
/// handled here. Precondition: packs.takes, and its team owns the actor.
template <class Module>
bool pack_mail(owned_actor<Module> const& actor, std::byte const* state, team_packs& packs,
               packed_behaviour const& portable, std::uint32_t quota) {
  std::uint32_t ticket = 0;
  auto const count = actor.priority_lists().pick(ticket);
  if (count == 0 || count > quota) return false;
  mail_pack& pack = *packs.open;
  mail_pack::part const from{actor.index, ticket, count != 1};
  if (!pack.begin(actor.self, actor.cell.behaviour(), state, portable.state_bytes, from)) {
    packs.play();
    return packs.takes(actor.cell.behaviour()) && pack_mail(actor, state, packs, portable, quota);
  }
  if (count != 1) {
    mail_run const run{actor.ring, ticket, count};
    auto const h = run.header(0);
    run_payloads copy;
    auto* const to = packed_at(pack, portable, h, count);
    if (to == nullptr) return pack.drop(), false;
    run.copy_to(copy);
    __builtin_memcpy(to, copy.bytes, count * run.bytes());
    return true;
  }
  bool const in_order = actor.priority_lists().in_order();
  auto most = in_order ? quota : 1;
  if (actor.ring.slot_count < most) most = actor.ring.slot_count;
  for (std::uint32_t n = 0; n < most; ++n) {
    auto const t = (ticket + n) & ticket_mask;
    if (n != 0 && (actor.ring.count_at(t) != 1 || !actor.priority_lists().has_default_priority(t))) break;
    message_slot const& slot = actor.ring.slot(t);
    auto* const to = packed_at(pack, portable, slot.header, 1);
    if (to == nullptr && n == 0) return pack.drop(), false;
    if (to == nullptr) break;
    __builtin_memcpy(to, slot.payload, max_payload_bytes);
  }
  return true;
}

}  // namespace rondo
