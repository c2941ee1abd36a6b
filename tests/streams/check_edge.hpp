// A row of stages with one edge of a certain delivery, and what the delivery promises of it, checked by the counts of
// the stages at its ends.
#pragma once

#include "kernels/base/delivery.hpp"
#include "kernels/streams/messages.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"

namespace stream_test {

/// Connects a source, a stage and a sink: with this delivery before the stage in the middle, or behind it, and
/// losslessly otherwise.
template <class From, class Middle, class To>
void connect_row(rondo::streams::graph& g, From const& from, Middle const& middle, To const& to,
                 rondo::streams::delivery how, bool before) {
  using rondo::streams::delivery;
  g.connect(from.template out<"numbers">(), middle.template in<"numbers">(),
            {.how = before ? how : delivery::lossless});
  g.connect(middle.template out<"numbers">(), to.template in<"numbers">(),
            {.how = before ? delivery::lossless : how});
}

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
