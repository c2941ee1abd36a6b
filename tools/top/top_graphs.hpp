// The table of graphs in `rondo top`: a title for each graph, its stages, and its transfers.
//
// Threads: any; no state.
#pragma once

#include <string_view>
#include <vector>

#include "tools/top/top_panels.hpp"

namespace rondo::tools {

/// One line of the table: of a stage, of a transfer, or else about the graph.
struct graph_row {
  reports::graphT const* graph = nullptr;
  top_stage const* stage = nullptr;
  top_transfer const* transfer = nullptr;
  bool is_failure = false;  // why the graph has failed; else its title
};

/// The rows to show, in order: stages and transfers whose name, type or graph contains the filter. Void after the next
/// report.
std::vector<graph_row> graph_rows(top_model const& model, std::string_view filter);

/// The heading of the columns, and rows from `first` on.
void draw_graphs(top_area const& area, top_model const& model, std::vector<graph_row> const& rows, int first);

}  // namespace rondo::tools
