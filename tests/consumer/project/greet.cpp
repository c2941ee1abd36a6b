#include <boost/asio/use_future.hpp>

#include "generated/greetings_schema.hpp"
#include "greetings.hpp"
#include "runtime/runtime.hpp"

int main() {
  if (rondo::generated::greetings_schema().empty()) return 2;
  rondo::runtime rt{rondo::use<greeters>};
  auto const g = rt.launch<greeter>("greeter");
  return g.ask(greetings::hello{41}, std::chrono::seconds(10), boost::asio::use_future).get().number == 42 ? 0 : 1;
}
