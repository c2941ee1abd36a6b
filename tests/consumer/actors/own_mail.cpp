// docs/actors.md, "Going on, and waiting for room".
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"
#include "tests/consumer/actors/journal.hpp"

using namespace std::chrono_literals;

struct count_primes { std::uint32_t below; };
struct primes { std::uint32_t count; };

RONDO_HD bool is_prime(std::uint32_t n) {
  for (std::uint32_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

struct counter {
  using messages = rondo::messages<rondo::ask<count_primes, primes>, rondo::again>;
  rondo::reply_token asker{};
  std::uint32_t next = 0, below = 0, found = 0;

  RONDO_HD void on(rondo::context& ctx, count_primes const& m) {
    asker = ctx.defer();
    below = m.below;
    ctx.again();
  }
  RONDO_HD void on(rondo::context& ctx, rondo::again const&) {
    for (int i = 0; i < 100 && next < below; ++i) found += is_prime(next++);
    if (next < below) return ctx.again();  // other mail and other actors first
    ctx.reply_to(asker, primes{found});
  }
};

struct write_numbers { rondo::address<journal> to; std::uint32_t up_to; };

struct writer {
  using messages = rondo::messages<write_numbers, rondo::room>;
  rondo::address<journal> to{};
  std::uint32_t next = 1, up_to = 0;

  RONDO_HD void on(rondo::context& ctx, write_numbers const& m) {
    to = m.to;
    up_to = m.up_to;
    write(ctx);
  }
  RONDO_HD void on(rondo::context& ctx, rondo::room const&) { write(ctx); }
  RONDO_HD void write(rondo::context& ctx) {
    for (; next <= up_to; ++next)
      if (ctx.tell(to, line{next}) == rondo::errc::mailbox_full) return ctx.when_room(to);
  }
};
RONDO_MODULE(workers, counter, writer, journal)

int main() {
  rondo::runtime rt{rondo::use<workers>};
  auto const c = rt.launch<counter>("c");
  check(c.ask(count_primes{1000}, 1min, rondo::block).value().count == 168);

  auto const j = rt.launch<journal>("j", {.capacity = 2});
  check(!rt.launch<writer>("w").try_tell(write_numbers{{j.id()}, 7}));
  check_soon([&] {
    auto const written = j.ask(read_lines{}, {.timeout = 1min, .wait_for_room = true}, rondo::block);
    return written.value().list() == numbers{1, 2, 3, 4, 5, 6, 7};
  });
}
