// docs/actors.md, "Failures".
#include <future>
#include <stdexcept>

#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct parse { std::int32_t value; };
struct parsed { std::uint32_t since_start; };

struct parser {
  using messages = rondo::messages<rondo::ask<parse, parsed>>;
  std::uint32_t good = 0;

  parsed on(rondo::context& ctx, parse const& m) {
    if (m.value < 0) ctx.fail();                                   // with errc::handler_failed
    if (m.value > 100) throw std::out_of_range("over a hundred");  // on a CPU only
    return {++good};                                               // not sent if the handler failed
  }
};
RONDO_MODULE(parsers, parser)

int main() {
  rondo::runtime rt{rondo::use<parsers>};
  std::promise<std::string> first;
  std::once_flag once;
  auto const subscription = rt.on_failure_report([&](std::string const& report) {  // on the runtime's thread
    std::call_once(once, [&] { first.set_value(report); });
  });
  auto const p = rt.launch<parser>("p", {.supervise = {.poison_after = 2, .max_restarts = 100}});
  check(p.ask(parse{1}, 1min, rondo::block).value().since_start == 1);
  check(p.ask(parse{2}, 1min, rondo::block).value().since_start == 2);
  check(p.ask(parse{500}, 1min, rondo::block).error() == rondo::errc::quarantined);  // after two attempts
  check(first.get_future().get().find("over a hundred") != std::string::npos);
  check(p.ask(parse{3}, 1min, rondo::block).value().since_start == 1);  // a fresh state

  auto const q = rt.launch<parser>("q", {.supervise = {.rule = rondo::on_failure::stop}});
  check(q.ask(parse{-1}, 1min, rondo::block).error() == rondo::errc::handler_failed);
  check_soon([&] { return q.try_tell(parse{1}) == rondo::errc::actor_gone; });
}
