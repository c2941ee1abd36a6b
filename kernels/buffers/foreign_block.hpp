// A block that belongs to somebody else, who lends it for reading, and wants to know when nobody uses it any more. Only
// in host memory.
#pragma once

#include "kernels/base/portable.hpp"

namespace rondo {

/// The lender's side; what it lends outlives this use. `lent`: the lender's own number of the block.
struct lender {
  void (*give_back)(lender& self,
                    std::uint32_t lent) noexcept;  // called once for each use, on the thread that ends it
};

/// Ends a use. Does nothing on a device, which uses no foreign blocks.
RONDO_HD inline void give_back_to([[maybe_unused]] lender* self,
                                  [[maybe_unused]] std::uint32_t lent) noexcept {
#if !defined(__CUDA_ARCH__)
  self->give_back(*self, lent);
#endif
}

}  // namespace rondo
