// docs/actors.md, "Asks".
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct price_of { std::uint32_t item; };
struct price { std::uint32_t cents; };
struct wait_for_sale {};
struct start_sale {};
struct forget {};

struct shop {
  using messages = rondo::messages<rondo::ask<price_of, price>, rondo::ask<wait_for_sale, price>, start_sale,
                                   rondo::ask<forget, price>>;
  rondo::reply_token waiting{};

  RONDO_HD price on(rondo::context&, price_of const& m) { return {100 * m.item}; }
  RONDO_HD void on(rondo::context& ctx, wait_for_sale const&) { waiting = ctx.defer(); }
  RONDO_HD void on(rondo::context& ctx, start_sale const&) { ctx.reply_to(waiting, price{5}); }
  RONDO_HD void on(rondo::context&, forget const&) {}
};
RONDO_MODULE(shops, shop)

asio::awaitable<void> buy(rondo::actor_ref<shop> s) {
  price const p = co_await s.ask(price_of{2}, 1min);  // throws boost::system::system_error
  check(p.cents == 200);
}

int main() {
  rondo::runtime rt{rondo::use<shops>};
  auto const s = rt.launch<shop>("s");

  rondo::result<price> const p = s.ask(price_of{3}, 1min, rondo::block);
  check(p && p->cents == 300);
  check(s.ask(forget{}, 1min, rondo::block).error() == rondo::errc::no_reply);

  std::future<price> sale = s.ask(wait_for_sale{}, {}, asio::use_future);  // no time limit
  while (sale.wait_for(1ms) != std::future_status::ready) check(!s.try_tell(start_sale{}));
  check(sale.get().cents == 5);

  asio::io_context io;
  asio::co_spawn(io, buy(s), asio::use_future);
  asio::cancellation_signal stop;
  auto const ended = [](rondo::error_code ec, price) { check(ec == rondo::errc::cancelled); };
  s.ask(wait_for_sale{}, {}, asio::bind_cancellation_slot(stop.slot(), asio::bind_executor(io, ended)));
  stop.emit(asio::cancellation_type::terminal);
  io.run();  // returns when both have ended
}
