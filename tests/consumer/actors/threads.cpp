// docs/actors.md, "Threads, executors, and rondo::block".
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <future>

#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"
#include "tests/consumer/actors/journal.hpp"

using namespace std::chrono_literals;
namespace asio = boost::asio;

int main() {
  rondo::runtime rt{rondo::use<journals>};
  auto const j = rt.launch<journal>("j");

  asio::io_context io;
  auto const here = std::this_thread::get_id();
  j.ask(read_lines{}, 1min, asio::bind_executor(io, [&](rondo::error_code ec, lines) {
          check(!ec && std::this_thread::get_id() == here);
        }));
  check(io.run() == 1);  // waits for the answer: the open ask keeps the io_context at work

  std::promise<rondo::error_code> nested;
  j.ask(read_lines{}, 1min, [&](rondo::error_code, lines) {  // on the runtime's own thread
    nested.set_value(j.ask(read_lines{}, 1min, rondo::block).error());
  });
  check(nested.get_future().get() == rondo::errc::would_deadlock);
}
