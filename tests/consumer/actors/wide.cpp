// docs/actors.md, "Wide handlers".
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct sum_squares { std::uint32_t count; };
struct number { std::uint64_t value; };

struct summer {
  using messages = rondo::messages<rondo::ask<sum_squares, number>>;
  static constexpr std::uint32_t most = 64, per_tile = 100;
  std::uint64_t parts[most];

  RONDO_HD std::uint32_t tiles(rondo::context& ctx, sum_squares const& m) {
    std::uint32_t const wanted = (m.count + per_tile - 1) / per_tile;
    if (wanted > most) ctx.fail();
    return wanted;
  }
  RONDO_HD void tile(rondo::context&, sum_squares const& m, std::uint32_t t) {
    std::uint64_t part = 0;
    for (std::uint64_t i = t * per_tile; i < (t + 1) * per_tile && i < m.count; ++i) part += i * i;
    parts[t] = part;  // each tile writes its own element
  }
  RONDO_HD void finish(rondo::context& ctx, sum_squares const& m) {
    std::uint64_t sum = 0;
    for (std::uint32_t t = 0; t * per_tile < m.count; ++t) sum += parts[t];
    ctx.reply(number{sum});
  }
};
RONDO_MODULE(summers, summer)

int main() {
  rondo::runtime rt{rondo::use<summers>};
  auto const s = rt.launch<summer>("s", {.supervise = {.poison_after = 1}});
  check(s.ask(sum_squares{1000}, 1min, rondo::block).value().value == 332'833'500);
  check(s.ask(sum_squares{10'000}, 1min, rondo::block).error() == rondo::errc::handler_failed);
}
