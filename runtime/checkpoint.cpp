#include "runtime/checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <unordered_set>

#include "runtime/core/runtime_core.hpp"
#include "runtime/runtime.hpp"
#include "runtime/state/actor_images.hpp"
#include "runtime/state/checkpoint_file.hpp"

namespace rondo {

namespace {

std::int64_t wall_clock_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

[[noreturn]] void refuse(std::filesystem::path const& file, std::string const& why) {
  throw std::runtime_error(fmt::format("{}: {}", file.string(), why));
}

std::vector<revival> revivals_of(checkpoint_image const& image) {
  std::vector<revival> all;
  all.reserve(image.actors.size());
  for (auto const& a : image.actors) {
    // Inactive until its state is restored.
    actor_options const options{.device = device_of(a.id),
                                .capacity = a.capacity,
                                .pinned = a.pinned,
                                .active = false,
                                .reserve = a.reserve,
                                .batch = a.batch,
                                .supervise = a.supervise};
    all.push_back({a.id, a.name, a.behaviour, a.state_bytes.size(), options, a.capacity, a.totals.handled,
                   a.followers.totals});
  }
  return all;
}

std::string and_others(saved_actor const& a) {
  auto const n = a.followers.count();
  return n == 0 ? std::string() : fmt::format(", or of the {} behind it", n);
}

std::string explain(errc reason, saved_actor const& a) {
  switch (reason) {
    case errc::wrong_state:
      return fmt::format(
          "the place of {} (cell {}, generation {}{}) now belongs to another actor; restore into a new "
          "runtime",
          name_of(a), cell_of(a.id), a.id.generation, and_others(a));
    case errc::out_of_memory:
      return fmt::format("there is no room for the state or mailbox of {}{}; raise `state_bytes`", name_of(a),
                         and_others(a));
    default:
      return fmt::format("{}: {}", name_of(a), make_error_code(reason).message());
  }
}

/// Why this runtime cannot hold the image: what is too small or of the wrong kind. Empty if it can.
std::string why_no_room(runtime_core& core, checkpoint_image const& image) {
  for (auto const& a : image.actors) {
    if (device_of(a.id) >= core.devices().size())
      return fmt::format("{} was on device {}, but this runtime has {}, counted from 0; list it in `device`",
                         name_of(a), device_of(a.id), core.devices().size());
    if (!core.devices().can_host(core.behaviours()[a.behaviour], device_of(a.id)))
      return fmt::format(
          "{}, which is captured, was on device {}, which is not a cpu device here; list the devices in "
          "their old order",
          name_of(a), device_of(a.id));
    auto const cells = core.devices()[device_of(a.id)].dev->shape().actors;
    if (auto const last = cell_of(a.id) + a.followers.count(); last >= cells)
      return fmt::format("{} was in cell {}, but this runtime has {}; raise `actors`",
                         name_of(a, a.followers.count()), last, cells);
  }
  for (std::uint32_t d = 0; d < core.devices().size(); ++d) {
    auto const& shape = core.devices()[d].dev->shape();
    auto const sharing = std::ranges::count_if(image.actors, [&](saved_actor const& a) {
      return device_of(a.id) == d && a.capacity <= shape.ring_slots && !a.mail.empty();
    });
    if (sharing > shape.rings)
      return fmt::format("{} actors have mail, but there are only {} mail blocks; raise `mail_blocks`",
                         sharing, shape.rings);
  }
  return {};
}

/// Pinned actors first, because there may be too few teams for them: `specs` are in the order of their launches then.
/// Returns how many were launched; if not all, `failure` says why.
std::size_t launch_all(runtime_core& core, std::vector<launch_spec>& specs, std::string& failure) {
  auto const is_pinned = [](launch_spec const& s) { return s.pinned; };
  if (std::ranges::any_of(specs, is_pinned)) std::ranges::stable_partition(specs, is_pinned);
  std::size_t launched = 0;
  for (; launched < specs.size() && specs[launched].pinned; ++launched) {
    auto const refused = core.devices().home_of(specs[launched].id).launch(specs[launched]);
    if (refused == errc::ok) continue;
    failure = "an actor cannot be launched: " + make_error_code(refused).message();
    return launched;
  }
  while (launched < specs.size()) {
    auto const first = specs.begin() + static_cast<std::ptrdiff_t>(launched);
    auto const end = std::find_if(
        first, specs.end(), [&](launch_spec const& s) { return device_of(s.id) != device_of(first->id); });
    auto const together = std::span(first, end);
    auto const n = core.devices().home_of(first->id).launch_many(together, {});
    launched += n;
    if (n == together.size()) continue;
    failure = "an actor cannot be launched: its device has ended";
    break;
  }
  return launched;
}

/// Nothing is sent from a line to a device with its own memory while this lives. Begin it before the safepoint, so that
/// each message is in one place then.
class held_mail {
 public:
  explicit held_mail(runtime_core& core) : core_(core) {
    core_.requests().hold();
    for (auto const& d : core_.devices()) d.mail->hold();
  }
  held_mail(held_mail const&) = delete;
  ~held_mail() {
    for (auto const& d : core_.devices()) d.mail->release();
    core_.requests().release();
  }

