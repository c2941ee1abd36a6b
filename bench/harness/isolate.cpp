#include "bench/harness/isolate.hpp"

#include <flatbuffers/flexbuffers.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>

namespace rondo::bench {
namespace {

constexpr auto error_key = "error";

std::vector<std::uint8_t> encode(measurement const& m) {
  flexbuffers::Builder out;
  out.Map([&] {
    for (auto const& one : m.metrics) out.Add(one.name.c_str(), one.values);
    // A flexbuffer map sorts its keys, so the order, which determines the headline, is sent separately.
    out.Vector("order", [&] {
      for (auto const& one : m.metrics) out.String(one.name);
    });
  });
  out.Finish();
  return out.GetBuffer();
}

std::vector<std::uint8_t> encode_error(char const* text) {
  flexbuffers::Builder out;
  out.Map([&] { out.String(error_key, text); });
  out.Finish();
  return out.GetBuffer();
}

measurement decode(flexbuffers::Map const& map) {
  measurement m;
  auto const order = map["order"].AsVector();
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::string const name = order[i].AsString().str();
    auto const values = map[name].AsTypedVector();
    auto& into = m[name];
    for (std::size_t k = 0; k < values.size(); ++k) into.push_back(values[k].AsDouble());
  }
  return m;
}

std::vector<std::uint8_t> sample_in_child(bench_case const& work, sample_budget const& budget) {
  try {
    double const at_fork_bytes = resident_bytes();
    confine_to(budget.cpus);
    alarm(static_cast<unsigned>(work.limit.count()));
    measurement m = work.run(budget);
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    m["peak_rss_growth_bytes"] = {static_cast<double>(used.ru_maxrss) * 1024 - at_fork_bytes};
    return encode(m);
  } catch (std::exception const& failure) {
    return encode_error(failure.what());
  }
}

void write_all(int to, std::vector<std::uint8_t> const& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    ssize_t const wrote = write(to, bytes.data() + done, bytes.size() - done);
    if (wrote <= 0) _exit(1);
    done += static_cast<std::size_t>(wrote);
  }
}

std::vector<std::uint8_t> read_all(int from) {
  std::vector<std::uint8_t> bytes;
  std::array<std::uint8_t, 65536> chunk{};
  for (ssize_t got = 0; (got = read(from, chunk.data(), chunk.size())) > 0;)
    bytes.insert(bytes.end(), chunk.data(), chunk.data() + got);
  return bytes;
}

}  // namespace

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double total_pages = 0, resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

measurement run_isolated(bench_case const& work, sample_budget const& budget) {
  std::string const who = work.name + " by " + work.peer;
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error(who + ": cannot open a pipe for its results");
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child < 0) throw std::runtime_error(who + ": cannot fork");
  if (child == 0) {
    close(ends[0]);
    write_all(ends[1], sample_in_child(work, budget));
    _exit(0);  // the parent's objects are destroyed by the parent
  }
  close(ends[1]);
  auto const bytes = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    throw std::runtime_error(who + ": not done after " + std::to_string(work.limit.count()) +
                             " s, so it hangs");
  if (WIFSIGNALED(status))
    throw std::runtime_error(who + ": ended by signal " + std::to_string(WTERMSIG(status)));
  if (bytes.empty()) throw std::runtime_error(who + ": ended without a result");
  auto const map = flexbuffers::GetRoot(bytes).AsMap();
  if (map[error_key].IsString()) throw std::runtime_error(who + ": " + map[error_key].AsString().str());
  return decode(map);
}

}  // namespace rondo::bench
