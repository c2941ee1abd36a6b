// The behaviour of the conformance suite that leases buffers.
#pragma once

#include "kernels/actor/module.hpp"
#include "kernels/buffers/buffer_lease.hpp"
#include "tests/conformance/gate.hpp"

namespace conformance {

/// Writes `value` into each number of a buffer; with a gate it keeps its lease until the gate opens.
struct fill {
  rondo::buffer_ref where;
  std::uint32_t value;
  gate* at;
};
/// Adds up its numbers.
struct add_up {
  rondo::buffer_ref where;
  gate* at;
};
/// Releases a buffer whose ownership is passed with the message.
struct use_up {
  rondo::buffer_ref where;
};
struct buffer_answer {
  rondo::errc status;
  std::uint64_t sum;
};
/// Leases buffers. A lease ends before the answer, so the asker may use the buffer at once.
struct editor {
  using messages = rondo::messages<rondo::ask<fill, buffer_answer>, rondo::ask<add_up, buffer_answer>,
                                   rondo::ask<use_up, buffer_answer>>;

  RONDO_HD void on(rondo::context& ctx, fill const& m) {
    rondo::write_lease<std::uint32_t> lease(ctx.buffers(), m.where);
    if (m.at != nullptr) m.at->pass();
    for (auto& number : lease.view()) number = m.value;
    buffer_answer const answer{lease.status(), lease.view().size()};
    lease.end();
    ctx.reply(answer);
  }
  RONDO_HD void on(rondo::context& ctx, add_up const& m) {
    rondo::read_lease<std::uint32_t> lease(ctx.buffers(), m.where);
    if (m.at != nullptr) m.at->pass();
    std::uint64_t sum = 0;
    for (auto const number : lease.view()) sum += number;
    buffer_answer const answer{lease.status(), sum};
    lease.end();
    ctx.reply(answer);
  }
  RONDO_HD void on(rondo::context& ctx, use_up const& m) {
    ctx.reply(buffer_answer{ctx.buffers().release(m.where), 0});
  }
};

}  // namespace conformance
