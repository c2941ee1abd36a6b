// ask_greeter SOCKET: asks the actor `door` of a service.
#include "greetings.hpp"
#include "runtime/service/client/client.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  rondo::service::client c{{.at = rondo::endpoint::parse(argv[1], "ask_greeter")}};
  auto const door = c.find<greeter>("door").value();
  return door.ask(greetings::hello{41}, std::chrono::seconds(10), rondo::block).value().number == 42 ? 0 : 1;
}
