// The fault of a stage that fails: the stage itself, or something outside its graph.
//
// Stages say it, and programs tell it to their users: `rondo stream` has an exit status for each.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace rondo::streams {

/// What has failed.
enum class fault : std::uint8_t {
  stage,            // the stage itself, its options, or the graph
  input_missing,    // an input does not exist, or cannot be opened
  input_malformed,  // an input is not what it should be, or is cut short
  output_refused,   // an output cannot be created or written
  unavailable,      // a device such as a camera, or a service, is not there
};

/// Why a stage cannot go on: what the `why_failed` of its host returns, and `spec` and the host's constructor may
/// throw. Of what else these throw, std::invalid_argument means that the stage's options are wrong, and any other
/// exception that a source's input is missing, or a sink's output refused.
struct stage_error : std::runtime_error {
  /// `why`: text, shown to users behind the stage's name.
  stage_error(fault what, auto const& why) : std::runtime_error(why), of(what) {}
  fault of;  // what has failed
};

}  // namespace rondo::streams
