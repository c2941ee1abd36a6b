#include "tests/ptx/cost/costs.hpp"

#include <fstream>
#include <sstream>

#include "runtime/base/json_reader.hpp"

namespace ptx_cost {

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
      {"fence_gpu_ps", &costs::fence_gpu_ps,
       "assumed: as an atomic, because it waits for stores to reach the L2"},
      {"fence_cta_ps", &costs::fence_cta_ps, "assumed"},
      {"l1_load_ps", &costs::l1_load_ps, "assumed: a little more than shared memory"},
      {"shared_ps", &costs::shared_ps, "microbenchmarks of Hopper: 15 ns"},
      {"warp_instruction_ps", &costs::warp_instruction_ps,
       "assumed: each waits for the one before, four cycles at 1.75 GHz"},
      {"host_submit_ps", &costs::host_submit_ps, "assumed"},
      {"host_take_ps", &costs::host_take_ps, "assumed"},
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
