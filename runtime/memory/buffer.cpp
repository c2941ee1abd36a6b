// The member functions of `buffer` that need its pool.
#include "runtime/memory/buffer.hpp"

#include "runtime/memory/buffer_pool.hpp"

namespace rondo {

buffer::~buffer() {
  if (pool_) static_cast<void>(release());
}

place buffer::where() const noexcept { return pool_ ? pool_->where() : place::host; }

errc buffer::release() noexcept {
  if (!pool_) return errc::double_release;
  auto const outcome = pool_->release(ref_);
  if (outcome != errc::ok)
    pool_->report(ref_, " was released by its handle while it had an owner; detach it first");
  pool_ = nullptr;
  ref_ = {};
  return outcome;
}

}  // namespace rondo
