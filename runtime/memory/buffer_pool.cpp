// Movement of slots between the pool's caches, their users, and the upstream.
#include "runtime/memory/buffer_pool.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <stdexcept>

#include "kernels/base/exceptions.hpp"

namespace rondo {

namespace {

buffer_pool_options checked(buffer_pool_options options) {
  if (options.slots == 0 || options.slots > slot_stack::most_slots)
    throw std::invalid_argument("buffer_pool: slots is " + std::to_string(options.slots) + "; use 1 to " +
                                std::to_string(slot_stack::most_slots));
  if (options.cap_bytes < size_classes::bytes_of(0))
    throw std::invalid_argument("buffer_pool: cap_bytes is " + std::to_string(options.cap_bytes) +
                                ", less than one block; use at least " +
                                std::to_string(size_classes::bytes_of(0)));
  if (!options.upstream)
    throw std::invalid_argument("buffer_pool: upstream is null; omit it to use the program's heap");
  return options;
}

buffer_pool_options with_slots(buffer_pool_options options, std::uint32_t slots) {
  options.slots = slots;
  return options;
}

buffer_word word_of(buffer_entry const& entry) noexcept {
  return buffer_word{
      entry.word.load(memory_order::relaxed)};  // relaxed: only the caller has the slot, or it is a statistic
}

}  // namespace

buffer_pool::buffer_pool(buffer_pool_options options) : buffer_pool(std::move(options), buffer_table_ref{}) {}

buffer_pool::buffer_pool(buffer_pool_options options, buffer_table_ref table)
    : options_(checked(table.size() ? with_slots(std::move(options), table.size()) : std::move(options))),
      own_entries_(table.size() ? nullptr : std::make_unique<buffer_entry[]>(options_.slots)),
      table_(table.size() ? table : own_table(own_entries_.get(), options_, &own_returned_)),
      slots_(std::make_unique<slot_state[]>(options_.slots)) {
  static_cast<void>(table_.take_returned());
  unbound_.reserve(options_.slots);
  to_close_.reserve(options_.slots);
  for (auto slot = options_.slots; slot-- > 0;) {  // so that the lowest slot is taken first
    auto const last = word_of(table_.entry(slot));
    auto generation = last.is_free() ? last.generation() : last.generation() + 1;
    if (generation == 0) generation = 1;
    // relaxed: other threads get the table only after this constructor
    table_.entry(slot).word.store(buffer_word::free_at(generation).bits(), memory_order::relaxed);
    slots_[slot].first_generation = generation;
    unbound_.push_back(slot);
  }
}

buffer_pool::~buffer_pool() {
  on_home_gone();
  collect_returned();
  for (std::uint32_t slot = 0; slot < options_.slots; ++slot) {
    auto const word = word_of(table_.entry(slot));
    if (!slots_[slot].bound && word.is_free()) continue;
    if (!word.is_free()) {
      auto const* const what =
          word.is_live() ? " was never released; release it before its pool is destroyed"
                         : " was released, but a lease on it outlives the pool; end the lease first";
      report({slot | options_.home_number << buffer_home_shift, word.generation(), 0, 0}, what);
    }
    if (slots_[slot].bound)
      unbind(slot);
    else
      give_back_to(table_.entry(slot).foreign, slot);
  }
}

boost::system::result<buffer_ref> buffer_pool::acquire(std::uint64_t bytes,
                                                       boost::source_location const& from) {
  auto slot = slot_stack::none;
  auto refusal = errc::pool_exhausted;
  if (bytes <= size_classes::largest_bytes) {
    auto const size_class = size_classes::of(bytes);
    close_more_at_home();
    slot = take(size_class);
    if (slot == slot_stack::none) slot = claim(size_class, refusal);
  }
  if (slot == slot_stack::none) {
    if (options_.home != nullptr) options_.home->collect();  // for the next attempt
    return make_error_code(refusal);
  }
  note_origin(slot, from);
  auto const ref = table_.open(slot, bytes);
  if (options_.home == nullptr) return ref;
  if (auto const refused = open_at_home(ref); refused != errc::ok) return make_error_code(refused);
  return ref;
}

boost::system::result<buffer> buffer_pool::adopt_foreign(std::span<std::byte const> bytes, lender& from,
                                                         boost::source_location const& source) {
  if (options_.home != nullptr) return make_error_code(errc::buffer_elsewhere);
  collect_returned();
  auto const slot = claim_without_block();
  if (slot == slot_stack::none) return make_error_code(errc::slots_exhausted);
  note_origin(slot, source);
  return buffer(*this, nullptr, table_.open_foreign(slot, bytes.data(), bytes.size(), from));
}

void buffer_pool::note_origin(std::uint32_t slot, boost::source_location const& from) noexcept {
  slots_[slot].file.store(from.file_name(), memory_order::relaxed);
  slots_[slot].line.store(from.line(), memory_order::relaxed);
}

// -- buffers that a device leases

errc buffer_pool::open_at_home(buffer_ref ref) noexcept {
  auto const slot = table_.slot_of(ref);
  static_cast<void>(table_.begin_read(ref));  // the device's own lease; there is no other
  slots_[slot].leased_at_home.store(
      1, memory_order::relaxed);  // relaxed: published by the order, or the lease's end
  auto const refused = options_.home->open(ref, table_.entry(slot).base);
  if (refused == errc::ok) return refused;
  static_cast<void>(release_here(ref));
  end_lease_of_home(slot);
  return refused;
}

void buffer_pool::close_at_home(buffer_ref ref) noexcept {
  close_more_at_home();
  auto const outcome = options_.home->close(ref);
  if (outcome == errc::ok) return;
  if (outcome != errc::device_busy) return end_lease_of_home(table_.slot_of(ref));  // the device has stopped
  auto const lock = std::lock_guard(mutex_);
  to_close_.push_back(ref);
  waiting_to_close_.store(1, memory_order::relaxed);  // relaxed: a hint; guarded by the mutex
}

/// Closes the buffers whose orders found the queue to the device full.
void buffer_pool::close_more_at_home() noexcept {
  if (waiting_to_close_.load(memory_order::relaxed) == 0) return;  // relaxed: a hint
  std::unique_lock lock(mutex_);
  while (!to_close_.empty()) {
    auto const ref = to_close_.back();
    auto const outcome = options_.home->close(ref);
    if (outcome == errc::device_busy) return;
    to_close_.pop_back();
    if (outcome == errc::ok) continue;
    lock.unlock();
    end_lease_of_home(table_.slot_of(ref));
    lock.lock();
  }
  waiting_to_close_.store(0, memory_order::relaxed);
}

void buffer_pool::end_lease_of_home(std::uint32_t slot) noexcept {
  // Relaxed: the lease's end releases and acquires.
  if (slot >= options_.slots || slots_[slot].leased_at_home.exchange(0, memory_order::relaxed) == 0) return;
  table_.end_read({slot | options_.home_number << buffer_home_shift, 0, 0, 0});
}

void buffer_pool::on_free_at_home(std::uint32_t slot) noexcept {
  if (slot >= options_.slots) return;
  // Live here but free there: a handler that owned it has released it.
  if (auto const word = word_of(table_.entry(slot)); word.is_live())
    static_cast<void>(
        release_here({slot | options_.home_number << buffer_home_shift, word.generation(), 0, 0}));
  end_lease_of_home(slot);
  close_more_at_home();
}

void buffer_pool::on_home_gone() noexcept {
  if (options_.home == nullptr) return;
  for (std::uint32_t slot = 0; slot < options_.slots; ++slot) end_lease_of_home(slot);
}

std::byte* buffer_pool::address_of(buffer_ref ref) const noexcept {
  auto const slot = table_.slot_of(ref);
  if (slot >= options_.slots) return nullptr;
  auto const word = word_of(table_.entry(slot));
  bool const live = word.is_live() && word.generation() == ref.generation;
  return live ? table_.entry(slot).base + ref.offset : nullptr;
}

boost::system::result<buffer> buffer_pool::acquire_buffer(std::uint64_t bytes,
                                                          boost::source_location const& from) {
  auto const acquired = acquire(bytes, from);
  if (!acquired) return acquired.error();
  return buffer(*this, on_host(table_.entry(table_.slot_of(*acquired)).base), *acquired);
}

boost::system::result<buffer> buffer_pool::adopt(buffer_ref ref) {
  auto const lease = read_lease<>(table_, ref);
  if (!lease) return make_error_code(lease.status());
  auto const& entry = table_.entry(table_.slot_of(ref));
  return buffer(*this, word_of(entry).is_foreign() ? nullptr : on_host(entry.base + ref.offset), ref);
}

errc buffer_pool::release(buffer_ref ref) noexcept {
  auto const outcome = release_here(ref);
  // A forked child does not reach the parent's device.
  if (outcome == errc::ok && options_.home != nullptr && made_here_) close_at_home(ref);
  return outcome;
}

errc buffer_pool::release_here(buffer_ref ref) noexcept {
  bool freed = false;
  auto const outcome = table_.close(ref, freed);
  if (freed) keep(table_.slot_of(ref));
  return outcome;
}

std::uint64_t buffer_pool::trim(std::uint64_t keep_bytes) {
  collect_returned();
  auto const cached = statistics().cached_bytes;
  auto const lock = std::lock_guard(mutex_);
  std::uint64_t trimmed = 0;
  while (cached - trimmed > keep_bytes) {
    auto const bytes = unbind_largest();
    if (bytes == 0) break;
    trimmed += bytes;
  }
  return trimmed;
}

buffer_pool_statistics buffer_pool::statistics() const {
  auto const lock = std::lock_guard(mutex_);
  buffer_pool_statistics s;
  s.peak_bytes = peak_bytes_;
  s.misses = misses_;
  s.refusals = refusals_;
  s.slots = options_.slots;
  s.retired_slots = retired_slots_;
  std::uint64_t uses = 0;
  for (std::uint32_t slot = 0; slot < options_.slots; ++slot) {
    auto const word = word_of(table_.entry(slot));
    // Each use takes one generation, so uses need no counter; modulo 2^32, as the last one wraps to 0.
    uses += word.generation() - slots_[slot].first_generation;
    if (!slots_[slot].bound) {
      if (!word.is_free()) ++uses, ++s.foreign_buffers;
      continue;
    }
    auto const block_bytes = size_classes::bytes_of(slots_[slot].size_class);
    if (word.is_free()) {
      s.cached_bytes += block_bytes;
    } else {
      ++uses;
      ++s.buffers_in_use;
      s.in_use_bytes += block_bytes;
      s.waste_bytes +=
          block_bytes - table_.entry(slot).bytes.load(memory_order::relaxed);  // relaxed: statistics
    }
  }
  s.hits = uses > misses_ + adopted_ ? uses - misses_ - adopted_ : 0;
  return s;
}

std::string buffer_pool::describe_room() const {
  auto const now = statistics();
  return std::to_string(now.in_use_bytes >> 20) + " of " + std::to_string(options_.cap_bytes >> 20) +
         " MiB (buffer_bytes_cap) and " +
         std::to_string(now.buffers_in_use + now.foreign_buffers + now.retired_slots) + " of " +
         std::to_string(now.slots) + " slots (buffer_slots) are in use";
}

std::string buffer_pool::describe(buffer_ref ref) const {
  auto const slot = table_.slot_of(ref);
  auto text = "buffer " + std::to_string(slot) + "/" + std::to_string(ref.generation);
  if (slot >= options_.slots || ref.generation == 0) return text + " (not of this pool)";
  auto const word = word_of(table_.entry(slot));
  bool const reused = word.generation() != ref.generation && !word.is_free();
  auto const* const file = slots_[slot].file.load(memory_order::relaxed);
  if (!file || reused)
    return text + " (released; its slot serves generation " + std::to_string(word.generation()) + ")";
  if (word.generation() == ref.generation)
    text += " of " + std::to_string(table_.entry(slot).bytes.load(memory_order::relaxed)) + " bytes";
  return text + " acquired at " + file + ":" + std::to_string(slots_[slot].line.load(memory_order::relaxed));
}

// Assigns threads to stripes round robin, at their first use. Any thread may use any stripe.
std::uint32_t buffer_pool::own_stripe() noexcept {
  static atomic<std::uint32_t> threads{0};
  thread_local auto const own =
      threads.fetch_add(1, memory_order::relaxed) % stripes;  // relaxed: only a number
  return own;
}

std::uint32_t buffer_pool::take(std::uint32_t size_class) noexcept {
  auto const slot = stripes_[own_stripe()].cached[size_class].pop(table_);
  if (slot != slot_stack::none) return slot;
  collect_returned();
  return pop_cached(size_class);
}

std::uint32_t buffer_pool::claim(std::uint32_t size_class, errc& refusal) {
  auto const bytes = size_classes::bytes_of(size_class);
  auto const lock = std::lock_guard(mutex_);
  while (bytes > options_.cap_bytes - claimed_bytes_ || unbound_.empty()) {
    if (bytes > options_.cap_bytes || unbind_largest() == 0) {
      refusal = bytes > options_.cap_bytes - claimed_bytes_ ? errc::pool_exhausted : errc::slots_exhausted;
      ++refusals_;
      return slot_stack::none;
    }
  }
  auto const alignment = size_classes::alignment_of(size_class);
  std::byte* base = nullptr;
  while (base == nullptr) try {
      base = static_cast<std::byte*>(options_.upstream->allocate(bytes, alignment));
    } catch (std::bad_alloc const&) {
      // Cached blocks may be between the free pieces.
      if (unbind_largest() != 0) continue;
      refusal = errc::out_of_memory;
      ++refusals_;
      return slot_stack::none;
    }
  auto const slot = unbound_.back();
  unbound_.pop_back();
  table_.entry(slot).base = base;
  table_.entry(slot).where = options_.where;
  slots_[slot].size_class = size_class;
  slots_[slot].bound = true;
  claimed_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, claimed_bytes_);
  ++misses_;
  return slot;
}

