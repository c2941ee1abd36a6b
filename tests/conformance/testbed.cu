// The suite's module, compiled for every device of the build.
#include "runtime/device/cuda_module.hpp"
#include "tests/conformance/behaviours.hpp"

RONDO_CUDA_MODULE(conformance::testbed)

namespace conformance {

void set_start_book(start_book& book) {
  host_start_book = &book;
#if defined(__CUDACC__)
  auto* const at = &book;
  cudaMemcpyToSymbol(device_start_book, &at, sizeof at);  // fails where there is no GPU, which then needs none
#endif
}

}  // namespace conformance
