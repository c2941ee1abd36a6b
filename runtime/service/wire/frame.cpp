#include "runtime/service/wire/frame.hpp"

#include <algorithm>
#include <cstring>

namespace rondo::service {

std::span<std::byte> frame_reader::room(std::size_t wanted) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (bytes_.size() - end_ < wanted) {
    if (begin_ != 0) {
      std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (bytes_.size() - end_ < wanted) bytes_.resize(std::max(end_ + wanted, 2 * bytes_.size()));
  }
  return {bytes_.data() + end_, bytes_.size() - end_};
}

frame_reader::state frame_reader::next(std::span<std::byte const>& frame) noexcept {
  if (refused_ != 0) return state::too_large;
  if (end_ - begin_ < frame_head_bytes) return state::more;
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < frame_head_bytes; ++i)
    length |= std::to_integer<std::uint32_t>(bytes_[begin_ + i]) << (8 * i);
  if (length > max_frame_bytes_) {
    refused_ = length;
    return state::too_large;
  }
  if (end_ - begin_ - frame_head_bytes < length) return state::more;
  auto const whole = frame_head_bytes + length;
  auto const* at = bytes_.data() + begin_;
  if (reinterpret_cast<std::uintptr_t>(at) % alignof(std::max_align_t) != 0) {
    if (auto const units = whole / sizeof(std::max_align_t) + 1; aligned_.size() < units)
      aligned_.resize(units);
    std::memcpy(aligned_.data(), at, whole);
    at = reinterpret_cast<std::byte const*>(aligned_.data());
  }
  frame = {at, whole};
  begin_ += whole;
  return state::frame;
}

}  // namespace rondo::service
