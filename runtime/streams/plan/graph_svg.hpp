// A picture of a graph: its stages, where they work, and what passes between them.
#pragma once

#include <string>

#include "runtime/streams/plan/graph_plan.hpp"

namespace rondo::streams {

/// An SVG document. Precondition: the plan has decided.
std::string graph_svg(graph_plan const& plan, std::string const& title);

}  // namespace rondo::streams
