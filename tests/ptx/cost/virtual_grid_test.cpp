// Virtual time: what steps of small kernels cost, and which of them are on a critical path.
#include "tests/ptx/cost/virtual_grid.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/text/config_error.hpp"
#include "tests/catch.hpp"
#include "tests/ptx/text_ptx.hpp"

using namespace ptx_cost;
using namespace ptx_test;
using Catch::Matchers::Contains;

namespace {

struct alignas(256) words : std::array<std::uint64_t, 64> {};

/// Round numbers that differ from each other, and instructions that cost next to nothing.
costs simple_costs() {
  costs c;
  c.pcie_read_ps = 1'000'000;
  c.posted_write_ps = 450'000;
  c.fence_sys_ps = 1'100'000;
  c.fence_sys_write_ps = 1'500'000;
  c.l2_load_ps = 200'000;
  c.l2_atomic_ps = 300'000;
  c.l2_same_address_ps = 50'000;
  c.l2_sector_ps = 0;
  c.fence_gpu_ps = 400'000;
  c.l1_load_ps = 20'000;
  c.warp_instruction_ps = 1;
  return c;
}

/// Nanoseconds that one lane takes for `body`, with `out` in memory of this kind.
std::uint64_t time_of(std::string const& body, ptx::memory_kind kind = ptx::memory_kind::device) {
  auto const m = ptx::read_module(
      "test.ptx",
      kernel_of("mov.u64 %rd30, %globaltimer;\n" + body +
                "\nmov.u64 %rd31, %globaltimer;\nsub.u64 %rd31, %rd31, %rd30;\nst.u64 [%out+504], %rd31;"));
  words out{};
  auto const* const to = out.data();
  virtual_grid g(*m, m->find_entry("test"), 1, 1, ptx::params_of(to), {range_of(out, kind)}, simple_costs());
  while (g.now_ps() != ~0ull) g.advance();
  return out[63];
}

}  // namespace

TEST_CASE("ptx cost: a warp waits for a load when it uses the result", "[ptx][cost]") {
  CHECK(time_of("ld.relaxed.gpu.u64 %rd1, [%out];") == 0);
  CHECK(time_of("ld.relaxed.gpu.u64 %rd1, [%out];\nadd.u64 %rd2, %rd1, 1;") == 200);
  CHECK(time_of("ld.relaxed.gpu.u64 %rd1, [%out];\nmov.u64 %rd1, 1;") ==
        200);  // the register is to be written again
  CHECK(time_of("ld.relaxed.sys.u64 %rd1, [%out];\nadd.u64 %rd2, %rd1, 1;", ptx::memory_kind::host) == 1000);
  CHECK(time_of("atom.relaxed.gpu.add.u64 %rd1, [%out], 1;\nadd.u64 %rd2, %rd1, 1;") == 300);
  CHECK(time_of("red.relaxed.gpu.add.u64 [%out], 1;") == 0);
}

TEST_CASE("ptx cost: loads in flight overlap unless one needs the other's result", "[ptx][cost]") {
  CHECK(time_of("ld.relaxed.gpu.u64 %rd1, [%out];\nld.relaxed.gpu.u64 %rd2, [%out+64];\nadd.u64 %rd3, %rd1, "
                "%rd2;") == 200);
  CHECK(time_of(
            "ld.relaxed.gpu.u64 %rd1, [%out];\nadd.u64 %rd2, %rd1, %out;\nld.relaxed.gpu.u64 %rd3, [%rd2];\n"
            "add.u64 %rd4, %rd3, 1;") == 400);
}

TEST_CASE("ptx cost: an acquire load holds up what follows", "[ptx][cost]") {
  CHECK(time_of("ld.acquire.gpu.u64 %rd1, [%out];") == 200);
  CHECK(time_of("ld.acquire.sys.u64 %rd1, [%out];", ptx::memory_kind::host) == 1000);
}

