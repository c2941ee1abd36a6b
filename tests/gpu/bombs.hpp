// A behaviour that breaks a GPU when told to, and otherwise counts and passes messages on.
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

struct tick {};
struct bomb;
/// Makes `to` answer in place of its receiver.
struct pass_on {
  rondo::address<bomb> to;
};
struct passed {
  rondo::reply_token asker;
};

struct bomb {
  using messages = rondo::messages<trap, wild_write, rondo::ask<count_up, count>, tick,
                                   rondo::ask<pass_on, count>, passed>;
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
  RONDO_HD void on(rondo::context&, tick const&) { ++n; }
  RONDO_HD void on(rondo::context& ctx, pass_on const& m) {
    if (auto const refused = ctx.tell(m.to, passed{ctx.defer()}); refused != rondo::errc::ok)
      ctx.fail(refused);
  }
  RONDO_HD void on(rondo::context& ctx, passed const& m) { ctx.reply_to(m.asker, count{++n}); }
};

RONDO_MODULE(bombs, bomb)

}  // namespace gpu_test
