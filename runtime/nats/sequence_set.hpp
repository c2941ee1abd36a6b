// A set of a stream's sequence numbers: which messages the actors' states include. All up to a floor, and ranges above it.
//
// A stream numbers its messages from 1. They arrive nearly in order, so there are few ranges: at most as many as messages
// delivered and not yet taken, plus the gaps of messages removed from the stream, which `raise_floor` closes.
//
// Invariants: each range begins above floor + 1, no range is empty, and between two ranges at least one number is missing.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace rondo::service {

class sequence_set {
 public:
  bool contains(std::uint64_t sequence) const;
  void insert(std::uint64_t sequence);
  /// Adds all up to `last`.
  void raise_floor(std::uint64_t last);
  /// Removes all above `last`.
  void cut_above(std::uint64_t last);
  /// The largest number in the set; 0: none.
  std::uint64_t largest() const noexcept;
  std::size_t ranges() const noexcept { return above_.size(); }
  bool operator==(sequence_set const&) const = default;

  /// "17 19-24 30-30": the floor, then the ranges in order.
  std::string text() const;
  /// Throws std::invalid_argument if `text` could not have written it.
  static sequence_set parse(std::string_view text);

 private:
  void close_gap();

  std::uint64_t floor_ = 0;
  std::map<std::uint64_t, std::uint64_t> above_;  // first to last
};

}  // namespace rondo::service
