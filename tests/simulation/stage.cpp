#include "tests/simulation/stage.hpp"

#include "runtime/checkpoint.hpp"
#include "runtime/core/make_device.hpp"
#include "runtime/core/runtime_core.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/state/checkpoint_file.hpp"
#include "tests/simulation/audit.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace simulation {

using namespace std::chrono_literals;
using rondo::errc;
using rondo::error_code;

/// The nanoseconds since `begun`, minus the time of clock jumps and stalls; `jumped`: that time at `begun`.
std::uint64_t undisturbed_since(std::uint64_t begun, std::uint64_t jumped) {
  auto const all = world::get().now_ns() - begun, disturbed = world::get().jumped_ns() - jumped;
  return all - std::min(all, disturbed);
}

namespace {

std::filesystem::path checkpoint_file() {
  return std::filesystem::temp_directory_path() / fmt::format("rondo-simulation-{}.checkpoint", ::getpid());
}

std::string name_of_place(std::size_t at) { return "place " + std::to_string(at); }

char const* text_of(error_code ec) { return rondo::name_of(static_cast<errc>(ec.value())); }

}  // namespace

stage::stage(plan const& p) : plan_(p), places_(p.places.size()) {
  book_.of = &p;
  open(p.faults);
}

void stage::open(rondo::fault_plan const& faults) {
  plan const& p = plan_;
  jumped_before_stop_.reset();
  if (p.emulated()) {
    auto device = rondo::make_emulated_device(rondo::emulated_program_of<cast>(), p.settings, faults);
    device_ = device.get();
    std::vector<rondo::chosen_device> chosen;
    chosen.push_back({std::move(device), "simulated"});
    rt_ = std::make_unique<rondo::runtime>(rondo::use<cast>, p.settings, std::move(chosen));
  } else {
    rt_ = std::make_unique<rondo::runtime>(rondo::use<cast>, p.settings);
  }
  letters_ = rt_->on_dead_letter([this](rondo::dead_letter const& d) {
    std::uint32_t number = 0;
    __builtin_memcpy(&number, d.body.payload, sizeof number);
    if (d.type_name == rondo::type_name<answered> || d.type_name == rondo::type_name<rondo::rejected> ||
        d.type_name == rondo::type_name<tick>)
      return count("dead answers and ticks");
    book_.dead_letter(number, d.actor, d.reason);
  });
  failures_ = rt_->on_failure_report([this](std::string const& text) {
    world::get().note("report: " + text);
    count("failure reports");
    if (text.find("escalated") != std::string::npos) book_.ended = true;
  });
}

bool stage::ended() const { return book_.ended || (device_ != nullptr && device_->lost()); }

// -- actors

void stage::launch(std::uint32_t at) {
  place& p = places_[at];
  if (p.life != nobody && !book_.lives[p.life].gone) return;
  auto const& how = plan_.places[at];
  rondo::actor_options options{.capacity = how.capacity, .pinned = how.pinned, .active = how.starts_active};
  options.supervise = {static_cast<rondo::on_failure>(how.rule), how.poison_after, how.max_restarts, 1000};
  bool const alone = p.launching++ == 0;
  auto const launches = ++p.launches;
  auto const ref = rt_->try_launch<worker>(name_of_place(at), options);
  --p.launching;
  count(std::string("launch ") + text_of(ref ? error_code{} : ref.error()));
  if (!ref && ref.error() == errc::name_taken && alone && p.launches == launches &&
      (p.life == nobody || book_.lives[p.life].name_is_free))
    world::get().fail(fmt::format("G8: the name of place {} is taken, and no actor has it", at));
  if (!ref) return;
  // An actor that is being terminated may be gone before its caller is notified.
  if (p.life != nobody && !book_.lives[p.life].gone && book_.lives[p.life].waking == 0)
    world::get().fail("G7: two actors of one name live at once");
  p.before = p.life;
  p.ref_before = p.ref;
  p.ref = *ref;
  p.life = book_.born(ref->id(), at, how);
  world::get().note(fmt::format("  life {} begins in place {}", p.life, at));
}

void stage::launch_choir() {
  place_plan const how{.capacity = 64};
  auto const ref = rt_->try_launch<choir>("choir", {.capacity = how.capacity});
  if (!ref) return;
  choir_ = *ref;
  choir_life_ = book_.born(ref->id(), static_cast<std::uint32_t>(places_.size()), how);
}

/// Handlers may run from here on.
void stage::begin_waking(std::uint32_t index) {
  ++book_.lives[index].wakes;
  ++book_.lives[index].waking;
  book_.lives[index].paused = false;
}

