#include "tests/simulation/driver.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

namespace simulation {

namespace {

using clock = std::chrono::steady_clock;
double seconds_since(clock::time_point then) {
  return std::chrono::duration<double>(clock::now() - then).count();
}

struct child {
  pid_t pid = 0;
  int output = -1;
  command what;
};

struct outcome {
  bool ok = false;
  std::string text;        // its output
  std::string first_line;  // the reason of the failure, without numbers that differ between schedules
  std::uint64_t switches = 0;
};

/// Forks a copy of this process, which has one thread and has simulated nothing, to run one seed without loading the
/// program again.
child start(command const& c) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe is to be had");
  std::fflush(stdout);  // otherwise the child prints it too
  child made{::fork(), ends[0], c};
  if (made.pid == 0) {
    ::dup2(ends[1], 1);
    ::close(ends[0]);
    ::close(ends[1]);
    run_one(c);
  }
  ::close(ends[1]);
  if (made.pid < 0) throw std::runtime_error("no process is to be had");
  return made;
}

/// Reads the output of a child until it ends.
outcome finish(child const& c) {
  outcome o;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(c.output, buffer, sizeof buffer)) > 0;)
    o.text.append(buffer, static_cast<std::size_t>(n));
  ::close(c.output);
  int status = 0;
  ::waitpid(c.pid, &status, 0);
  o.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  auto const at = o.text.find("FAILED: ");
  o.first_line = at == std::string::npos ? fmt::format("it ended with status {:#x}", status)
                                         : o.text.substr(at, o.text.find('\n', at) - at);
  if (auto const s = o.text.rfind("\nswitches "); s != std::string::npos)
    o.switches = std::strtoull(o.text.c_str() + s + 10, nullptr, 10);
  return o;
}
outcome run(command const& c) { return finish(start(c)); }

/// The guarantee that a failure names; a shorter plan must fail for the same one.
std::string kind_of(outcome const& o) { return o.first_line.substr(0, o.first_line.find(':', 8)); }

// -- shorter

/// Looks for a smaller command that fails for the same guarantee, for a minute at most.
class shortener {
 public:
  shortener(command c, outcome o) : best_(std::move(c)), found_(std::move(o)), wanted_(kind_of(found_)) {
    best_.shows_trace = false;
    best_.shows_plan = false;
  }

  command shorten() {
    auto p = draw_plan(best_.seed);
    apply(best_, p);
    for (auto const& fault : faults_of(p)) {
      auto c = best_;
      c.left_out.push_back(fault);
      attempt(c);
    }
    std::vector<std::uint32_t> all;
    for (auto const& o : p.operations) all.push_back(o.number);
    if (!best_.operations) best_.operations = all;
    for (auto part = (best_.operations->size() + 1) / 2; part != 0; part = part == 1 ? 0 : (part + 1) / 2)
      drop_parts(part);
    drop_parts(1);
    for (std::uint32_t const every : {1000u, 300u, 100u, 30u}) {
      auto c = best_;
      c.every = every;
      if (attempt(c)) break;
    }
    return best_;
  }
  std::uint32_t tries() const { return tries_; }

 private:
  void drop_parts(std::size_t part) {
    for (std::size_t at = 0; at < best_.operations->size();) {
      auto c = best_;
      auto const begin = c.operations->begin() + static_cast<std::ptrdiff_t>(at);
      c.operations->erase(begin,
                          begin + static_cast<std::ptrdiff_t>(std::min(part, c.operations->size() - at)));
      if (!attempt(c)) at += part;
    }
  }

  /// Keeps `c` if it fails in the same way, with its own schedule or one of a few others.
  bool attempt(command c) {
    auto const own = c.other_schedule;
    for (std::uint64_t i = 0; i < 6 && seconds_since(begun_) < 60; ++i) {
      c.other_schedule = i == 0 ? own : own * 7 + i;
      ++tries_;
      auto const o = run(c);
      if (o.ok || kind_of(o) != wanted_) continue;
      best_ = c;
      found_ = o;
      return true;
    }
    return false;
  }

  command best_;
  outcome found_;
  std::string wanted_;
  clock::time_point begun_ = clock::now();
  std::uint32_t tries_ = 0;
};

void report(command const& c, outcome const& o) {
  fmt::print("\nseed {} fails.\n{}\n", c.seed, o.first_line);
  auto shown = c;
  if (c.shortens) {
    shortener s(c, o);
    shown = s.shorten();
    fmt::print("The shortest trace of {} tries:\n\n", s.tries());
  }
  shown.shows_trace = shown.shows_plan = true;
  auto const again = run(shown);
  if (again.ok)
    fmt::print(
        "The failure did not repeat, so something other than the seed caused it. Its output was:\n\n{}\n",
        o.text);
  fmt::print("{}\nto see it again:\n  tools/simulate", again.text);
  for (auto const& a : arguments_of(shown)) fmt::print(" {}", a);
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace

int run_many(command const& c) {
  auto const begun = clock::now();
  std::vector<child> running;
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t next = c.seed, done = 0;
  auto const last = c.seed + c.seeds;
  auto told = begun;
  std::vector<std::pair<command, outcome>> failed;
  while (failed.empty()) {
    while (running.size() < c.jobs && next < last && (c.seconds <= 0 || seconds_since(begun) < c.seconds)) {
      auto one = c;
      one.many = false;
      one.seed = next++;
      one.shows_trace = false;
      running.push_back(start(one));
    }
    if (running.empty()) break;
    auto const oldest = running.front();
    running.erase(running.begin());
    auto o = finish(oldest);
    ++done;
    for (std::size_t at = 0; (at = o.text.find("\ncount ", at)) != std::string::npos;) {
      char* end = nullptr;
      auto const n = std::strtoull(o.text.c_str() + at + 7, &end, 10);
      at = static_cast<std::size_t>(end - o.text.c_str());
      counts[o.text.substr(at + 1, o.text.find('\n', at) - at - 1)] += n;
    }
    if (!o.ok) failed.emplace_back(oldest.what, std::move(o));
    if (seconds_since(told) > 10 || (next == last && running.empty())) {
      told = clock::now();
      double const rate = static_cast<double>(done) / std::max(0.001, seconds_since(begun));
      fmt::print("{} of {} seeds, {:.1f} a second, {:.0f} s left\n", done, c.seeds, rate,
                 static_cast<double>(c.seeds - done) / rate);
      std::fflush(stdout);
    }
  }
  for (auto const& r : running) finish(r);
  for (auto const& [what, n] : counts) fmt::print("  {:>12}  {}\n", n, what);
  if (!failed.empty()) {
    report(failed.front().first, failed.front().second);
    return 1;
  }
  fmt::print("{} seeds from {} on, in {:.0f} s: nothing was found\n", done, c.seed, seconds_since(begun));
  if (done < c.seeds)
    fmt::print("{} of {} seeds were not run: --seconds was over\n", c.seeds - done, c.seeds);
  return 0;
}

}  // namespace simulation
