// The module of `rondo overlay`: camera and painter actors.
//
//   rondo::runtime rt{rondo::use<rondo::overlay::overlay_module>};
//   auto painter = rt.launch<rondo::overlay::painter>("painter 1");
//   auto camera = rt.launch<rondo::overlay::camera>("camera 1");
//   camera.ask(open_camera{...}, 1s, rondo::block);     // size, working memory, painter
//   camera.ask(frame{...}, {}, [](error_code, frame_done) { ... });
#pragma once

#include "actors/overlay/camera_actor.hpp"

namespace rondo::overlay {

RONDO_MODULE(overlay_module, camera, painter)

}  // namespace rondo::overlay
