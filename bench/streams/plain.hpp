// The five-stage pipeline without Rondo, with the same code for the pixels.
#pragma once

#include "bench/streams/work.hpp"

namespace streams_bench {

/// One thread, without any runtime; all pixels.
outcome run_loop(work const& w);

/// The naive way: five threads with queues between them; each edge copies the picture into memory that is allocated for
/// it. Throws std::runtime_error if `load::transport` finds a wrong number at the end.
outcome run_copies(work const& w);

}  // namespace streams_bench
