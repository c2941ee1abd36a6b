// The five-stage pipeline as a graph on the device `emulated`, whose copies take as long as on PCI Express.
#pragma once

#include "bench/streams/work.hpp"

namespace streams_bench {

/// How frames pass between stages of the device.
enum class manner {
  negotiated,  // they stay there
  naive,       // by way of the host, with memory allocated for each
};

/// Where the source and the sink work.
enum class ends {
  device,  // both there
  mixed,   // the sink on the host, as a display does
  host,    // both on the host
};

/// Throws std::runtime_error if the graph fails, or if another number of copies was made than this manner needs.
outcome run_placed(work const& w, manner how, ends where);

/// The same graph on `cpu`, without copies.
outcome run_on_cpu(work const& w);

}  // namespace streams_bench
