// Measures how long a block takes from the exporter's call until another process has leased it and read its first word:
// one way, through shared memory, woken by the announcement. Prints one line of JSON.
//
//   bench_sharing --blocks 2000 --bytes 3110400 --rate 240
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "kernels/base/clock.hpp"
#include "runtime/sharing/buffer_exporter.hpp"
#include "runtime/sharing/buffer_importer.hpp"

namespace {

using namespace std::chrono_literals;

struct options {
  std::uint64_t blocks = 2000, bytes = 1920 * 1080 * 3 / 2;
  double rate = 240;
  std::string path = fmt::format("/tmp/rondo-bench-sharing-{}", ::getpid());
};

/// Each block begins with the time of its export; the last one with 0.
void publish(options const& o) {
  rondo::memfd_resource memory(16 * o.bytes + (64 << 20));
  rondo::buffer_pool pool({.upstream = &memory});
  std::atomic<bool> joined{false};
  rondo::buffer_exporter exporter(memory, {.path = o.path, .joined = [&](std::uint64_t) { joined = true; }});
  while (!joined) std::this_thread::sleep_for(1ms);
  auto next = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i <= o.blocks; ++i) {
    std::this_thread::sleep_until(next += std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / o.rate)));
    auto b = pool.acquire_buffer(o.bytes).value();
    b.span<std::uint64_t>()[0] = i < o.blocks ? rondo::now_ns() : 0;
    auto const shared = exporter.export_buffer(pool, b.ref()).value();
    for (auto seen = exporter.freed(); !exporter.announce(shared, i); seen = exporter.freed())
      static_cast<void>(exporter.wait_freed(seen, 10s));
    static_cast<void>(exporter.withdraw(shared));
  }
  while (exporter.statistics().importers != 0) std::this_thread::sleep_for(1ms);
}

/// Returns when the last block has come.
std::vector<std::uint64_t> read(options const& o) {
  std::vector<std::uint64_t> ns;
  std::unique_ptr<rondo::buffer_importer> importer;
  while (importer == nullptr) try {
      importer = std::make_unique<rondo::buffer_importer>(
          o.path, rondo::buffer_importer_options{.how = rondo::streams::delivery::lossless});
    } catch (std::runtime_error const&) {  // not there yet
      std::this_thread::sleep_for(1ms);
    }
  for (;;) {
    auto const news = importer->receive(10s).value();
    auto const sent = news.lease.as<std::uint64_t>()[0];
    auto const now = rondo::now_ns();
    if (sent == 0) return ns;
    ns.push_back(now - sent);
  }
}

}  // namespace

int main(int count, char** arguments) {
  options o;
  CLI::App app{"the latency of a block that another process reads in place"};
  app.add_option("--blocks", o.blocks, "how many");
  app.add_option("--bytes", o.bytes, "of each")->check(CLI::Range(8ul, 1ul << 30));
  app.add_option("--rate", o.rate, "blocks per second")->check(CLI::Range(1.0, 1e5));
  CLI11_PARSE(app, count, arguments);
  auto const child = ::fork();  // before there are threads
  if (child == 0) return publish(o), 0;
  auto ns = read(o);
  ::waitpid(child, nullptr, 0);
  std::ranges::sort(ns);
  auto const at = [&](double part) {
    return static_cast<double>(ns[static_cast<std::size_t>(part * static_cast<double>(ns.size() - 1))]) / 1e3;
  };
  if (ns.empty()) return fmt::print(stderr, "bench_sharing: no block arrived\n"), 1;
  fmt::print(
      R"({{"case":"share_one_way","block_bytes":{},"rate":{},"blocks":{},"p50_us":{:.1f},"p90_us":{:.1f},"p99_us":{:.1f},"max_us":{:.1f}}})"
      "\n",
      o.bytes, o.rate, ns.size(), at(0.5), at(0.9), at(0.99), at(1));
}
