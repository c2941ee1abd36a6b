// Checks that the pools satisfy cuda::mr's concepts, and that a graph's elements become kernels; compiled, not run.
#define LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE
#include "runtime/device/cuda/cuda_pool_resource.hpp"
#include "runtime/graph/stream.hpp"

using on_device = rondo::cuda_pool_resource<cuda::mr::device_accessible>;
using pinned = rondo::cuda_pool_resource<cuda::mr::device_accessible, cuda::mr::host_accessible>;

static_assert(cuda::mr::resource<rondo::pool_resource>);
static_assert(cuda::mr::async_resource<on_device>);
static_assert(cuda::mr::async_resource_with<on_device, cuda::mr::device_accessible>);
static_assert(!cuda::mr::resource_with<on_device, cuda::mr::host_accessible>);
static_assert(cuda::mr::async_resource_with<pinned, cuda::mr::device_accessible, cuda::mr::host_accessible>);

void* use(on_device& memory, cuda::stream_ref stream) {
  auto* const p = memory.allocate_async(100, stream);
  memory.deallocate_async(p, 100, stream);
  return p;
}

void record(rondo::stream& s, float* numbers, float factor) {
  s.for_each(100, [=] __device__ __host__(std::uint32_t i) { numbers[i] *= factor; });
}