 private:
  runtime_core& core_;
};

/// Two threads must not write the same temporary file.
std::mutex writing;

}  // namespace

std::vector<device_event> actor_requests::kept(std::unique_lock<std::mutex>& held) const {
  held = std::unique_lock(mutex_);
  std::vector<device_event> all;
  auto const now = std::chrono::steady_clock::now();
  for (auto const& [number, t] : timers_) {
    auto const left = std::max<std::chrono::nanoseconds>(t.clock.expiry() - now, std::chrono::nanoseconds(0));
    auto const us = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(t.repeats ? t.period : left).count());
    device_event r{.kind = t.has_key ? event_kind::set_timer : event_kind::send_later,
                   .actor = t.has_key ? t.owner : t.to,
                   .detail = t.has_key ? timer_request::of(us, t.repeats).bits : us,
                   .behaviour = t.key,
                   .body = t.body};
    if (t.has_key) r.body.header.reply_to = t.to;
    all.push_back(r);
  }
  for (auto const& a : asks_) {
    device_event r{.kind = event_kind::ask_within, .reason = errc::outcome_unknown};
    r.body.header.reply_to = a.asker;
    r.body.header.correlation = a.correlation;
    r.body.header.type = a.type;
    all.push_back(r);
  }
  for (auto const& [one, of, other] : bonds_) {
    device_event r{.kind = event_kind::bond, .actor = one};
    r.body.header.reply_to = other;
    if (of == role::watches)
      r.detail = static_cast<std::uint64_t>(bond_request::watch);
    else if (of == role::is_parent_of)
      r.detail = static_cast<std::uint64_t>(bond_request::parent);
    else if (of == role::is_linked_to && one < other)
      r.detail = static_cast<std::uint64_t>(bond_request::link);
    else
      continue;
    all.push_back(r);
  }
  auto const arriving = std::lock_guard(arrivals_);
  std::ranges::copy_if(waiting_, std::back_inserter(all), is_request);
  return all;
}

std::vector<std::string> checkpoint(runtime& rt, std::filesystem::path const& file,
                                    std::span<std::byte const> notes) {
  auto& core = rt.core();
  checkpoint_image image;
  image.notes.assign(notes.begin(), notes.end());
  std::exception_ptr failure;
  std::vector<living_actor> living;
  std::vector<std::string> left_out;
  std::lock_guard one(writing);
  auto const copy = [&](std::vector<arena_ref> const& arenas) {
    try {
      image.written_us = wall_clock_us();
      // Until all mailboxes are copied.
      std::unique_lock<std::mutex> requests;
      std::vector<std::unique_lock<std::mutex>> held(core.devices().size());
      image.requests = core.requests().kept(requests);
      std::vector<outgoing> on_their_way;
      for (std::uint32_t d = 0; d < core.devices().size(); ++d)
        std::ranges::move(core.devices()[d].mail->orphans(held[d]), std::back_inserter(on_their_way));
      // An actor that gets what others do not get, mail on its way or the end of a question to an actor that is left
      // out, lies in no block.
      std::unordered_set<std::uint32_t> gets_more;
      for (auto const& m : on_their_way)
        for (auto const id : {m.to, m.body.header.reply_to}) gets_more.insert(id.index);
      auto const apart = std::ranges::stable_partition(
          living, [&](living_actor const& a) { return !core.behaviours()[a.behaviour].saved_apart; });
      auto const copy_to_image = [&](std::span<living_actor const> some, auto const& may_follow) {
        for (auto const& arena : arenas)
          std::ranges::move(copy_actors(arena, some, core.behaviours(), may_follow),
                            std::back_inserter(image.actors));
      };
      copy_to_image(apart, [](auto const&) { return false; });
      for (auto const& a : image.actors)
        for (auto const& m : a.mail) gets_more.insert(m.body.header.reply_to.index);
      copy_to_image({living.begin(), apart.begin()},
                    [&](living_actor const& a) { return !gets_more.contains(a.id.index); });
      add_arriving(image.actors, on_their_way, core.behaviours());
      auto const past = core.watched().read_past();
      image.retired = past.retired;
      image.dead_letters = past.dead_letters;
      image.generations = core.actors().generations();
      left_out = leave_out_apart(image, core.behaviours());
    } catch (...) {
      failure = std::current_exception();  // no exception may leave a safepoint: the teams must resume
    }
  };
  bool quiet = false;
  {
    std::unique_lock const held(core.launching());
    living = core.actors().all_living();
    try {
      require_savable(living, core.behaviours());
    } catch (std::runtime_error const& e) {
      refuse(file, fmt::format("was not written: {}", e.what()));
    }
    held_mail const still(core);
    quiet = core.at_safepoint(arena_access::reads, copy);
  }
  if (!quiet) refuse(file, "was not written: " + core.why_no_safepoint());
  if (failure) std::rethrow_exception(failure);
  write_checkpoint(file, image, core.behaviours());
  return left_out;
}

