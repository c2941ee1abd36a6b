// Prints for `rondo stream --list` the types of stages, their ports and their options.
#pragma once

#include <string>

#include "runtime/streams/kinds/stage_catalog.hpp"

namespace rondo::tools {

/// All types, one line each.
std::string list_stages(streams::stage_catalog const& catalog);
/// One type, with its options.
std::string list_stage(streams::stage_kind const& kind);

}  // namespace rondo::tools
