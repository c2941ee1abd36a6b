// docs/actors.md, "Limits".
#include <boost/asio/use_future.hpp>
#include <stdexcept>

#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"
#include "tests/consumer/actors/journal.hpp"

using namespace std::chrono_literals;
using rondo::errc;

int main() {
  rondo::runtime rt{rondo::use<journals>, {.actors = 2, .asks = 1}};
  auto const j = rt.launch<journal>("j", {.capacity = 3, .active = false});
  check(rt.try_launch<journal>("j").error() == errc::name_taken);
  line const four[] = {{1}, {2}, {3}, {4}};
  check(j.try_tell(std::span<line const>(four)) == errc::batch_too_large);
  check(!j.try_tell(std::span<line const>(four).first(2)));

  auto open = j.ask(read_lines{}, {}, boost::asio::use_future);
  check(j.ask(read_lines{}, 1min, rondo::block).error() == errc::ask_limit);
  check(j.try_tell(line{5}) == errc::mailbox_full);  // two lines and the request

  rt.launch<journal>("");  // without a name
  check(rt.try_launch<journal>("k").error() == errc::actor_limit);
  try {
    rt.launch<journal>(std::string(256, 'x'));
    check(false);
  } catch (std::invalid_argument const&) {
  }
  rt.stop();
  check(j.try_tell(line{6}) == errc::stopped);
}
