// docs/actors.md, "Receiving what actors send".
#include "actors/channel/channel.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "runtime/channel_reader.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct reading { std::uint32_t number; };
struct readings : rondo::channel<reading> {};

struct measure { std::uint32_t times; };

struct sensor {
  struct arguments { rondo::address<readings> to; };
  using messages = rondo::messages<measure, rondo::room>;
  rondo::address<readings> to{};
  std::uint32_t next = 0, until = 0;

  RONDO_HD void on_start(rondo::context&, arguments const& a) { to = a.to; }
  RONDO_HD void on(rondo::context& ctx, measure const& m) {
    until += m.times;
    send(ctx);
  }
  RONDO_HD void on(rondo::context& ctx, rondo::room const&) { send(ctx); }
  RONDO_HD void send(rondo::context& ctx) {
    for (; next < until; ++next)
      if (ctx.tell(to, reading{next}) == rondo::errc::mailbox_full) return ctx.when_room(to);
  }
};
RONDO_MODULE(lab, sensor, readings)

asio::awaitable<std::uint32_t> sum_of(rondo::channel_reader<reading> reader, std::uint32_t count) {
  std::uint32_t sum = 0;
  for (; count != 0; --count) {
    reading const r = co_await reader.async_receive();  // throws boost::system::system_error
    sum += r.number;
  }
  co_return sum;
}

int main() {
  rondo::runtime rt{rondo::use<lab>};
  auto const r = rt.launch<readings>("readings", rondo::channel_options(4));
  auto const s = rt.launch<sensor>("sensor", {}, {r.where()});
  check(!s.try_tell(measure{1000}));

  rondo::channel_reader<reading> const reader{r};
  check(reader.receive(1min).value().number == 0);  // blocks; the others are next
  check(reader.async_receive(1min, asio::use_future).get().number == 1);

  asio::io_context io;
  auto sum = asio::co_spawn(io, sum_of(reader, 998), asio::use_future);
  io.run();
  check(sum.get() == 999 * 1000 / 2 - 1);

  check(reader.receive(1ms).error() == rondo::errc::timed_out);
  check(!s.try_tell(measure{1}));
  check(reader.receive(1min).value().number == 1000);  // nothing was lost
}
