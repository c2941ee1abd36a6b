// The command line of rondo_simulate.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tests/simulation/driver.hpp"

namespace simulation {

namespace {

constexpr char const* help =
    R"(rondo_simulate: runs whole runtimes with all threads, time and faults under control.

  --seeds N           run N seeds, each in a process of its own (default 100)
  --first S           the first of them (default 1)
  --seconds T         begin no new seed after T seconds; the last line says how many seeds were not run
  --jobs N            processes at once (default 2)
  --no-shorten        print a failing seed as it is
  --seed S            run one seed here, and print its trace
and with --seed:
  --operations LIST   only these of its operations: 1,4,7-9
  --without FAULT     leave a kind of fault out; may be given again
  --schedule N        another schedule for the same operations
  --every N           a walk that changes threads about every N points
  --switches          print each change of threads, too
  --quiet             do not print the trace
with either:
  --plant NAME        make a mistake on purpose: lost-wake-up, or the name of a function of kernels/ or runtime/, whose
                      read-modify-writes then are two steps
)";

bool parse_list(char const* text, std::vector<std::uint32_t>& out) {
  while (*text != 0) {
    char* end = nullptr;
    auto const first = std::strtoul(text, &end, 10);
    auto last = first;
    if (end == text) return false;
    if (*end == '-') {
      char const* const second = end + 1;
      last = std::strtoul(second, &end, 10);
      if (end == second) return false;
    }
    for (auto i = first; i <= last && i - first < 100'000; ++i) out.push_back(static_cast<std::uint32_t>(i));
    if (*end == ',')
      ++end;
    else if (*end != 0)
      return false;
    text = end;
  }
  return true;
}

std::string to_list(std::vector<std::uint32_t> const& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    auto j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    if (j != i) text += fmt::format("-{}", numbers[j]);
    i = j + 1;
  }
  return text;
}

bool number(char const* text, std::uint64_t& out) {
  char* end = nullptr;
  out = std::strtoull(text, &end, 10);
  return end != text && *end == 0;
}

}  // namespace

bool parse(int argc, char** argv, command& c) {
  auto const refuse = [](std::string const& why) {
    fmt::print(stderr, "rondo_simulate: {}; see --help\n", why);
    return false;
  };
  bool one = false;
  c.many = true;
  for (int i = 1; i < argc; ++i) {
    std::string const name = argv[i];
    if (name == "--help" || name == "-h") return fmt::print("{}", help), std::exit(0), false;
    if (name == "--switches") {
      c.shows_switches = true;
      continue;
    }
    if (name == "--quiet" || name == "--no-shorten") {
      (name == "--quiet" ? c.shows_trace : c.shortens) = false;
      continue;
    }
    if (++i == argc) return refuse(fmt::format("{} needs a value", name));
    char const* const value = argv[i];
    std::uint64_t n = 0;
    bool const is_number = number(value, n);
    if (name == "--without") {
      c.left_out.emplace_back(value);
    } else if (name == "--plant") {
      if (std::strcmp(value, "lost-wake-up") == 0)
        c.bug.loses_wakeups = true;
      else
        c.bug.split = value;
    } else if (name == "--operations") {
      if (!parse_list(value, c.operations.emplace()))
        return refuse("--operations wants a list such as 1,4,7-9");
    } else if (!is_number) {
      return refuse(fmt::format("'{} {}' is not known, or not a number", name, value));
    } else if (name == "--seed") {
      one = true;
      c.seed = n;
    } else if (name == "--first") {
      c.seed = n;
    } else if (name == "--seeds") {
      c.seeds = n;
    } else if (name == "--seconds") {
      c.seconds = static_cast<double>(n);
    } else if (name == "--jobs" && n != 0) {
      c.jobs = static_cast<std::uint32_t>(n);
    } else if (name == "--schedule") {
      c.other_schedule = n;
    } else if (name == "--every" && n != 0) {
      c.every = static_cast<std::uint32_t>(n);
    } else {
      return refuse(fmt::format("there is no option '{} {}'", name, value));
    }
  }
  if (one) {
    c.many = false;
    c.shows_plan = true;
  }
  return true;
}

void apply(command const& c, plan& p) {
  if (c.operations)
    std::erase_if(p.operations, [&](operation const& o) {
      return std::ranges::find(*c.operations, o.number) == c.operations->end();
    });
  for (auto const& fault : c.left_out) leave_out(p, fault);
  if (c.other_schedule != 0) p.order.seed = random_numbers(p.order.seed ^ c.other_schedule).next();
  if (c.every != 0) p.order.how = schedule::policy::walk, p.order.every = c.every;
}

std::vector<std::string> arguments_of(command const& c) {
  std::vector<std::string> a{"--seed", std::to_string(c.seed)};
  auto const add = [&](char const* name, std::string value) {
    a.emplace_back(name);
    a.push_back(std::move(value));
  };
  if (c.operations) add("--operations", to_list(*c.operations));
  for (auto const& fault : c.left_out) add("--without", fault);
  if (c.other_schedule != 0) add("--schedule", std::to_string(c.other_schedule));
  if (c.every != 0) add("--every", std::to_string(c.every));
  if (c.bug.loses_wakeups) add("--plant", "lost-wake-up");
  if (!c.bug.split.empty()) add("--plant", c.bug.split);
  if (!c.shows_trace) a.emplace_back("--quiet");
  return a;
}

}  // namespace simulation
