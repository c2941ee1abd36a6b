#include "bench/memory_page.hpp"

#include <fmt/ostream.h>

#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "bench/results.hpp"

namespace rondo::bench {

namespace {

/// Medians, in nanoseconds of processor time for one thread's operation, by the benchmark's name.
class figures {
 public:
  explicit figures(std::string const& path)
      : json_(text_of(path), path + ": is not what bench_memory writes") {
    auto const all = json_.fields()["benchmarks"].AsVector();
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto const one = all[i].AsMap();
      if (one["aggregate_name"].AsString().str() == "median")
        ns_[one["run_name"].AsString().str()] = one["cpu_time"].AsDouble();
    }
    if (ns_.empty()) throw std::runtime_error(path + ": holds no medians; run it with repetitions");
  }
  double of(std::string const& name) const {
    auto const found = ns_.find(name);
    if (found == ns_.end()) throw std::runtime_error("bench_memory did not measure " + name);
    return found->second;
  }
  std::map<std::string, double> const& all() const { return ns_; }
  flexbuffers::Map context() const { return json_.fields()["context"].AsMap(); }

 private:
  static std::string text_of(std::string const& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  json_object json_;
  std::map<std::string, double> ns_;
};

void row(std::ostream& out, std::string const& what, std::string const& limit, double value, bool met,
         char const* unit) {
  fmt::print(out, "| {} | {} | {:.3g}{}, {} |\n", what, limit, value, unit, met ? "met" : "**missed**");
}

void write_targets(std::ostream& out, figures const& f) {
  constexpr std::array sizes{"256", "4096", "65536", "1048576"};
  auto const pair_of = [&](char const* who, std::string const& size, int threads) {
    return f.of(fmt::format("{}/{}/threads:{}", who, size, threads));
  };
  out << "| what | to be reached | measured |\n| --- | --- | --- |\n";
  for (auto const* size : sizes) {
    auto const ns = pair_of("pool_acquire_release", size, 1);
    row(out, fmt::format("acquire and release of {} bytes", size), "at most 60 ns", ns, ns <= 60, " ns");
  }
  for (auto const* size : sizes) {
    auto const times = pair_of("pool_acquire_release", size, 2) / pair_of("pool_acquire_release", size, 1);
    row(out, fmt::format("the same by each of two threads, {} bytes, in times of one alone", size),
        "at most 1.25", times, times <= 1.25, "");
  }
  for (auto const* size : {"256", "4096", "65536"}) {
    auto const times = pair_of("pool_acquire_release", size, 1) / pair_of("mimalloc_free", size, 1);
    row(out, fmt::format("acquire and release of {} bytes, in times of mimalloc", size), "at most 1.3", times,
        times <= 1.3, "");
  }
  auto const fresh = f.of("fresh_touch_free/1048576"), kept = f.of("malloc_touch_free/1048576"),
             pooled = f.of("pool_acquire_touch_release/1048576");
  row(out, "1 MiB of fresh pages (mmap, first touch, munmap), in times of the pool's", "at least 5",
      fresh / pooled, fresh / pooled >= 5, "");
  row(out, "malloc, touch and free of 1 MiB that glibc has kept, in times of the pool's", "for comparison",
      kept / pooled, true, "");
  auto const look = f.of("unified_device");
  row(out, "a unified buffer's handle, with nothing to copy", "at most 3 ns", look, look <= 3, " ns");
}

}  // namespace

void write_memory_part(std::ostream& out, std::string const& json) {
  out << "\n## Memory\n\n";
  if (json.empty()) {
    out << "Not measured in this run.\n";
    return;
  }
  figures const f(json);
  auto const load = f.context()["load_avg"].AsVector();
  fmt::print(out,
             "Written by `tools/bench --memory` on {}: processor time of one operation, medians of "
             "`bench_memory`, on {} processors of {} "
             "MHz; load average when it began {:.2f}.\n\n",
             f.context()["date"].AsString().str(), f.context()["num_cpus"].AsInt64(),
             f.context()["mhz_per_cpu"].AsInt64(), load.size() != 0 ? load[0].AsDouble() : 0.0);
  write_targets(out, f);
  out << "\n| operation | ns |\n| --- | --- |\n";
  for (auto const& [name, ns] : f.all()) fmt::print(out, "| {} | {:.3g} |\n", name, ns);
}

}  // namespace rondo::bench
