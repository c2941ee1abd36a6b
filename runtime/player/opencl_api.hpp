// The functions of OpenCL that Rondo calls, found when the program runs: a machine without OpenCL runs the same
// program.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <string>

namespace rondo {

// -- for the runtime

#define RONDO_OPENCL_FUNCTIONS(f)                                                                           \
  f(clGetPlatformIDs) f(clGetPlatformInfo) f(clGetDeviceIDs) f(clGetDeviceInfo) f(clCreateContext)          \
      f(clReleaseContext) f(clCreateCommandQueueWithProperties) f(clReleaseCommandQueue)                    \
          f(clCreateProgramWithBinary) f(clCreateProgramWithIL) f(clBuildProgram) f(clGetProgramBuildInfo)  \
              f(clReleaseProgram) f(clCreateKernel) f(clReleaseKernel) f(clSetKernelArg)                    \
                  f(clSetKernelArgSVMPointer) f(clEnqueueNDRangeKernel) f(clSetEventCallback)               \
                      f(clReleaseEvent) f(clFlush) f(clFinish) f(clSVMAlloc) f(clSVMFree) f(clCreateBuffer) \
                          f(clReleaseMemObject) f(clSetMemObjectDestructorCallback) f(clEnqueueMapBuffer)   \
                              f(clEnqueueUnmapMemObject)

/// As they are called in OpenCL. A test replaces some of them.
struct opencl_api {
#define RONDO_MEMBER(name) decltype(&::name) name = nullptr;
  RONDO_OPENCL_FUNCTIONS(RONDO_MEMBER)
#undef RONDO_MEMBER
};

/// Loads libOpenCL.so.1, once for the process. Throws std::runtime_error, which says what to install.
opencl_api const& load_opencl();

/// "CL_OUT_OF_RESOURCES (-5)".
std::string text_of_opencl(cl_int status);
/// Throws std::runtime_error for an error; `what` is what was wanted.
void check_opencl(cl_int status, char const* what);

}  // namespace rondo
