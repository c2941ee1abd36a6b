#include "tests/ptx/cost/budget_file.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ptx_cost {

namespace {

std::string text_of(double count) {
  std::ostringstream text;
  text << count;
  return text.str();
}

}  // namespace

budget_file::budget_file(std::string const& path) : path_(path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  std::string line;
  for (std::uint32_t number = 1; std::getline(in, line); ++number) {
    auto const fail = [&](std::string const& why) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + why);
    };
    std::istringstream words(line.substr(0, line.find('#')));
    limit l;
    std::string kind, more;
    if (!(words >> l.name)) continue;
    if (!(words >> kind >> l.most) || words >> more) fail("expected: case kind limit");
    auto const cases = cost_cases();
    if (std::none_of(cases.begin(), cases.end(), [&](auto const& c) { return c.name == l.name; }))
      fail("unknown case '" + l.name + "'");
    auto const found = std::find(step_names.begin(), step_names.end(), kind);
    if (found == step_names.end()) fail("unknown kind '" + kind + "'");
    l.kind = static_cast<step>(found - step_names.begin());
    limits_.push_back(std::move(l));
  }
}

bool budget_file::has(std::string_view name) const {
  return std::any_of(limits_.begin(), limits_.end(), [&](limit const& l) { return l.name == name; });
}

std::vector<std::string> budget_file::check(std::string_view name, summary const& s) const {
  std::vector<std::string> found;
  bool any = false;
  for (auto const& l : limits_) {
    if (l.name != name) continue;
    any = true;
    if (s.count(l.kind) > l.most)
      found.push_back(path_ + ": " + l.name + ": " + text_of(s.count(l.kind)) + " " +
                      step_names[static_cast<std::size_t>(l.kind)] + " on the critical path, at most " +
                      text_of(l.most) + " are allowed");
  }
  if (!any) throw std::runtime_error(path_ + ": no line for the case '" + std::string(name) + "'");
  return found;
}

std::vector<std::string> budget_file::slack(std::string_view name, summary const& s) const {
  std::vector<std::string> found;
  for (auto const& l : limits_)
    if (l.name == name && l.kind != step::issue && s.count(l.kind) < 0.85 * l.most)
      found.push_back(l.name + ": " + text_of(s.count(l.kind)) + " " +
                      step_names[static_cast<std::size_t>(l.kind)] + ", " + text_of(l.most) +
                      " are allowed: lower the budget");
  return found;
}

}  // namespace ptx_cost
