// Makes nvcc generate device code for a module with every kind of handler, and for the ring kernel that runs it.
//
// Including a header only parses it: most of kernels/ is templates and inline functions, which nvcc compiles only if a
// kernel calls them. Nothing here runs.
#include "kernels/actor/launch.hpp"
#include "kernels/actor/ring_kernel.hpp"

namespace cuda_compile {

struct told {
  std::uint32_t value;
};
struct asked {
  std::uint32_t value;
};
struct answered {
  std::uint32_t value;
};
struct spread {
  std::uint32_t tiles;
};
struct stream {
  std::uint64_t sample;
};

// A type's identity is the hash of its name, which each compiler spells in its own way. nvcc evaluates the asserts for
// the device and g++ for the host, so both recognise each other's messages.
static_assert(rondo::type_name<rondo::message_header> == "rondo::message_header");
static_assert(rondo::type_id<rondo::message_header> == rondo::detail::fnv1a("rondo::message_header"));

struct listener {
  using messages = rondo::messages<told, rondo::ask<asked, answered>, spread, stream>;
  static constexpr auto width = rondo::width::whole_team;
  std::uint64_t sum = 0;
  std::uint32_t failures = 0;

  RONDO_HD void on_start(rondo::context& ctx) { failures = ctx.self().generation; }
  RONDO_HD void on(rondo::context& ctx, told const& m) {
    for (auto i : ctx.lanes(m.value)) sum += i;
    sum = ctx.team().sum(sum);
    sum += ctx.team().scan(m.value, [](std::uint32_t a, std::uint32_t b) { return a > b ? a : b; });
    if (m.value == 0) ctx.fail();
    ctx.tell_later(1000, ctx.self_as<listener>(), told{1});
  }
  RONDO_HD void on(rondo::context& ctx, asked const& m) {
    if (ctx.ask(ctx.self_as<listener>(), m, 7) != rondo::errc::ok) ++failures;
    if (ctx.tell(ctx.self_as<listener>(), told{m.value}, {.priority = 255}) != rondo::errc::ok) ++failures;
    if (ctx.reply(answered{m.value}) != rondo::errc::ok) ++failures;
  }
  RONDO_HD std::uint32_t tiles(rondo::context&, spread const& m) { return m.tiles; }
  RONDO_HD void tile(rondo::context& ctx, spread const&, std::uint32_t i) { sum += i + ctx.team().lane(); }
  RONDO_HD void finish(rondo::context&, spread const&) { sum = 0; }
  RONDO_HD void on(rondo::context&, rondo::batch<stream> const& batch) {
    for (auto const& m : batch) sum += m.sample;
  }
};

using listeners = rondo::module_of<listener>;

__global__ void run_listeners(rondo::arena_ref arena, rondo::launch_spec spec, rondo::host_port host,
                              rondo::team_shared* shared) {
  rondo::team const team{blockIdx.x, threadIdx.x, blockDim.x, shared[blockIdx.x]};
  if (blockIdx.x == 0 && team.leader()) {
    rondo::scheduler scheduler{arena};
    rondo::launch_actor<listeners>(scheduler, spec);
  }
  rondo::ring_kernel<listeners>{arena, team, host, {.spin_ns = 1000, .park = false}}.run({.messages = 64});
}

}  // namespace cuda_compile
using namespace cuda_compile;

void launch(rondo::arena_ref arena, rondo::launch_spec const& spec, rondo::host_port host,
            rondo::team_shared* shared) {
  run_listeners<<<2, 32>>>(arena, spec, host, shared);
}
