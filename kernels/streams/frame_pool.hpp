// The blocks for the frames of one output. A stage takes one on its device, without the host, and it comes back when
// its last use ends.
//
// Threads: the stage that owns the pool takes blocks; whoever has a use of a block may add uses and end its own, from
// any team. Invariants
//  F1 A block with uses > 0 is in no list. The one who ends its last use puts it among the returned ones, once.
//  F2 Only the owner takes from the returned ones, and it takes all of them. So a block that comes there twice does no
//     harm (no ABA).
//  F3 `waits` is set only while no block is returned. Whoever returns the next one clears it, and wakes the owner.
//  F4 A block of a pool with a lender is never written. It goes back to the lender before it comes among the returned
//     ones.
// Ordering
//  return -> take    the exchange that returns a block releases, the owner's acquires: all uses of the block have
//                    ended.
//  use -> return     each end of a use releases, and the last one acquires.
#pragma once

#include "kernels/base/atomic.hpp"
#include "kernels/base/message.hpp"
#include "kernels/buffers/foreign_block.hpp"
#include "kernels/streams/frame.hpp"

namespace rondo::streams {

/// One block of a pool.
struct frame_block {
  std::byte* data;
  atomic<std::uint32_t> uses;
  std::uint32_t
      next;  // index + 1 of the next one in its list; 0: none. Only for who puts it there, then for the owner.
};

class frame_pool {
 public:
  static constexpr std::uint32_t none = ~0u;

  /// All blocks are free, and linked: block i is followed by block i + 1. `blocks`: addresses on the stage's device.
  frame_pool(frame_block* blocks, std::uint32_t count, std::uint64_t block_bytes) noexcept
      : blocks_(blocks), block_bytes_(block_bytes), free_(count == 0 ? 0 : 1) {}

  /// Bytes of each block.
  RONDO_HD std::uint64_t block_bytes() const noexcept { return block_bytes_; }
  RONDO_HD std::byte* data(std::uint32_t block) const noexcept { return blocks_[block].data; }

  /// Owner, of a pool with a lender: the block that it has just taken refers to these data.
  RONDO_HD void lend(std::uint32_t block, std::byte const* data) noexcept {
    blocks_[block].data = const_cast<std::byte*>(data);  // nobody may write them
  }

  /// Owner: a block with one use, or `none`.
  RONDO_HD std::uint32_t take() noexcept {
    if (!has_free()) return none;
    auto const block = free_ - 1;
    free_ = blocks_[block].next;
    blocks_[block].uses.store(1, memory_order::relaxed);  // relaxed: the frame that refers to it is published
    return block;
  }
  /// Owner: whether `take` finds one.
  RONDO_HD bool has_free() noexcept {
    if (free_ == 0 && returned_.load(memory_order::relaxed) != 0)     // relaxed: a hint
      free_ = returned_.exchange(0, memory_order::acquire) & ~waits;  // acquire: return -> take
    return free_ != 0;
  }
  /// Owner: is to be woken when a block comes back. False: there is one already.
  RONDO_HD bool wait_for_block() noexcept {
    if (has_free()) return false;
    std::uint32_t empty = 0;
    // relaxed, both: nothing is read through it
    return returned_.compare_exchange(empty, waits, memory_order::relaxed, memory_order::relaxed) ||
           (empty & ~waits) == 0;
  }

  /// The caller has a use.
  RONDO_HD void add_uses(std::uint32_t block, std::uint32_t more) noexcept {
    blocks_[block].uses.fetch_add(more, memory_order::relaxed);  // relaxed: the caller's own use holds it
  }
  /// Whether the caller's use is the only one, of a block of this pool's own: then it may write.
  RONDO_HD bool is_only_use(std::uint32_t block) const noexcept {
    if (from != nullptr) return false;
    return blocks_[block].uses.load(memory_order::acquire) == 1;  // acquire: the others' reads have ended
  }
  /// Ends a use. True: the owner waits for a block, and is to be woken.
  [[nodiscard]] RONDO_HD bool end_use(std::uint32_t block) noexcept {
    if (blocks_[block].uses.fetch_sub(1, memory_order::acq_rel) != 1) return false;  // both: use -> return
    if (from != nullptr) give_back_to(from, block);
    auto top = returned_.load(memory_order::relaxed);  // relaxed: the exchange decides
    do {
      blocks_[block].next = top & ~waits;
    } while (!returned_.compare_exchange(top, block + 1, memory_order::release, memory_order::relaxed));
    return (top & waits) != 0;
  }

  /// Who is woken when a block comes back; set before the stages begin.
  actor_id owner{};
  /// Whose memory the blocks refer to; null: they are the pool's own. Set before the stages begin.
  lender* from = nullptr;

 private:
  static constexpr std::uint32_t waits = 1u << 31;

  frame_block* blocks_;
  std::uint64_t block_bytes_;
  std::uint32_t free_;                 // the owner's list: index + 1 of the first
  atomic<std::uint32_t> returned_{0};  // index + 1 of the first, or `waits`
};

}  // namespace rondo::streams