void stage::set_active(place p, bool active) {
  if (p.life == nobody) return;
  auto const index = p.life;
  if (active) {
    begin_waking(index);
    auto const ec = rondo::activate(p.ref, rondo::block);
    --book_.lives[index].waking;
    return count(std::string("activate ") + text_of(ec));
  }
  auto const wakes = book_.lives[index].wakes;
  bool const alone = book_.lives[index].waking == 0;
  auto const ec = rondo::deactivate(p.ref, rondo::block);
  count(std::string("deactivate ") + text_of(ec));
  if (!ec && alone && book_.lives[index].wakes == wakes) book_.lives[index].paused = true;
}

void stage::activate_all() {
  for (auto const& p : places_)
    if (p.life != nobody && !book_.lives[p.life].gone) set_active(p, true);
}

void stage::terminate(operation const& o, rondo::termination how) {
  place const p = places_[o.place];
  if (p.life == nobody || book_.lives[p.life].gone) return;
  auto const index = p.life;
  begin_waking(index);
  if (how == rondo::termination::discard) book_.lives[index].discarded = true;
  auto const ec = rondo::terminate(p.ref, how, rondo::block);
  --book_.lives[index].waking;
  count(std::string("terminate ") + text_of(ec));
  if (!ec || ec == errc::actor_gone) book_.lives[index].gone = true;
  if (!ec) book_.lives[index].name_is_free = true;
}

// -- the rest

void stage::checkpoint() {
  auto const file = checkpoint_file();
  auto const begun = world::get().now_ns(), jumped = world::get().jumped_ns(), step = world::get().steps();
  try {
    rondo::checkpoint(*rt_, file);
    check_checkpoint(book_, rondo::read_checkpoint(file, rt_->core().behaviours()), step);
    count("checkpoint ok");
  } catch (std::runtime_error const& e) {
    count("checkpoint refused");
    bool const disturbed =
        plan_.faults.stall_handler != 0 || world::get().jumps() + world::get().stalls() != 0;
    bool const ends = ended() || plan_.faults.lose_after_messages != 0;
    if (!disturbed && (!ends || undisturbed_since(begun, jumped) > 1'000'000'000))
      world::get().fail(std::string("G10: no safepoint was found: ") + e.what());
  }
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
}

void stage::stop() {
  book_.ended = true;
  auto const begun = world::get().now_ns(), jumped = world::get().jumped_ns();
  // A later call tells what the first one found, also if the clock jumped then, and not since.
  if (!jumped_before_stop_) jumped_before_stop_ = jumped;
  auto const report = rt_->stop();
  auto const took = undisturbed_since(begun, jumped);
  if (!report.stopped && world::get().jumped_ns() == *jumped_before_stop_)
    world::get().fail("G10: the runtime does not stop: " +
                      (report.stuck.empty() ? "" : report.stuck.front()));
  if (took > std::uint64_t{plan_.settings.stop_timeout_ms} * 1'000'000 + 1'000'000'000)
    world::get().fail(fmt::format("G10: stop() took {} ms", took / 1'000'000));
}

/// G8, G9: writes a checkpoint, and continues with all actors, their states and their mail in a second runtime.
void stage::restart() {
  auto const file = checkpoint_file();
  auto const step = world::get().steps();
  try {
    rondo::checkpoint(*rt_, file);
    check_checkpoint(book_, rondo::read_checkpoint(file, rt_->core().behaviours()), step);
  } catch (std::runtime_error const& e) {
    if (!ended()) world::get().fail(std::string("G10: no safepoint was found at rest: ") + e.what());
    return;  // the device was lost meanwhile
  }
  stop();
  world::get().note("a second runtime goes on from the checkpoint");
  letters_ = {};
  failures_ = {};
  rt_.reset();
  book_.ended = false;
  book_.restored = true;
  open({});
  rondo::restore(*rt_, file);
  std::filesystem::remove(file);
  for (std::size_t at = 0; at < places_.size(); ++at) {
    place& p = places_[at];
    if (p.life == nobody || book_.lives[p.life].gone) continue;
    auto const found = rt_->find<worker>(name_of_place(at));
    if (found && found->id() == p.ref.id())
      p.ref = *found;
    else if (book_.lives[p.life].may_end_itself())
      book_.lives[p.life].gone = true;
    else
      world::get().fail(fmt::format("G9: life {} is not in the checkpoint", p.life));
  }
  if (auto const found = rt_->find<choir>("choir")) choir_ = *found;
  count("restarts");
}

}  // namespace simulation
