// For tests of what an exporter and an importer refuse: an exporter whose reports are kept, and one that breaks the
// protocol.
#pragma once

#include <functional>

#include "runtime/sharing/packet_socket.hpp"
#include "tests/runtime/share_fixture.hpp"

namespace share_test {

namespace share = rondo::share;

inline bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != text.npos;
}

struct refusing_exporter {
  explicit refusing_exporter(std::uint32_t importers = 16, std::chrono::milliseconds timeout = 30s)
      : exporter(memory, {.path = s.socket,
                          .slots = 4,
                          .importers = importers,
                          .lease_timeout = timeout,
                          .report = [this](std::string const& line) {
                            std::lock_guard const lock(mutex);
                            last = line;
                          }}) {}
  std::string report() {
    std::lock_guard const lock(mutex);
    return last;
  }

  scratch s;
  std::mutex mutex;
  std::string last;
  rondo::memfd_resource memory{1 << 16};
  rondo::buffer_pool pool{{.cap_bytes = 1 << 14, .upstream = &memory}};
  rondo::buffer_exporter exporter;
};

/// Imitates an exporter that answers a hello with a given function.
class impostor {
 public:
  using answer = std::function<void(int socket)>;
  impostor(std::filesystem::path const& path, answer a) : door_(path) {
    thread_ = std::jthread([this, a = std::move(a)] {
      if (!rondo::wait_readable(door_.fd.get(), 30s)) return;
      auto const socket = rondo::accept_from(door_.fd.get());
      rondo::packet p;
      if (!rondo::wait_readable(socket.get(), 30s)) return;
      if (rondo::receive_packet(socket.get(), p) == rondo::packet_io::done) a(socket.get());
    });
  }

 private:
  rondo::packet_door door_;
  std::jthread thread_;
};

inline constexpr std::uint32_t slots = 4, rows = 2;
inline share::welcome good_welcome() {
  share::welcome w;
  w.share = 9, w.importer = 1, w.data_bytes = 4096, w.beat_ns = 1'000'000'000;
  w.slots = slots, w.rows = rows, w.row = 1;
  return w;
}

/// The memory that belongs to `good_welcome`; a test replaces one piece or changes a field.
struct memory_of_an_exporter {
  rondo::owned_fd data = rondo::make_memfd("data", 4096);
  rondo::owned_fd directory = rondo::make_memfd("directory", share::directory::size_of(rows, slots));
  rondo::owned_fd row = rondo::make_memfd("row", share::row::size_of(slots));
  memory_of_an_exporter() {
    rondo::shared_mapping const m(directory.get(), share::directory::size_of(rows, slots), true, "directory");
    share::directory d(m.data(), rows);
    d.header() = {share::magic, 9, 4096, share::version, slots, rows, 0};
    d.owner(1).store(1, rondo::memory_order::relaxed);
  }
  std::array<int, 3> fds() const { return {data.get(), directory.get(), row.get()}; }
};

}  // namespace share_test
