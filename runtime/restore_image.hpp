// Launches the actors of a checkpoint's image: what `restore` and `replay` have in common.
#pragma once

#include <filesystem>

#include "runtime/state/checkpoint_image.hpp"

namespace rondo {

class runtime_core;

/// Errors as of `restore`; `file` is named in them.
void restore_image(runtime_core& core, checkpoint_image& image, std::filesystem::path const& file);

}  // namespace rondo
