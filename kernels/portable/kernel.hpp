// Portable kernels: functions over at most four buffers and a struct of arguments, which a player
// (runtime/player/kernel_player.hpp) runs for each work-item.
//
//   struct scaling { std::uint32_t count; int by; };                        // no pointers: buffers are given apart
//   RONDO_PORTABLE void scale(RONDO_BUFFER unsigned char* b0, ..., scaling a, rondo::work_item at);
//   RONDO_KERNEL(scale, scaling);                                           // scale_kernel, for kernel_list
//
// Rows of work are independent, and no two buffers of a call overlap. How many lanes share a row is up to the player:
// one on a processor, many on a GPU.
#pragma once

#include "kernels/portable/language.hpp"

namespace rondo {

/// Which part of the work it is: in this row, every `lanes`-th column from `lane` on.
struct work_item {
  int lane;   // from 0
  int lanes;  // that share the row
  int row;    // from 0
};

}  // namespace rondo

#if defined(__OPENCL_CPP_VERSION__)

// Where the device knows buffers by objects, an argument may point into the middle of one: it is `from` bytes behind
// its beginning. One lane that takes whole rows is a kernel of its own, NAME_rows_kernel: with a step that the compiler
// knows, a processor's loops are vectorised, and a driver compiles the one of the two that is played.
#define RONDO_KERNEL(name, arguments)                                                                       \
  __kernel void name##_kernel(__global unsigned char* __restrict b0, __global unsigned char* __restrict b1, \
                              __global unsigned char* __restrict b2, __global unsigned char* __restrict b3, \
                              ulong4 from, arguments a) {                                                   \
    ::rondo::work_item at;                                                                                  \
    at.row = static_cast<int>(get_global_id(1));                                                            \
    at.lane = static_cast<int>(get_global_id(0));                                                           \
    at.lanes = static_cast<int>(get_global_size(0));                                                        \
    name(b0 + from.x, b1 + from.y, b2 + from.z, b3 + from.w, a, at);                                        \
  }                                                                                                         \
  __kernel void name##_rows_kernel(__global unsigned char* __restrict b0,                                   \
                                   __global unsigned char* __restrict b1,                                   \
                                   __global unsigned char* __restrict b2,                                   \
                                   __global unsigned char* __restrict b3, ulong4 from, arguments a) {       \
    ::rondo::work_item at;                                                                                  \
    at.row = static_cast<int>(get_global_id(1));                                                            \
    at.lane = 0;                                                                                            \
    at.lanes = 1;                                                                                           \
    name(b0 + from.x, b1 + from.y, b2 + from.z, b3 + from.w, a, at);                                        \
  }

#elif defined(__METAL_VERSION__)

#define RONDO_KERNEL(name, arguments)                                                                       \
  kernel void name##_kernel(device unsigned char* b0 [[buffer(0)]], device unsigned char* b1 [[buffer(1)]], \
                            device unsigned char* b2 [[buffer(2)]], device unsigned char* b3 [[buffer(3)]], \
                            constant arguments& a [[buffer(4)]], uint2 id [[thread_position_in_grid]],      \
                            uint2 size [[threads_per_grid]]) {                                              \
    name(b0, b1, b2, b3, a, ::rondo::work_item{int(id.x), int(size.x), int(id.y)});                         \
  }

#else

namespace rondo {

/// A kernel as the host knows it.
struct kernel_entry {
  char const* name;  // in the program that was compiled for a GPU
  /// The same on the host.
  void (*on_host)(void* const* buffers, void const* arguments, work_item at);
};
/// With the type of its arguments.
template <class Arguments>
struct portable_kernel : kernel_entry {};

}  // namespace rondo

/// Makes a kernel of a function: see above.
#define RONDO_KERNEL(name, arguments)                                          \
  constexpr ::rondo::portable_kernel<arguments> name##_kernel {                \
    {                                                                          \
#name "_kernel", [](void* const* b, void const* a, ::rondo::work_item at) {  \
         name(static_cast<unsigned char*>(b[0]), static_cast<unsigned char*>(b[1]), \
              static_cast<unsigned char*>(b[2]), static_cast<unsigned char*>(b[3]), \
              *static_cast<arguments const*>(a), at);                               \
       } \
    }                                                                          \
  }

#endif
