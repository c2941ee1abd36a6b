#include "bench/gpu_page.hpp"

#include <fmt/ostream.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "bench/gpu/targets.hpp"
#include "bench/results.hpp"

namespace rondo::bench {
namespace {

constexpr auto not_measured =
    "Not yet measured on a GPU. `tools/gpu` does it on a borrowed machine; targets are for a GPU of the "
    "H200's class over "
    "PCIe; predicted figures have goals of their own.\n\n";

std::string whole(std::string const& path) {
  std::ostringstream text;
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be opened; tools/gpu report writes it");
  text << file.rdbuf();
  return text.str();
}

/// "one value" of a Markdown table: without the character that separates columns.
std::string cell_text(std::string text) {
  for (auto& c : text)
    if (c == '|') c = '/';
  return text;
}

void write_provenance(std::ostream& out, json_object const& from) {
  if (from.text("device") != "cuda")
    fmt::print(out, "**A rehearsal on the device {}: nothing here was measured on a GPU.**\n\n",
               from.text("device"));
  auto const fields = from.fields();
  for (std::size_t i = 0; i < fields.size(); ++i)
    fmt::print(
        out, "- {}: {}\n", words(fields.Keys()[i].AsKey()),
        fields.Values()[i].IsString() ? fields.Values()[i].AsString().str() : fields.Values()[i].ToString());
  out << '\n';
}

/// How many cases of each step had which outcome, and those that did not pass.
void write_cases(std::ostream& out, std::string const& path) {
  constexpr std::array steps{"probes", "smoke", "test", "bench", "experiments", "sanitize", "faults"};
  constexpr std::array outcomes{"passed", "failed", "timeout", "hung", "skipped"};
  std::map<std::string, std::map<std::string, int>> counts;
  std::ostringstream rest;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    json_object const one(line, path + ": not JSON");
    auto const status = one.text("status");
    ++counts[one.text("step")][status];
    if (status != "passed" && status != "skipped")
      fmt::print(rest, "- {}: {}, **{}**: {}\n", one.text("step"), one.text("case"), status,
                 one.text("reason"));
  }
  out << "\nCases, each in a process of its own:\n\n| step |";
  for (auto const* outcome : outcomes) out << ' ' << outcome << " |";
  out << "\n| --- | --- | --- | --- | --- | --- |\n";
  for (auto const* step : steps) {
    if (!counts.contains(step)) continue;
    out << "| " << step << " |";
    for (auto const* outcome : outcomes) out << ' ' << counts[step][outcome] << " |";
    out << '\n';
  }
  if (!rest.str().empty()) out << "\nThose that did not pass:\n\n" << rest.str();
}

void write_costs(std::ostream& out, std::string const& path) {
  json_object const costs(whole(path), path + ": not JSON");
  auto const probes = costs.fields()["probes"].AsVector();
  if (probes.size() == 0) return;
  out << "\nProbes of the hardware:\n\n| what | value | note |\n| --- | --- | --- |\n";
  for (std::size_t i = 0; i < probes.size(); ++i) {
    auto const one = probes[i].AsMap();
    fmt::print(out, "| {} | {:.4g} {} | {} |\n", words(one["probe"].AsString().str()),
               one["value"].AsDouble(), one["unit"].AsString().str(),
               cell_text(one["note"].AsString().str()));
  }
}

gpu::predictions read_predictions(std::string const& path) {
  gpu::predictions all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    json_object const one(line, path + ": not JSON");
    all[one.text("case")] = {one.fields()["p50_us"].AsDouble(), one.fields()["p99_us"].AsDouble()};
  }
  return all;
}

void write_measured(std::ostream& out, std::string const& folder, std::string const& provenance) {
  out << "Measured by `tools/gpu visit`; targets are for a GPU of the H200's class over PCIe; predicted "
         "figures have goals of their own.\n\n";
  json_object const from(whole(provenance), provenance + ": not JSON");
  write_provenance(out, from);
  // Figures of a rehearsal mean nothing.
  gpu::write_summary(
      out, from.text("device") == "cuda" ? read_results(folder + "/gpu_bench.jsonl") : std::vector<result>{},
      read_predictions(folder + "/gpu_predicted.jsonl"));
  write_costs(out, folder + "/gpu_costs.json");
  write_cases(out, folder + "/gpu_cases.jsonl");
}

}  // namespace

void write_gpu_part(std::ostream& out, std::string const& folder) {
  out << gpu_part_begin << "## On a GPU\n\n";
  auto const provenance = folder + "/gpu_provenance.json", predicted = folder + "/gpu_predicted.md";
  if (std::filesystem::exists(provenance)) {
    write_measured(out, folder, provenance);
  } else {
    out << not_measured;
    gpu::write_summary(out, {}, read_predictions(folder + "/gpu_predicted.jsonl"));
  }
  if (std::filesystem::exists(predicted)) out << '\n' << whole(predicted);
}

void replace_part(std::string const& page, std::string const& begin, std::string const& end,
                  std::string const& with) {
  auto text = whole(page);
  auto const from = text.find(begin);
  auto const to = from == std::string::npos ? from : text.find(end, from + 1);
  if (to == std::string::npos)
    throw std::runtime_error(page + ": has no part from '" + begin + "' to '" + end + "'");
  text.replace(from, to - from, with);
  if (!(std::ofstream(page) << text).flush()) throw std::runtime_error(page + ": cannot be written");
}

}  // namespace rondo::bench
