#include "runtime/replay.hpp"

#include <fmt/format.h>

#include <fstream>

#include "runtime/base/guest.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/core/runtime_core.hpp"
#include "runtime/runtime.hpp"
#include "runtime/state/actor_images.hpp"
#include "runtime/state/recording_file.hpp"

namespace rondo {

namespace {

constexpr std::size_t told_differences = 20;

std::string ending(bool handled, errc reason) {
  if (!handled) return fmt::format("was not handled ({})", name_of(reason));
  return reason == errc::ok ? "was handled" : fmt::format("made its handler fail ({})", name_of(reason));
}

/// One replay; called with each entry in turn.
struct rerun {
  runtime_core& core;
  std::filesystem::path const& file;
  std::shared_ptr<replayer> ends = std::make_shared<replayer>();
  replay_report report{};
  std::vector<std::unique_ptr<rondo::guest>> guests{};  // by device; null: the device's teams run the actors

  [[noreturn]] void refuse(std::string const& why) const {
    throw std::runtime_error(fmt::format("{}: {}", file.string(), why));
  }

  void differs(actor_id actor, std::string const& how) {
    ++report.differing;
    if (report.differences.size() < told_differences)
      report.differences.push_back(
          fmt::format("entry {}, actor '{}': {}", report.entries, core.names().of_actor(actor), how));
  }

  void operator()(recorded_launch const& l) {
    ++report.launched;
    if (!core.devices().has_device_of(l.actor))
      refuse(fmt::format("actor '{}' was on device {}, but this runtime has {}, counted from 0", l.name,
                         device_of(l.actor), core.devices().size()));
    if (auto const& b = core.behaviours()[l.behaviour]; b.holds_addresses)  // an older version wrote it
      refuse(why_not_savable(l.name, b));
    actor_options const options{.device = device_of(l.actor),
                                .capacity = l.capacity,
                                .pinned = l.pinned,
                                .reserve = l.reserve,
                                .supervise = l.supervise};
    auto spec = core.actors().add_as(
        {l.actor, l.name, l.behaviour, core.behaviours()[l.behaviour].state_bytes, options, l.capacity});
    auto refused = spec ? errc::ok : static_cast<errc>(spec.error().value());
    if (spec)
      refused = core.devices()[options.device].launch(
          *spec, arguments_for(*spec, core.behaviours()[l.behaviour], l.arguments));
    if (refused == errc::ok) return;
    if (spec) core.actors().remove(l.actor);
    refuse(
        fmt::format("actor '{}' cannot be launched again: {}", l.name, make_error_code(refused).message()));
  }

  void operator()(recorded_end const& e) {
    if (core.actors().find(e.actor)) core.end_and_wait(e.actor);
  }

  void operator()(recorded_message const& m) {
    if (!m.handled) return static_cast<void>(++report.not_handled);
    ++report.messages;
    auto h = m.body.header;
    h.deadline = 0;  // it was in time
    errc refused = errc::ok;
    {
      auto& guest = guests[device_of(m.actor) < guests.size() ? device_of(m.actor) : 0];
      quiet_posts const quiet(guest != nullptr);
      refused = core.devices().has_device_of(m.actor) ? core.devices().mail_of(m.actor).try_post_apart(
                                                            m.actor, h, m.body.payload, max_payload_bytes)
                                                      : errc::actor_gone;
      if (guest) guest->run(std::chrono::seconds(1));
    }
    if (refused != errc::ok)
      return differs(m.actor,
                     fmt::format("it does not accept the message: {}", make_error_code(refused).message()));
    for (;;) {
      if (auto const now = ends->wait(m.actor, std::chrono::milliseconds(100)); now) return compare(m, *now);
      if (core.closed()) refuse("the replay ended early: " + make_error_code(core.closed_for()).message());
      if (!core.actors().find(m.actor))
        return differs(m.actor, "it has terminated, but had not when it was recorded");
    }
  }

  void operator()(recording_closed const&) {}

  void compare(recorded_message const& then, replayed const& now) {
    if (now.handled != then.handled || now.reason != then.reason)
      return differs(
          then.actor,
          fmt::format("a {} {}, but when it was recorded it {}", core.names().of_type(then.body.header.type),
                      ending(now.handled, now.reason), ending(then.handled, then.reason)));
    if (now.digest != then.digest && now.digest != untold_digest && then.digest != untold_digest)
      differs(then.actor, fmt::format("the handler of a {} does not send what it sent when it was recorded",
                                      core.names().of_type(then.body.header.type)));
  }
};

}  // namespace

replay_report replay(runtime& rt, std::filesystem::path const& file,
                     std::function<void(std::uint64_t)> const& progress) {
  auto& core = rt.core();
  rerun run{core, file};
  std::ifstream in(file, std::ios::binary);
  if (!in) run.refuse("cannot be read");
  try {
    recording_reader reader(in, core.behaviours());
    auto image = reader.image();
    for (auto& a : image.actors) {  // the recording says what it handles and when it terminates
      a.paused = false;
      a.state = lifecycle::active;
      a.control = 0;
    }
    detail::restore_image(core, image, file);
    run.report.launched = image.actors.size();
    for (auto& d : core.devices()) run.guests.push_back(d.dev->make_guest());
    std::unique_lock launching(core.launching());
    if (!core.set_journal(journal_report | journal_mute, [&] { core.set_replay(run.ends); }))
      run.refuse("was not replayed: " + core.why_no_safepoint());
    std::exception_ptr failure;
    try {
      while (auto const entry = reader.next()) {
        std::visit(run, *entry);
        if (++run.report.entries % 1024 == 0 && progress) progress(run.report.entries);
      }
    } catch (...) {
      failure = std::current_exception();
    }
    run.guests.clear();
    bool const quiet = core.set_journal(0, [&] { core.set_replay(nullptr); });
    if (!quiet) {  // a handler is still running; its report goes to core.replay()
      launching.unlock();
      core.stop();
      run.refuse("the replay was stopped: " + core.why_no_safepoint());
    }
    if (failure) std::rethrow_exception(failure);
    run.report.complete = reader.complete();
  } catch (std::runtime_error const& e) {
    std::string const why = e.what();
    if (why.starts_with(file.string())) throw;
    run.refuse(why);
  }
  return std::move(run.report);
}

}  // namespace rondo
