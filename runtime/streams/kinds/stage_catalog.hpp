// The types of stages that a program knows by name: for files that describe graphs.
//
//   auto const all = stage_catalog::of<video::video_stages>();
#pragma once

#include <string_view>
#include <vector>

#include "runtime/streams/kinds/stage_kind.hpp"

namespace rondo::streams {

class stage_catalog {
 public:
  /// The stages of a module that RONDO_STAGES names.
  template <class Module>
  static stage_catalog of() {
    stage_catalog c;
    c.add_module(std::type_identity<Module>{});
    return c;
  }

  /// The type with this name, qualified or not; null: none, or several without a qualified name.
  stage_kind const* find(std::string_view name) const noexcept;
  /// In the order of the module.
  std::vector<stage_kind const*> const& all() const noexcept { return all_; }

 private:
  template <class... Behaviours>
  void add_module(std::type_identity<module_of<Behaviours...>>) {
    (add_behaviour(std::type_identity<Behaviours>{}), ...);
  }
  template <class Behaviour>
  void add_behaviour(std::type_identity<Behaviour>) {}
  template <class Stage>
  void add_behaviour(std::type_identity<stage_of<Stage>>) {
    all_.push_back(&kind_of<Stage>());
  }

  std::vector<stage_kind const*> all_;
};

}  // namespace rondo::streams
