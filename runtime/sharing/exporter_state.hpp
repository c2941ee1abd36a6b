// The inside of a buffer_exporter: its exports, and the server behind its socket, which tracks importers that connect,
// leave, or stop their heartbeat, and sends them packets.
//
// The server admits importers to the table and drops them; the table (export_table.hpp) decides what they may lease.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "runtime/os/own_threads.hpp"
#include "runtime/sharing/buffer_exporter.hpp"
#include "runtime/sharing/export_table.hpp"
#include "runtime/sharing/packet_socket.hpp"

namespace rondo {

struct buffer_exporter::state {
  state(memfd_resource& memory, buffer_exporter_options options);
  /// Closes all connections. The table keeps their rows.
  ~state();

  // -- on any thread

  void say(std::string const& line) const;
  /// A function of the program threw an exception with this text.
  static void say_thrown(char const* text);
  std::uint64_t offset_of(std::byte const* at) const {
    return static_cast<std::uint64_t>(at - memory.data());
  }
  result<shared_buffer_ref> open(std::uint64_t offset, std::uint64_t bytes, export_table::keeper keeps);
  /// Exports a copy, which `fill` makes; reports this the first time.
  template <class Fill>
  result<shared_buffer_ref> open_copy(std::uint64_t bytes, atomic<std::uint32_t>& said, char const* where,
                                      Fill fill);
  /// Whether all importers can open the memory of that device. For a later importer that cannot, leases of its buffers
  /// fail with buffer_elsewhere.
  bool shares_device(buffer_home const* home);

  /// A connection; it is an importer once it is welcomed.
  struct connection {
    connection(boost::asio::io_context& io, owned_fd fd);
    int fd() { return socket.native_handle(); }
    std::string name() const;

    boost::asio::posix::stream_descriptor socket;
    std::optional<closed_on_fork> guard;
    peer_identity who;
    std::uint64_t number = 0;
    std::optional<std::uint32_t> row;  // while it may hold leases
    bool welcomed = false, opens_device = false;
    std::uint64_t beat = 0;
    std::uint32_t silent = 0;  // ticks since the beat changed

    // Announcements.
    delivery how = delivery::every;
    std::uint64_t capacity = 0;
    std::uint64_t sent = 0, dropped = 0, replaced = 0;
    // Granted but not sent: the newest one with `latest`; others only if the system refused a packet.
    std::deque<share::announcement> unsent{};
  };

  // -- the caller holds mutex

  /// Announced buffers that the importer has not given back.
  std::uint64_t unreturned(connection const& c) const {
    return c.sent + c.unsent.size() - table.returned(*c.row);
  }
  /// Whether `announce` finds a place for one.
  bool has_room(connection const& c) const { return c.how == delivery::latest || unreturned(c) < c.capacity; }
  /// False: it was dropped.
  bool put(connection& c, share::announcement const& a);
  void send_unsent(connection& c);
  void note_freed() {
    ++freed;
    freed_changed.notify_all();
  }

  // -- on the server's own thread

  void wait_at_door();
  void welcome_later(owned_fd fd);
  void listen_to(std::shared_ptr<connection> const& c);
  bool serve(connection& c);
  bool shake_hands(connection& c, packet const& p);
  std::string admit(connection& c, owned_fd& row);
  bool send_welcome(connection& c, owned_fd const& row);
  bool end(connection& c, std::uint64_t& counter, std::string const& line);
  void forget(connection& c);
  void say_changed();
  void tick();
  std::string why_cut_off(connection& c);
  std::vector<std::string> cut_off_the_overdue();

  buffer_exporter_options const options;
  memfd_resource& memory;
  buffer_pool copies;
  atomic<std::uint32_t> said_elsewhere{0}, said_device{0};
  atomic<std::uint64_t> copied{0};
  std::optional<device_share> const device;
  boost::asio::io_context io{1};
  std::mutex mutex;  // guards the members up to `freed`, and that sockets stay open
  export_table table;
  std::map<std::uint64_t, std::shared_ptr<connection>> connections;
  std::uint64_t last_number = 0;
  buffer_exporter_statistics counts;  // those that only grow; the others are counted on request
  std::uint64_t freed = 0;
  std::condition_variable freed_changed;

  // Only the thread uses these.
  std::optional<packet_door> place;
  static constexpr std::uint32_t ticks = 4;  // per shorter of the two timeouts
  std::chrono::nanoseconds tick_every;
  boost::asio::posix::stream_descriptor door;
  boost::asio::steady_timer clock;
  bool door_rests = false, closing = false;
  own_threads const threads{};
  std::thread thread;
};

}  // namespace rondo