/// A slot for a foreign block, or none.
std::uint32_t buffer_pool::claim_without_block() {
  auto const lock = std::lock_guard(mutex_);
  if (unbound_.empty() && unbind_largest() == 0) {
    ++refusals_;
    return slot_stack::none;
  }
  auto const slot = unbound_.back();
  unbound_.pop_back();
  table_.entry(slot).where = options_.where;
  ++adopted_;
  return slot;
}

/// Caches a free slot that only the caller has, or retires it if its generations are used up. One of a foreign block
/// has nothing to keep.
void buffer_pool::keep(std::uint32_t slot) noexcept {
  bool const usable = word_of(table_.entry(slot)).generation() != 0;
  if (usable && slots_[slot].bound) {
    stripes_[own_stripe()].cached[slots_[slot].size_class].push(table_, slot);
    return;
  }
  auto const lock = std::lock_guard(mutex_);
  if (usable) return unbound_.push_back(slot);
  if (slots_[slot].bound) unbind(slot);
  ++retired_slots_;
}

void buffer_pool::collect_returned() noexcept {
  for (auto next = table_.take_returned(); next != 0;) {
    auto const slot = next - 1;
    next = table_.entry(slot).next.load(
        memory_order::relaxed);  // relaxed: taken with the stack; read before `keep`
    keep(slot);
  }
}

