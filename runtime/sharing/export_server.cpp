#include "runtime/sharing/export_server.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

namespace rondo {

namespace {

using boost::asio::posix::stream_descriptor;

constexpr std::uint32_t ticks = 4;           // per shorter of the two timeouts
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
  return {};
}

}  // namespace

export_server::connection::connection(boost::asio::io_context& io, owned_fd fd)
    : socket(io, fd.get()), guard(fd.get()), who(identity_of(fd.get())) {
  static_cast<void>(fd.release());  // the socket owns it now
}

std::string export_server::connection::name() const {
  return "importer " + std::to_string(number) + " (process " + std::to_string(who.pid) + ")";
}

export_server::export_server(buffer_exporter_options const& options, memfd_resource const& memory,
                             export_table& table, std::mutex& mutex)
    : options_(options),
      memory_(memory),
      mutex_(mutex),
      table_(table),
      device_(options.device != nullptr ? options.device->share() : std::nullopt),
      place_(options.path),
      tick_every_(std::chrono::nanoseconds(std::min(options.lease_timeout, options.keep_timeout)) / ticks),
      door_(io_, place_->fd.release()),
      clock_(io_) {
  wait_at_door();
  tick();
  thread_ = std::thread([this] { io_.run(); });
}

export_server::~export_server() {
  place_.reset();
  boost::asio::post(io_, [this] {
    auto const lock = std::lock_guard(mutex_);
    closing_ = true;
    door_.close();
    clock_.cancel();
    for (auto const& [number, c] : connections_) {
      c->guard.reset();
      c->socket.close();
    }
  });
  thread_.join();
}

void export_server::say(std::string const& line) const {
  if (!line.empty()) options_.report("buffer_exporter " + options_.path.string() + ": " + line);
}

// -- the door

void export_server::wait_at_door() {
  door_.async_wait(stream_descriptor::wait_read, [this](error_code const& error) {
    if (error) return;
    owned_fd fd;
    while ((fd = accept_from(door_.native_handle()))) welcome_later(std::move(fd));
    // Out of descriptors: waiting here would spin, so the next tick tries again.
    door_rests_ = errno != EAGAIN && errno != ECONNABORTED && errno != EINTR;
    if (!door_rests_) wait_at_door();
  });
}

void export_server::welcome_later(owned_fd fd) try {
  auto const c = std::make_shared<connection>(io_, std::move(fd));
  {
    auto const lock = std::lock_guard(mutex_);
    if (c->who.uid != ::geteuid()) return void(++counts_.refused);
    // Silent connections must not keep others out: the oldest one is closed.
    if (connections_.size() >= options_.importers + most_unwelcomed) {
      auto const oldest =
          std::ranges::find_if(connections_, [](auto const& one) { return !one.second->row; });
      ++counts_.refused;
      forget(*std::shared_ptr(oldest->second));
    }
    c->number = ++last_number_;
    connections_.emplace(c->number, c);
  }
  listen_to(c);
} catch (std::exception const& e) {  // the system cannot watch another socket
  say(std::string("a connection was closed at once: ") + e.what());
}

void export_server::listen_to(std::shared_ptr<connection> const& c) {
  c->socket.async_wait(stream_descriptor::wait_read, [this, c](error_code const& error) {
    if (!error && c->socket.is_open() && serve(*c)) listen_to(c);
  });
}

/// Handles the packets that a connection has sent. False: the connection is closed.
bool export_server::serve(connection& c) {
  packet p;
  for (int i = 0; i < 64; ++i) {
    auto const got = receive_packet(c.fd(), p);
    if (got == packet_io::later) break;
    if (got == packet_io::gone) return end(c, c.welcomed ? counts_.departed : counts_.refused, {});
    if (!c.welcomed) {
      if (!shake_hands(c, p)) return false;
    } else if (share::settled s; p.cut || !share::read_packet(p.content(), s)) {
      return end(c, counts_.departed, c.name() + " sent a packet that is not an importer's; disconnected");
    }
  }
  auto const lock = std::lock_guard(mutex_);
  table_.sweep();
  return true;
}

bool export_server::shake_hands(connection& c, packet const& p) {
  auto fault = fault_of(p);
  if (share::hello h; fault.empty() && share::read_packet(p.content(), h))
    c.opens_device =
        device_ && (h.transports & share::device_memory) != 0 && h.device_identity == device_->identity;
  owned_fd row;
  if (fault.empty()) fault = admit(c, row);
  if (!fault.empty()) {
    share::refusal r;
    fault.copy(r.text, sizeof r.text - 1);
    static_cast<void>(send_packet(c.fd(), share::bytes_of(r)));
    return end(c, counts_.refused, "process " + std::to_string(c.who.pid) + " was refused: " + fault);
  }
  if (!send_welcome(c, row)) return end(c, counts_.refused, {});  // it is already gone
  if (options_.joined) options_.joined(c.number);
  return true;
}

/// Gives the connection a row; otherwise returns the reason.
std::string export_server::admit(connection& c, owned_fd& row) try {
  auto const lock = std::lock_guard(mutex_);
  c.row = table_.admit(c.number, row);
  if (c.row) return {};
  return "all " + std::to_string(options_.importers) + " places for importers are taken; raise `importers`";
} catch (std::exception const& e) {
  return e.what();
}

bool export_server::send_welcome(connection& c, owned_fd const& row) {
  share::welcome w;
  w.share = table_.share(), w.importer = c.number, w.data_bytes = memory_.size();
  w.beat_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(options_.lease_timeout).count()) / 8;
  w.slots = options_.slots, w.rows = options_.importers, w.row = *c.row;
  std::array fds{memory_.fd(), table_.fd(), row.get(), -1};
  if (c.opens_device) {
    w.transports |= share::device_memory;
    w.device_bytes = options_.device->bytes();
    w.device_data = device_->memory, w.device_ready = device_->ready, w.device_identity = device_->identity;
    fds[3] = device_->pool;
  }
  auto const lock = std::lock_guard(mutex_);  // so that no announcement precedes the welcome
  c.welcomed = send_packet(c.fd(), share::bytes_of(w), std::span(fds).first(c.opens_device ? 4 : 3)) ==
               packet_io::done;
  return c.welcomed;
}

