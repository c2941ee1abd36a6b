// The socket's side of exporting: who comes, who goes, and what is said to whom.
#include "runtime/memory/buffer_exporter.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "runtime/memory/export_table.hpp"
#include "runtime/memory/packet_socket.hpp"

namespace rondo {

namespace {

using boost::asio::posix::stream_descriptor;
using namespace std::chrono_literals;

constexpr std::uint32_t silent_ticks = 4;    // in one lease_timeout
constexpr std::size_t most_unwelcomed = 64;  // connections that have said no hello yet

buffer_exporter_options checked(buffer_exporter_options o) {
  auto const refuse = [](std::string const& text) {
    throw std::invalid_argument("buffer_exporter: " + text);
  };
  if (o.slots == 0 || o.slots > slot_stack::most_slots || o.slots > share::most_slots)
    refuse("slots is " + std::to_string(o.slots) + "; use 1 to " + std::to_string(share::most_slots - 1));
  if (o.importers == 0 || o.importers > share::most_rows)
    refuse("importers is " + std::to_string(o.importers) + "; use 1 to " + std::to_string(share::most_rows));
  if (o.lease_timeout < 10ms || o.lease_timeout > 24h)
    refuse("lease_timeout is " + std::to_string(o.lease_timeout.count()) + " ms; use 10 ms to a day");
  if (!o.report) o.report = [](std::string const& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  return o;
}

/// A connection; an importer once it is welcomed.
struct connection {
  connection(boost::asio::io_context& io, owned_fd fd) : socket(io, fd.get()), who(identity_of(fd.get())) {
    static_cast<void>(fd.release());  // the socket has it now
  }
  int fd() { return socket.native_handle(); }
  std::string name() const {
    return "importer " + std::to_string(number) + " (process " + std::to_string(who.pid) + ")";
  }

  stream_descriptor socket;
  peer_identity who;
  std::uint64_t number = 0;
  std::optional<std::uint32_t> row;
  bool welcomed = false;
  std::uint64_t beat = 0;
  std::uint32_t silent = 0;  // ticks since the beat changed
};

/// Why this is no hello of an importer that can be served; empty when it is one.
std::string fault_of(packet const& p, peer_identity who) {
  if (who.uid != ::geteuid())
    return "it is of user " + std::to_string(who.uid) + ", and the exporter of user " +
           std::to_string(::geteuid());
  share::packet_header h{.kind = {}};
  if (p.size >= sizeof h) std::memcpy(&h, p.bytes.data(), sizeof h);
  if (p.size < sizeof h || h.magic != share::magic)
    return "what it said first is no hello of a Rondo importer";
  if (h.version != share::version)
    return "it speaks version " + std::to_string(h.version) + " of the protocol, and the exporter version " +
           std::to_string(share::version) + "; build both from the same release";
  share::hello hello;
  if (p.cut || !share::read_packet(p.content(), hello))
    return "its hello has " + std::to_string(p.size) + " bytes and kind " +
           std::to_string(static_cast<std::uint32_t>(h.kind)) + ", where " + std::to_string(sizeof hello) +
           " bytes of kind 1 are due";
  if ((hello.transports & share::host_memory) == 0) return "it cannot map the host's memory";
  return {};
}

}  // namespace

struct buffer_exporter::state {
  state(memfd_resource& m, buffer_exporter_options o)
      : options(checked(std::move(o))),
        memory(m),
        copies({.cap_bytes = options.copies_bytes,
                .slots = options.slots,
                .upstream = &m,
                .report = options.report}),
        table(m.size(), options.slots, options.importers),
        door(io, listen_at(options.path).release()),
        clock(io) {
    wait_at_door();
    tick();
    thread = std::thread([this] { io.run(); });
  }

  ~state() {
    ::unlink(options.path.c_str());
    boost::asio::post(io, [this] {
      auto const lock = std::lock_guard(mutex);
      closing = true;
      door.close();
      clock.cancel();
      for (auto const& [number, c] : connections) c->socket.close();
    });
    thread.join();
  }

  void say(std::string const& line) const {
    if (!line.empty()) options.report("buffer_exporter " + options.path.string() + ": " + line);
  }

  // -- the door

  void wait_at_door() {
    door.async_wait(stream_descriptor::wait_read, [this](error_code const& error) {
      if (error) return;
      owned_fd fd;
      while ((fd = accept_from(door.native_handle()))) welcome_later(std::move(fd));
      // Without descriptors waiting on would spin; the next tick tries again.
      door_rests = errno != EAGAIN && errno != ECONNABORTED && errno != EINTR;
      if (!door_rests) wait_at_door();
    });
  }

