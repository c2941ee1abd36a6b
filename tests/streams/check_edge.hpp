// What each delivery promises of an edge, checked by the counts of the stages at its ends.
#pragma once

#include "kernels/streams/delivery.hpp"
#include "kernels/streams/messages.hpp"
#include "tests/catch.hpp"

namespace stream_test {

/// What became of the frames of an edge, if the other ones of its reader and its writer are lossless.
inline void check_edge(rondo::streams::delivery how, rondo::streams::stage_counts const& writer,
                       rondo::streams::stage_counts const& reader) {
  CHECK(reader.skipped == 0);
  if (how == rondo::streams::delivery::lossless) {
    CHECK(writer.processed == reader.processed);
  } else if (how == rondo::streams::delivery::every) {
    CHECK(writer.processed == reader.processed + writer.dropped);
    CHECK(writer.replaced + reader.replaced == 0);
  } else {
    CHECK(writer.processed == reader.processed + writer.replaced + reader.replaced);
    CHECK(writer.dropped == 0);
  }
}

}  // namespace stream_test
