// test_model: runs the protocols under a controlled scheduler and a simulated memory.
//
// Without options it runs every scenario within a budget for CI. See --help and docs/memory_model.md.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <regex>

#include "tests/model/orders.hpp"
#include "tests/model/scenarios.hpp"

namespace {

using namespace model;

struct options {
  std::string pattern = ".*";
  std::uint64_t executions = 3'000;
  bool full = false;
  std::optional<std::uint64_t> seed;
  std::string path;
  bool has_path = false;
  std::optional<std::uint32_t> switches, stale, late;
  std::size_t trace_lines = 60;
  std::optional<weakening> weaken;
};

bounds bounds_of(options const& o) {
  return {o.switches.value_or(2), o.stale.value_or(1), o.late.value_or(0)};
}

void print_trace(scenario const& s, strategy& same, options const& o) {
  auto const lines = o.trace_lines;
  std::vector<std::string> trace;
  session with;
  with.weaken = o.weaken ? &*o.weaken : nullptr;
  with.trace = &trace;
  auto const again = explore(s, same, with);
  auto const skipped = trace.size() > lines ? trace.size() - lines : 0;
  if (skipped != 0) std::printf("  ... %zu steps before (--trace-lines)\n", skipped);
  for (auto i = skipped; i < trace.size(); ++i) std::printf("%s\n", trace[i].c_str());
  std::printf("%s\n", again.failure.empty() ? "no failure" : again.failure.c_str());
}

/// Prints one line, and the failure with its trace. Returns true if there was no failure.
bool report(scenario const& s, char const* how, findings const& f) {
  std::printf("%-24s %-36s %9llu executions %6.1f s  %s\n", s.name.c_str(), how,
              static_cast<unsigned long long>(f.executions), f.seconds,
              f.failure.empty() ? "holds" : "FAILS");
  std::fflush(stdout);
  if (f.failure.empty()) return true;
  std::printf("%s: %s: %s\n  repeat: test_model %s\n", s.name.c_str(), s.holds.c_str(), f.failure.c_str(),
              f.how_to_repeat.c_str());
  return false;
}

bool check(scenario const& s, options const& o, session& with) {
  auto* const progress = isatty(2) != 0 ? stderr : nullptr;
  bool holds = true;
  auto all = o.full || !s.all_within_in_ci ? s.all_within : s.all_within_in_ci;
  if (o.switches || o.stale || o.late) all = bounds_of(o);
  if (all) {
    exhaustive search{*all};
    auto const how = "all of " + std::to_string(all->switches) + " switches, " + std::to_string(all->stale) +
                     " stale, " + std::to_string(all->late) + " late";
    auto const f = explore(s, search, with, progress);
    holds = report(s, how.c_str(), f);
    if (!holds) {
      auto const path = search.how_to_repeat();
      auto const first = path.find('"') + 1;
      exhaustive same{*all, path.substr(first, path.rfind('"') - first)};
      print_trace(s, same, o);
    }
  }
  if (holds && o.executions != 0) {
    random_search search{1, o.executions};
    auto const f = explore(s, search, with, progress);
    holds = report(s, "random", f);
    if (!holds) {
      random_search same{f.executions, 1};
      print_trace(s, same, o);
    }
  }
  return holds;
}

int run(options const& o) {
  std::regex const pattern(o.pattern);
  session with;
  order_uses uses;
  with.uses = &uses;
  with.weaken = o.weaken ? &*o.weaken : nullptr;
  std::vector<std::string> failing;
  std::size_t tried = 0;
  for (auto const& s : all_scenarios()) {
    if (!std::regex_match(s.name, pattern)) continue;
    ++tried;
    if (o.seed) {
      random_search one{*o.seed, 1};
      print_trace(s, one, o);
    } else if (o.has_path) {
      exhaustive one{bounds_of(o), o.path};
      print_trace(s, one, o);
    } else if (!check(s, o, with)) {
      failing.push_back(s.name);
    }
  }
  if (tried == 0) {
    std::fprintf(stderr, "test_model: no scenario is called '%s'; --list shows all\n", o.pattern.c_str());
    return 2;
  }
  if (!o.seed && !o.has_path)
    std::printf("%zu scenarios, %llu steps, %zu memory orders came by, %zu scenarios failed\n", tried,
                static_cast<unsigned long long>(with.steps), uses.size(), failing.size());
  return failing.empty() ? 0 : 1;
}

/// Parses "kernels/mail/mailbox.hpp:76:28=relaxed"; with "?relaxed" instead, the order of a failed compare-exchange.
weakening parse_weakening(std::string const& text) {
  static std::regex const form(R"(([^:]+):(\d+):(\d+)([=?])(relaxed|acquire|release|acq_rel))");
  std::smatch part;
  if (!std::regex_match(text, part, form))
    throw CLI::ValidationError("--weaken", "expected FILE:LINE:COLUMN=ORDER, as --orders prints them");
  weakening w;
  w.site = {part[1], static_cast<std::uint32_t>(std::stoul(part[2])),
            static_cast<std::uint32_t>(std::stoul(part[3])),
            part[4] == "?" ? order_of::failure : order_of::success};
  for (auto const order :
       {memory_order::relaxed, memory_order::acquire, memory_order::release, memory_order::acq_rel})
    if (part[5] == name_of(order)) w.to = order;
  return w;
}

/// Weakens every order; prints each result, and the table at the end. Returns 1 if a weakened order is not detected.
int earn_orders(options const& o, std::string const& files) {
  orders_plan plan{std::regex(files), o.executions, [](weakened_order const& w) {
                     std::printf("%s:%u:%u %s%s %s -> %s: %s (%llu executions)\n", w.site.file.c_str(),
                                 w.site.line, w.site.column, w.use.kind.c_str(),
                                 w.site.part == order_of::failure ? " (failure)" : "", name_of(w.use.order),
                                 name_of(w.to), w.caught_by.empty() ? "NOBODY NOTICES" : w.caught_by.c_str(),
                                 static_cast<unsigned long long>(w.executions));
                     std::fflush(stdout);
                   }};
  std::vector<scenario> chosen;
  for (auto& s : all_scenarios())
    if (std::regex_match(s.name, std::regex(o.pattern))) chosen.push_back(s);
  auto const all = weaken_all(chosen, plan);
  std::printf("\n%s", table_of(all).c_str());
  return std::all_of(all.begin(), all.end(), [](auto const& w) { return !w.caught_by.empty(); }) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  bool list = false, orders = false;
  std::string files = ".*";
  CLI::App app{"The protocols of the kernels under a controlled scheduler and a simulated memory"};
  app.add_option("--scenario", o.pattern, "only those whose whole name matches this regular expression");
  app.add_option("--executions", o.executions, "random ones of each scenario")->capture_default_str();
  app.add_flag("--full", o.full, "the wider bounds, and at least 100,000 random executions of each");
  app.add_option("--seed", o.seed, "repeat one random execution and print its steps");
  app.add_option("--path", o.path, "repeat one exhaustive execution and print its steps");
  app.add_option("--switches", o.switches, "bound of the exhaustive search");
  app.add_option("--stale", o.stale, "bound of the exhaustive search");
  app.add_option("--late", o.late, "bound of the exhaustive search");
  app.add_option("--trace-lines", o.trace_lines, "how much of a trace to print")->capture_default_str();
  app.add_flag("--orders", orders, "weaken each memory order, one at a time: which scenario notices?");
  app.add_option_function<std::string>(
      "--weaken", [&o](std::string const& text) { o.weaken = parse_weakening(text); },
      "run with one order weaker: FILE:LINE:COLUMN=ORDER, or ?ORDER for that of a failure");
  app.add_option("--files", files, "only orders in files whose name this regular expression finds");
  app.add_flag("--list", list, "name the scenarios");
  CLI11_PARSE(app, argc, argv);
  o.has_path = app.count("--path") != 0;
  if (o.full) o.executions = std::max<std::uint64_t>(o.executions, 100'000);
  if (list) {
    for (auto const& s : all_scenarios()) std::printf("%-24s %s\n", s.name.c_str(), s.holds.c_str());
    return 0;
  }
  return orders ? earn_orders(o, files) : run(o);
}
