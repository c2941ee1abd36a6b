// Players of portable kernels: the same bytes as on the host, in the order in which lists were given, each of which
// ends once, also when the machine fails. OpenCL runs on the processor (pocl).
#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>

#include "actors/video/pixels/pixel_kernels.hpp"
#include "kernels/pixels/kernels.hpp"
#include "runtime/player/opencl_player.hpp"
#include "tests/catch.hpp"
#include "tests/player/host_player.hpp"

using namespace rondo;
using namespace rondo::pixels;
using Catch::Matchers::Contains;
using video::pixel_kernels;

namespace {

constexpr char const* pocl = "Portable Computing Language";

/// What has come of a list.
struct outcome {
  error_code why;
  std::string text;
};
template <class Arguments>
kernel_call call(portable_kernel<Arguments> const& kernel, std::type_identity_t<Arguments> const& arguments,
                 kernel_buffers const& buffers, std::uint32_t rows, std::uint32_t columns) {
  kernel_calls list;
  list.add(kernel, arguments, buffers, rows, columns);
  return list.all.front();
}
outcome play(kernel_player& player, std::vector<kernel_call> calls) {
  std::promise<outcome> ended;
  player.play(std::move(calls), [&](error_code why, std::string const& text) {
    ended.set_value({why, text});
  });
  return ended.get_future().get();
}

/// Memory of a player.
class shared_block {
 public:
  shared_block(kernel_player& of, std::size_t bytes)
      : of_(of), bytes_(bytes), at_(of.memory().allocate(bytes, 64)) {
    std::memset(at_, 0xA5, bytes);
  }
  ~shared_block() { of_.memory().deallocate(at_, bytes_, 64); }
  shared_block(shared_block const&) = delete;
  shared_block& operator=(shared_block const&) = delete;

  u8* data() const { return static_cast<u8*>(at_); }
  std::vector<u8> copy() const { return {data(), data() + bytes_}; }

 private:
  kernel_player& of_;
  std::size_t bytes_;
  void* at_;
};

/// A picture's planes after each kernel, one after the other, with rows that do not fill their strides.
std::vector<std::vector<u8>> all_kernels(kernel_player& player, i32 width, i32 height, u32 sigma_64) {
  i32 const stride = (width + 63) / 64 * 64;
  auto const bytes = static_cast<std::size_t>(stride) * static_cast<std::size_t>(height) + 128;
  shared_block const picture(player, bytes), between(player, bytes), soft(player, bytes);
  auto const rows = static_cast<std::uint32_t>(height), columns = static_cast<std::uint32_t>(width);
  plane_place const at{64, stride};
  blur_work const blur{at, at, width, height, gaussian_weights(sigma_64)};
  auto const o =
      play(player, {call(draw_pattern_kernel, {at, plane_y, pattern_for(width, height, 1, 7)},
                         {picture.data()}, rows, columns),
                    call(blur_rows_down_kernel, blur, {between.data(), picture.data()}, rows, columns),
                    call(blur_rows_across_kernel, blur, {soft.data(), between.data()}, rows, columns)});
  INFO(o.text);
  REQUIRE(!o.why);
  return {picture.copy(), between.copy(), soft.copy()};
}

/// The functions of OpenCL, some of which a test replaces.
opencl_api with(auto const& change) {
  auto api = load_opencl();
  change(api);
  return api;
}

}  // namespace

TEST_CASE("OpenCL makes the host's bytes, with every radius of a blur", "[player]") {
  host_player host;
  opencl_player gpu({&pixel_kernels}, pocl);
  for (auto const& [width, height] : {std::pair{641, 97}, {16, 16}, {1920, 40}})
    for (u32 const sigma : {20u, 40u, 64u, 100u, 128u, 150u, 200u, 256u}) {
      INFO(width << "x" << height << ", sigma " << sigma << "/64");
      CHECK((all_kernels(gpu, width, height, sigma) == all_kernels(host, width, height, sigma)));
    }
}

TEST_CASE("lists play in the order in which they were given, and each ends once", "[player]") {
  bool const on_host = GENERATE(true, false);
  std::unique_ptr<kernel_player> player;
  if (on_host)
    player = std::make_unique<host_player>();
  else
    player = std::make_unique<opencl_player>(std::vector{&pixel_kernels}, pocl);
  INFO(player->description());
  constexpr int lists = 200;
  shared_block const picture(*player, 64 * 64);
  std::vector<int> ends;  // of one thread at a time: lists end in order
  std::promise<void> last;
  for (int i = 0; i < lists; ++i)
    player->play({call(draw_pattern_kernel, {{0, 64}, plane_y, pattern_for(64, 64, 1, static_cast<u32>(i))},
                       {picture.data()}, 64, 64)},
                 [&, i](error_code why, std::string const&) {
                   if (!why) ends.push_back(i);
                   if (i + 1 == lists) last.set_value();
                 });
  last.get_future().wait();
  REQUIRE(ends.size() == lists);
  CHECK(std::ranges::is_sorted(ends));
  std::vector<u8> expected(64 * 64);
  for (i32 y = 0; y < 64; ++y)
    pattern_row(expected.data() + 64 * y, plane_y, pattern_for(64, 64, 1, lists - 1), y, 0, 1);
  CHECK(picture.copy() == expected);
  CHECK(play(*player, {}).text.empty());
}

