// A graph as a JSON file describes it: docs/streams.md has the keys.
//
//   {
//     "rate": 30,
//     "stages": [
//       {"name": "pattern", "stage": "test_pattern", "options": {"width": 640}},
//       {"name": "soft", "stage": "blur", "options": {"sigma": 2}},
//       {"name": "screen", "stage": "null_sink"}
//     ],
//     "connections": [
//       {"from": "pattern", "to": "soft"},
//       {"from": "soft.video", "to": "screen.video", "delivery": "latest"}
//     ]
//   }
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/base/config.hpp"
#include "runtime/streams/graph.hpp"
#include "runtime/streams/kinds/stage_catalog.hpp"

namespace rondo::streams {

struct stream_file {
  /// A stage, as graph::add gets it.
  struct stage {
    std::string name;                         // in the graph
    stage_kind const* kind = nullptr;         // its type
    std::vector<std::max_align_t> options{};  // as many bytes as kind->option_bytes
    std::string device{};                     // empty: the graph decides
    stage_options how{};                      // how it runs
  };
  /// A connection, by numbers of stages and of their ports.
  struct connection {
    std::uint32_t from = 0;    // the writer
    std::uint32_t output = 0;  // its port
    std::uint32_t to = 0;      // the reader
    std::uint32_t input = 0;   // its port
    connection_options how{};  // how frames pass
  };

  graph_options graph;                  // how the graph runs
  config runtime;                       // the runtime that it needs
  std::uint32_t repeat = 1;             // so many copies of it
  std::vector<stage> stages;            // in the file's order
  std::vector<connection> connections;  // likewise
};

/// Throws config_error: the file, the path in it, what was found, and what is accepted, with the nearest known name.
stream_file parse_stream_file(std::string const& text, std::string const& origin,
                              stage_catalog const& catalog);
/// The same. Throws config_error also if the file cannot be read.
stream_file load_stream_file(std::string const& path, stage_catalog const& catalog);

/// Adds a stage with the default options of its type. Returns its number.
std::uint32_t add_stage(stream_file& file, std::string name, stage_kind const& kind);
/// Sets an option, from "stage.option=value". Throws config_error, which begins with `origin`.
void set_option(stream_file& file, std::string const& assignment, std::string const& origin);

/// The graph's options for copy `number` of the file, from 0.
graph_options options_of_copy(stream_file const& file, std::uint32_t number, runtime& rt);
/// Adds the file's stages and connections, for that copy. Throws graph_error for a device that the runtime does not
/// have.
void add_stages(graph& g, stream_file const& file, std::uint32_t number, runtime& rt);

}  // namespace rondo::streams
