// Behaviours that break a GPU, and one that does not.
#pragma once

#include "kernels/actor/module.hpp"

namespace gpu_test {

struct trap {
  std::uint64_t after_ns;
};
struct wild_write {
  std::uint64_t address;
};
struct count_up {};
struct count {
  std::uint64_t value;
};

struct bomb {
  using messages = rondo::messages<trap, wild_write, rondo::ask<count_up, count>>;
  std::uint64_t n = 0;

  RONDO_HD void on(rondo::context&, [[maybe_unused]] trap const& m) {
#if defined(__CUDA_ARCH__)
    for (auto const end = rondo::now_ns() + m.after_ns; rondo::now_ns() < end;) rondo::yield_thread();
    __trap();
#endif
  }
  RONDO_HD void on(rondo::context&, wild_write const& m) {
    *reinterpret_cast<std::uint64_t volatile*>(m.address) = n;
  }
  RONDO_HD void on(rondo::context& ctx, count_up const&) { ctx.reply(count{++n}); }
};

RONDO_MODULE(bombs, bomb)

}  // namespace gpu_test