TEST_CASE("ptx cost: a weak load finds its sector in the L1, or on its way there, until an acquire",
          "[ptx][cost]") {
  std::string const two = "ld.u64 %rd1, [%out];\nld.u64 %rd2, [%out+8];\nadd.u64 %rd3, %rd1, %rd2;\n";
  CHECK(time_of(two) == 200);
  CHECK(time_of(two + "ld.u64 %rd4, [%out+16];\nadd.u64 %rd5, %rd4, 1;") == 220);
  CHECK(time_of(two + "ld.u64 %rd4, [%out+32];\nadd.u64 %rd5, %rd4, 1;") == 400);  // another sector
  CHECK(
      time_of(two + "ld.acquire.gpu.u64 %rd6, [%out+64];\nld.u64 %rd4, [%out+16];\nadd.u64 %rd5, %rd4, 1;") ==
      600);
  CHECK(time_of("prefetch.L1 [%out];\nld.u64 %rd1, [%out+32];\nadd.u64 %rd3, %rd1, 1;\n"
                "ld.u64 %rd4, [%out+16];\nadd.u64 %rd5, %rd4, 1;") == 220);
  // A vector's first element makes the trip, and its second one finds the sector in the L1.
  CHECK(time_of(
            two +
            "ld.acquire.gpu.u64 %rd6, [%out+64];\nld.v2.u64 {%rd4, %rd5}, [%out];\nadd.u64 %rd5, %rd5, 1;") ==
        600);
}

