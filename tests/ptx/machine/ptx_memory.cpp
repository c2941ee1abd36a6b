#include "tests/ptx/machine/ptx_memory.hpp"

#include <utility>

namespace ptx {

namespace {

template <class T>
T load_one(std::uint64_t address) noexcept {
  return __atomic_load_n(reinterpret_cast<T const*>(address), __ATOMIC_ACQUIRE);
}
template <class T>
void store_one(pending_store const& s) noexcept {
  __atomic_store_n(reinterpret_cast<T*>(s.address), static_cast<T>(s.value), __ATOMIC_RELEASE);
}

}  // namespace

std::uint64_t load_bytes(std::uint64_t address, std::uint32_t bytes) noexcept {
  switch (bytes) {
    case 1:
      return load_one<std::uint8_t>(address);
    case 2:
      return load_one<std::uint16_t>(address);
    case 4:
      return load_one<std::uint32_t>(address);
    default:
      return load_one<std::uint64_t>(address);
  }
}

void store_bytes(pending_store const& s) noexcept {
  switch (s.bytes) {
    case 1:
      return store_one<std::uint8_t>(s);
    case 2:
      return store_one<std::uint16_t>(s);
    case 4:
      return store_one<std::uint32_t>(s);
    default:
      return store_one<std::uint64_t>(s);
  }
}

// -- the bus

void posted_writes::post(pending_store const& s) {
  std::lock_guard guard(lock_);
  buffer_.push(s);
  while (buffer_.size() > store_buffer::room || (!buffer_.empty() && random_.chance(how_.drain)))
    buffer_.drain(random_() % buffer_.size(), store_bytes);
  count_.store(buffer_.size(), std::memory_order_release);
}

void posted_writes::overlay(std::uint64_t address, std::uint32_t bytes, std::uint64_t& value) {
  if (count_.load(std::memory_order_acquire) == 0) return;
  std::lock_guard guard(lock_);
  if (!buffer_.overlaps(address, bytes)) {
    value = load_bytes(address, bytes);  // it may have arrived since the caller looked
    return;
  }
  value = load_bytes(address, bytes);
  buffer_.overlay(address, bytes, value);
}

void posted_writes::flush() {
  if (count_.load(std::memory_order_acquire) == 0) return;
  std::lock_guard guard(lock_);
  buffer_.flush(store_bytes);
  count_.store(0, std::memory_order_release);
}

void posted_writes::age() {
  if (count_.load(std::memory_order_acquire) == 0) return;
  std::lock_guard guard(lock_);
  if (!buffer_.empty()) buffer_.drain(random_() % buffer_.size(), store_bytes);
  count_.store(buffer_.size(), std::memory_order_release);
}

// -- a multiprocessor

multiprocessor::multiprocessor(weakness const& how, posted_writes& bus, std::uint32_t block,
                               std::uint32_t shared_bytes, std::uint32_t threads)
    : how_(how),
      bus_(bus),
      random_(how.seed * 31 + block),
      threads_(threads),
      l1_(how.stale == 0 ? 0 : sectors),
      shared_(shared_bytes + 64),
      written_(shared_bytes) {}

void multiprocessor::update_l1(pending_store const& s) noexcept {
  if (l1_.empty()) return;
  auto& copy = sector_of(s.address);
  auto const at = s.address % sector_bytes;
  if (copy.base != s.address - at) return;
  auto const mask = ~std::uint64_t{0} >> (64 - 8 * s.bytes) << at % 8 * 8;
  copy.words[at / 8] = (copy.words[at / 8] & ~mask) | (s.value << at % 8 * 8 & mask);
}

void multiprocessor::to_device(pending_store const& s) {
  store_bytes(s);
  update_l1(s);
}

multiprocessor::loaded multiprocessor::load(memory_range const& range, std::uint64_t address,
                                            std::uint32_t bytes, bool weak, std::uint64_t floor) {
  bool const host = range.kind == memory_kind::host;
  std::lock_guard guard(lock_);
  loaded result{0, false};
  auto const base = address / sector_bytes * sector_bytes;
  if (weak && !l1_.empty() && range.has(base, sector_bytes)) {
    auto& s = sector_of(address);
    result.from_l1 = s.base == base && s.stamp >= floor && random_.chance(how_.stale);
    if (!result.from_l1) {
      s.base = base;
      s.stamp = clock_.load(std::memory_order_acquire);
      for (std::uint32_t n = 0; n < 4; ++n) {
        s.words[n] = load_bytes(base + 8 * n, 8);
        if (host) bus_.overlay(base + 8 * n, 8, s.words[n]);
      }
    }
    result.value = s.words[(address - base) / 8] >> address % 8 * 8;
    if (bytes < 8) result.value &= (std::uint64_t{1} << 8 * bytes) - 1;
  } else {
    result.value = load_bytes(address, bytes);
    if (host) bus_.overlay(address, bytes, result.value);
  }
  (host ? host_stores_ : device_stores_).overlay(address, bytes, result.value);
  return result;
}

void multiprocessor::accept(memory_range const& range, pending_store const& s) {
  std::lock_guard guard(lock_);
  update_l1(s);
  bool const host = range.kind == memory_kind::host;
  auto& buffer = host ? host_stores_ : device_stores_;
  buffer.push(s);
  auto const out = [&](pending_store const& one) {
    if (host)
      update_l1(one), bus_.post(one);
    else
      to_device(one);
  };
  while (buffer.size() > store_buffer::room || (!buffer.empty() && random_.chance(how_.drain)))
    buffer.drain(random_() % buffer.size(), out);
}

void multiprocessor::flush_to_device() {
  std::lock_guard guard(lock_);
  device_stores_.flush([this](pending_store const& s) { to_device(s); });
  host_stores_.flush([this](pending_store const& s) { update_l1(s), bus_.post(s); });
}

void multiprocessor::age() {
  std::lock_guard guard(lock_);
  if (!device_stores_.empty())
    device_stores_.drain(random_() % device_stores_.size(), [this](pending_store const& s) { to_device(s); });
  if (!host_stores_.empty())
    host_stores_.drain(random_() % host_stores_.size(),
                       [this](pending_store const& s) { update_l1(s), bus_.post(s); });
}

bool multiprocessor::was_written(std::uint64_t offset, std::uint32_t bytes) const noexcept {
  for (std::uint32_t n = 0; n < bytes; ++n)
    if (written_[offset + n].load(std::memory_order_relaxed) == 0) return false;
  return true;
}

void multiprocessor::set_written(std::uint64_t offset, std::uint32_t bytes) noexcept {
  for (std::uint32_t n = 0; n < bytes; ++n) written_[offset + n].store(1, std::memory_order_relaxed);
}

bool multiprocessor::arrive(std::uint32_t n, std::uint32_t lanes, std::uint32_t expected,
                            std::uint64_t floor) {
  std::lock_guard guard(lock_);
  auto& b = barriers_[n];
  b.arrived += lanes;
  b.whole = expected == 0;
  b.floor = std::max(b.floor, floor);
  if (b.arrived >= (expected == 0 ? threads_ : expected)) {
    b.arrived = 0;
    b.released_floor = std::exchange(b.floor, 0);
    b.generation.fetch_add(1, std::memory_order_release);
    return true;
  }
  return expected != 0 || exited_ == 0;
}

bool multiprocessor::leave(std::uint32_t lanes) {
  std::lock_guard guard(lock_);
  exited_ += lanes;
  return std::all_of(barriers_.begin(), barriers_.end(),
                     [](auto const& b) { return b.arrived == 0 || !b.whole; });
}

}  // namespace ptx
