// docs/actors.md, "Full mailboxes".
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_future.hpp>

#include "runtime/lifecycle.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"
#include "tests/consumer/actors/journal.hpp"

using namespace std::chrono_literals;
namespace asio = boost::asio;

int main() {
  rondo::runtime rt{rondo::use<journals>};
  auto const j = rt.launch<journal>("j", {.capacity = 2, .active = false});
  check(!j.try_tell(line{1}));
  check(!j.try_tell(line{2}));
  check(j.try_tell(line{99}) == rondo::errc::mailbox_full);

  line const more[] = {{4}, {5}};
  auto third = j.tell(line{3}, {.wait_for_room = true}, asio::use_future);
  auto batch = j.tell(std::span<line const>(more), {.wait_for_room = true}, asio::use_future);
  auto answer = j.ask(read_lines{}, {.timeout = 1min, .wait_for_room = true}, asio::use_future);

  asio::cancellation_signal stop;
  std::promise<rondo::error_code> left;
  auto const ended = [&](rondo::error_code ec) { left.set_value(ec); };
  j.tell(line{99}, {.wait_for_room = true}, asio::bind_cancellation_slot(stop.slot(), ended));
  stop.emit(asio::cancellation_type::terminal);
  check(left.get_future().get() == rondo::errc::cancelled);

  check(!rondo::activate(j, rondo::block));
  third.get();  // throws if it was refused
  batch.get();
  check(answer.get().list() == numbers{1, 2, 3, 4, 5});

  auto const k = rt.launch<journal>("k", {.capacity = 3, .active = false, .reserve = {.slots = 1, .from = 200}});
  check(!k.try_tell(line{1}) && !k.try_tell(line{2}));
  check(k.try_tell(line{99}) == rondo::errc::mailbox_full);
  check(!k.try_tell(line{3}, {.priority = 255}));  // handled first
  check(!rondo::activate(k, rondo::block));
  auto const handled = k.ask(read_lines{}, {.timeout = 1min, .wait_for_room = true}, rondo::block);
  check(handled.value().list() == numbers{3, 1, 2});
}
