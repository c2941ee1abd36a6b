// The second process of the test of shared buffers: share_reader SOCKET SUM reads the announced buffer on GPU 0, and
// exits with 0 if its words add up to SUM.
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "runtime/device/cuda/cuda_view.hpp"
#include "runtime/sharing/buffer_importer.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: share_reader SOCKET SUM\n"), 2;
  using namespace std::chrono_literals;
  try {
    rondo::buffer_importer importer(argv[1], {.timeout = 20s, .open_device = rondo::cuda_opener(0)});
    auto const news = importer.receive(20s).value();
    auto const& lease = news.lease;
    if (!lease.on_device())
      return std::fprintf(stderr, "share_reader: the buffer came as a copy on the host\n"), 1;
    std::vector<std::uint64_t> words(lease.bytes().size() / 8);
    if (lease.copy_to(reinterpret_cast<std::byte*>(words.data())) != rondo::errc::ok || !lease.valid())
      return std::fprintf(stderr, "share_reader: the buffer could not be read\n"), 1;
    auto const sum = std::accumulate(words.begin(), words.end(), std::uint64_t{0});
    return sum == std::strtoull(argv[2], nullptr, 10) ? 0 : 1;
  } catch (std::exception const& e) {
    return std::fprintf(stderr, "share_reader: %s\n", e.what()), 1;
  }
}
