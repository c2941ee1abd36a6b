// The server behind the exporter's socket: it tracks importers that connect, leave, or stop their heartbeat, and sends them
// packets.
//
// It admits importers to the table and drops them; the table (export_table.hpp) decides what they may lease.
// **Threads**: announce, announce_to, and count from any thread; the server's own thread does the rest.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <mutex>
#include <thread>

#include "runtime/sharing/buffer_exporter.hpp"
#include "runtime/sharing/export_table.hpp"
#include "runtime/sharing/packet_socket.hpp"

namespace rondo {

class export_server {
 public:
  /// `memory`, `table`, and `mutex` must outlive the server; `mutex` guards the table. Throws as buffer_exporter.
  export_server(buffer_exporter_options const& options, memfd_resource const& memory, export_table& table,
                std::mutex& mutex);
  /// Closes all connections. The table keeps their rows.
  ~export_server();

  std::uint32_t announce(shared_buffer_ref ref, std::uint64_t tag);
  errc announce_to(std::uint64_t importer, shared_buffer_ref ref, std::uint64_t tag);
  /// Whether all importers can open the memory of that device. For a later importer that cannot, leases of its buffers fail
  /// with buffer_elsewhere.
  bool shares_device(buffer_home const* home) const;
  /// Adds the server's counters to `into`.
  void count(buffer_exporter_statistics& into) const;
  /// As the functions of buffer_exporter.
  std::vector<importer_holding> importers() const;
  errc evict(std::uint64_t importer);

 private:
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
  };

  void say(std::string const& line) const;
  void wait_at_door();
  void welcome_later(owned_fd fd);
  void listen_to(std::shared_ptr<connection> const& c);
  bool serve(connection& c);
  bool shake_hands(connection& c, packet const& p);
  std::string admit(connection& c, owned_fd& row);
  bool send_welcome(connection& c, owned_fd const& row);
  bool end(connection& c, std::uint64_t& counter, std::string const& line);
  void forget(connection& c);
  void tick();
  std::string why_cut_off(connection& c);
  std::vector<std::string> cut_off_the_overdue();

  buffer_exporter_options const& options_;
  memfd_resource const& memory_;
  boost::asio::io_context io_{1};
  std::mutex& mutex_;  // guards the table, connections_, last_number_, counts_, and that sockets stay open
  export_table& table_;
  std::optional<device_share> device_;
  std::map<std::uint64_t, std::shared_ptr<connection>> connections_;
  std::uint64_t last_number_ = 0;
  buffer_exporter_statistics counts_;

  // Only the thread uses these.
  std::optional<packet_door> place_;
  std::chrono::nanoseconds tick_every_;
  boost::asio::posix::stream_descriptor door_;
  boost::asio::steady_timer clock_;
  bool door_rests_ = false, closing_ = false;
  std::thread thread_;
};

}  // namespace rondo
