// For tests that draw lists over pictures without a graph. All memory has exactly the size that a stage would ask for,
// so that AddressSanitizer sees each access beyond it.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "actors/video/overlay/lists.hpp"
#include "actors/video/overlay/tile_layer.hpp"
#include "actors/video/pixels/image.hpp"
#include "kernels/streams/stage.hpp"

namespace exact_memory {

/// Memory of exactly so many bytes, at a multiple of 64.
class memory {
 public:
  explicit memory(std::size_t bytes)
      : data_(
            static_cast<std::byte*>(::operator new (std::max<std::size_t>(bytes, 1), std::align_val_t{64}))) {
    std::memset(data_.get(), 0x5A, bytes);
  }
  std::byte* data() const { return data_.get(); }

 private:
  struct free {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, free> data_;
};

/// As a stage sees its input and its options.
template <class Stage, class Item>
struct context {
  struct frame {
    rondo::video::list_of<Item> about;
    std::byte* data;
  };
  rondo::video::list_of<Item> about;
  std::byte* data;
  typename Stage::options of_stage;
  template <rondo::streams::port_name>
  frame input() const {
    return {about, data};
  }
  typename Stage::options const& options() const { return of_stage; }
};

/// What a stage carves for itself, before it takes its list.
template <class Stage>
memory carve_for(Stage& stage) {
  rondo::video::carver measure(nullptr);
  stage.carve(measure);
  memory own(measure.used());
  rondo::video::carver carved(own.data());
  stage.carve(carved);
  return own;
}

/// All steps of a tile_layer, the parts of each in the wrong order, with so many lanes, one after the other. `stage`
/// has taken its list.
template <class Shape, class Stage>
void draw(Stage const& stage, typename Stage::options const& o, rondo::video::image const& about,
          std::byte* pixels, std::uint32_t lanes) {
  using layer_of = rondo::video::tile_layer<Shape>;
  auto const each = Stage::shapes_of_item(o);
  rondo::video::carver measure(nullptr);
  layer_of(measure, stage.most() * each, about.width, about.height);
  memory const scratch(measure.used());
  rondo::video::carver memory_of_layer(scratch.data());
  layer_of layer(memory_of_layer, stage.most() * each, about.width, about.height);
  auto const make = [&](std::uint32_t n, Shape* shapes) { stage.make(o, n, shapes); };
  for (auto part = layer.begin(stage.count(), each); part-- > 0;) layer.count(part, make);
  for (auto part = layer.join(); part-- > 0;) layer.put(part);
  rondo::team_shared shared{};
  for (std::uint32_t n = 0; n < layer.touched(); ++n) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      rondo::team const team{0, lane, lanes, shared};
      if (about.is_layer())
        layer.draw(team, rondo::video::layer_planes_at(about, pixels), stage.how(), n);
      else
        layer.draw(team, rondo::video::drawn_planes_at(about, pixels), stage.how(), n);
    }
    if (about.is_layer()) layer.mark(rondo::video::layer_planes_at(about, pixels), n);
  }
}

}  // namespace exact_memory
