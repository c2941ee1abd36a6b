// docs/actors.md, "Children, watches, and supervisors".
#include "actors/supervision/supervisor.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct weigh { std::uint32_t item; };
struct weight { std::uint32_t grams; };

struct scale {
  struct arguments { std::uint32_t tare = 0; };
  using messages = rondo::messages<rondo::ask<weigh, weight>>;
  std::uint32_t tare = 0;

  RONDO_HD void on_start(rondo::context&, arguments const& a) { tare = a.tare; }
  RONDO_HD weight on(rondo::context& ctx, weigh const& m) {
    if (m.item == 0) ctx.fail();
    return {100 * m.item - tare};
  }
};

struct open_shop {};
struct count_broken {};
struct broken { std::uint32_t scales; };

struct shop {
  using messages = rondo::messages<open_shop, rondo::ask<count_broken, broken>, rondo::launched, rondo::child_failed, rondo::ended>;
  std::uint32_t failures = 0;

  RONDO_HD void on(rondo::context& ctx, open_shop const&) {
    ctx.launch<scale>(1, {.supervise = {.rule = rondo::on_failure::escalate, .poison_after = 1}}, {.tare = 5});
  }
  RONDO_HD void on(rondo::context& ctx, rondo::launched const& m) {  // the correlation is 1
    if (m.reason == rondo::errc::ok) ctx.watch(m.who);
  }
  RONDO_HD void on(rondo::context& ctx, rondo::child_failed const& m) {
    if (++failures < 3) return ctx.restart(m.who);
    ctx.terminate(m.who);
  }
  RONDO_HD void on(rondo::context& ctx, rondo::ended const&) { ctx.launch<scale>(2); }
  RONDO_HD broken on(rondo::context&, count_broken const&) { return {failures}; }
};

struct counter_row : rondo::supervisor<rondo::one_for_all<3, 5000>, scale, scale> {};

RONDO_MODULE(shops, scale, shop, counter_row)

int main() {
  rondo::runtime rt{rondo::use<shops>};
  auto const exact = rt.launch<scale>("exact", {}, {.tare = 20});
  check(exact.ask(weigh{3}, 1min, rondo::block).value().grams == 280);

  auto const s = rt.launch<shop>("shop");
  check(!s.try_tell(open_shop{}));
  check_soon([&] { return rt.find<scale>("shop/scale-1").has_value(); });
  auto const child = rt.find<scale>("shop/scale-1").value();
  check(child.ask(weigh{0}, 1min, rondo::block).error() == rondo::errc::handler_failed);
  check(child.ask(weigh{1}, 1min, rondo::block).value().grams == 95);  // the shop has restarted it
  check(s.ask(count_broken{}, 1min, rondo::block).value().scales == 1);

  auto const row = rt.launch<counter_row>("row");
  auto const place = row.ask(rondo::child_at{1}, 1min, rondo::block).value();
  check(rt.find<scale>("row/scale-2").value().id() == place.who);

  check(!rondo::terminate(s, rondo::termination::drain, rondo::block));
  check_soon([&] { return !rt.find<scale>("shop/scale-1"); });  // it ends with its parent
}
