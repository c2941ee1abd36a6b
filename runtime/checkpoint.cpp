#include "runtime/checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <unordered_map>

#include "runtime/checkpoint_file.hpp"
#include "runtime/runtime_core.hpp"

namespace rondo {

namespace {

std::int64_t wall_clock_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

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
  if (h.stamped()) m.age_ns = h.age_ns(now_ns());  // read now: senders go on
  if ((h.flags & flag_wants_reply) != 0 && (h.reply_to.index & host_ask_bit) != 0) {
    h.flags &= static_cast<std::uint8_t>(~flag_wants_reply);  // the asker ends with its process
    h.reply_to = {};
  }
  return m;
}

std::vector<saved_message> copy_mail(arena_ref const& arena, actor_cell const& cell, actor_word word,
                                     behaviour_info const& behaviour) {
  std::vector<saved_message> mail;
  if (word.ring() == 0) return mail;
  auto const ring = arena.ring_at(word.ring());
  // A ring that senders attached since the last slice is not known to the cell yet.
  bool const adopted = cell.held_ring.load(memory_order::relaxed) == word.ring();
  auto const head = adopted ? cell.head : arena.ring(word.ring()).saved_tail();
  auto const scanned = adopted ? cell.scanned : head;

  std::vector<std::uint32_t> slots;
  for (auto t = head; t != scanned; t = (t + 1) & ticket_mask) slots.push_back(t);
  // In the stash a slot's place says nothing of its message's age.
  auto const age = [&](std::uint32_t t) {
    return (scanned - ring.links[t & (ring.slot_count - 1)].ticket) & ticket_mask;
  };
  std::ranges::sort(slots, std::greater<>{}, age);
  // Backwards: if a later message of a sender is seen, its earlier ones are seen after it. A slot that is
  // still being written is left out, for its sender was not told of a success yet.
  auto const stashed = static_cast<std::ptrdiff_t>(slots.size());
  for (auto t = word.tail(); t != scanned;) {
    t = (t - 1) & ticket_mask;
    if (ring.committed(t)) slots.push_back(t);
  }
  std::reverse(slots.begin() + stashed, slots.end());

  mail.reserve(slots.size());
  for (auto const t : slots)
    mail.push_back(copy_message(ring.slot(t).header, ring.slot(t).payload, behaviour));
  return mail;
}

saved_actor copy_actor(arena_ref const& arena, listed_actor const& entry, actor_word word,
                       behaviour_info const& behaviour) {
  actor_cell const& cell = arena.cell(entry.id.index);
  saved_actor a;
  a.id = entry.id;
  a.name = entry.name;
  a.behaviour = entry.behaviour;
  a.capacity = cell.capacity.load(memory_order::relaxed);
  a.pinned = word.has(actor_word::pinned);
  a.paused = word.has(actor_word::paused);
  // Relaxed, all of it: the quiet point orders what owners wrote.
  a.state = static_cast<lifecycle>(cell.state.load(memory_order::relaxed));
  a.control = cell.control.load(memory_order::relaxed) & control_mask & ~std::uint32_t{control_inspect};
  a.supervise = cell.supervise;
  a.overtakes = cell.overtakes;
  for (int b = 0; b < latency_histogram::buckets; ++b) a.latency_counts[b] = cell.latency.count(b);
  auto const* const state = arena.state(cell);
  a.state_bytes.assign(state, state + behaviour.state_bytes);
  a.mail = copy_mail(arena, cell, word, behaviour);
  a.totals = cell.totals.own();
  a.totals.accepted = a.totals.handled + a.totals.rejected + a.totals.dead + a.mail.size();
  return a;
}

// -- into an arena

void place_record(actor_cell& cell, saved_actor const& a) {
  // Nobody owns a paused actor at a quiet point, so its fields may be written. What it may have counted since
  // its launch stays.
  auto totals = a.totals;
  auto const since = cell.totals.own();
  totals.accepted += since.accepted - a.mail.size();  // its mail is counted when it is posted
  totals.handled += since.handled;
  totals.rejected += since.rejected;
  totals.dead += since.dead;
  cell.totals.publish(totals);
  for (int b = 0; b < latency_histogram::buckets; ++b) cell.latency.set(b, a.latency_counts[b]);
  cell.overtakes = a.overtakes;
  bool const closing = a.state == lifecycle::terminating || a.state == lifecycle::discarding;
  cell.state.store(static_cast<std::uint32_t>(closing ? lifecycle::active : a.state), memory_order::relaxed);
}

std::uint32_t control_after(saved_actor const& a) {
  return a.control | (a.state == lifecycle::terminating  ? control_drain
                      : a.state == lifecycle::discarding ? control_discard
                                                         : 0u);
}

/// Posts the mail and lets the actor go on.
errc place_mail(scheduler& sched, saved_actor const& a, std::uint64_t now, std::uint64_t passed_ns) {
  actor_cell& cell = sched.arena().cell(a.id.index);
  // acq_rel: keeps the word's chain.
  if (!a.paused) cell.word.fetch_and(~actor_word::paused, memory_order::acq_rel);
  for (auto const& m : a.mail)
    if (auto const refused = sched.post(a.id, revived(m, now, passed_ns), m.body.payload, m.body.bytes);
        refused != errc::ok)
      return refused;
  if (control_after(a) != 0 && !sched.signal(a.id, control_after(a))) return errc::actor_gone;
  return errc::ok;
}

}  // namespace

