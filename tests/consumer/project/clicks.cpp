#include <cstdio>
#include "runtime/runtime.hpp"

struct add { std::uint64_t amount; };
struct get {};
struct total { std::uint64_t value; };

struct counter {
  using messages = rondo::messages<add, rondo::ask<get, total>>;
  std::uint64_t sum = 0;
  RONDO_HD void on(rondo::context&, add const& m) { sum += m.amount; }
  RONDO_HD void on(rondo::context& ctx, get const&) { ctx.reply(total{sum}); }
};
RONDO_MODULE(counters, counter)

int main() {
  rondo::runtime rt{rondo::use<counters>};
  auto clicks = rt.launch<counter>("clicks", {.capacity = 1024});
  if (auto full = clicks.try_tell(add{2})) return full.value();
  if (auto full = clicks.try_tell(add{40}, {.priority = 255})) return full.value();
  auto t = clicks.ask(get{}, std::chrono::seconds(1), rondo::block);
  std::printf("%llu clicks\n", static_cast<unsigned long long>(t.value().value));
}
