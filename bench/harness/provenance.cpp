#include "bench/harness/provenance.hpp"

#include <dlfcn.h>
#include <fmt/chrono.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

namespace rondo::bench {
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string kernel_release() {
  utsname name{};
  return uname(&name) == 0 ? std::string(name.sysname) + ' ' + name.release : "unknown";
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

}  // namespace

provenance describe_run() {
  return {.cpu = cpu_model(),
          .cores = std::thread::hardware_concurrency(),
          .kernel = kernel_release(),
          .load_1m = load_average(),
          .compiler = RONDO_BENCH_COMPILER,
          .build_flags = RONDO_BENCH_FLAGS,
          .commit = RONDO_BENCH_COMMIT,
          // jemalloc exports this symbol, glibc does not.
          .allocator = dlsym(RTLD_DEFAULT, "mallctl") != nullptr ? "jemalloc" : "glibc",
          .date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))};
}

}  // namespace rondo::bench
