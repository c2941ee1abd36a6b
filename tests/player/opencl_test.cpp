// What OpenCL's player does if OpenCL does not do what it should: its functions are replaced. It runs on the processor
// (pocl).
#include <atomic>
#include <future>

#include "actors/video/pixels/pixel_kernels.hpp"
#include "kernels/pixels/kernels.hpp"
#include "tests/catch.hpp"
#include "tests/player/opencl_variants.hpp"
#include "tests/player/players.hpp"

using namespace rondo;
using namespace rondo::pixels;
using namespace rondo::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using video::pixel_kernels;

namespace {

kernel_call draws(shared_block const& picture) {
  return call(draw_pattern_kernel, {{0, 64}, plane_y, pattern_for(64, 64, 1, 1)}, {{picture.data()}}, 64, 64);
}

/// A driver that says of no list that it has ended, until it is let go.
struct silent_driver {
  using callback = void(CL_CALLBACK*)(cl_event, cl_int, void*);
  static inline std::vector<std::pair<callback, void*>> kept;

  static opencl_api const& api() {
    static auto const silent = opencl_with([](opencl_api& a) {
      a.clSetEventCallback = [](cl_event, cl_int, callback f, void* data) -> cl_int {
        kept.emplace_back(f, data);
        return CL_SUCCESS;
      };
    });
    return silent;
  }
  static void let_go() {
    for (auto const& [f, data] : std::exchange(kept, {})) f(nullptr, CL_COMPLETE, data);
  }
};

}  // namespace

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
  CHECK_THAT(error_of(pixel_kernels, pocl, opencl_with([](opencl_api& a) {
                        a.clGetPlatformIDs = [](cl_uint, cl_platform_id*, cl_uint*) -> cl_int {
                          return -1001;
                        };
                      })),
             Contains("there are no devices") && Contains("pocl-opencl-icd"));
  CHECK_THAT(error_of(pixel_kernels, pocl, opencl_with([](opencl_api& a) {
                        a.clCreateContext = [](cl_context_properties const*, cl_uint, cl_device_id const*,
                                               void(CL_CALLBACK*)(char const*, void const*, size_t, void*),
                                               void*, cl_int* status) -> cl_context {
                          *status = CL_DEVICE_NOT_AVAILABLE;
                          return nullptr;
                        };
                      })),
             Contains("a context: CL_DEVICE_NOT_AVAILABLE (-2)"));
  unsigned char const noise[] = {'B', 'C', 0xC0, 0xDE, 1, 2, 3, 4};
  CHECK_THAT(error_of({.name = "noise", .spir = noise}, pocl, real), Contains("OpenCL: "));
  CHECK_THAT(
      error_of(pixel_kernels, pocl, opencl_with([](opencl_api& a) {
                 a.clBuildProgram = [](cl_program, cl_uint, cl_device_id const*, char const*,
                                       void(CL_CALLBACK*)(cl_program, void*),
                                       void*) -> cl_int { return CL_BUILD_PROGRAM_FAILURE; };
               })),
      Contains(
          "does not compile the kernels 'rondo::video::pixel_kernels': CL_BUILD_PROGRAM_FAILURE (-11): "));
}

TEST_CASE("memory that cannot be had is bad_alloc", "[player]") {
  auto const api = opencl_with([](opencl_api& a) {
    a.clSVMAlloc = [](cl_context, cl_svm_mem_flags, size_t, cl_uint) -> void* { return nullptr; };
  });
  opencl_player gpu({&pixel_kernels}, pocl, api);
  CHECK_THROWS_AS(gpu.memory().allocate(64), std::bad_alloc);
}

