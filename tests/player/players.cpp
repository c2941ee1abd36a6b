#include "tests/player/players.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <iterator>
#include <stdexcept>

#include "actors/video/pixels/pixel_kernels.hpp"
#include "tests/player/host_player.hpp"
#include "tests/player/kernels.hpp"
#include "tests/player/test_kernels.hpp"
#if !defined(__APPLE__)
#include "tests/player/opencl_variants.hpp"
#endif
#if defined(__APPLE__) || defined(RONDO_METAL_STAND_IN)
#include "runtime/player/metal_player.hpp"
#endif

namespace rondo::test {

namespace {

std::vector<kernel_program const*> const& programs() {
  static std::vector const all{&test_kernels, &video::pixel_kernels};
  return all;
}

}  // namespace

std::vector<std::string> const& player_names() {
  static std::vector<std::string> const all = [] {
    std::vector<std::string> names{"host"};
#if !defined(__APPLE__)
    names.insert(names.end(), {"opencl", "opencl mapped"});
#if defined(RONDO_LLVM_SPIRV)
    names.emplace_back("opencl spirv");
#endif
#endif
#if defined(__APPLE__) || defined(RONDO_METAL_STAND_IN)
    names.emplace_back("metal");
#endif
    return names;
  }();
  return all;
}

std::unique_ptr<kernel_player> make_player(std::string const& name,
                                           [[maybe_unused]] std::chrono::nanoseconds limit) {
  if (name == "host") return std::make_unique<host_player>();
#if !defined(__APPLE__)
  auto const opencl = [&](opencl_api const& api) {
    return std::make_unique<opencl_player>(programs(), pocl, api, limit);
  };
  if (name == "opencl") return opencl(load_opencl());
  if (name == "opencl mapped") return opencl(opencl_without_shared_memory());
  if (name == "opencl spirv") return opencl(opencl_without_bitcode(true));
#endif
#if defined(__APPLE__) || defined(RONDO_METAL_STAND_IN)
  if (name == "metal") return std::make_unique<metal_player>(programs(), limit);
#endif
  throw std::logic_error("no player " + name);
}

outcome play(kernel_player& player, std::vector<kernel_call> calls) {
  std::promise<outcome> ended;
  player.play(std::move(calls), [&](error_code why, std::string const& text) {
    ended.set_value({why, text});
  });
  return ended.get_future().get();
}

shared_block::shared_block(kernel_player& of, std::size_t bytes)
    : of_(of), bytes_(bytes), at_(of.memory().allocate(bytes, 64)) {
  std::memset(at_, 0xA5, bytes);
}

std::vector<std::vector<unsigned char>> all_mixes(kernel_player& player, int rows, int columns) {
  auto const bytes = static_cast<std::size_t>(rows * columns);
  std::size_t const offsets[4] = {0, 64, 12, 1};
  shared_block const a(player, bytes + 128), b(player, bytes + 128), c(player, bytes + 128),
      d(player, bytes + 128);
  kernel_buffers const buffers{
      {a.data() + offsets[0], b.data() + offsets[1], c.data() + offsets[2], d.data() + offsets[3]}};
  for (auto const factor : {5u, 7u}) {
    shape const s{columns, rows, factor, 0};
    auto const one =
        call(mix_kernel, s, buffers, static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns));
    auto const o = play(player, {one, one});
    if (o.why) throw std::runtime_error("mix_kernel failed: " + o.text);
  }
  return {a.copy(), b.copy(), c.copy(), d.copy()};
}

#if !defined(__APPLE__)

