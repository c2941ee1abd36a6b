// Exports: buffers in place, and copies of buffers that cannot be shared in place.
#include "runtime/sharing/buffer_exporter.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstdio>
#include <mutex>
#include <stdexcept>

#include "runtime/os/run_handlers.hpp"
#include "runtime/os/start_thread.hpp"
#include "runtime/sharing/exporter_state.hpp"

namespace rondo {

namespace {

using namespace std::chrono_literals;

buffer_exporter_options checked(buffer_exporter_options o) {
  auto const refuse = [](std::string const& text) {
    throw std::invalid_argument("buffer_exporter: " + text);
  };
  if (o.slots == 0 || o.slots > slot_stack::most_slots || o.slots > share::most_slots)
    refuse("slots is " + std::to_string(o.slots) + "; use 1 to " + std::to_string(share::most_slots));
  if (o.importers == 0 || o.importers > share::most_rows)
    refuse("importers is " + std::to_string(o.importers) + "; use 1 to " + std::to_string(share::most_rows));
  if (o.lease_timeout < 10ms || o.lease_timeout > 24h)
    refuse("lease_timeout is " + std::to_string(o.lease_timeout.count()) + " ms; use 10 ms to a day");
  if (o.keep_timeout < 10ms)
    refuse("keep_timeout is " + std::to_string(o.keep_timeout.count()) + " ms; use at least 10");
  if (!o.report) o.report = [](std::string const& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  return o;
}

}  // namespace

buffer_exporter::state::state(memfd_resource& m, buffer_exporter_options o)
    : options(checked(std::move(o))),
      memory(m),
      copies({.cap_bytes = options.copies_bytes,
              .slots = options.slots,
              .upstream = &m,
              .report = options.report}),
      device(options.device != nullptr ? options.device->share() : std::nullopt),
      table(m.size(), options.slots, options.importers),
      place(options.path),
      tick_every(std::chrono::nanoseconds(std::min(options.lease_timeout, options.keep_timeout)) / ticks),
      door(io, place->fd.release()),
      clock(io) {
  wait_at_door();
  tick();
  thread = start_thread("an exporter of buffers", [this] {
    own_threads::scope const own(&threads);
    run_handlers(io, say_thrown);
  });
}

buffer_exporter::state::~state() {
  place.reset();
  boost::asio::post(io, [this] {
    auto const lock = std::lock_guard(mutex);
    closing = true;
    door.close();
    clock.cancel();
    for (auto const& [number, c] : connections) {
      c->guard.reset();
      c->socket.close();
    }
  });
  thread.join();
}

void buffer_exporter::state::say_thrown(char const* text) {
  std::fprintf(stderr, "buffer_exporter: `report` or `joined` threw an exception: %s\n", text);
}

void buffer_exporter::state::say(std::string const& line) const {
  if (!line.empty())
    call_caught([&] { options.report("buffer_exporter " + options.path.string() + ": " + line); },
                say_thrown);
}

result<shared_buffer_ref> buffer_exporter::state::open(std::uint64_t offset, std::uint64_t bytes,
                                                       export_table::keeper keeps) {
  auto const lock = std::lock_guard(mutex);
  return table.open(offset, bytes, std::move(keeps));
}

template <class Fill>
result<shared_buffer_ref> buffer_exporter::state::open_copy(std::uint64_t bytes, atomic<std::uint32_t>& said,
                                                            char const* where, Fill fill) {
  auto copy = copies.acquire_buffer(bytes);
  if (!copy) return copy.error();
  auto const at = copy->span();
  if (!fill(at.data())) return make_error_code(errc::device_lost);
  if (said.exchange(1, memory_order::relaxed) == 0)  // relaxed: only decides which call is first
    say(std::string("buffers ") + where +
        " cannot be shared in place; each export of one is a copy on the host");
  auto const shared = open(offset_of(at.data()), bytes, std::move(*copy));
  if (shared) copied.fetch_add(1, memory_order::relaxed);  // relaxed: a statistic
  return shared;
}

bool buffer_exporter::state::shares_device(buffer_home const* home) {
  if (!device || home != options.device) return false;
  auto const lock = std::lock_guard(mutex);
  return std::ranges::all_of(connections,
                             [](auto const& c) { return !c.second->welcomed || c.second->opens_device; });
}

buffer_exporter::buffer_exporter(memfd_resource& memory, buffer_exporter_options options)
    : state_(make_process_ptr<state>(memory, std::move(options))) {}
buffer_exporter::~buffer_exporter() = default;

result<shared_buffer_ref> buffer_exporter::export_buffer(buffer_pool& pool, buffer_ref ref) {
  auto& s = *state_;
  if (auto* const home = pool.home()) {
    auto kept = pool.keep_block(ref);
    if (!kept) return make_error_code(kept.status());
    auto const* const from = pool.address_of(ref);
    if (s.shares_device(home)) {
      if (!home->mark_ready()) return make_error_code(errc::device_lost);
      auto const start = static_cast<std::uint64_t>(from - home->base());
      return s.open(start | share::on_device, ref.bytes, std::move(kept));
    }
    return s.open_copy(ref.bytes, s.said_device, "in a device's memory", [&](std::byte* to) {
      copy_job const job{to, from, ref.bytes, false};
      return home->copy({&job, 1});
    });
  }
  auto lease = pool.read(ref);
  if (!lease) return make_error_code(lease.status());
  auto const view = lease.view();
  if (s.memory.holds(view.data())) return s.open(s.offset_of(view.data()), view.size(), std::move(lease));
  return s.open_copy(view.size(), s.said_elsewhere, "outside the exporter's memory",
                     [&](std::byte* to) { return std::copy(view.begin(), view.end(), to), true; });
}

result<shared_buffer_ref> buffer_exporter::export_bytes(std::span<std::byte const> bytes,
                                                        std::shared_ptr<void> keeps) {
  auto& s = *state_;
  if (!s.memory.holds(bytes.data()) || bytes.size() > s.memory.size() - s.offset_of(bytes.data()))
    return make_error_code(errc::buffer_elsewhere);
  return s.open(s.offset_of(bytes.data()), bytes.size(), std::move(keeps));
}

errc buffer_exporter::withdraw(shared_buffer_ref ref) {
  auto const lock = std::lock_guard(state_->mutex);
  auto const outcome = state_->table.close(ref);
  if (outcome == errc::ok) state_->note_freed();
  return outcome;
}

std::uint64_t buffer_exporter::freed() const {
  auto const lock = std::lock_guard(state_->mutex);
  return state_->freed;
}

errc buffer_exporter::wait_freed(std::uint64_t seen, std::chrono::nanoseconds timeout) {
  auto& s = *state_;
  if (s.threads.would_deadlock()) return errc::would_deadlock;
  timeout = std::min<std::chrono::nanoseconds>(timeout, std::chrono::years(1));  // within the clock's range
  std::unique_lock lock(s.mutex);
  return s.freed_changed.wait_for(lock, timeout, [&] { return s.freed != seen; }) ? errc::ok
                                                                                  : errc::timed_out;
}

buffer_exporter_statistics buffer_exporter::statistics() const {
  auto& s = *state_;
  auto const lock = std::lock_guard(s.mutex);
  auto now = s.counts;
  now.copies = s.copied.load(memory_order::relaxed);  // relaxed: a statistic
  now.exported = s.table.open_slots();
  now.closing = s.table.closing_slots();
  for (auto const& [number, c] : s.connections) {
    now.importers += c->welcomed;
    if (c->row) now.leases += s.table.leases(*c->row);
  }
  return now;
}

}  // namespace rondo
