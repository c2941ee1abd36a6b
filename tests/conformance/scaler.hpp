// The captured behaviour of the conformance suite, and the steps that its tests record.
#pragma once

#include "kernels/actor/captured.hpp"
#include "tests/conformance/gate.hpp"

namespace rondo {
class stream;
}

namespace conformance {

/// Multiplies the first `count` numbers of a field.
struct scale {
  std::uint32_t factor, count;
};
/// The sum of the field, and the number of replays of this graph.
struct scaled {
  std::uint64_t sum;
  std::uint32_t factor, replays;
};
struct scaler : rondo::captured<scale, scaled> {};

/// A field of numbers in a device's memory.
struct scaler_field {
  std::uint32_t* numbers;
  std::uint32_t count;
  std::uint32_t* replays;
};
/// Records the steps. Defined in testbed.cu, because they are kernels on a GPU.
void record_scaling(rondo::stream& s, scale const* in, scaled* out, scaler_field field);
/// Records a step that lasts until the gate is open.
void record_gate(rondo::stream& s, gate& at);

}  // namespace conformance
