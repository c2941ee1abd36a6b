// Which messages of a stream are in the actors' states: a floor, up to which all are, and ranges above it.
//
// A stream numbers its messages from 1. They come nearly in order, so the ranges are few: not more than the messages that
// have been given out and not taken, plus the gaps of what was removed from the stream, which `raise_floor` closes.
//
// Invariants: each range begins above floor + 1, ranges are not empty, and between two of them at least one is missing.
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
  /// Puts in all up to `last`.
  void raise_floor(std::uint64_t last);
  /// Takes out all above `last`.
  void cut_above(std::uint64_t last);
  /// The largest that is in; 0: none.
  std::uint64_t largest() const noexcept;
  std::size_t ranges() const noexcept { return above_.size(); }
  bool operator==(sequence_set const&) const = default;

  /// "17 19-24 30-30": the floor, and the ranges in their order.
  std::string text() const;
  /// Throws std::invalid_argument for what `text` does not write.
  static sequence_set parse(std::string_view text);

 private:
  void close_gap();

  std::uint64_t floor_ = 0;
  std::map<std::uint64_t, std::uint64_t> above_;  // first to last
};

}  // namespace rondo::service
