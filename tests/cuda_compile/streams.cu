// Makes nvcc generate device code for a module of stages: `process`, edges, frame pools, the clock, the ends of
// transfers. Nothing here runs.
#include "actors/video/stages/blur.hpp"
#include "actors/video/stages/compositor.hpp"
#include "actors/video/stages/draw_boxes.hpp"
#include "actors/video/stages/draw_edges.hpp"
#include "actors/video/stages/draw_particles.hpp"
#include "actors/video/stages/frame_rate.hpp"
#include "actors/video/stages/knn_graph.hpp"
#include "actors/video/stages/test_pattern.hpp"
#include "actors/video/stages/waveform.hpp"
#include "kernels/actor/launch.hpp"
#include "kernels/actor/ring_kernel.hpp"
#include "tests/streams/stages.hpp"

namespace {

using stages = rondo::module_of<
    rondo::streams::stage_of<stream_test::counter>, rondo::streams::stage_of<stream_test::adder>,
    rondo::streams::stage_of<stream_test::checker>, rondo::streams::stage_of<rondo::video::test_pattern>,
    rondo::streams::stage_of<rondo::video::blur>, rondo::streams::stage_of<rondo::video::compositor>,
    rondo::streams::stage_of<rondo::video::waveform>, rondo::streams::stage_of<rondo::video::frame_rate>,
    rondo::streams::stage_of<rondo::video::knn_graph>, rondo::streams::stage_of<rondo::video::draw_curves>,
    rondo::streams::stage_of<rondo::video::draw_sparks>, rondo::streams::stage_of<rondo::video::draw_boxes>,
    rondo::streams::stage_of<rondo::video::draw_particles>, rondo::streams::clock, rondo::streams::outlet,
    rondo::streams::inlet>;

__global__ void run_stages(rondo::arena_ref arena, rondo::host_port host, rondo::team_shared* shared) {
  rondo::team const team{blockIdx.x, threadIdx.x, blockDim.x, shared[blockIdx.x]};
  rondo::ring_kernel<stages>{arena, team, host, {.spin_ns = 1000, .park = false}}.run({.messages = 64});
}

}  // namespace

void launch(rondo::arena_ref arena, rondo::host_port host, rondo::team_shared* shared) {
  run_stages<<<2, 32>>>(arena, host, shared);
}
