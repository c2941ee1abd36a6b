// PTX written in tests: small kernels, and what they left in memory.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "tests/ptx/machine/ptx_grid.hpp"

namespace ptx_test {

inline std::string const header = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// A module with one kernel `test(.u64 out)`, whose first instruction has loaded `out` into %out.
inline std::string kernel_of(std::string const& body) {
  return header +
         ".visible .entry test(.param .u64 test_param_0)\n{\n.reg .pred %p<10>;\n.reg .b16 %rs<10>;\n" +
         ".reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n.reg .f32 %f<10>;\n.reg .f64 %fd<10>;\n.reg .b64 %out;\n" +
         "ld.param.u64 %out, [test_param_0];\n" + body + "\nret;\n}\n";
}

template <class Memory>
ptx::memory_range range_of(Memory& memory, ptx::memory_kind kind = ptx::memory_kind::device) {
  auto const begin = reinterpret_cast<std::uint64_t>(memory.data());
  return {begin, begin + memory.size() * sizeof(memory[0]), kind, "test"};
}

/// Runs `body` in `blocks` blocks of `threads` threads on one thread of this process; returns what is in `out`.
inline std::vector<std::uint64_t> run_kernel(std::string const& body, std::uint32_t threads = 32,
                                             std::size_t words = 64, std::uint32_t blocks = 1,
                                             ptx::grid_options const& options = {}) {
  auto const m = ptx::read_module("test.ptx", kernel_of(body));
  std::vector<std::uint64_t> out(words);
  auto const* const to = out.data();
  ptx::grid g(*m, m->find_entry("test"), blocks, threads, ptx::params_of(to), {range_of(out)}, options);
  g.run();
  return out;
}

/// Runs `body` in one lane; returns the first word of `out`.
inline std::uint64_t result_of(std::string const& body) { return run_kernel(body, 1)[0]; }

}  // namespace ptx_test
