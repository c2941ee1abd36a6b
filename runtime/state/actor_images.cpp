#include "runtime/state/actor_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <unordered_map>

#include "kernels/mail/scheduler.hpp"
#include "runtime/base/errc.hpp"

namespace rondo {

namespace {

// -- out of the arena

bool lives(actor_cell const& cell, actor_word word, actor_id id) {
  auto const state = static_cast<lifecycle>(cell.state.load(memory_order::relaxed));
  bool const closing = state == lifecycle::terminating || state == lifecycle::discarding;
  return word.of_generation(id.generation) &&
         cell.generation.load(memory_order::relaxed) == id.generation &&  // relaxed: the word was acquired
         (word.has(actor_word::open) || closing);
}

std::uint32_t payload_bytes(behaviour_info const& behaviour, std::uint32_t type) {
  for (auto const& m : behaviour.messages)
    if (m.id == type) return m.bytes;
  return max_payload_bytes;  // a type that the actor does not take
}

saved_message copy_message(message_header const& header, std::byte const* payload,
                           behaviour_info const& behaviour) {
  saved_message m;
  m.body.header = header;
  m.body.bytes = payload_bytes(behaviour, header.type);
  __builtin_memcpy(m.body.payload, payload, m.body.bytes);
  auto& h = m.body.header;
  if (h.stamped()) m.age_ns = h.age_ns(now_ns());  // read now, because senders continue
  if ((h.flags & flag_wants_reply) != 0 && (h.reply_to.index & host_ask_bit) != 0) {
    h.flags &= static_cast<std::uint8_t>(~flag_wants_reply);  // the asker dies with its process
    h.reply_to = {};
  }
  return m;
}

/// The ticket of the oldest message in the mailbox. Precondition: it has a ring.
std::uint32_t head_of(arena_ref const& arena, actor_cell const& cell, actor_word word) {
  // The cell does not know a ring that a sender attached after the last slice.
  owner_cell const& own = arena.owner(cell);
  bool const adopted = own.held_ring.load(memory_order::relaxed) == word.ring();
  return adopted ? own.head : arena.ring(word.ring()).saved_tail();
}

std::vector<saved_message> copy_mail(arena_ref const& arena, actor_cell const& cell, actor_word word,
                                     behaviour_info const& behaviour) {
  std::vector<saved_message> mail;
  if (word.ring() == 0) return mail;
  auto const ring = arena.ring_at(word.ring());
  auto const head = head_of(arena, cell, word);

  // Stashed messages come before the others of their priorities.
  std::vector<std::uint32_t> slots;
  priority_lists_ref::for_each_stashed(ring, [&](std::uint32_t slot) { slots.push_back(slot); });
  auto const stashed = static_cast<std::ptrdiff_t>(slots.size());
  auto const link = [&](std::uint32_t t) -> slot_link const& { return ring.link(t & (ring.slot_count - 1)); };
  // Backwards: if a later message of a sender is seen, its earlier ones are seen after it. A slot that is
  // still being written is left out, because its sender has no success reported yet.
  for (auto t = word.tail(); t != head;) {
    t = (t - 1) & ticket_mask;
    if (!priority_lists_ref::is_stashed(link(t)) && ring.count_at(t) != 0) slots.push_back(t);
  }
  // In the priority lists, a slot's position says nothing about its message's age.
  auto const age = [&](std::uint32_t t) {
    return (word.tail() - (priority_lists_ref::is_linked(link(t)) ? link(t).ticket : t)) & ticket_mask;
  };
  std::sort(slots.begin() + stashed, slots.end(),
            [&](std::uint32_t a, std::uint32_t b) { return age(a) > age(b); });

  mail.reserve(slots.size());
  auto payloads = std::make_unique<run_payloads>();
  for (auto const t : slots) {
    auto const count = ring.count_at(t);
    if (count < 2) {
      mail.push_back(copy_message(ring.slot(t).header, ring.slot(t).payload, behaviour));
      continue;
    }
    mail_run const run{ring, t, count};
    run.copy_to(*payloads);
    for (std::uint32_t i = 0; i < count; ++i)
      mail.push_back(copy_message(run.header(i), payloads->bytes + i * run.bytes(), behaviour));
  }
  return mail;
}

/// Without its state, latencies and mail.
saved_actor copy_record(arena_ref const& arena, living_actor const& entry, actor_word word) {
  actor_cell const& cell = arena.cell(entry.id.index);
  owner_cell const& own = arena.owner(cell);
  saved_actor a;
  a.id = entry.id;
  a.name = entry.name;
  a.behaviour = entry.behaviour;
  mailbox_limits const limits{cell.limits.load(memory_order::relaxed)};
  a.capacity = limits.capacity();
  a.reserve = limits.reserved();
  a.pinned = word.has(actor_word::pinned);
  a.paused = word.has(actor_word::paused);
  // Relaxed, all loads: the safepoint orders what owners wrote.
  a.state = static_cast<lifecycle>(cell.state.load(memory_order::relaxed));
  a.control = own.control.load(memory_order::relaxed) & control_mask & ~std::uint32_t{control_inspect};
  if ((cell.turn.own_mail() & own_again) != 0) a.control |= control_again;
  // What it waits for is not saved, so it is told to look again.
  auto const& place = arena.room_list_of(entry.id.index);
  bool const waits =
      place.is_used.load(memory_order::relaxed) != 0 && place.generation == entry.id.generation;
  if (waits || (cell.turn.own_mail() & own_room) != 0) a.control |= control_room;
  a.batch = cell.turn.batch();
  a.supervise = cell.supervise;
  a.overtakes = own.overtakes;
  a.totals = own.totals.own();
  a.totals.accepted = a.totals.ended();
  return a;
}

void copy_rest(arena_ref const& arena, actor_word word, behaviour_info const& behaviour, saved_actor& a) {
  actor_cell const& cell = arena.cell(a.id.index);
  auto const& latency = arena.owner(cell).latency;
  for (int b = 0; b < latency_histogram::buckets; ++b) a.latency_counts[b] = latency.count(b);
  auto const* const state = arena.state(cell);
  a.state_bytes.assign(state, state + behaviour.state_bytes);
  a.mail = copy_mail(arena, cell, word, behaviour);
  a.totals.accepted += a.mail.size();
}

/// Whether nothing of the actor but its state and counters is its own.
bool is_plain(arena_ref const& arena, actor_word word, saved_actor const& a) {
  bool const closing = a.state == lifecycle::terminating || a.state == lifecycle::discarding;
  if (!a.name.empty() || a.pinned || closing || a.control != 0 || a.overtakes != 0) return false;
  return word.ring() == 0 || word.tail() == head_of(arena, arena.cell(a.id.index), word);
}

bool follows(saved_actor const& first, saved_actor const& a) {
  auto const& s = first.supervise;
  auto const& t = a.supervise;
  return a.id == first.id_of(first.followers.count() + 1) && a.behaviour == first.behaviour &&
         a.capacity == first.capacity && a.batch == first.batch && a.state == first.state &&
         a.paused == first.paused && a.reserve.slots == first.reserve.slots &&
         a.reserve.from == first.reserve.from && s.rule == t.rule && s.poison_after == t.poison_after &&
         s.max_restarts == t.max_restarts && s.within_ms == t.within_ms;
}

void add_follower(arena_ref const& arena, behaviour_info const& behaviour, saved_actor const& a,
                  saved_followers& to) {
  actor_cell const& cell = arena.cell(a.id.index);
  auto const& latency = arena.owner(cell).latency;
  for (std::uint32_t b = 0; b < latency_histogram::buckets; ++b)
    if (auto const n = latency.count(static_cast<int>(b)); n != 0) to.latencies.push_back({to.count(), b, n});
  auto const* const state = arena.state(cell);
  to.states.insert(to.states.end(), state, state + behaviour.state_bytes);
  to.totals.push_back(a.totals);
}

// -- into an arena

/// `totals`: its own; `a` may be the actor that it follows.
void place_record(actor_cell& cell, owner_cell& own, saved_actor const& a, actor_totals totals) {
  // No team owns a paused actor at a safepoint, so its fields may be written. Counts since
  // its launch are kept.
  auto const since = own.totals.own();
  totals.accepted += since.accepted - a.mail.size();  // its mail is counted when it is posted
  totals.handled += since.handled;
  totals.rejected += since.rejected;
  totals.dead += since.dead;
  own.totals.publish(totals);
  own.overtakes = a.overtakes;
  bool const closing = a.state == lifecycle::terminating || a.state == lifecycle::discarding;
  cell.state.store(static_cast<std::uint32_t>(closing ? lifecycle::active : a.state), memory_order::relaxed);
}

std::uint32_t control_after(saved_actor const& a) {
  return a.control | (a.state == lifecycle::terminating  ? control_drain
                      : a.state == lifecycle::discarding ? control_discard
                                                         : 0u);
}

/// Posts the mail and resumes the actor.
errc place_mail(scheduler& sched, saved_actor const& a, std::uint64_t now, std::uint64_t passed_ns) {
  // acq_rel: continues the word's release sequence.
  for (std::uint32_t i = 0; i <= a.followers.count() && !a.paused; ++i)
    sched.arena().cell(a.id.index + i).word.fetch_and(~actor_word::paused, memory_order::acq_rel);
  for (auto const& m : a.mail)
    if (auto const refused = sched.post(a.id, revived(m, now, passed_ns), m.body.payload, m.body.bytes);
        refused != errc::ok)
      return refused;
  if (control_after(a) != 0 && !sched.signal(a.id, control_after(a))) return errc::actor_gone;
  return errc::ok;
}

}  // namespace

std::string name_of(saved_actor const& a, std::uint32_t i) {
  if (!a.name.empty()) return fmt::format("actor '{}'", a.name);
  return fmt::format("the actor in cell {} (generation {})", cell_of(a.id_of(i)), a.id.generation);
}

std::vector<saved_actor> copy_actors(arena_ref const& arena, std::span<living_actor const> living,
                                     std::vector<behaviour_info> const& module,
                                     std::function<bool(living_actor const&)> const& may_follow) {
  std::vector<saved_actor> actors;
  bool last_is_plain = false;
  for (auto const& entry : living) {
    if (!arena.has_cell(entry.id.index)) continue;
    actor_cell const& cell = arena.cell(entry.id.index);
    actor_word const word{cell.word.load(memory_order::acquire)};  // a launched actor's cell is visible
    if (!lives(cell, word, entry.id)) continue;
    auto const& behaviour = module[entry.behaviour];
    auto a = copy_record(arena, entry, word);
    bool const plain = is_plain(arena, word, a) && may_follow(entry);
    if (plain && last_is_plain && follows(actors.back(), a)) {
      add_follower(arena, behaviour, a, actors.back().followers);
      continue;
    }
    copy_rest(arena, word, behaviour, a);
    actors.push_back(std::move(a));
    last_is_plain = plain;
  }
  return actors;
}

std::byte const* state_of_living(arena_ref const& arena, actor_id actor) {
  if (!arena.has_cell(actor.index)) return nullptr;
  actor_cell const& cell = arena.cell(actor.index);
  actor_word const word{cell.word.load(memory_order::acquire)};
  return lives(cell, word, actor) ? arena.state(cell) : nullptr;
}

// The deadline continues; the latency starts from zero.
message_header revived(saved_message const& m, std::uint64_t now_ns, std::uint64_t passed_ns) {
  auto h = m.body.header;
  h.flags &= static_cast<std::uint8_t>(~(flag_traced | flag_sampled));
  h.sent_low = h.sent_high = 0;
  if (h.deadline == 0) return h;
  // An age just above the deadline is enough, and always fits into the 48 bits of a time stamp.
  auto const oldest = h.deadline_ns() + 1'000'000;
  auto const age = m.age_ns < oldest && passed_ns < oldest ? std::min(m.age_ns + passed_ns, oldest) : oldest;
  h.stamp(now_ns - age);
  return h;
}

void add_arriving(std::vector<saved_actor>& actors, std::vector<outgoing> const& on_their_way,
                  std::vector<behaviour_info> const& module) {
  if (on_their_way.empty()) return;
  std::unordered_map<std::uint32_t, saved_actor*> by_index;
  for (auto& a : actors) by_index.emplace(a.id.index, &a);
  for (auto const& m : on_their_way)
    if (auto const to = by_index.find(m.to.index); to != by_index.end() && to->second->id == m.to)
      to->second->arriving.push_back(
          copy_message(m.body.header, m.body.payload, module[to->second->behaviour]));
}

std::string why_not_savable(std::string_view actor, behaviour_info const& behaviour) {
  return fmt::format(
      "actor '{}' is a {}, whose state or launch arguments hold addresses, which mean nothing to another "
      "process",
      actor, behaviour.name);
}

void require_savable(std::vector<living_actor> const& actors, std::vector<behaviour_info> const& module) {
  for (auto const& a : actors)
    if (auto const& b = module[a.behaviour]; b.holds_addresses && !b.saved_apart)
      throw std::runtime_error(
          fmt::format("{}; terminate it first, or let it keep ids and handles of buffers instead of pointers "
                      "(`static constexpr bool holds_addresses = false;` in {} says that they do no harm)",
                      why_not_savable(a.name, b), b.name));
}

std::vector<std::string> leave_out_apart(checkpoint_image& image, std::vector<behaviour_info> const& module) {
  auto const first =
      std::stable_partition(image.actors.begin(), image.actors.end(),
                            [&](saved_actor const& a) { return !module[a.behaviour].saved_apart; });
  std::vector<saved_actor> out;
  std::move(first, image.actors.end(), std::back_inserter(out));
  image.actors.erase(first, image.actors.end());
  std::vector<std::string> names;
  if (out.empty()) return names;

  auto const is_in = [](std::vector<saved_actor>& actors) {
    std::unordered_map<std::uint32_t, saved_actor*> by_index;
    for (auto& a : actors) by_index.emplace(a.id.index, &a);
    return [by_index = std::move(by_index)](actor_id id) {
      auto const found = by_index.find(id.index);
      return found != by_index.end() && found->second->id == id ? found->second : nullptr;
    };
  };
  auto const kept = is_in(image.actors), left_out = is_in(out);

  /// False: nobody hears of it.
  auto const reject = [&](message const& m) {
    auto* const asker = (m.header.flags & flag_wants_reply) != 0 ? kept(m.header.reply_to) : nullptr;
    if (asker == nullptr) return false;
    asker->arriving.push_back({rejection_of(m.header, errc::actor_gone), 0});
    return true;
  };
  for (auto& a : out) {
    names.push_back(a.name);
    for (auto const& m : a.mail) {
      bool const told = reject(m.body);
      ++(told ? a.totals.rejected : a.totals.dead);
      if (!told) ++image.dead_letters;
    }
    for (auto const& m : a.arriving)
      if (!reject(m.body)) ++image.dead_letters;
    image.retired += a.totals;
  }

  for (auto& r : image.requests)  // whoever is linked to such an actor hears of its end
    if (r.kind == event_kind::bond && static_cast<bond_request>(r.detail) == bond_request::link &&
        left_out(r.actor) != nullptr)
      std::swap(r.actor, r.body.header.reply_to);
  std::erase_if(image.requests, [&](device_event const& r) {
    bool const is_child = r.kind == event_kind::bond &&
                          static_cast<bond_request>(r.detail) == bond_request::parent &&
                          left_out(r.body.header.reply_to) != nullptr;
    if (r.kind == event_kind::send_later) return false;  // has no owner
    return is_child ||
           left_out(r.kind == event_kind::ask_within ? r.body.header.reply_to : r.actor) != nullptr;
  });
  return names;
}

std::string place_actors(arena_ref const& arena, checkpoint_image const& image, std::uint64_t passed_ns) {
  for (auto const& a : image.actors) {
    if (!arena.has_cell(a.id.index)) continue;
    auto const bytes = a.state_bytes.size();
    for (std::uint32_t i = 0; i <= a.followers.count(); ++i) {
      auto const id = a.id_of(i);
      actor_cell& cell = arena.cell(id.index);
      if (!lives(cell, actor_word{cell.word.load(memory_order::acquire)}, id))
        return fmt::format("{} was terminated while it was being restored", name_of(a, i));
      __builtin_memcpy(arena.state(cell),
                       i == 0 ? a.state_bytes.data() : &a.followers.states[(i - 1) * bytes], bytes);
      place_record(cell, arena.owner(cell), a, i == 0 ? a.totals : a.followers.totals[i - 1]);
    }
    for (int b = 0; b < latency_histogram::buckets; ++b)
      arena.owner_of(a.id.index).latency.set(b, a.latency_counts[b]);
    for (auto const& l : a.followers.latencies)
      arena.owner_of(a.id.index + 1 + l.follower).latency.set(static_cast<int>(l.bucket), l.count);
  }
  scheduler sched{arena};
  auto const now = now_ns();
  for (auto const& a : image.actors) {
    if (!arena.has_cell(a.id.index)) continue;
    if (auto const refused = place_mail(sched, a, now, passed_ns); refused != errc::ok)
      return fmt::format("the mail of {} cannot be posted: {}", name_of(a),
                         make_error_code(refused).message());
  }
  return {};
}

}  // namespace rondo