TEST_CASE("a machine that is lost fails the list at which that is seen, and all later ones", "[player]") {
  static std::atomic<int> left;
  left = 3;
  auto const api = opencl_with([](opencl_api& a) {
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
  CHECK(!play(gpu, {draws(picture), draws(picture)}).why);
  auto const o = play(gpu, {draws(picture), draws(picture)});  // at its second kernel
  CHECK(o.why == errc::device_lost);
  CHECK_THAT(o.text, Contains("draw_pattern_kernel: CL_OUT_OF_RESOURCES (-5)"));
  CHECK(gpu.is_lost());
  left = 100;
  CHECK(play(gpu, {draws(picture)}).why == errc::device_lost);
}

TEST_CASE("a list that fails while it plays is reported by its event", "[player]") {
  static cl_command_queue queue;
  auto const api = opencl_with([](opencl_api& a) {
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
  auto const o = play(gpu, {draws(picture)});
  CHECK(o.why == errc::device_lost);
  CHECK_THAT(o.text, Contains("a list of kernels: CL_DEVICE_NOT_AVAILABLE (-2)"));
  CHECK(gpu.is_lost());
}

TEST_CASE("a device that takes none of the forms of a program says which it lacks", "[player]") {
  CHECK_THROWS_WITH(opencl_player({&pixel_kernels}, pocl, opencl_without_bitcode(false)),
                    Contains("neither LLVM bitcode nor SPIR-V") && Contains("rondo::video::pixel_kernels"));
  kernel_program const bitcode_alone{.name = "alone", .spir = pixel_kernels.spir};
  CHECK_THROWS_WITH(opencl_player({&bitcode_alone}, pocl, opencl_without_bitcode(true)),
                    Contains("takes SPIR-V, but no LLVM bitcode") && Contains("llvm-spirv"));
}

TEST_CASE("a pointer outside of mapped memory fails its list", "[player]") {
  opencl_player gpu({&pixel_kernels}, pocl, opencl_without_shared_memory());
  shared_block const picture(gpu, 64 * 64);
  auto elsewhere = draws(picture);
  std::vector<u8> own(64 * 64);
  elsewhere.buffers.of[0] = own.data();
  auto const o = play(gpu, {draws(picture), elsewhere});
  CHECK(o.why == errc::device_lost);
  CHECK_THAT(o.text, Contains("draw_pattern_kernel: "));
  CHECK(gpu.is_lost());
}

TEST_CASE("mapped memory that cannot be had is bad_alloc", "[player]") {
  auto api = opencl_without_shared_memory();
  bool const has_buffer = GENERATE(true, false);
  if (has_buffer)
    api.clEnqueueMapBuffer = [](cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint,
                                cl_event const*, cl_event*,
                                cl_int* status) -> void* { return *status = CL_MAP_FAILURE, nullptr; };
  else
    api.clCreateBuffer = [](cl_context, cl_mem_flags, size_t, void*, cl_int* status) -> cl_mem {
      return *status = CL_MEM_OBJECT_ALLOCATION_FAILURE, nullptr;
    };
  opencl_player gpu({&pixel_kernels}, pocl, api);
  CHECK_THROWS_AS(gpu.memory().allocate(64), std::bad_alloc);
}

TEST_CASE("a list that does not end within the limit is lost, and all behind it", "[player]") {
  auto api = opencl_with([](opencl_api& a) { a = silent_driver::api(); });
  static std::atomic<int> freed;
  freed = 0;
  api.clSVMFree = [](cl_context context, void* at) { ++freed, load_opencl().clSVMFree(context, at); };
  bool const ends_late = GENERATE(true, false);
  {
    opencl_player gpu({&pixel_kernels}, pocl, api, 300ms);
    std::vector<outcome> outcomes;  // of one thread
    {
      shared_block const picture(gpu, 64 * 64);
      std::promise<void> second;
      gpu.play({draws(picture)}, [&](error_code why, std::string const& text) {
        outcomes.push_back({why, text});
      });
      gpu.play({draws(picture)}, [&](error_code why, std::string const& text) {
        outcomes.push_back({why, text});
        second.set_value();
      });
      second.get_future().wait();
      CHECK(gpu.is_lost());
      CHECK(play(gpu, {draws(picture)}).why == errc::device_lost);
      if (ends_late) silent_driver::let_go();
    }
    REQUIRE(outcomes.size() == 2);
    for (auto const& o : outcomes) {
      CHECK(o.why == errc::device_lost);
      CHECK_THAT(o.text, Contains(pocl) && Contains("did not end within 0.3 s"));
    }
    CHECK(gpu.played() == 0);
    CHECK(freed == (ends_late ? 1 : 0));  // what the driver may still touch is not freed
  }
  silent_driver::let_go();  // after the player is gone
}
