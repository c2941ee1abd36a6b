#include "bench/results.hpp"

#include <flatbuffers/idl.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace rondo::bench {
namespace {

bool same_subject(result const& a, result const& b) {
  return a.work == b.work && a.parameters == b.parameters && a.peer == b.peer && a.distance == b.distance &&
         a.allocator == b.allocator;
}

result read_line(std::string const& line, std::string const& where) {
  result r{.line = {line, where + ": not a JSON line"}};
  auto const fields = r.fields();
  auto const text = [&](char const* key) {
    if (!fields[key].IsString()) throw std::runtime_error(where + ": has no text \"" + key + "\"");
    return fields[key].AsString().str();
  };
  r.work = text("case");
  r.peer = text("peer");
  r.distance = text("distance");
  r.allocator = text("allocator");
  r.headline = text("headline");
  auto const parameters = fields["parameters"].AsMap();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    r.parameters += fmt::format("{}{}={}", i == 0 ? "" : " ", parameters.Keys()[i].AsKey(),
                                parameters.Values()[i].AsString().str());
  r.ratio_to_anchor = fields["ratio_to_anchor"].AsDouble();
  r.is_anchor = fields["anchor"].IsString() && fields["anchor"].AsString().str() == r.peer;
  if (!r.has(r.headline)) throw std::runtime_error(where + ": has no figures for its headline " + r.headline);
  return r;
}

}  // namespace

json_object::json_object(std::string const& text, std::string const& complaint) {
  flatbuffers::Parser parser;
  flexbuffers::Builder into;
  if (!parser.ParseFlexBuffer(text.c_str(), nullptr, &into))
    throw std::runtime_error(complaint + ": " + parser.error_);
  bytes_ = std::make_shared<std::vector<std::uint8_t> const>(into.GetBuffer());
}

summary result::of(std::string const& metric) const {
  auto const m = fields()[metric].AsMap();
  return {m["samples"].AsUInt64(), m["min"].AsDouble(),   m["p50"].AsDouble(), m["p90"].AsDouble(),
          m["p99"].AsDouble(),     m["p99_9"].AsDouble(), m["max"].AsDouble()};
}

std::vector<result> read_results(std::string const& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be opened; tools/bench writes it");
  std::vector<result> results;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty()) continue;
    result found = read_line(line, fmt::format("{}:{}", path, number));
    auto const earlier =
        std::find_if(results.begin(), results.end(), [&](result const& r) { return same_subject(r, found); });
    if (earlier == results.end())
      results.push_back(std::move(found));
    else
      *earlier = std::move(found);
  }
  return results;
}

result const* best_of(std::vector<result> const& all, bool higher_is_better,
                      std::function<bool(result const&)> const& holds,
                      std::function<double(result const&)> const& figure) {
  result const* best = nullptr;
  for (auto const& r : all) {
    if (!holds(r)) continue;
    if (best == nullptr || (higher_is_better ? figure(r) > figure(*best) : figure(r) < figure(*best)))
      best = &r;
  }
  return best;
}

std::string human(double value) {
  constexpr std::array factors{std::pair{1e9, " G"}, std::pair{1e6, " M"}, std::pair{1e3, " k"}};
  double const size = std::abs(value);
  for (auto const& [factor, letter] : factors)
    if (size >= factor * 0.9995)
      return fmt::format("{:.{}f}{}", value / factor,
                         size < 9.995 * factor   ? 2
                         : size < 99.95 * factor ? 1
                                                 : 0,
                         letter);
  return size >= 99.95 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string human(std::string const& metric, double value) {
  if (!metric.ends_with("_ns")) return human(value);
  if (value < 1e3) return fmt::format("{:.0f} ns", value);
  if (value < 1e6) return fmt::format("{:.3g} us", value / 1e3);
  return fmt::format("{:.3g} ms", value / 1e6);
}

std::string words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace rondo::bench
