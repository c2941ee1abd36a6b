// The launch of a checkpoint image's actors, shared by `restore` and `replay`.
#pragma once

#include <filesystem>

#include "runtime/state/checkpoint_image.hpp"

namespace rondo {

class runtime_core;

/// Throws as `restore` does; the errors name `file`.
void restore_image(runtime_core& core, checkpoint_image& image, std::filesystem::path const& file);

}  // namespace rondo
