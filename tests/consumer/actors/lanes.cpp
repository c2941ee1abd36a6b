// docs/actors.md, "Cooperative handlers and lanes".
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct count_primes { std::uint32_t below; };
struct number { std::uint64_t value; };

struct sieve {
  using messages = rondo::messages<rondo::ask<count_primes, number>>;
  static constexpr auto width = rondo::width::whole_team;
  std::uint64_t calls = 0;

  RONDO_HD void on(rondo::context& ctx, count_primes const& m) {
    std::uint64_t mine = 0;
    for (std::uint32_t const n : ctx.lanes(m.below)) mine += is_prime(n);  // this lane's share of 0..below
    auto const all = ctx.team().sum(mine);                                 // the same on every lane
    if (ctx.team().leader()) ++calls;                                      // one lane changes the state
    ctx.reply(number{all});                                                // takes effect once
  }
  RONDO_HD static bool is_prime(std::uint32_t n) {
    for (std::uint32_t d = 2; d * d <= n; ++d)
      if (n % d == 0) return false;
    return n > 1;
  }
};
RONDO_MODULE(sieves, sieve)
RONDO_EMULATED_MODULE(sieves)

std::uint64_t primes_on(rondo::config const& settings) {
  rondo::runtime rt{rondo::use<sieves>, settings};
  return rt.launch<sieve>("s").ask(count_primes{1000}, 1min, rondo::block).value().value;
}
int main() {
  check(primes_on({.device = "cpu"}) == 168);                   // one lane
  check(primes_on({.device = "emulated", .lanes = 4}) == 168);  // four
}