std::vector<saved_actor> copy_actors(arena_ref const& arena, std::vector<listed_actor> const& living,
                                     std::vector<behaviour_info> const& module) {
  std::vector<saved_actor> actors;
  actors.reserve(living.size());
  for (auto const& entry : living) {
    if (!arena.has_cell(entry.id.index)) continue;
    actor_cell const& cell = arena.cell(entry.id.index);
    actor_word const word{cell.word.load(memory_order::acquire)};  // a launched actor's record is visible
    if (lives(cell, word, entry.id))
      actors.push_back(copy_actor(arena, entry, word, module[entry.behaviour]));
  }
  return actors;
}

// Its deadline goes on, its latency counts anew.
message_header revived(saved_message const& m, std::uint64_t now_ns, std::uint64_t passed_ns) {
  auto h = m.body.header;
  h.flags &= static_cast<std::uint8_t>(~(flag_traced | flag_sampled));
  h.sent_low = h.sent_high = 0;
  if (h.deadline_us == 0) return h;
  // Older than its deadline is old enough, and never too much for the 48 bits of a time stamp.
  auto const oldest = std::uint64_t{h.deadline_us} * 1000 + 1'000'000;
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

std::string place_actors(arena_ref const& arena, checkpoint_image const& image, std::uint64_t passed_ns) {
  for (auto const& a : image.actors) {
    if (!arena.has_cell(a.id.index)) continue;
    actor_cell& cell = arena.cell(a.id.index);
    if (!lives(cell, actor_word{cell.word.load(memory_order::acquire)}, a.id))
      return fmt::format("actor '{}' was terminated while it was being restored", a.name);
    __builtin_memcpy(arena.state(cell), a.state_bytes.data(), a.state_bytes.size());
    place_record(cell, a);
  }
  scheduler sched{arena};
  auto const now = now_ns();
  for (auto const& a : image.actors) {
    if (!arena.has_cell(a.id.index)) continue;
    if (auto const refused = place_mail(sched, a, now, passed_ns); refused != errc::ok)
      return fmt::format("the mail of actor '{}' finds no place: {}", a.name,
                         make_error_code(refused).message());
  }
  return {};
}

// -- the runtime's side

namespace {

[[noreturn]] void refuse(std::filesystem::path const& file, std::string const& why) {
  throw std::runtime_error(fmt::format("{}: {}", file.string(), why));
}

std::vector<revival> revivals_of(checkpoint_image const& image) {
  std::vector<revival> all;
  all.reserve(image.actors.size());
  for (auto const& a : image.actors) {
    // Inactive until its state is there.
    actor_options const options{.device = device_of(a.id),
                                .capacity = a.capacity,
                                .pinned = a.pinned,
                                .active = false,
                                .supervise = a.supervise};
    all.push_back({a.id, a.name, a.behaviour, a.state_bytes.size(), options, a.capacity});
  }
  return all;
}

std::string explain(errc reason, saved_actor const& a) {
  switch (reason) {
    case errc::wrong_state:
      return fmt::format(
          "the place of actor '{}' (cell {}, generation {}) was given to another actor since; restore into a "
          "new runtime",
          a.name, cell_of(a.id), a.id.generation);
    case errc::out_of_memory:
      return fmt::format("there is no room for the state or mailbox of actor '{}'; raise `state_bytes`",
                         a.name);
    default:
      return fmt::format("actor '{}': {}", a.name, make_error_code(reason).message());
  }
}

/// Two threads must not write the same temporary file.
std::mutex writing;

}  // namespace

bool runtime_core::at_quiet_point(arena_access access,
                                  std::function<void(std::vector<arena_ref> const&)> const& use) {
  auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(settings_.stop_timeout_ms);
  std::vector<arena_ref> arenas;
  // One within the other: when the last device is quiet, all are.
  std::function<bool()> const next = [&] {
    if (arenas.size() == devices_.size()) return use(arenas), true;
    bool all = false;
    bool const quiet = devices_[arenas.size()].dev->at_quiet_point(until - std::chrono::steady_clock::now(),
                                                                   access, [&](arena_ref const& arena) {
                                                                     arenas.push_back(arena);
                                                                     all = next();
                                                                   });
    return quiet && all;
  };
  return next();
}

std::string runtime_core::why_not_quiet() const {
  for (auto const& d : devices_)
    if (d.dev->lost()) return make_error_code(errc::device_lost).message();
  auto const busy = fmt::format("{}", fmt::join(busy_teams("runs"), "; "));
  return fmt::format(
      "no quiet moment came within {} ms (`stop_timeout_ms`): {}; the runtime is as it was, try again",
      settings_.stop_timeout_ms, busy.empty() ? "handlers have ended only now" : busy);
}

void runtime_core::checkpoint(std::filesystem::path const& file, std::span<std::byte const> notes) {
  checkpoint_image image;
  image.notes.assign(notes.begin(), notes.end());
  std::exception_ptr failure;
  std::lock_guard one(writing);
  auto const copy = [&](std::vector<arena_ref> const& arenas) {
    try {
      image.written_us = wall_clock_us();
      auto const living = directory_->list();
      std::vector<std::unique_lock<std::mutex>> held(devices_.size());  // until all mailboxes are copied
      std::vector<outgoing> on_their_way;
      for (std::size_t d = 0; d < devices_.size(); ++d)
        std::ranges::move(devices_[d].mail->forwarded(held[d]), std::back_inserter(on_their_way));
      for (auto const& arena : arenas)
        std::ranges::move(copy_actors(arena, living, behaviours()), std::back_inserter(image.actors));
      add_arriving(image.actors, on_their_way, behaviours());
      std::lock_guard lock(pending_mutex_);
      image.retired = retired_;
      image.dead_letters = dead_letter_count_.load(memory_order::relaxed);  // relaxed: a statistic
    } catch (...) {
      failure = std::current_exception();  // nothing may leave a quiet point: the teams have to go on
    }
  };
  bool quiet = false;
  {
    std::unique_lock launching(launching_);
    quiet = at_quiet_point(arena_access::reads, copy);
  }
  if (!quiet) refuse(file, "was not written: " + why_not_quiet());
  if (failure) std::rethrow_exception(failure);
  write_checkpoint(file, image, behaviours());
}

/// What of this runtime is too small or of another kind than the image asks for; empty: nothing.
std::string runtime_core::why_no_room(checkpoint_image const& image) const {
  for (auto const& a : image.actors) {
    if (device_of(a.id) >= devices_.size())
      return fmt::format(
          "actor '{}' lives on device {}, and this runtime has {}, counted from 0; list it in `device`",
          a.name, device_of(a.id), devices_.size());
    if (!can_live_on(behaviours()[a.behaviour], device_of(a.id)))
      return fmt::format(
          "the captured actor '{}' lives on device {}, and that is no cpu here; list the devices in the "
          "order they had",
          a.name, device_of(a.id));
    if (auto const cells = devices_[device_of(a.id)].dev->shape().actors; cell_of(a.id) >= cells)
      return fmt::format("actor '{}' lives in cell {}, and this runtime has {}; raise `actors`", a.name,
                         cell_of(a.id), cells);
  }
  for (std::uint32_t d = 0; d < devices_.size(); ++d) {
    auto const& shape = devices_[d].dev->shape();
    auto const sharing = std::ranges::count_if(image.actors, [&](saved_actor const& a) {
      return device_of(a.id) == d && a.capacity <= shape.ring_slots && !a.mail.empty();
    });
    if (sharing > shape.rings)
      return fmt::format("{} actors have mail, and there are {} blocks for it; raise `mail_blocks`", sharing,
                         shape.rings);
  }
  return {};
}

std::vector<std::byte> runtime_core::restore(std::filesystem::path const& file) {
  auto image = read_checkpoint(file, behaviours());
  restore_image(image, file);
  return std::move(image.notes);
}

void runtime_core::restore_image(checkpoint_image& image, std::filesystem::path const& file) {
  std::unique_lock launching(launching_);
  if (closed()) refuse(file, "was not restored: " + make_error_code(closed_for()).message());
  if (recorder_) refuse(file, "was not restored: a recording is going on; begin it afterwards");
  if (directory_->alive() != 0) refuse(file, "was not restored: actors live in this runtime; use a new one");
  if (auto const why = why_no_room(image); !why.empty()) refuse(file, "was not restored: " + why);

  std::vector<launch_spec> specs;
  if (auto const refused = directory_->revive(revivals_of(image), specs); refused != errc::ok)
    refuse(file, "was not restored: " + explain(refused, image.actors[specs.size()]));
  // Pinned actors first: of the teams that they own there may be too few.
  std::ranges::stable_partition(specs, [](launch_spec const& s) { return s.pinned; });
  std::string failure;
  std::size_t launched = 0;
  for (; launched < specs.size() && failure.empty(); ++launched)
    if (auto const refused = devices_[device_of(specs[launched].id)].dev->launch(specs[launched]);
        refused != errc::ok) {
      failure = "an actor cannot be launched: " + make_error_code(refused).message();
      break;
    }
  if (failure.empty()) {
    auto const place = [&](std::vector<arena_ref> const& arenas) {
      auto const passed_us = std::max<std::int64_t>(0, wall_clock_us() - image.written_us);
      auto const passed_ns = static_cast<std::uint64_t>(passed_us) * 1000;
      try {
        for (auto const& arena : arenas)
          if (failure.empty()) failure = place_actors(arena, image, passed_ns);
        // Here, before their senders run again.
        for (auto const& a : image.actors)
          for (auto m : a.arriving) {
            m.body.header = revived(m, now_ns(), passed_ns);
            if (failure.empty()) forward(a.id, m.body);
          }
      } catch (std::exception const& e) {
        failure = e.what();
      }
      std::lock_guard lock(pending_mutex_);
      retired_ = image.retired;
      dead_letter_count_.store(image.dead_letters, memory_order::relaxed);  // relaxed: a statistic
    };
    if (!at_quiet_point(arena_access::writes, place)) failure = why_not_quiet();
  }
  if (failure.empty()) return;
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (i < launched)
      end_and_wait(specs[i].id);
    else
      directory_->remove(specs[i].id);
  refuse(file, "was not restored: " + failure);
}

}  // namespace rondo
