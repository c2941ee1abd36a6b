#include "runtime/streams/kinds/stage_catalog.hpp"

namespace rondo::streams {

stage_kind const* stage_catalog::find(std::string_view name) const noexcept {
  stage_kind const* found = nullptr;
  for (auto const* kind : all_) {
    if (kind->name == name) return kind;
    if (kind->short_name() != name) continue;
    if (found != nullptr) return nullptr;
    found = kind;
  }
  return found;
}

}  // namespace rondo::streams
