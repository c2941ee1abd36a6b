// The part of the metrics that tells of graphs of stages.
#pragma once

#include "runtime/service/monitor/metric_text.hpp"
#include "runtime/service/monitor/report.hpp"

namespace rondo::service {

void write_graphs(metric_text& to, report const& r);

}  // namespace rondo::service
