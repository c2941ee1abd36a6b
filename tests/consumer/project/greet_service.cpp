// A service of the module, with all the commands to run it and to talk to it.
#include "generated/greetings_schema.hpp"
#include "greetings.hpp"
#include "tools/commands/commands.hpp"
#ifdef WITH_NATS
#include "runtime/nats/nats_service.hpp"
#endif

int main(int argc, char** argv) {
#ifdef WITH_NATS
  return rondo::serve_main(argc, argv, rondo::use<greeters>, {rondo::generated::greetings_schema()},
                           rondo::service::make_nats_service);
#else
  return rondo::serve_main(argc, argv, rondo::use<greeters>, {rondo::generated::greetings_schema()});
#endif
}
