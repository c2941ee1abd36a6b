// A file with a graph that runs until it is stopped, for the tests of `rondo stream`.
#pragma once

#include "tests/actors/command_fixture.hpp"

namespace command_test {

/// From a pattern, softened, to a stage of the type `sink`, which is called "screen".
inline std::string endless_graph(std::string const& sink = "null_sink") {
  return R"({
  "rate": 200,
  "stages": [
    {"name": "pattern", "stage": "test_pattern", "options": {"width": 64, "height": 48}},
    {"name": "soft", "stage": "blur"},
    {"name": "screen", "stage": ")" +
         sink + R"("}
  ],
  "connections": [{"from": "pattern", "to": "soft"}, {"from": "soft", "to": "screen", "delivery": "latest"}]
})";
}

/// Writes a graph's file. Returns its name.
inline std::string graph_file(folder const& dir, std::string const& text = endless_graph()) {
  std::ofstream(dir / "graph.json") << text;
  return dir / "graph.json";
}

}  // namespace command_test