std::uint32_t buffer_pool::pop_cached(std::uint32_t size_class) noexcept {
  auto const own = own_stripe();
  for (std::uint32_t i = 0; i < stripes; ++i) {
    auto const slot = stripes_[(own + i) % stripes].cached[size_class].pop(table_);
    if (slot != slot_stack::none) return slot;
  }
  return slot_stack::none;
}

/// Gives up one cached block of the largest class that has one and returns its bytes; 0: none is cached.
/// Precondition: the caller holds mutex_.
std::uint64_t buffer_pool::unbind_largest() noexcept {
  for (auto size_class = size_classes::count; size_class-- > 0;) {
    auto const slot = pop_cached(size_class);
    if (slot == slot_stack::none) continue;
    unbind(slot);
    unbound_.push_back(slot);
    return size_classes::bytes_of(size_class);
  }
  return 0;
}

/// Returns the slot's block to the upstream. Precondition: the caller holds mutex_, and only the caller has the slot.
void buffer_pool::unbind(std::uint32_t slot) noexcept {
  auto const size_class = slots_[slot].size_class;
  auto const bytes = size_classes::bytes_of(size_class);
  options_.upstream->deallocate(table_.entry(slot).base, bytes, size_classes::alignment_of(size_class));
  slots_[slot].bound = false;
  claimed_bytes_ -= bytes;
}

void buffer_pool::report(buffer_ref ref, char const* what) const noexcept {
  auto const text = "buffer_pool: " + describe(ref) + what;
  if (options_.report)
    call_caught([&] { options_.report(text); },
                [](char const* thrown) {
                  std::fprintf(stderr, "buffer_pool: its `report` threw an exception: %s\n", thrown);
                });
  else
    std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace rondo