TEST_CASE("a kernel that the program does not have is named, and others still play", "[player]") {
  opencl_player gpu({&pixel_kernels}, pocl);
  auto missing = call(draw_pattern_kernel, {{0, 64}, plane_y, pattern_for(64, 64, 1, 1)}, {}, 1, 1);
  missing.kernel.name = "no_such_kernel";
  auto const o = play(gpu, {missing});
  CHECK(o.why == errc::unknown_message);
  CHECK_THAT(o.text, Contains("no_such_kernel"));
  CHECK_FALSE(gpu.is_lost());
  all_kernels(gpu, 32, 32, 64);
}

TEST_CASE("a player that cannot be opened says why", "[player]") {
  auto const error_of = [](kernel_program const& program, char const* device,
                           opencl_api const& api) -> std::string {
    try {
      opencl_player({&program}, device, api);
    } catch (std::runtime_error const& e) {
      return e.what();
    }
    return {};
  };
  auto const& real = load_opencl();
  CHECK_THAT(error_of(pixel_kernels, "a card from the future", real),
             Contains("no device 'a card from the future'") && Contains(pocl));
  CHECK_THAT(error_of(pixel_kernels, pocl, with([](opencl_api& a) {
                        a.clGetPlatformIDs = [](cl_uint, cl_platform_id*, cl_uint*) -> cl_int {
                          return -1001;
                        };
                      })),
             Contains("there are no devices") && Contains("pocl-opencl-icd"));
  CHECK_THAT(error_of(pixel_kernels, pocl, with([](opencl_api& a) {
                        a.clCreateContext = [](cl_context_properties const*, cl_uint, cl_device_id const*,
                                               void(CL_CALLBACK*)(char const*, void const*, size_t, void*),
                                               void*, cl_int* status) -> cl_context {
                          *status = CL_DEVICE_NOT_AVAILABLE;
                          return nullptr;
                        };
                      })),
             Contains("a context: CL_DEVICE_NOT_AVAILABLE (-2)"));
  unsigned char const noise[] = {'B', 'C', 0xC0, 0xDE, 1, 2, 3, 4};
  CHECK_THAT(error_of({"noise", noise}, pocl, real), Contains("OpenCL: "));
  CHECK_THAT(
      error_of(pixel_kernels, pocl, with([](opencl_api& a) {
                 a.clBuildProgram = [](cl_program, cl_uint, cl_device_id const*, char const*,
                                       void(CL_CALLBACK*)(cl_program, void*),
                                       void*) -> cl_int { return CL_BUILD_PROGRAM_FAILURE; };
               })),
      Contains(
          "does not compile the kernels 'rondo::video::pixel_kernels': CL_BUILD_PROGRAM_FAILURE (-11): "));
}

TEST_CASE("memory that cannot be had is bad_alloc", "[player]") {
  auto const api = with([](opencl_api& a) {
    a.clSVMAlloc = [](cl_context, cl_svm_mem_flags, size_t, cl_uint) -> void* { return nullptr; };
  });
  opencl_player gpu({&pixel_kernels}, pocl, api);
  CHECK_THROWS_AS(gpu.memory().allocate(64), std::bad_alloc);
}

TEST_CASE("a machine that is lost fails the list at which that is seen, and all later ones", "[player]") {
  static std::atomic<int> left;
  left = 3;
  auto const api = with([](opencl_api& a) {
    a.clEnqueueNDRangeKernel = [](cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  size_t const* from, size_t const* size, size_t const* group, cl_uint events,
                                  cl_event const* list, cl_event* event) -> cl_int {
      if (left-- <= 0) return CL_OUT_OF_RESOURCES;
      return load_opencl().clEnqueueNDRangeKernel(queue, kernel, dimensions, from, size, group, events, list,
                                                  event);
    };
  });
  opencl_player gpu({&pixel_kernels}, pocl, api);
  shared_block const picture(gpu, 64 * 64);
  auto const draws = [&] {
    return call(draw_pattern_kernel, {{0, 64}, plane_y, pattern_for(64, 64, 1, 1)}, {picture.data()}, 64, 64);
  };
  CHECK(!play(gpu, {draws(), draws()}).why);
  auto const o = play(gpu, {draws(), draws()});  // at its second kernel
  CHECK(o.why == errc::device_lost);
  CHECK_THAT(o.text, Contains("draw_pattern_kernel: CL_OUT_OF_RESOURCES (-5)"));
  CHECK(gpu.is_lost());
  left = 100;
  CHECK(play(gpu, {draws()}).why == errc::device_lost);
}

TEST_CASE("a list that fails while it plays is reported by its event", "[player]") {
  static cl_command_queue queue;
  auto const api = with([](opencl_api& a) {
    a.clCreateCommandQueueWithProperties = [](cl_context context, cl_device_id device,
                                              cl_queue_properties const* properties, cl_int* status) {
      return queue = load_opencl().clCreateCommandQueueWithProperties(context, device, properties, status);
    };
    a.clSetEventCallback = [](cl_event event, cl_int, void(CL_CALLBACK * f)(cl_event, cl_int, void*),
                              void* data) -> cl_int {
      load_opencl().clFinish(queue);  // an event that has failed has ended
      f(event, CL_DEVICE_NOT_AVAILABLE, data);
      return CL_SUCCESS;
    };
  });
  opencl_player gpu({&pixel_kernels}, pocl, api);
  shared_block const picture(gpu, 64 * 64);
  auto const o = play(gpu, {call(draw_pattern_kernel, {{0, 64}, plane_y, pattern_for(64, 64, 1, 1)},
                                 {picture.data()}, 64, 64)});
  CHECK(o.why == errc::device_lost);
  CHECK_THAT(o.text, Contains("a list of kernels: CL_DEVICE_NOT_AVAILABLE (-2)"));
  CHECK(gpu.is_lost());
}
