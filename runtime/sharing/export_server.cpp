#include "runtime/sharing/exporter_state.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "kernels/base/exceptions.hpp"

namespace rondo {

namespace {

using boost::asio::posix::stream_descriptor;

constexpr std::size_t most_unwelcomed = 64;  // connections that have not sent a hello yet

/// Why this is not a valid hello; empty if it is.
std::string fault_of(packet const& p) {
  share::packet_header h{.kind = {}};
  if (p.size >= sizeof h) std::memcpy(&h, p.bytes.data(), sizeof h);
  if (p.size < sizeof h || h.magic != share::magic)
    return "its first packet is not the hello of a Rondo importer";
  if (h.version != share::version)
    return "it uses protocol version " + std::to_string(h.version) + ", but the exporter uses version " +
           std::to_string(share::version) + "; build both from the same release";
  share::hello hello;
  if (p.cut || !share::read_packet(p.content(), hello))
    return "its hello has " + std::to_string(p.size) + " bytes and kind " +
           std::to_string(static_cast<std::uint32_t>(h.kind)) + "; expected " + std::to_string(sizeof hello) +
           " bytes and kind 1";
  if ((hello.transports & share::host_memory) == 0) return "it cannot map host memory";
  if (hello.how > delivery::lossless)
    return "it wants delivery " + std::to_string(static_cast<std::uint32_t>(hello.how)) +
           "; there are 0 (latest), 1 (every) and 2 (lossless)";
  if (hello.capacity == 0 || hello.capacity > share::most_granted)
    return "its capacity is " + std::to_string(hello.capacity) + "; use 1 to " +
           std::to_string(share::most_granted);
  return {};
}

}  // namespace

buffer_exporter::state::connection::connection(boost::asio::io_context& io, owned_fd fd)
    : socket(io, fd.get()), guard(fd.get()), who(identity_of(fd.get())) {
  static_cast<void>(fd.release());  // the socket owns it now
}

std::string buffer_exporter::state::connection::name() const {
  return "importer " + std::to_string(number) + " (process " + std::to_string(who.pid) + ")";
}

// -- the door

void buffer_exporter::state::wait_at_door() {
  door.async_wait(stream_descriptor::wait_read, [this](error_code const& error) {
    if (error) return;
    owned_fd fd;
    while ((fd = accept_from(door.native_handle()))) welcome_later(std::move(fd));
    // Out of descriptors: waiting here would spin, so the next tick tries again.
    door_rests = errno != EAGAIN && errno != ECONNABORTED && errno != EINTR;
    if (!door_rests) wait_at_door();
  });
}

void buffer_exporter::state::welcome_later(owned_fd fd) try {
  auto const c = std::make_shared<connection>(io, std::move(fd));
  {
    auto const lock = std::lock_guard(mutex);
    if (c->who.uid != ::geteuid()) return void(++counts.refused);
    // Silent connections must not keep others out: the oldest one is closed.
    if (connections.size() >= options.importers + most_unwelcomed) {
      auto const oldest = std::ranges::find_if(connections, [](auto const& one) { return !one.second->row; });
      ++counts.refused;
      forget(*std::shared_ptr(oldest->second));
    }
    c->number = ++last_number;
    connections.emplace(c->number, c);
  }
  listen_to(c);
} catch (std::exception const& e) {  // the system cannot watch another socket
  say(std::string("a connection was closed at once: ") + e.what());
}

void buffer_exporter::state::listen_to(std::shared_ptr<connection> const& c) {
  c->socket.async_wait(stream_descriptor::wait_read, [this, c](error_code const& error) {
    if (!error && c->socket.is_open() && serve(*c)) listen_to(c);
  });
}

/// Handles the packets that a connection has sent. False: the connection is closed.
bool buffer_exporter::state::serve(connection& c) {
  packet p;
  bool any = false;
  for (int i = 0; i < 64; ++i) {
    auto const got = receive_packet(c.fd(), p);
    if (got == packet_io::later) break;
    if (got == packet_io::gone) return end(c, c.welcomed ? counts.departed : counts.refused, {});
    any = true;
    if (!c.welcomed) {
      if (!shake_hands(c, p)) return false;
    } else if (share::settled s; p.cut || !share::read_packet(p.content(), s)) {
      return end(c, counts.departed, c.name() + " sent a packet that is not an importer's; disconnected");
    }
  }
  if (!any) return true;
  {
    auto const lock = std::lock_guard(mutex);
    table.sweep();
    if (c.row) send_unsent(c);
    note_freed();
  }
  say_changed();
  return true;
}

void buffer_exporter::state::say_changed() {
  if (options.changed) call_caught(options.changed, say_thrown);
}

bool buffer_exporter::state::shake_hands(connection& c, packet const& p) {
  auto fault = fault_of(p);
  if (share::hello h; fault.empty() && share::read_packet(p.content(), h)) {
    c.opens_device =
        device && (h.transports & share::device_memory) != 0 && h.device_identity == device->identity;
    c.how = h.how;
    c.capacity = h.capacity;
  }
  owned_fd row;
  if (fault.empty()) fault = admit(c, row);
  if (!fault.empty()) {
    share::refusal r;
    fault.copy(r.text, sizeof r.text - 1);
    static_cast<void>(send_packet(c.fd(), share::bytes_of(r)));
    return end(c, counts.refused, "process " + std::to_string(c.who.pid) + " was refused: " + fault);
  }
  if (!send_welcome(c, row)) return end(c, counts.refused, {});  // it is already gone
  if (options.joined) call_caught([&] { options.joined(c.number); }, say_thrown);
  return true;
}

/// Gives the connection a row; otherwise returns the reason.
std::string buffer_exporter::state::admit(connection& c, owned_fd& row) try {
  auto const lock = std::lock_guard(mutex);
  c.row = table.admit(c.number, row);
  if (c.row) return {};
  return "all " + std::to_string(options.importers) + " places for importers are taken; raise `importers`";
} catch (std::exception const& e) {
  return e.what();
}

bool buffer_exporter::state::send_welcome(connection& c, owned_fd const& row) {
  share::welcome w;
  w.share = table.share(), w.importer = c.number, w.data_bytes = memory.size();
  w.beat_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(options.lease_timeout).count()) / 8;
  w.slots = options.slots, w.rows = options.importers, w.row = *c.row;
  std::array fds{memory.fd(), table.fd(), row.get(), -1};
  if (c.opens_device) {
    w.transports |= share::device_memory;
    w.device_bytes = options.device->bytes();
    w.device_data = device->memory, w.device_ready = device->ready, w.device_identity = device->identity;
    fds[3] = device->pool;
  }
  auto const lock = std::lock_guard(mutex);  // so that no announcement precedes the welcome
  c.welcomed = send_packet(c.fd(), share::bytes_of(w), std::span(fds).first(c.opens_device ? 4 : 3)) ==
               packet_io::done;
  return c.welcomed;
}

