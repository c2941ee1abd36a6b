#include "runtime/runtime.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/guest.hpp"
#include "runtime/core/runtime_core.hpp"

namespace rondo {

namespace {

std::unique_ptr<runtime_core> make_core(config settings, program const& p) {
  auto devices = make_devices(p, settings);  // first: it says more about an unavailable device
  validate(settings);
  return std::make_unique<runtime_core>(std::move(settings), p, std::move(devices));
}

std::unique_ptr<runtime_core> make_core(config settings, program const& p,
                                        std::vector<chosen_device> chosen) {
  validate(settings);
  return std::make_unique<runtime_core>(std::move(settings), p, std::move(chosen));
}

}  // namespace

runtime::runtime(config settings, program const& p) : core_(make_core(std::move(settings), p)) {}
runtime::runtime(config settings, program const& p, std::vector<chosen_device> chosen)
    : core_(make_core(std::move(settings), p, std::move(chosen))) {}
runtime::~runtime() { runtime_core::retire(core_); }

// -- actors

result<actor_id> runtime::try_launch_untyped(std::string name, std::string_view behaviour,
                                             actor_options const& options,
                                             std::span<std::byte const> arguments) {
  return core_->launch(std::move(name), behaviour, options, arguments);
}
std::vector<actor_id> runtime::launch_many_untyped(std::string_view behaviour, std::size_t count,
                                                   actor_options const& options,
                                                   std::span<std::byte const> arguments,
                                                   std::span<std::uint32_t const> capacities) {
  auto made = core_->launch_many(behaviour, count, options, arguments, capacities);
  if (!made) not_launched(made.error(), behaviour);
  return std::move(*made);
}
void runtime::require_launchable(std::string const& name, std::string_view behaviour,
                                 actor_options const& options, std::size_t count) const {
  core_->require_possible(name, behaviour, options, count);
}
boost::asio::any_io_executor runtime::operations() { return core_->operations(); }
own_threads const* runtime::threads() const noexcept { return &core_->threads(); }
void runtime::not_launched(error_code why, std::string_view behaviour) const {
  std::string what = fmt::format("launching a '{}'", behaviour);
  if (why == errc::unknown_behaviour) {
    std::vector<std::string_view> known;
    for (auto const& b : behaviours()) known.push_back(b.name);
    what += fmt::format(", but the behaviours of this module are: {}", fmt::join(known, ", "));
  }
  throw boost::system::system_error(why, what);
}
result<actor_id> runtime::find_untyped(std::string_view name, std::string_view behaviour) const {
  auto const found = core_->actors().find(name);
  if (!found || behaviours()[found->behaviour].name != behaviour) return errc::not_found;
  return found->id;
}
result<any_ref> runtime::find_any(std::string_view name) const {
  auto const found = core_->actors().find(name);
  if (!found) return errc::not_found;
  return any_ref{mail_of(found->id), found->id, behaviours()[found->behaviour]};
}
result<any_ref> runtime::at(actor_id actor) const {
  auto const behaviour = core_->actors().behaviour_of(actor);
  if (!behaviour) return errc::actor_gone;
  return any_ref{mail_of(actor), actor, behaviours()[*behaviour]};
}
std::vector<listed_actor> runtime::list(std::uint32_t from, std::size_t most) const {
  return core_->actors().list(from, most);
}
actor_room runtime::room(std::uint32_t device) const {
  return core_->actors().room(device, info(device).pinned_teams);
}
std::uint64_t runtime::bytes_of_actor(std::string_view behaviour, actor_options const& options) const {
  auto const found = std::ranges::find(behaviours(), behaviour, &behaviour_info::name);
  if (found == behaviours().end() || options.device >= device_count()) return 0;
  return core_->actors().bytes_of(options.device, found->state_bytes,
                                  options.capacity.value_or(settings().default_capacity));
}
result<listed_actor> runtime::listed(actor_id actor) const {
  auto found = core_->actors().find(actor);
  if (!found) return errc::actor_gone;
  return std::move(*found);
}
std::vector<behaviour_info> const& runtime::behaviours() const noexcept { return core_->behaviours(); }
messenger& runtime::mail_of(actor_id actor) const noexcept { return core_->devices().mail_of(actor); }
void runtime::require_own(messenger const& home, actor_id actor) const {
  if (!core_->devices().has_device_of(actor) || &home != &mail_of(actor))
    throw std::invalid_argument(
        "runtime::every: the actor belongs to another runtime; call that one's `every`");
}
void runtime::cancel(actor_id ask) { core_->asks().complete(ask, errc::cancelled, nullptr); }
bool runtime::is_waiting(actor_id ask) const noexcept { return core_->asks().is_waiting(ask); }
timer runtime::every_untyped(std::chrono::nanoseconds period, actor_id to, std::uint32_t type,
                             std::span<std::byte const> payload, tell_options options) {
  return core_->every(period, to, type, payload, options);
}

// -- observation

telemetry runtime::snapshot() { return core_->watched().snapshot(); }
std::vector<actor_snapshot> runtime::snapshot_of(std::uint32_t first, std::uint32_t last) {
  return core_->watched().snapshot_of(first, last);
}
graph_reports& runtime::graphs() const noexcept { return core_->watched().graphs(); }
trace_log& runtime::traces() const noexcept { return core_->traces(); }
subscription runtime::on_dead_letter(std::function<void(dead_letter const&)> handler) {
  return core_->watched().on_dead_letter(std::move(handler));
}
subscription runtime::on_failure_report(std::function<void(std::string const&)> handler) {
  return core_->watched().on_failure_report(std::move(handler));
}
subscription runtime::on_log(std::function<void(log_line const&)> handler) {
  return core_->watched().on_log(std::move(handler));
}

// -- devices and memory

std::uint32_t runtime::device_count() const noexcept { return core_->devices().size(); }
device_info runtime::info(std::uint32_t device) const {
  auto const& of = core_->devices()[device];
  auto info = of.dev->info();
  if (of.player) info.description += "; kernels on " + of.player->description();
  if (auto* const packs = of.dev->packs())
    info.portable =
        packs->reports([this](std::uint32_t b) { return std::string(core_->behaviours()[b].name); });
  return info;
}
std::string const& runtime::reason(std::uint32_t device) const noexcept {
  return core_->devices()[device].reason;
}
std::unique_ptr<guest> runtime::make_guest(std::uint32_t device) {
  return core_->devices()[device].dev->make_guest();
}
buffer_pool& runtime::buffers(std::uint32_t device) noexcept { return core_->buffers(device); }
buffer_pool& runtime::host_buffers() noexcept { return core_->host_buffers(); }
memfd_resource* runtime::shared_memory() noexcept { return core_->shared_memory(); }
memory_pair runtime::memory(std::uint32_t device) noexcept { return core_->memory(device); }
transfer_counts runtime::transfers(std::uint32_t device) const noexcept {
  return core_->devices()[device].transfers->read();
}

config const& runtime::settings() const noexcept { return core_->settings(); }
boost::asio::any_io_executor runtime::executor() { return core_->context().get_executor(); }
stop_report runtime::stop() { return core_->stop(); }

}  // namespace rondo
