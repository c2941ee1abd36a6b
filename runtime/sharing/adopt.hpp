// Makes a leased buffer of another process a buffer of this process's pool, so that handlers lease it by its
// buffer_ref.
//
//   auto news = importer.receive(1s).value();
//   auto const picture = rondo::adopt(rt.buffers(), std::move(news.lease)).value();
//   viewer.tell(show{picture.ref()});                        // a handler: ctx.buffers(), as for any buffer
//
// Nothing is copied. Leases for writing fail with buffer_in_use. When the buffer was released and its last lease has
// ended, the exporter gets it back at once; from then on its handle is stale. The bytes stay mapped until then, even if
// the exporter dies. As for any shared_lease, they may be overwritten once this process was cut off:
// buffer_importer::connected says so.
#pragma once

#include <memory>

#include "runtime/memory/buffer_pool.hpp"
#include "runtime/sharing/shared_lease.hpp"

namespace rondo {

/// Takes the lease over; if it fails, the lease has ended. Threads: any. Errors: stale_buffer (not a lease),
/// buffer_elsewhere (the bytes are in a device's memory, or the pool is), slots_exhausted.
inline result<buffer> adopt(buffer_pool& pool, shared_lease lease) {
  struct lent_lease : lender {
    explicit lent_lease(shared_lease l) noexcept
        : lender{[](lender& self, std::uint32_t) noexcept { delete static_cast<lent_lease*>(&self); }},
          lease(std::move(l)) {}
    shared_lease lease;
  };
  if (!lease) return make_error_code(errc::stale_buffer);
  if (lease.on_device()) return make_error_code(errc::buffer_elsewhere);
  auto const bytes = lease.bytes();
  auto lent = std::make_unique<lent_lease>(std::move(lease));
  auto owned = pool.adopt_foreign(bytes, *lent);
  if (owned) static_cast<void>(lent.release());  // until it is given back
  return owned;
}

}  // namespace rondo
