// A module in a .cu file with messages from a schema: compiled as plain C++ where there is no CUDA compiler.
#include "generated/greetings_messages.hpp"
#include "runtime/runtime.hpp"

struct greeter {
  using messages = rondo::messages<rondo::ask<greetings::hello, greetings::answer>>;
  RONDO_HD void on(rondo::context& ctx, greetings::hello const& m) {
    ctx.reply(greetings::answer{m.number + 1});
  }
};
RONDO_MODULE(greeters, greeter)

std::uint64_t greet(std::uint64_t number) {
  rondo::runtime rt{rondo::use<greeters>};
  auto const g = rt.launch<greeter>("greeter");
  return g.ask(greetings::hello{number}, std::chrono::seconds(10), rondo::block).value().number;
}
