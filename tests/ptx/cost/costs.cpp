#include "tests/ptx/cost/costs.hpp"

#include <fstream>
#include <sstream>

#include "runtime/base/json_reader.hpp"

namespace ptx_cost {

std::vector<cost_row> const& cost_rows() {
  // "speed": gpu-speed.md; "notes": gpu-notes.md, which names what others measured; "estimate": ours.
  static std::vector<cost_row> const rows = {
      {"pcie_read_ps", &costs::pcie_read_ps, "speed: 1.0 us"},
      {"posted_write_ps", &costs::posted_write_ps, "speed: 0.45 us until the host sees it"},
      {"posted_write_gap_ps", &costs::posted_write_gap_ps,
       "estimate: 32 bytes and a packet's header at some 25 GB/s"},
      {"fence_sys_ps", &costs::fence_sys_ps, "speed: MEMBAR.SYS takes 1 to 2 us; the lower end"},
      {"fence_sys_write_ps", &costs::fence_sys_write_ps,
       "speed: the same, behind a store to the host; notes: about 2 us per push on an H200"},
      {"l2_load_ps", &costs::l2_load_ps, "speed: 0.15 to 0.2 us; notes: 130 to 209 ns on Hopper"},
      {"l2_atomic_ps", &costs::l2_atomic_ps, "speed: 0.35 us"},
      {"fence_gpu_ps", &costs::fence_gpu_ps,
       "estimate: as an atomic, because it waits for stores to reach the L2"},
      {"fence_cta_ps", &costs::fence_cta_ps, "estimate"},
      {"l1_load_ps", &costs::l1_load_ps, "estimate: a little more than shared memory"},
      {"shared_ps", &costs::shared_ps, "notes: 15 ns on Hopper"},
      {"warp_instruction_ps", &costs::warp_instruction_ps,
       "estimate: one instruction waits for the one before, four cycles at 1.75 GHz"},
      {"host_submit_ps", &costs::host_submit_ps, "estimate"},
      {"host_take_ps", &costs::host_take_ps, "estimate"},
  };
  return rows;
}

costs read_costs(std::string const& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw rondo::config_error(path + ": cannot be read");
  auto const document = rondo::parse_json_file(text.str(), path);
  rondo::json_reader fields(document, path);
  costs c;
  std::string source;
  fields.text("source", source);
  for (auto const& row : cost_rows()) fields.number(row.name, 0, 1'000'000'000, c.*row.value);
  fields.done();
  return c;
}

}  // namespace ptx_cost
