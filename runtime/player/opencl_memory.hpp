// Memory that the host shares with a device of OpenCL, in one of two ways.
//
// Fine-grained shared virtual memory: an address means the same to both, at any time. Or mapped buffers, for a device
// without it: the host's own pages, which the device has while a list of kernels plays, and the host at all other
// times. Where the device has no memory of its own, neither copies.
//
// Threads: any for memory; one at a time for a list.
#pragma once

#include <memory>
#include <memory_resource>
#include <span>

#include "runtime/player/kernel_player.hpp"
#include "runtime/player/list_watch.hpp"
#include "runtime/player/opencl_api.hpp"

namespace rondo {

// -- for the runtime

class opencl_memory : public std::pmr::memory_resource {
 public:
  /// Makes `at` the argument `index` of a kernel, which finds it `offset` bytes behind what it is given.
  virtual cl_int set_argument(cl_kernel kernel, cl_uint index, void* at, cl_ulong& offset) = 0;
  /// Before a list: gives the device the blocks that it names.
  virtual cl_int lend(cl_command_queue, std::span<kernel_call const>) { return CL_SUCCESS; }
  /// Behind it: returns them to the host. `last`, the event of the last command, is exchanged for that of what
  /// follows it.
  virtual cl_int take_back(cl_command_queue, std::span<kernel_call const>, cl_event&) { return CL_SUCCESS; }
};

/// `watch`: while the driver is stuck, nothing is freed.
std::unique_ptr<opencl_memory> make_shared_virtual_memory(opencl_api const& api, cl_context context,
                                                          list_watch const& watch);
std::unique_ptr<opencl_memory> make_mapped_memory(opencl_api const& api, cl_context context,
                                                  cl_command_queue queue, list_watch const& watch);

}  // namespace rondo
