// The options of `rondo overlay`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rondo::tools {

struct overlay_options {
  std::vector<std::string> inputs;
  std::string output;  // of the first camera; see output_of
  bool no_output = false;
  std::string stills;
  std::int64_t frames = 0;  // of each camera; 0: all
  bool preload = false;
  int buffers = 6;
  int tiles = 0;  // 0: four per team, one for one team

  std::string device;  // empty: from the configuration
  int teams = -1;      // -1: from the configuration
  std::string config_file;
  bool explain = false;  // print required and measured copies after the table

  std::string checkpoint;               // a file; empty: none
  std::int64_t checkpoint_every = 250;  // frames of the first camera
};

/// "out.mp4" for the first camera, "out-2.mp4" for the second, and so on.
std::string output_of(overlay_options const& options, std::uint32_t camera);

/// Runs the command and returns its exit status. Errors go to standard error.
int run_overlay(overlay_options const& options);

}  // namespace rondo::tools
