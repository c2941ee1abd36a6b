#include "runtime/streams/built/graph_memory.hpp"

#include <fmt/format.h>

#include <cstring>

#include "runtime/streams/kinds/graph_error.hpp"

namespace rondo::streams {

namespace {

std::uint64_t megabytes(std::uint64_t bytes) { return (bytes + (1u << 20) - 1) >> 20; }

}  // namespace

void graph_memory::lay_out(std::function<void(graph_memory&)> const& make) {
  is_final_ = false;
  used_ = 0;
  make(*this);
  measuring_.release();

  structures_ = acquire(used_ + 64);
  base_ = pool_.address_of(structures_->ref());
  image_.assign(used_, std::byte{0});
  is_final_ = true;
  used_ = 0;
  next_block_ = 0;
  make(*this);
}

buffer graph_memory::acquire(std::uint64_t bytes) {
  auto owned = pool_.acquire_buffer(bytes);
  if (owned) return std::move(*owned);
  throw graph_error(fmt::format(
      "no memory for a block of {} MiB, with {} MiB in {} blocks of the graph: {}; {}; the limits "
      "are set with \"runtime\": {{\"buffer_bytes_cap\": N, \"buffer_slots\": N}} in a graph's "
      "file, or RONDO_BUFFER_BYTES_CAP=N and RONDO_BUFFER_SLOTS=N",
      megabytes(bytes), megabytes(block_bytes_), blocks_.size(), owned.error().message(),
      pool_.describe_room()));
}

void* graph_memory::place(std::size_t offset, std::size_t bytes, std::size_t alignment) {
  if (is_final_) return image_.data() + offset;
  void* const at = measuring_.allocate(bytes, alignment);
  std::memset(at, 0, bytes);
  return at;
}

void graph_memory::write() { copy(base_, image_.data(), image_.size()); }

void graph_memory::write(void const* first, void const* last) {
  auto const* const from = static_cast<std::byte const*>(first);
  copy(base_ + (from - image_.data()), from,
       static_cast<std::uint64_t>(static_cast<std::byte const*>(last) - from));
}

void graph_memory::read(void* first, void* last) {
  auto* const to = static_cast<std::byte*>(first);
  auto const bytes = static_cast<std::uint64_t>(static_cast<std::byte*>(last) - to);
  copy_back(to, base_ + (to - image_.data()), bytes);
}

void graph_memory::copy_back(std::byte* to, std::byte const* from, std::uint64_t bytes) {
  if (pool_.home() == nullptr) {
    std::memcpy(to, from, bytes);
    return;
  }
  copy_job const job{.to = to, .from = from, .bytes = bytes, .to_device = false};
  if (!pool_.home()->copy({&job, 1}))
    throw graph_error("the device was lost while the graph read its memory");
}

std::byte* graph_memory::block(std::uint64_t bytes, bool zero) {
  if (is_final_) return block_addresses_[next_block_++];
  auto owned = acquire(bytes);
  auto* const at = pool_.address_of(owned.ref());
  if (zero) {
    std::vector<std::byte> const nothing(bytes);
    copy(at, nothing.data(), bytes);
  }
  block_bytes_ += bytes;
  blocks_.push_back(std::move(owned));
  block_addresses_.push_back(at);
  return at;
}

void graph_memory::copy(std::byte* to, std::byte const* from, std::uint64_t bytes) {
  if (pool_.home() == nullptr) {
    std::memcpy(to, from, bytes);
    return;
  }
  copy_job const job{.to = to, .from = from, .bytes = bytes, .to_device = true};
  if (!pool_.home()->copy({&job, 1}))
    throw graph_error("the device was lost while the graph wrote its memory");
}

}  // namespace rondo::streams