/// Ends a connection, and with it all leases of its importer. Always returns false.
bool export_server::end(connection& c, std::uint64_t& counter, std::string const& line) {
  {
    auto const lock = std::lock_guard(mutex_);
    if (!connections_.contains(c.number)) return false;  // already evicted
    ++counter;
    forget(c);
  }
  say(line);
  return false;
}
void export_server::forget(connection& c) {  // precondition: the caller holds mutex_
  if (c.row) table_.drop(*c.row);
  c.row.reset();
  c.guard.reset();
  c.socket.close();
  connections_.erase(c.number);  // the caller still owns it
}

// -- heartbeats

void export_server::tick() {
  // Counts ticks, not time: if this process itself was stopped, all importers have time to beat again.
  clock_.expires_after(tick_every_);
  clock_.async_wait([this](error_code const& error) {
    if (error || closing_) return;
    for (auto const& line : cut_off_the_overdue()) say(line);
    if (door_rests_) wait_at_door();
    tick();
  });
}

/// Checks one importer, once per tick. Returns why it must be cut off; empty: it may stay.
std::string export_server::why_cut_off(connection& c) {
  auto const beat = c.row ? table_.beat(*c.row) : 0;
  c.silent = beat != c.beat ? 0 : c.silent + 1;
  c.beat = beat;
  if (c.silent * tick_every_ > options_.lease_timeout)
    return fmt::format("{} {} for {} ms", c.name(), c.row ? "sent no heartbeat" : "sent no hello",
                       options_.lease_timeout.count());
  if (!c.row) return {};
  auto const kept = table_.kept_by(*c.row);
  auto const kept_for = std::chrono::duration_cast<std::chrono::milliseconds>(kept.since_first);
  if (kept_for <= options_.keep_timeout) return {};
  return fmt::format("{} still leases {} withdrawn buffers ({} bytes), the first for {} ms", c.name(),
                     kept.slots, kept.bytes, kept_for.count());
}

std::vector<std::string> export_server::cut_off_the_overdue() {
  std::vector<std::string> lines;
  auto const lock = std::lock_guard(mutex_);
  table_.beat();
  std::vector<std::shared_ptr<connection>> overdue;
  for (auto const& [number, c] : connections_)
    if (auto const why = why_cut_off(*c); !why.empty()) {
      lines.push_back(why + "; disconnected, its leases have ended");
      overdue.push_back(c);
    }
  for (auto const& c : overdue) {
    ++(c->row ? counts_.cut_off : counts_.refused);
    forget(*c);
  }
  table_.sweep();
  return lines;
}

// -- announcements

std::uint32_t export_server::announce(shared_buffer_ref ref, std::uint64_t tag) {
  share::announcement const a{.ref = ref, .tag = tag};
  auto const lock = std::lock_guard(mutex_);
  std::uint32_t reached = 0;
  for (auto const& [number, c] : connections_)
    if (c->welcomed && send_packet(c->fd(), share::bytes_of(a)) == packet_io::done) ++reached;
  return reached;
}

errc export_server::announce_to(std::uint64_t importer, shared_buffer_ref ref, std::uint64_t tag) {
  share::announcement const a{.ref = ref, .tag = tag};
  auto const lock = std::lock_guard(mutex_);
  auto const found = connections_.find(importer);
  if (found == connections_.end() || !found->second->welcomed) return errc::peer_gone;
  switch (send_packet(found->second->fd(), share::bytes_of(a))) {
    case packet_io::done:
      return errc::ok;
    case packet_io::later:
      return errc::device_busy;
    case packet_io::gone:
      break;
  }
  return errc::peer_gone;
}

bool export_server::shares_device(buffer_home const* home) const {
  if (!device_ || home != options_.device) return false;
  auto const lock = std::lock_guard(mutex_);
  return std::ranges::all_of(connections_,
                             [](auto const& c) { return !c.second->welcomed || c.second->opens_device; });
}

void export_server::count(buffer_exporter_statistics& into) const {
  auto const lock = std::lock_guard(mutex_);
  into.departed = counts_.departed, into.cut_off = counts_.cut_off, into.refused = counts_.refused;
  for (auto const& [number, c] : connections_) {
    into.importers += c->welcomed;
    if (c->row) into.leases += table_.leases(*c->row);
  }
}

std::vector<importer_holding> export_server::importers() const {
  std::vector<importer_holding> all;
  auto const lock = std::lock_guard(mutex_);
  for (auto const& [number, c] : connections_) {
    if (!c->welcomed || !c->row) continue;
    auto const kept = table_.kept_by(*c->row);
    all.push_back({number, c->who.pid, table_.leases(*c->row), kept.slots, kept.bytes, kept.since_first});
  }
  return all;
}

errc export_server::evict(std::uint64_t importer) {
  auto const lock = std::lock_guard(mutex_);
  auto const found = connections_.find(importer);
  if (found == connections_.end() || !found->second->welcomed) return errc::peer_gone;
  auto const c = found->second;
  ++counts_.cut_off;
  table_.drop(*std::exchange(c->row, std::nullopt));
  connections_.erase(found);
  boost::asio::post(io_, [this, c] {  // only the thread uses the socket
    auto const held = std::lock_guard(mutex_);
    forget(*c);
  });
  return errc::ok;
}

}  // namespace rondo