  void welcome_later(owned_fd fd) try {
    auto const c = std::make_shared<connection>(io, std::move(fd));
    {
      auto const lock = std::lock_guard(mutex);
      if (connections.size() >= options.importers + most_unwelcomed) return void(++counts.refused);
      c->number = ++last_number;
      connections.emplace(c->number, c);
    }
    listen_to(c);
  } catch (std::exception const& e) {  // the system has no room to watch one more
    say(std::string("a connection was closed at once: ") + e.what());
  }

  void listen_to(std::shared_ptr<connection> const& c) {
    c->socket.async_wait(stream_descriptor::wait_read, [this, c](error_code const& error) {
      if (!error && c->socket.is_open() && serve(*c)) listen_to(c);
    });
  }

  /// Takes what a connection has sent. False: it is over.
  bool serve(connection& c) {
    packet p;
    for (int i = 0; i < 64; ++i) {
      auto const got = receive_packet(c.fd(), p);
      if (got == packet_io::later) break;
      if (got == packet_io::gone) return end(c, c.row ? counts.departed : counts.refused, {});
      if (!c.row) {
        if (!shake_hands(c, p)) return false;
      } else if (share::settled s; p.cut || !share::read_packet(p.content(), s)) {
        return end(c, counts.departed, c.name() + " sent what is no packet of an importer; cut off");
      }
    }
    auto const lock = std::lock_guard(mutex);
    table.sweep();
    return true;
  }

  bool shake_hands(connection& c, packet const& p) {
    auto fault = fault_of(p, c.who);
    owned_fd row;
    if (fault.empty()) fault = admit(c, row);
    if (!fault.empty()) {
      share::refusal r;
      fault.copy(r.text, sizeof r.text - 1);
      static_cast<void>(send_packet(c.fd(), share::bytes_of(r)));
      return end(c, counts.refused, "process " + std::to_string(c.who.pid) + " was refused: " + fault);
    }
    if (!send_welcome(c, row)) return end(c, counts.refused, {});  // it did not wait for it
    if (options.joined) options.joined(c.number);
    return true;
  }

  /// Gives the connection a row, or says why not.
  std::string admit(connection& c, owned_fd& row) try {
    auto const lock = std::lock_guard(mutex);
    c.row = table.admit(c.number, row);
    if (c.row) return {};
    return "all " + std::to_string(options.importers) + " places for importers are taken; raise `importers`";
  } catch (std::exception const& e) {
    return e.what();
  }

  bool send_welcome(connection& c, owned_fd const& row) {
    share::welcome w;
    w.share = table.share(), w.importer = c.number, w.data_bytes = memory.size();
    w.beat_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(options.lease_timeout).count()) / 8;
    w.slots = options.slots, w.rows = options.importers, w.row = *c.row;
    std::array const fds{memory.fd(), table.fd(), row.get()};
    auto const lock = std::lock_guard(mutex);  // so that no announcement comes before it
    c.welcomed = send_packet(c.fd(), share::bytes_of(w), fds) == packet_io::done;
    return c.welcomed;
  }

  /// Ends a connection, and with it all leases of its importer. Always false.
  bool end(connection& c, std::uint64_t& counter, std::string const& line) {
    {
      auto const lock = std::lock_guard(mutex);
      ++counter;
      forget(c);
    }
    say(line);
    return false;
  }
  void forget(connection& c) {  // under the mutex
    if (c.row) table.drop(*c.row);
    c.row.reset();
    c.socket.close();
    connections.erase(c.number);  // whoever calls this has it still
  }

  // -- heartbeats

  void tick() {
    // Ticks are counted, not hours: after this process was stopped itself, everybody has time to beat again.
    clock.expires_after(std::chrono::nanoseconds(options.lease_timeout) / silent_ticks);
    clock.async_wait([this](error_code const& error) {
      if (error || closing) return;
      for (auto const& line : cut_off_the_silent()) say(line);
      if (door_rests) wait_at_door();
      tick();
    });
  }

  std::vector<std::string> cut_off_the_silent() {
    std::vector<std::string> lines;
    auto const lock = std::lock_guard(mutex);
    std::vector<std::shared_ptr<connection>> silent;
    for (auto const& [number, c] : connections) {
      auto const beat = c->row ? table.beat(*c->row) : 0;
      c->silent = beat != c->beat ? 0 : c->silent + 1;
      c->beat = beat;
      if (c->silent > silent_ticks) silent.push_back(c);
    }
    for (auto const& c : silent) {
      lines.push_back(c->name() + (c->row ? " did not beat" : " said no hello") + " for " +
                      std::to_string(options.lease_timeout.count()) + " ms; cut off, its leases have ended");
      ++(c->row ? counts.cut_off : counts.refused);
      forget(*c);
    }
    table.sweep();
    return lines;
  }

