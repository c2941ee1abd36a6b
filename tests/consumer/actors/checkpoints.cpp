// docs/actors.md, "Checkpoints".
#include <unistd.h>
#include <boost/asio/use_future.hpp>

#include "runtime/checkpoint.hpp"
#include "runtime/lifecycle.hpp"
#include "tests/consumer/actors/check.hpp"
#include "tests/consumer/actors/journal.hpp"

using namespace std::chrono_literals;

int main() {
  auto const file = std::filesystem::temp_directory_path() / ("journals." + std::to_string(::getpid()));
  std::future<lines> open;
  {
    rondo::runtime rt{rondo::use<journals>};
    auto const j = rt.launch<journal>("j");
    check(!j.try_tell(line{1}));
    check(j.ask(read_lines{}, 1min, rondo::block).has_value());
    check(!rondo::deactivate(j, rondo::block));
    check(!j.try_tell(line{2}));
    open = j.ask(read_lines{}, {}, boost::asio::use_future);
    rondo::checkpoint(rt, file);
  }
  try {
    open.get();
    check(false);
  } catch (boost::system::system_error const& e) {
    check(e.code() == rondo::errc::stopped);  // the ask ended with its runtime
  }

  rondo::runtime rt{rondo::use<journals>};
  rondo::restore(rt, file);
  auto const j = rt.find<journal>("j").value();
  check(rondo::inspect(j, rondo::block).value().now.waiting == 2);  // line 2, and a request
  check(!rondo::activate(j, rondo::block));
  check(j.ask(read_lines{}, 1min, rondo::block).value().list() == numbers{1, 2});
  std::filesystem::remove(file);
}
