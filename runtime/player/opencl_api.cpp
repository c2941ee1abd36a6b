#include "runtime/player/opencl_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

namespace rondo {

opencl_api const& load_opencl() {
  static opencl_api const loaded = [] {
    void* const library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);  // stays for good
    if (library == nullptr)
      throw std::runtime_error(
          "OpenCL is not installed: there is no libOpenCL.so.1; install ocl-icd-libopencl1 and the driver of "
          "the GPU, "
          "or pocl-opencl-icd for the processor");
    opencl_api api;
    auto const find = [library]<class F>(F& to, char const* name) {
      to = reinterpret_cast<F>(::dlsym(library, name));
      if (to == nullptr)
        throw std::runtime_error(
            fmt::format("libOpenCL.so.1 has no {}: OpenCL 2.1 or later is needed", name));
    };
#define RONDO_FIND(name) find(api.name, #name);
    RONDO_OPENCL_FUNCTIONS(RONDO_FIND)
#undef RONDO_FIND
    return api;
  }();
  return loaded;
}

namespace {

char const* name_of_opencl(cl_int status) noexcept {
  switch (status) {
    case CL_DEVICE_NOT_FOUND:
      return "CL_DEVICE_NOT_FOUND";
    case CL_DEVICE_NOT_AVAILABLE:
      return "CL_DEVICE_NOT_AVAILABLE";
    case CL_COMPILER_NOT_AVAILABLE:
      return "CL_COMPILER_NOT_AVAILABLE";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
      return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case CL_MAP_FAILURE:
      return "CL_MAP_FAILURE";
    case CL_OUT_OF_RESOURCES:
      return "CL_OUT_OF_RESOURCES";
    case CL_OUT_OF_HOST_MEMORY:
      return "CL_OUT_OF_HOST_MEMORY";
    case CL_BUILD_PROGRAM_FAILURE:
      return "CL_BUILD_PROGRAM_FAILURE";
    case CL_INVALID_BINARY:
      return "CL_INVALID_BINARY";
    case CL_INVALID_KERNEL_NAME:
      return "CL_INVALID_KERNEL_NAME";
    case CL_INVALID_ARG_SIZE:
      return "CL_INVALID_ARG_SIZE";
    case CL_INVALID_KERNEL_ARGS:
      return "CL_INVALID_KERNEL_ARGS";
    default:
      return "an error of OpenCL";
  }
}

}  // namespace

std::string text_of_opencl(cl_int status) { return fmt::format("{} ({})", name_of_opencl(status), status); }

void check_opencl(cl_int status, char const* what) {
  if (status != CL_SUCCESS)
    throw std::runtime_error(fmt::format("OpenCL: {}: {}", what, text_of_opencl(status)));
}

}  // namespace rondo
