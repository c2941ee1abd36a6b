// The suite's module, compiled for every device of the build.
#include "runtime/device/cuda_module.hpp"
#include "tests/conformance/behaviours.hpp"

RONDO_CUDA_MODULE(conformance::testbed)

namespace conformance {

void set_start_book(start_book& book) {
  host_start_book = &book;
#if defined(__CUDACC__)
  rondo::gpu::set_constant(device_start_book, &book);  // where there is no GPU, none needs it
#endif
}

}  // namespace conformance
