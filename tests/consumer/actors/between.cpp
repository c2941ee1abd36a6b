// docs/actors.md, "Asks between actors".
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct take { std::uint32_t item; };
struct taken { std::uint32_t left; };
struct warehouse {
  using messages = rondo::messages<rondo::ask<take, taken>>;
  std::uint32_t stock[4] = {9, 9, 9, 9};

  RONDO_HD taken on(rondo::context& ctx, take const& m) {
    if (m.item >= 4) return ctx.fail(), taken{};  // a handler that failed sends no reply
    return {--stock[m.item]};
  }
};

struct use_warehouse { rondo::address<warehouse> where; };
struct order { std::uint32_t item; };
struct receipt {
  std::uint32_t left;
  rondo::errc error;
};
struct desk {
  using messages = rondo::messages<use_warehouse, rondo::ask<order, receipt>, taken, rondo::rejected>;
  rondo::address<warehouse> from;
  rondo::reply_token customers[64];
  std::uint32_t orders = 0;

  RONDO_HD void on(rondo::context&, use_warehouse const& m) { from = m.where; }
  RONDO_HD void on(rondo::context& ctx, order const& m) {
    std::uint32_t const number = orders++ % 64;
    customers[number] = ctx.defer();
    if (auto const e = ctx.ask(from, take{m.item}, number); e != rondo::errc::ok)
      ctx.reply_to(customers[number], receipt{0, e});  // mailbox_full, actor_gone
  }
  RONDO_HD void on(rondo::context& ctx, taken const& m) {
    ctx.reply_to(customers[ctx.header().correlation], receipt{m.left, rondo::errc::ok});
  }
  RONDO_HD void on(rondo::context& ctx, rondo::rejected const& m) {
    ctx.reply_to(customers[ctx.header().correlation], receipt{0, m.reason});
  }
};
RONDO_MODULE(orders, warehouse, desk)

int main() {
  rondo::runtime rt{rondo::use<orders>};
  auto const w = rt.launch<warehouse>("w", {.supervise = {.poison_after = 1}});
  auto const d = rt.launch<desk>("d");
  check(!d.try_tell(use_warehouse{w.where()}));
  check(d.ask(order{2}, 1min, rondo::block).value().left == 8);
  check(d.ask(order{7}, 1min, rondo::block).value().error == rondo::errc::handler_failed);
}
