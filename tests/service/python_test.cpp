// A client in another language, written from docs/protocol.md.
#include <cstdlib>

#include "tests/catch.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;

TEST_CASE("a client in Python speaks the protocol of docs/protocol.md", "[service][python]") {
  served s;
  auto const command = RONDO_PYTHON " " RONDO_SOURCE_DIR "/tests/service/python_client.py " +
                       s.it->listens_at().front().path + " " PYTHON_WIRE;
  REQUIRE(std::system(command.c_str()) == 0);
}