/// Ends a connection, and with it all leases of its importer. Always returns false.
bool buffer_exporter::state::end(connection& c, std::uint64_t& counter, std::string const& line) {
  {
    auto const lock = std::lock_guard(mutex);
    if (!connections.contains(c.number)) return false;  // already evicted
    ++counter;
    forget(c);
  }
  say(line);
  say_changed();
  return false;
}
void buffer_exporter::state::forget(connection& c) {  // precondition: the caller holds mutex
  if (c.row) table.drop(*c.row);
  c.row.reset();
  c.guard.reset();
  c.socket.close();
  connections.erase(c.number);  // the caller still owns it
  note_freed();
}

// -- heartbeats

void buffer_exporter::state::tick() {
  // Counts ticks, not time: if this process itself was stopped, all importers have time to beat again.
  clock.expires_after(tick_every);
  clock.async_wait([this](error_code const& error) {
    if (error || closing) return;
    auto const lines = cut_off_the_overdue();
    for (auto const& line : lines) say(line);
    if (!lines.empty()) say_changed();
    if (door_rests) wait_at_door();
    tick();
  });
}

/// Checks one importer, once per tick. Returns why it must be cut off; empty: it may stay.
std::string buffer_exporter::state::why_cut_off(connection& c) {
  auto const beat = c.row ? table.beat(*c.row) : 0;
  c.silent = beat != c.beat ? 0 : c.silent + 1;
  c.beat = beat;
  if (c.silent * tick_every > options.lease_timeout)
    return fmt::format("{} {} for {} ms", c.name(), c.row ? "sent no heartbeat" : "sent no hello",
                       options.lease_timeout.count());
  if (!c.row) return {};
  auto const kept = table.kept_by(*c.row);
  auto const kept_for = std::chrono::duration_cast<std::chrono::milliseconds>(kept.since_first);
  if (kept_for <= options.keep_timeout) return {};
  return fmt::format("{} still leases {} withdrawn buffers ({} bytes), the first for {} ms", c.name(),
                     kept.slots, kept.bytes, kept_for.count());
}

std::vector<std::string> buffer_exporter::state::cut_off_the_overdue() {
  std::vector<std::string> lines;
  auto const lock = std::lock_guard(mutex);
  table.beat();
  std::vector<std::shared_ptr<connection>> overdue;
  for (auto const& [number, c] : connections)
    if (auto const why = why_cut_off(*c); !why.empty()) {
      lines.push_back(why + "; disconnected, its leases have ended");
      overdue.push_back(c);
    }
  for (auto const& c : overdue) {
    ++(c->row ? counts.cut_off : counts.refused);
    forget(*c);
  }
  for (auto const& [number, c] : connections)
    if (c->row) send_unsent(*c);
  table.sweep();
  return lines;
}

}  // namespace rondo