  // -- buffers

  result<shared_buffer_ref> open(std::byte const* at, std::uint64_t bytes, export_table::keeper keeps) {
    auto const lock = std::lock_guard(mutex);
    return table.open(static_cast<std::uint64_t>(at - memory.data()), bytes, std::move(keeps));
  }

  /// An export of a copy, which `fill` makes; says so the first time.
  template <class Fill>
  result<shared_buffer_ref> open_copy(std::uint64_t bytes, atomic<std::uint32_t>& said, char const* where,
                                      Fill fill) {
    auto copy = copies.acquire_buffer(bytes);
    if (!copy) return copy.error();
    auto const at = copy->span();
    if (!fill(at.data())) return make_error_code(errc::device_lost);
    if (said.exchange(1, memory_order::relaxed) == 0)  // relaxed: only who is first
      say(std::string("buffers ") + where +
          " cannot be shared in place; each export of one is a copy on the host");
    auto const shared = open(at.data(), bytes, std::move(*copy));
    auto const lock = std::lock_guard(mutex);
    if (shared) ++counts.copies;
    return shared;
  }

  buffer_exporter_options options;
  memfd_resource& memory;
  buffer_pool copies;
  atomic<std::uint32_t> said_elsewhere{0}, said_device{0};

  boost::asio::io_context io{1};
  std::mutex mutex;  // guards table, connections, counts, closing, and the sockets' use by announcers
  export_table table;
  std::map<std::uint64_t, std::shared_ptr<connection>> connections;
  std::uint64_t last_number = 0;
  buffer_exporter_statistics counts;
  bool closing = false;

  stream_descriptor door;  // this and the clock are the thread's alone
  boost::asio::steady_timer clock;
  bool door_rests = false;
  std::thread thread;
};

buffer_exporter::buffer_exporter(memfd_resource& memory, buffer_exporter_options options)
    : state_(std::make_unique<state>(memory, std::move(options))) {}
buffer_exporter::~buffer_exporter() = default;

result<shared_buffer_ref> buffer_exporter::export_buffer(buffer_pool& pool, buffer_ref ref) {
  auto& s = *state_;
  if (auto* const home = pool.home()) {
    auto const* const from = pool.address_of(ref);
    if (!from) return make_error_code(errc::stale_buffer);
    auto const start = static_cast<std::uint64_t>(from - home->base());
    if (start > home->bytes() || ref.bytes > home->bytes() - start)
      return make_error_code(errc::buffer_out_of_bounds);
    return s.open_copy(ref.bytes, s.said_device, "in a device's memory",
                       [&](std::byte* to) { return home->copy_out(to, from, ref.bytes); });
  }
  auto lease = pool.read(ref);
  if (!lease) return make_error_code(lease.status());
  auto const view = lease.view();
  if (s.memory.holds(view.data())) return s.open(view.data(), view.size(), std::move(lease));
  return s.open_copy(view.size(), s.said_elsewhere, "outside the exporter's memory",
                     [&](std::byte* to) { return std::copy(view.begin(), view.end(), to), true; });
}

errc buffer_exporter::withdraw(shared_buffer_ref ref) {
  auto const lock = std::lock_guard(state_->mutex);
  return state_->table.close(ref);
}

std::uint32_t buffer_exporter::announce(shared_buffer_ref ref, std::uint64_t tag) {
  share::announcement const a{.ref = ref, .tag = tag};
  auto const lock = std::lock_guard(state_->mutex);
  std::uint32_t reached = 0;
  for (auto const& [number, c] : state_->connections)
    if (c->welcomed && send_packet(c->fd(), share::bytes_of(a)) == packet_io::done) ++reached;
  return reached;
}

errc buffer_exporter::announce_to(std::uint64_t importer, shared_buffer_ref ref, std::uint64_t tag) {
  share::announcement const a{.ref = ref, .tag = tag};
  auto const lock = std::lock_guard(state_->mutex);
  auto const found = state_->connections.find(importer);
  if (found == state_->connections.end() || !found->second->welcomed) return errc::peer_gone;
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

buffer_exporter_statistics buffer_exporter::statistics() const {
  auto const lock = std::lock_guard(state_->mutex);
  auto now = state_->counts;
  for (auto const& [number, c] : state_->connections) now.importers += c->welcomed;
  now.exported = state_->table.open_slots();
  now.closing = state_->table.closing_slots();
  now.leases = state_->table.leases();
  return now;
}

}  // namespace rondo
