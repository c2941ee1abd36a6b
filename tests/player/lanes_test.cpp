// Each kernel writes the same bytes on the host, by any number of lanes, and on OpenCL, also where lanes share rows as
// on a GPU.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <random>

#include "actors/video/movement/lanes.hpp"
#include "actors/video/movement/shapes.hpp"
#include "actors/video/pixels/lettering.hpp"
#include "actors/video/pixels/pixel_kernels.hpp"
#include "kernels/pixels/kernels.hpp"
#include "runtime/player/opencl_player.hpp"
#include "tests/catch.hpp"

using namespace rondo;
using namespace rondo::pixels;

namespace {

constexpr char const* pocl = "Portable Computing Language";
constexpr i32 width = 141, height = 37, stride = 320;  // stride: of the two-byte rows of heights, too
constexpr std::size_t bytes = std::size_t{64} * stride * 9;

/// Buffers of a player, or of the host.
class buffers {
 public:
  explicit buffers(std::pmr::memory_resource& from) : from_(from) {
    for (auto& b : all_) b = static_cast<u8*>(from.allocate(bytes, 64));
    std::minstd_rand random(7);
    for (auto* const b : all_)
      for (std::size_t i = 0; i < bytes; ++i) b[i] = static_cast<u8>(random() >> 8);
    auto* const shapes = new (all_[1] + bytes / 2) draw_list{};
    video::add(*shapes, rounded_box{{-160, -90, 900, 300}, 80, 32, {90, 30, 200}, {200, 90, 90}, 60, 256});
    video::add(*shapes, rounded_box{{900, 200, 2300, 800}, 80, 48, {90, 30, 200}, {10, 90, 90}, 200, 130});
    text_line t{-3, 12, 1, {235, 90, 200}, 220, 0, {}};
    video::append(t, "Rondo #1");
    video::add(*shapes, t);
    video::letter_sizes const sizes{{9, 12}};
    auto* const letters = new (all_[2]) letter_book{};
    REQUIRE(video::book_bytes(sizes) <= bytes);
    video::provide_letters(video::one_lane{}, *letters, sizes);
  }
  ~buffers() {
    for (auto* const b : all_) from_.deallocate(b, bytes, 64);
  }
  buffers(buffers const&) = delete;
  buffers& operator=(buffers const&) = delete;

  kernel_buffers both() const { return {{all_[0], all_[1]}}; }
  kernel_buffers shapes() const { return {{all_[0], all_[1] + bytes / 2, all_[2]}}; }
  std::vector<u8> written() const { return {all_[0], all_[0] + bytes}; }

 private:
  std::pmr::memory_resource& from_;
  std::array<u8*, 3> all_{};
};

using made = std::function<kernel_call(buffers const&)>;
template <class Arguments>
std::pair<std::string, made> call(portable_kernel<Arguments> const& kernel,
                                  std::type_identity_t<Arguments> const& a, i32 rows = height) {
  return {kernel.name, [=](buffers const& on) {
            kernel_calls list;
            bool const draws = std::string(kernel.name) == "draw_shapes_kernel";
            list.add(kernel, a, draws ? on.shapes() : on.both(), static_cast<std::uint32_t>(rows), width);
            return list.all.front();
          }};
}

std::vector<std::pair<std::string, made>> all_calls() {
  plane_place const at{64, stride}, from{192, stride}, opacities{0, stride};
  auto const weights = gaussian_weights(150);
  background_limits const limits{15, 13, 5, 42, 7, 900};
  background_work const scene{at,          from,       from,      {0, stride}, 64 * stride,
                              48 * stride, stride / 2, width / 2, limits};
  return {
      call(draw_pattern_kernel, {at, plane_y, pattern_for(width, height, 1, 9)}),
      call(draw_pattern_kernel, {at, plane_v, pattern_for(width, height, 1, 9)}),
      call(blur_rows_down_kernel, {at, from, width, height, weights}),
      call(blur_rows_across_kernel, {at, from, width, height, weights}),
      call(draw_layer_kernel, {at, from, opacities, 1, width}),
      call(draw_layer_kernel, {at, from, opacities, 2, width}),
      call(copy_layer_kernel, {at, from, {}, 1, width}),
      call(draw_band_kernel, {at, 1, width, width, {220, 230, 16, 96}}),
      call(draw_band_kernel, {at, 2, 2 * width, width, {90, 230, 128, 96}}),
      call(draw_shapes_kernel, {at, {64 + 100 * stride, stride}, {64 + 200 * stride, stride}, width, height},
           (height + 1) / 2),
      call(learn_background_kernel, scene),
      call(subtract_background_kernel, scene),
  };
}

/// Lanes in an order that no device promises.
std::vector<u8> on_host(made const& m, int lanes) {
  buffers const on(*std::pmr::new_delete_resource());
  auto const c = m(on);
  for (std::uint32_t row = c.rows; row-- > 0;)
    for (int lane = lanes; lane-- > 0;)
      c.kernel.on_host(c.buffers.of, c.arguments, {lane, lanes, static_cast<int>(row)});
  return on.written();
}
std::vector<u8> on_player(made const& m, kernel_player& player) {
  buffers const on(player.memory());
  std::promise<std::string> ended;
  player.play({m(on)}, [&](error_code, std::string const& text) { ended.set_value(text); });
  REQUIRE(ended.get_future().get().empty());
  return on.written();
}

/// pocl, which says that it is a GPU.
opencl_api as_gpu() {
  auto api = load_opencl();
  api.clGetDeviceInfo = [](cl_device_id device, cl_device_info what, size_t size, void* to,
                           size_t* used) -> cl_int {
    auto const status = load_opencl().clGetDeviceInfo(device, what, size, to, used);
    if (what == CL_DEVICE_TYPE && to != nullptr) *static_cast<cl_device_type*>(to) = CL_DEVICE_TYPE_GPU;
    return status;
  };
  return api;
}

}  // namespace

TEST_CASE("each kernel writes the same bytes by any number of lanes, on the host and on OpenCL", "[player]") {
  static auto const pretends = as_gpu();
  // pocl compiles a kernel when it is first played, which takes long on a busy machine.
  constexpr std::chrono::seconds limit(120);
  opencl_player rows({&video::pixel_kernels}, pocl, load_opencl(), limit),
      lanes({&video::pixel_kernels}, pocl, pretends, limit);
  buffers const untouched(*std::pmr::new_delete_resource());
  for (auto const& [name, m] : all_calls()) {
    INFO(name);
    auto const expected = on_host(m, 1);
    CHECK(expected != untouched.written());
    CHECK((on_host(m, 7) == expected));
    CHECK((on_host(m, 256) == expected));
    CHECK((on_player(m, rows) == expected));
    CHECK((on_player(m, lanes) == expected));
  }
}
