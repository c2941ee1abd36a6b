// docs/actors.md, "Behaviours and messages".
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct deposit { std::uint64_t cents; };
struct balance {};
struct amount { std::uint64_t cents; };

struct account {
  using messages = rondo::messages<deposit, rondo::ask<balance, amount>>;
  std::uint64_t cents = 0;
  bool open = false;

  RONDO_HD void on_start(rondo::context&) { open = true; }
  RONDO_HD void on(rondo::context&, deposit const& m) { cents += open ? m.cents : 0; }
  RONDO_HD amount on(rondo::context&, balance const&) { return {cents}; }
};
RONDO_MODULE(bank, account)

int main() {
  rondo::runtime rt{rondo::use<bank>};
  auto const savings = rt.launch<account>("savings");
  check(!savings.try_tell(deposit{250}));  // false: no error
  check(savings.ask(balance{}, 1min, rondo::block).value().cents == 250);
}