void detail::checkpoint_and_report(runtime& rt, std::filesystem::path const& file,
                                   std::span<std::byte const> notes) {
  if (auto const left_out = checkpoint(rt, file, notes); !left_out.empty())
    rt.core().watched().report(fmt::format("the checkpoint {} leaves out the actors of graphs: {}",
                                           file.string(), fmt::join(left_out, ", ")));
}

std::vector<std::byte> restore(runtime& rt, std::filesystem::path const& file) {
  auto image = read_checkpoint(file, rt.core().behaviours());
  detail::restore_image(rt.core(), image, file);
  return std::move(image.notes);
}

void detail::restore_image(runtime_core& core, checkpoint_image& image, std::filesystem::path const& file) {
  std::unique_lock const held(core.launching());
  if (core.closed()) refuse(file, "was not restored: " + make_error_code(core.closed_for()).message());
  if (core.recording())
    refuse(file, "was not restored: a recording is in progress; start it after the restore");
  if (core.actors().alive() != 0) refuse(file, "was not restored: this runtime has actors; use a new one");
  if (auto const why = why_no_room(core, image); !why.empty()) refuse(file, "was not restored: " + why);

  for (auto const& a : image.actors)  // an older version wrote it
    if (auto const& b = core.behaviours()[a.behaviour]; b.holds_addresses)
      refuse(file, "was not restored: " + why_not_savable(a.name, b));

  std::vector<launch_spec> specs;
  std::size_t at_fault = 0;
  if (auto const refused = core.actors().revive(revivals_of(image), specs, at_fault); refused != errc::ok)
    refuse(file, "was not restored: " + explain(refused, image.actors[at_fault]));
  core.actors().begin_above(image.generations);
  std::string failure;
  std::size_t launched = launch_all(core, specs, failure);
  if (failure.empty()) {
    auto const place = [&](std::vector<arena_ref> const& arenas) {
      auto const passed_us = std::max<std::int64_t>(0, wall_clock_us() - image.written_us);
      auto const passed_ns = static_cast<std::uint64_t>(passed_us) * 1000;
      try {
        for (auto const& arena : arenas)
          if (failure.empty()) failure = place_actors(arena, image, passed_ns);
        // At the safepoint, before their senders run again.
        for (auto const& a : image.actors)
          for (auto m : a.arriving) {
            m.body.header = revived(m, now_ns(), passed_ns);
            if (failure.empty()) core.devices().mail_of(a.id).put_back({a.id, m.body});
          }
        for (auto r : image.requests) {
          if (r.body.header.deadline != 0) r.body.header.stamp(now_ns());
          if (failure.empty()) core.requests().take(r);
        }
      } catch (std::exception const& e) {
        failure = e.what();
      }
    };
    core.watched().set_past(
        {image.retired, image.dead_letters});  // first: a message may become a dead letter
    if (!core.at_safepoint(arena_access::writes, place)) failure = core.why_no_safepoint();
  }
  if (failure.empty()) return;
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (i < launched)
      core.end_and_wait(specs[i].id);
    else
      core.actors().remove(specs[i].id);
  refuse(file, "was not restored: " + failure);
}

}  // namespace rondo
