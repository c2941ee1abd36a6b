// A client in another language, written from docs/protocol.md.
#include <cstdlib>

#include "tests/catch.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;

TEST_CASE("a client in Python says and hears what docs/protocol.md describes", "[service][python]") {
  std::string const python = "/usr/bin/python3";
  if (std::system((python + " -c 'import flatbuffers' 2>/dev/null").c_str()) != 0) {
    WARN("skipped: /usr/bin/python3 has no flatbuffers (Debian: python3-flatbuffers)");
    return;
  }
  served s;
  auto const command = python + " " RONDO_SOURCE_DIR "/tests/service/python_client.py " +
                       s.it->listens_at().front().path + " " PYTHON_WIRE;
  REQUIRE(std::system(command.c_str()) == 0);
}
