#include "runtime/runtime.hpp"

#include "runtime/runtime_core.hpp"

namespace rondo {

namespace {

std::unique_ptr<runtime_core> make_core(config settings, program const& p) {
  auto devices = make_devices(p, settings);  // first: it says more of a device that is not to be had
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
runtime::~runtime() = default;

// -- actors

result<actor_id> runtime::try_launch_untyped(std::string name, std::string_view behaviour,
                                             actor_options const& options) {
  return core_->try_launch_untyped(std::move(name), behaviour, options);
}
result<actor_id> runtime::find_untyped(std::string_view name, std::string_view behaviour) const {
  return core_->find(name, behaviour);
}
void runtime::cancel(actor_id ask) { core_->cancel(ask); }
bool runtime::is_waiting(actor_id ask) const noexcept { return core_->is_waiting(ask); }
result<any_ref> runtime::find_any(std::string_view name) const { return core_->find_any(name); }
result<any_ref> runtime::at(actor_id actor) const { return core_->at(actor); }
std::vector<listed_actor> runtime::list(std::uint32_t from, std::size_t most) const {
  return core_->list(from, most);
}
result<listed_actor> runtime::listed(actor_id actor) const { return core_->listed(actor); }
std::vector<behaviour_info> const& runtime::behaviours() const noexcept { return core_->behaviours(); }
messenger& runtime::mail_of(actor_id actor) const noexcept { return core_->mail_of(actor); }
void runtime::start_control(actor_id actor, control_bits bits, answer_handler handler) {
  core_->start_control(actor, bits, std::move(handler));
}
void runtime::start_inspection(actor_id actor, inspection_handler handler) {
  core_->start_inspection(actor, std::move(handler));
}
void runtime::record_untyped(std::string actor, std::uint32_t device, std::size_t request_bytes,
                             std::size_t reply_bytes,
                             std::function<void(stream&, std::byte const*, std::byte*)> const& work) {
  core_->record({std::move(actor), static_cast<std::uint32_t>(request_bytes),
                 static_cast<std::uint32_t>(reply_bytes), work},
                device);
}
timer runtime::every_untyped(std::chrono::nanoseconds period, actor_id to, std::uint32_t type,
                             std::span<std::byte const> payload, tell_options options) {
  return core_->every(period, to, type, payload, options);
}

// -- looking

telemetry runtime::snapshot() { return core_->snapshot(); }
std::vector<trace_hop> runtime::traces(std::uint64_t trace) const { return core_->traces(trace); }
std::uint64_t runtime::forgotten_hops() const { return core_->forgotten_hops(); }
std::uint64_t runtime::new_trace() noexcept { return core_->new_trace(); }
subscription runtime::on_dead_letter(std::function<void(dead_letter const&)> handler) {
  return core_->on_dead_letter(std::move(handler));
}
subscription runtime::on_failure_report(std::function<void(std::string const&)> handler) {
  return core_->on_failure_report(std::move(handler));
}
std::unique_ptr<guest> runtime::make_guest(std::uint32_t device) { return core_->make_guest(device); }
std::uint32_t runtime::device_count() const noexcept { return core_->device_count(); }
device_info runtime::info(std::uint32_t device) const { return core_->info(device); }
std::string const& runtime::reason(std::uint32_t device) const noexcept { return core_->reason(device); }
config const& runtime::settings() const noexcept { return core_->settings(); }
buffer_pool& runtime::buffers(std::uint32_t device) noexcept { return core_->buffers(device); }
buffer_pool& runtime::host_buffers() noexcept { return core_->host_buffers(); }
memfd_resource* runtime::shared_memory() noexcept { return core_->shared_memory(); }
memory_pair runtime::memory(std::uint32_t device) noexcept { return core_->memory(device); }
transfer_counts runtime::transfers(std::uint32_t device) const noexcept { return core_->transfers(device); }
boost::asio::any_io_executor runtime::executor() { return core_->executor(); }

// -- endings

void runtime::checkpoint(std::filesystem::path const& file, std::span<std::byte const> notes) {
  core_->checkpoint(file, notes);
}
std::vector<std::byte> runtime::restore(std::filesystem::path const& file) { return core_->restore(file); }
void runtime::begin_recording(std::filesystem::path const& file) { core_->begin_recording(file); }
bool runtime::flush_recording() { return core_->flush_recording(); }
void runtime::end_recording() { core_->end_recording(); }
replay_report runtime::replay(std::filesystem::path const& file,
                              std::function<void(std::uint64_t)> const& progress) {
  return core_->replay(file, progress);
}
void runtime::upgrade_to(program const& next) { core_->upgrade(next); }
stop_report runtime::stop() { return core_->stop(); }

}  // namespace rondo
