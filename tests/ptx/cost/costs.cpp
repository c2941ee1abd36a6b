#include "tests/ptx/cost/costs.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "runtime/text/json_reader.hpp"

namespace ptx_cost {

namespace {

/// A cost by the probe of the same operation (bench/gpu/probes*.cu), whose value is in nanoseconds.
struct probed_cost {
  char const* name;
  char const* probe;
};
constexpr probed_cost probed_costs[] = {
    {"pcie_read_ps", "pcie_read"}, {"fence_sys_ps", "fence_sys"},
    {"l2_load_ps", "l2_read"},     {"fence_sys_write_ps", "host_store_fence_sys"},
    {"l2_atomic_ps", "l2_atomic"}, {"fence_gpu_ps", "store_fence_gl"},
    {"l1_load_ps", "l1_load"},     {"l2_same_address_ps", "additions_528"},
};

/// Replaces the costs that the probes have measured.
void take_probes(std::map<std::string, double> const& probes, sourced_costs& to) {
  auto const take = [&](std::string const& name, double ps, std::string const& source) {
    for (auto const& row : cost_rows())
      if (row.name == name) to.values.*row.value = static_cast<std::uint64_t>(ps);
    to.sources[name] = source;
  };
  auto const value = [&](char const* probe) {
    auto const at = probes.find(probe);
    return at == probes.end() ? 0 : at->second;
  };
  for (auto const& [name, probe] : probed_costs)
    if (value(probe) > 0) take(name, value(probe) * 1e3, std::string("measured: probe ") + probe);
  // The host's store waits half a poll, and the GPU sees it half a read later. The rest is the answer's way.
  if (auto const answer = value("flag_round_trip") - value("pcie_read"); value("pcie_read") > 0 && answer > 0)
    take("posted_write_ps", answer * 1e3, "measured: probe flag_round_trip without pcie_read");
  if (auto const mhz = value("multiprocessor_clock"); mhz > 0)
    take("warp_instruction_ps", 4e6 / mhz, "four cycles; their length measured: probe multiprocessor_clock");
}

}  // namespace

std::vector<cost_row> const& cost_rows() {
  static std::vector<cost_row> const rows = {
      {"pcie_read_ps", &costs::pcie_read_ps,
       "assumed; a ping-pong across PCIe takes 0.94 to 1.1 us with gdrcopy on a T4 and an A40"},
      {"posted_write_ps", &costs::posted_write_ps, "assumed: half of a ping-pong"},
      {"posted_write_gap_ps", &costs::posted_write_gap_ps,
       "assumed: 32 bytes and a packet's header at some 25 GB/s"},
      {"fence_sys_ps", &costs::fence_sys_ps, "assumed, without stores to the host before it"},
      {"fence_sys_write_ps", &costs::fence_sys_write_ps,
       "assumed; a public library reports some 2 us per push on an H200"},
      {"l2_load_ps", &costs::l2_load_ps,
       "microbenchmarks of Hopper report 130 to 209 ns (among them arXiv:2402.13499)"},
      {"l2_atomic_ps", &costs::l2_atomic_ps, "assumed: two loads"},
      {"l2_same_address_ps", &costs::l2_same_address_ps,
       "assumed: two clocks of the L2; NVIDIA's GK110 whitepaper gives one for additions"},
      {"l2_sector_ps", &costs::l2_sector_ps,
       "assumed: one clock of the L2; microbenchmarks of Hopper read 5.5 to 7 TB/s from 96 slices"},
      {"fence_gpu_ps", &costs::fence_gpu_ps,
       "assumed: as an atomic, because it waits for stores to reach the L2"},
      {"fence_cta_ps", &costs::fence_cta_ps, "assumed"},
      {"fence_acquire_ps", &costs::fence_acquire_ps,
       "assumed: for sm_90 nvcc 13 makes it one CCTL.IVALL, which waits for no store"},
      {"l1_load_ps", &costs::l1_load_ps, "assumed: a little more than shared memory"},
      {"shared_ps", &costs::shared_ps, "microbenchmarks of Hopper: 15 ns"},
      {"warp_instruction_ps", &costs::warp_instruction_ps,
       "assumed: each waits for the one before, four cycles at 1.75 GHz"},
      {"host_submit_ps", &costs::host_submit_ps, "assumed"},
      {"host_take_ps", &costs::host_take_ps, "assumed"},
  };
  return rows;
}

sourced_costs read_costs(std::string const& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw rondo::config_error(path + ": cannot be read");
  auto const document = rondo::parse_json_file(text.str(), path);
  rondo::json_reader fields(document, path);
  sourced_costs c;
  std::string source = path;
  fields.text("source", source);
  for (auto const& row : cost_rows()) {
    fields.number(row.name, 0, 1'000'000'000, c.values.*row.value);
    if (document.find(row.name) != nullptr) c.sources[row.name] = source;
  }
  std::map<std::string, double> probes;
  fields.object("provenance", [](rondo::json_node const&, std::string const&) {});  // the page has it
  fields.list("probes", [&](rondo::json_node const& one, std::string const& where) {
    auto const* const name = one.find("probe");
    auto const* const value = one.find("value");
    if (name == nullptr || value == nullptr || value->what != rondo::json_node::kind::number)
      throw rondo::config_error(path + ": " + where + ": expected a probe with a value");
    probes[name->text] = std::strtod(value->text.c_str(), nullptr);
  });
  fields.done();
  take_probes(probes, c);
  return c;
}

}  // namespace ptx_cost
