#include "runtime/streams/built/transfer_link.hpp"

#include <cstring>
#include <vector>

#include "kernels/base/clock.hpp"

namespace rondo::streams {

bool copy_between(buffer_home* from_home, std::byte const* from, buffer_home* to_home, std::byte* to,
                  std::uint64_t bytes) {
  if (from_home == nullptr && to_home == nullptr) {
    std::memcpy(to, from, bytes);
    return true;
  }
  if (from_home == nullptr || to_home == nullptr) {
    copy_job const job{.to = to, .from = from, .bytes = bytes, .to_device = to_home != nullptr};
    return (to_home != nullptr ? to_home : from_home)->copy({&job, 1});
  }
  thread_local std::vector<std::byte> between;
  if (between.size() < bytes) between.resize(bytes);
  return copy_between(from_home, from, nullptr, between.data(), bytes) &&
         copy_between(nullptr, between.data(), to_home, to, bytes);
}

error_code transfer_link::run() {
  error_code failed{};
  for (;;) {
    auto const frame = from_.ask(next_frame{}, no_timeout, block);
    if (!frame) failed = frame.error();
    if (!frame || frame->data == nullptr) break;
    auto const block_there = to_.ask(next_block{}, no_timeout, block);
    if (!block_there) {
      failed = block_there.error();
      break;
    }
    auto const began = now_ns();
    if (!copy_between(from_home_, frame->data, to_home_, block_there->data, frame->bytes)) {
      failed = errc::device_lost;
      break;
    }
    copy_ns_.fetch_add(now_ns() - began, std::memory_order_relaxed);
    copies_.fetch_add(1, std::memory_order_relaxed);
    failed = to_.tell(frame_arrived{*frame}, {.wait_for_room = true}, block);
    if (failed) break;
  }
  static_cast<void>(to_.tell(stop_source{}, {.wait_for_room = true}, block));
  return failed;
}

}  // namespace rondo::streams
