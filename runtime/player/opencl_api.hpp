// The functions of OpenCL that Rondo calls, found when the program runs: a machine without OpenCL runs the same
// program.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

namespace rondo {

// -- for the runtime

#define RONDO_OPENCL_FUNCTIONS(f)                                                                          \
  f(clGetPlatformIDs) f(clGetPlatformInfo) f(clGetDeviceIDs) f(clGetDeviceInfo) f(clCreateContext)         \
      f(clReleaseContext) f(clCreateCommandQueueWithProperties) f(clReleaseCommandQueue)                   \
          f(clCreateProgramWithBinary) f(clBuildProgram) f(clGetProgramBuildInfo) f(clReleaseProgram)      \
              f(clCreateKernel) f(clReleaseKernel) f(clSetKernelArg) f(clSetKernelArgSVMPointer)           \
                  f(clEnqueueNDRangeKernel) f(clSetEventCallback) f(clReleaseEvent) f(clFlush) f(clFinish) \
                      f(clSVMAlloc) f(clSVMFree)

/// As they are called in OpenCL. A test replaces some of them.
struct opencl_api {
#define RONDO_MEMBER(name) decltype(&::name) name = nullptr;
  RONDO_OPENCL_FUNCTIONS(RONDO_MEMBER)
#undef RONDO_MEMBER
};

/// Loads libOpenCL.so.1, once for the process. Throws std::runtime_error, which says what to install.
opencl_api const& load_opencl();

/// "CL_OUT_OF_RESOURCES (-5)".
char const* name_of_opencl(cl_int status) noexcept;

}  // namespace rondo