namespace {

/// What OpenCL says of a device, but for some things.
cl_int with_text(std::string const& text, std::size_t bytes, void* to, std::size_t* size) {
  if (size != nullptr) *size = text.size() + 1;
  if (to != nullptr) std::memcpy(to, text.c_str(), std::min(bytes, text.size() + 1));
  return CL_SUCCESS;
}

template <bool TakesSpirv>
cl_int without_bitcode(cl_device_id device, cl_device_info what, std::size_t bytes, void* to,
                       std::size_t* size) {
  if (what == CL_DEVICE_EXTENSIONS) return with_text("cl_khr_icd", bytes, to, size);
  if (what == CL_DEVICE_IL_VERSION) return with_text(TakesSpirv ? "SPIR-V_1.2" : "", bytes, to, size);
  return load_opencl().clGetDeviceInfo(device, what, bytes, to, size);
}

/// As a driver would: pocl has no compiler for SPIR-V, so it is translated back.
cl_program program_of_spirv(cl_context context, void const* spirv, std::size_t bytes, cl_int* status) {
#if defined(RONDO_LLVM_SPIRV)
  char folder[] = "/tmp/rondo_spirv_XXXXXX";
  if (::mkdtemp(folder) == nullptr) return *status = CL_OUT_OF_HOST_MEMORY, nullptr;
  auto const base = std::string(folder) + "/program";
  std::ofstream(base + ".spv", std::ios::binary)
      .write(static_cast<char const*>(spirv), static_cast<std::streamsize>(bytes));
  auto const command = std::string(RONDO_LLVM_SPIRV) + " -r " + base + ".spv -o " + base + ".bc";
  bool const is_made = std::system(command.c_str()) == 0;
  std::ifstream file(base + ".bc", std::ios::binary);
  std::vector<unsigned char> const bitcode{std::istreambuf_iterator<char>(file), {}};
  static_cast<void>(std::system(("rm -r " + std::string(folder)).c_str()));
  if (!is_made) return *status = CL_INVALID_BINARY, nullptr;
  auto const& cl = load_opencl();
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl.clGetPlatformIDs(1, &platform, nullptr);
  cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr);
  auto const* at = bitcode.data();
  auto const size = bitcode.size();
  cl_int of_binary = CL_SUCCESS;
  return cl.clCreateProgramWithBinary(context, 1, &device, &size, &at, &of_binary, status);
#else
  return static_cast<void>(context), static_cast<void>(spirv), static_cast<void>(bytes),
         *status = CL_INVALID_BINARY, nullptr;
#endif
}

}  // namespace

opencl_api const& opencl_without_shared_memory() {
  static auto const api = opencl_with([](opencl_api& a) {
    a.clGetDeviceInfo = [](cl_device_id device, cl_device_info what, std::size_t bytes, void* to,
                           std::size_t* size) -> cl_int {
      if (what == CL_DEVICE_SVM_CAPABILITIES) return CL_INVALID_VALUE;
      return load_opencl().clGetDeviceInfo(device, what, bytes, to, size);
    };
  });
  return api;
}

opencl_api const& opencl_without_bitcode(bool with_spirv) {
  auto const make = [](auto info) {
    return opencl_with([&](opencl_api& a) {
      a.clGetDeviceInfo = info;
      a.clCreateProgramWithIL = program_of_spirv;
      a.clBuildProgram = [](cl_program program, cl_uint count, cl_device_id const* devices,
                            char const* options, void(CL_CALLBACK * f)(cl_program, void*),
                            void* data) -> cl_int {
        if (*options != 0) return CL_INVALID_BUILD_OPTIONS;  // those of bitcode
        return load_opencl().clBuildProgram(program, count, devices, "-x spir -spir-std=1.2", f, data);
      };
    });
  };
  static auto const with = make(without_bitcode<true>), without = make(without_bitcode<false>);
  return with_spirv ? with : without;
}

opencl_api const& opencl_with_gpu() {
  static auto const api = opencl_with([](opencl_api& a) {
    a.clGetDeviceInfo = [](cl_device_id device, cl_device_info what, std::size_t bytes, void* to,
                           std::size_t* size) -> cl_int {
      auto const status = load_opencl().clGetDeviceInfo(device, what, bytes, to, size);
      if (what == CL_DEVICE_TYPE && to != nullptr) *static_cast<cl_device_type*>(to) = CL_DEVICE_TYPE_GPU;
      return status;
    };
  });
  return api;
}

#endif

}  // namespace rondo::test
