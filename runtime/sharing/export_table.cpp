#include "runtime/sharing/export_table.hpp"

#include <algorithm>
#include <random>

namespace rondo {

namespace {

/// A random number, not 0. It must differ from earlier exporters', so that their handles are stale.
std::uint64_t new_share() {
  std::random_device random;
  return (std::uint64_t{random()} << 32 | random()) | 1;
}

}  // namespace

export_table::export_table(std::uint64_t data_bytes, std::uint32_t slots, std::uint32_t rows)
    : share_(new_share()),
      memory_("rondo-directory", share::directory::size_of(rows, slots)),
      directory_(memory_.mapping.data(), rows),
      rows_(rows),
      slots_(slots) {
  directory_.header() = {share::magic, share_, data_bytes, share::version, slots, rows, 0};
  free_.reserve(slots);
  closing_.reserve(slots);
  for (auto slot = slots; slot-- > 0;) free_.push_back(slot);  // so that the lowest slot is taken first
}

export_table::~export_table() {
  for (std::uint32_t row = 0; row < rows_.size(); ++row) directory_.cut_off(row);
}

result<shared_buffer_ref> export_table::open(std::uint64_t offset, std::uint64_t bytes, keeper keeps) {
  if (free_.empty()) sweep();
  if (free_.empty()) return make_error_code(errc::slots_exhausted);
  auto const index = free_.back();
  free_.pop_back();
  auto& s = slots_[index];
  s.now = phase::open;
  s.keeps = std::move(keeps);
  directory_.open(index, s.generation, offset, bytes);
  ++open_;
  return shared_buffer_ref{share_, index, s.generation, 0, bytes};
}

errc export_table::close(shared_buffer_ref ref) {
  if (ref.share != share_ || ref.slot >= slots_.size() || ref.generation == 0) return errc::stale_buffer;
  auto& s = slots_[ref.slot];
  if (!is_open(ref)) {
    // Generation 0 follows the last one.
    bool const issued = s.generation == 0 || ref.generation < s.generation ||
                        (ref.generation == s.generation && s.now == phase::closing);
    return issued ? errc::double_release : errc::stale_buffer;
  }
  s.now = phase::closing;
  s.withdrawn = std::chrono::steady_clock::now();
  directory_.close(ref.slot, s.generation);
  --open_;
  if (leased(ref.slot)) {
    s.at = static_cast<std::uint32_t>(closing_.size());
    closing_.push_back(ref.slot);
  } else {
    free(ref.slot);
  }
  return errc::ok;
}

void export_table::take_back(std::uint32_t row, std::uint32_t slot) {
  --rows_[row].granted[slot];
  if (slots_[slot].now == phase::closing && !leased(slot)) free_closing(slot);
}

bool export_table::is_open(shared_buffer_ref ref) const noexcept {
  return ref.share == share_ && ref.slot < slots_.size() && slots_[ref.slot].now == phase::open &&
         slots_[ref.slot].generation == ref.generation;
}

void export_table::sweep() {
  // Backwards: free_closing puts the last one, which was looked at, into the place.
  for (auto i = closing_.size(); i-- > 0;)
    if (auto const slot = closing_[i]; !leased(slot)) free_closing(slot);
}

void export_table::free_closing(std::uint32_t slot) {
  auto const last = closing_.back();
  closing_[slots_[slot].at] = last;
  slots_[last].at = slots_[slot].at;
  closing_.pop_back();
  free(slot);
}

bool export_table::leased(std::uint32_t slot) const noexcept {
  return std::ranges::any_of(rows_, [slot](row_book const& r) {
    return r.mapping.data() != nullptr && share::row(r.mapping.data()).leased(slot, r.granted[slot]);
  });
}

void export_table::free(std::uint32_t index) {
  auto& s = slots_[index];
  s.now = phase::free;
  s.keeps = {};
  if (++s.generation != 0) free_.push_back(index);
}

std::optional<std::uint32_t> export_table::admit(std::uint64_t importer, owned_fd& row) {
  std::uint32_t index = 0;
  while (index < rows_.size() && rows_[index].mapping.data()) ++index;
  if (index == rows_.size()) return std::nullopt;
  auto const bytes = share::row::size_of(static_cast<std::uint32_t>(slots_.size()));
  row = make_memfd("rondo-importer", bytes);
  rows_[index] = {shared_mapping(row.get(), bytes, false, "the leases of an importer"),
                  std::vector<std::uint32_t>(slots_.size())};
  directory_.give_row(index, importer);
  return index;
}

void export_table::drop(std::uint32_t row) {
  directory_.cut_off(row);
  rows_[row] = {};
  sweep();
}

std::uint64_t export_table::returned(std::uint32_t row) const noexcept {
  // relaxed: a number of its own, and the packet that follows it was received
  return share::row(rows_[row].mapping.data()).returned().load(memory_order::relaxed);
}

std::uint64_t export_table::beat(std::uint32_t row) const noexcept {
  return share::row(rows_[row].mapping.data())
      .beat()
      .load(memory_order::relaxed);  // relaxed: only whether it changes
}

std::uint64_t export_table::leases(std::uint32_t row) const noexcept {
  std::uint64_t all = 0;
  share::row const words(rows_[row].mapping.data());
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
    all += words.leases(slot).load(memory_order::relaxed) + rows_[row].granted[slot];  // relaxed: a statistic
  return all;
}

export_table::keeping export_table::kept_by(std::uint32_t row) const noexcept {
  keeping all;
  share::row const words(rows_[row].mapping.data());
  auto const now = std::chrono::steady_clock::now();
  for (auto const slot : closing_) {
    if (!words.leased(slot, rows_[row].granted[slot])) continue;
    ++all.slots;
    all.bytes += directory_.slot(slot).bytes.load(memory_order::relaxed);  // relaxed: this side wrote it
    all.since_first = std::max<std::chrono::nanoseconds>(all.since_first, now - slots_[slot].withdrawn);
  }
  return all;
}

}  // namespace rondo
