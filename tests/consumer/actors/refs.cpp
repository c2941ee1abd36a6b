// docs/actors.md, "Refs and addresses".
#include "runtime/messaging/messages_ref.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct say { std::uint32_t word; };
struct last_word {};
struct word { std::uint32_t number; };

template <int>
struct speaker {
  using messages = rondo::messages<say, rondo::ask<last_word, word>>;
  std::uint32_t last = 0;
  RONDO_HD void on(rondo::context&, say const& m) { last = m.word; }
  RONDO_HD word on(rondo::context&, last_word const&) { return {last}; }
};
using quiet = speaker<0>;
using loud = speaker<1>;
RONDO_MODULE(speakers, quiet, loud)

using anyone_who_speaks = rondo::messages_ref<say, rondo::ask<last_word, word>>;

std::uint32_t repeat(anyone_who_speaks to, std::uint32_t number) {  // accepts a quiet one or a loud one
  check(!to.try_tell(say{number}));
  return to.ask(last_word{}, 1min, rondo::block).value().number;
}

int main() {
  rondo::runtime rt{rondo::use<speakers>};
  auto const a = rt.launch<quiet>("a");
  auto const b = rt.launch<loud>("b");
  check(repeat(a, 5) == 5 && repeat(b, 6) == 6);

  rondo::any_ref const found = rt.find_any("a").value();
  say const hello{7};
  check(found.try_tell(rondo::type_id<say>, std::as_bytes(std::span(&hello, 1))) == rondo::errc::ok);
  check(a.ask(last_word{}, 1min, rondo::block).value().number == 7);

  check(found.id() == a.id() && found.behaviour().name == rondo::type_name<quiet>);
  check(found.find_message(rondo::type_id<say>) != nullptr);
  check(rt.find<quiet>("a").value() == a);
  check(rt.find<loud>("a").error() == rondo::errc::not_found);  // another behaviour
}
