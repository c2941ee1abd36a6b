// The behaviours of `rondo run`, compiled for every device of the build.
#pragma once

#include "actors/workloads/flock.hpp"
#include "actors/workloads/page_ranker.hpp"
#include "actors/workloads/rank_vertex.hpp"
#include "actors/workloads/sensor.hpp"
#include "runtime/device/program.hpp"

namespace rondo::tools {

RONDO_MODULE(workloads_module, workloads::alert_collector, workloads::flock, workloads::page_ranker,
             workloads::rank_collector, workloads::rank_vertex, workloads::sensor)

}  // namespace rondo::tools