TEST_CASE("ptx cost: an acquire of one warp empties the L1 of its whole multiprocessor", "[ptx][cost]") {
  // Warp 0 loads the same sector twice; meanwhile warp 1 does `other`.
  auto const second_load = [](std::string const& other) {
    auto const m = ptx::read_module("test.ptx", kernel_of(R"(mov.u32 %r1, %tid.x;
setp.ge.u32 %p1, %r1, 32;
@%p1 bra other;
ld.u64 %rd1, [%out];
add.u64 %rd2, %rd1, 1;
nanosleep.u32 2000;
mov.u64 %rd30, %globaltimer;
ld.u64 %rd3, [%out+8];
add.u64 %rd4, %rd3, 1;
mov.u64 %rd31, %globaltimer;
sub.u64 %rd31, %rd31, %rd30;
st.u64 [%out+504], %rd31;
ret;
other:
nanosleep.u32 1000;
)" + other));
    words out{};
    auto const* const to = out.data();
    virtual_grid g(*m, m->find_entry("test"), 1, 64, ptx::params_of(to), {range_of(out)}, simple_costs());
    while (g.now_ps() != ~0ull) g.advance();
    return out[63];
  };
  CHECK(second_load("ld.relaxed.gpu.u64 %rd6, [%out+64];") == 20);
  CHECK(second_load("ld.acquire.gpu.u64 %rd6, [%out+64];") == 200);
  CHECK(second_load("fence.acq_rel.gpu;") == 200);
  CHECK(second_load("fence.acquire.gpu;") == 200);
  CHECK(second_load("fence.release.gpu;") == 20);
  CHECK(second_load("st.release.gpu.u64 [%out+64], 1;") == 20);
}

TEST_CASE("ptx cost: atomics on one sector are done one after the other", "[ptx][cost]") {
  auto const two = [](std::string const& second) {
    return time_of("atom.relaxed.gpu.add.u64 %rd1, [%out], 1;\natom.relaxed.gpu.add.u64 %rd2, [" + second +
                   "], 1;\nadd.u64 %rd3, %rd1, %rd2;");
  };
  CHECK(two("%out+8") == 350);
  CHECK(two("%out+64") == 300);
}

TEST_CASE("ptx cost: a fence costs by its scope, and a release costs a fence", "[ptx][cost]") {
  CHECK(time_of("st.relaxed.gpu.u64 [%out], 1;") == 0);
  CHECK(time_of("fence.acq_rel.gpu;") == 400);
  CHECK(time_of("st.release.gpu.u64 [%out], 1;") == 400);
  CHECK(time_of("fence.acq_rel.sys;") == 1100);
  CHECK(time_of("fence.release.sys;") == 1100);
  CHECK(time_of("st.relaxed.gpu.u64 [%out], 1;\nfence.acquire.sys;") == 10);
  CHECK(time_of("st.relaxed.sys.u64 [%out], 1;\nst.release.sys.u64 [%out+8], 1;", ptx::memory_kind::host) ==
        1500);
}

TEST_CASE("ptx cost: a sleep takes its time", "[ptx][cost]") { CHECK(time_of("nanosleep.u32 700;") == 700); }

TEST_CASE("ptx cost: the critical path leads from a warp that waits to the store that it waited for",
          "[ptx][cost]") {
  // Block 0 works, then sets a flag; block 1 polls the flag, and then stores a byte.
  auto const m = ptx::read_module("test.ptx", kernel_of(R"(mov.u32 %r1, %ctaid.x;
setp.eq.u32 %p1, %r1, 1;
@%p1 bra poll;
atom.relaxed.gpu.add.u64 %rd1, [%out+64], 1;
add.u64 %rd2, %rd1, 1;
nanosleep.u32 3000;
st.release.gpu.u64 [%out], %rd2;
fence.acq_rel.sys;
ret;
poll:
ld.acquire.gpu.u64 %rd3, [%out];
setp.eq.u64 %p2, %rd3, 0;
@%p2 bra poll;
mov.u32 %r2, 7;
cvt.u16.u32 %rs1, %r2;
st.u8 [%out+128], %rs1;)"));
  words out{};
  auto const* const to = out.data();
  virtual_grid g(*m, 0, 2, 1, ptx::params_of(to), {range_of(out)}, simple_costs());
  while (out[16] != 7) g.advance();
  auto const path = trace_path(g.logs(), g.last_step());
  CHECK(path.warps == 2);
  CHECK(path.count(step::atomic) == 1);
  CHECK(path.count(step::fence_gpu) == 1);
  CHECK(path.count(step::fence_sys) == 0);  // after the flag
  CHECK(path.count(step::byte_store) == 1);
  CHECK(path.count(step::l2_trip) ==
        2);  // the atomic's, and the last poll's: earlier polls are not on the path
  CHECK(path.count(step::sleep) == 1);
  auto const since_flag = trace_path(g.logs(), g.last_step(), g.last_ps() - 250'000);
  CHECK(since_flag.count(step::atomic) == 0);
  CHECK(since_flag.count(step::byte_store) == 1);
}

TEST_CASE("ptx cost: a file replaces costs, and a name that it does not know is refused", "[ptx][cost]") {
  auto const path =
      (std::filesystem::temp_directory_path() / ("rondo_costs_" + std::to_string(getpid()) + ".json"))
          .string();
  std::ofstream(path) << R"({"pcie_read_ps": 900000, "source": "a probe"})";
  CHECK(read_costs(path).values.pcie_read_ps == 900'000);
  CHECK(read_costs(path).sources == std::map<std::string, std::string>{{"pcie_read_ps", "a probe"}});
  CHECK(read_costs(path).values.l2_load_ps == costs{}.l2_load_ps);
  std::ofstream(path) << R"({"pcie_read": 900000})";
  CHECK_THROWS_WITH(read_costs(path), Contains("pcie_read"));
  std::filesystem::remove(path);
}

TEST_CASE("ptx cost: the probes of a visit replace costs", "[ptx][cost]") {
  auto const path =
      (std::filesystem::temp_directory_path() / ("rondo_probes_" + std::to_string(getpid()) + ".json"))
          .string();
  std::ofstream(path) << R"({"provenance": {"device": "cuda"}, "probes": [
    {"probe": "pcie_read", "value": 812.5, "unit": "ns", "note": ""},
    {"probe": "flag_round_trip", "value": 1.2125e+03, "unit": "ns", "note": ""},
    {"probe": "l2_atomic", "value": -1, "unit": "ns", "note": "not measured"},
    {"probe": "multiprocessor_clock", "value": 2000, "unit": "MHz", "note": ""}]})";
  auto const [values, sources] = read_costs(path);
  CHECK(values.pcie_read_ps == 812'500);
  CHECK(values.posted_write_ps == 400'000);
  CHECK(values.warp_instruction_ps == 2'000);
  CHECK(values.l2_atomic_ps == costs{}.l2_atomic_ps);
  CHECK(sources.size() == 3);
  CHECK_THAT(sources.at("pcie_read_ps"), Contains("probe pcie_read"));
  std::filesystem::remove(path);
}
