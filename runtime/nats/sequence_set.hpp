// A set of a stream's sequence numbers: which messages the actors' states include. All up to a floor, and ranges above
// it.
//
// A stream numbers its messages from 1. They arrive nearly in order, so there are few ranges: at most as many as
// messages delivered and not yet taken, plus the gaps of messages removed from the stream, which `raise_floor` closes.
//
// Invariant: 0 is in the set, so its first interval ends at the floor.
// Threads: one at a time.
#pragma once

#include <boost/icl/closed_interval.hpp>
#include <boost/icl/interval_set.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rondo::service {

class sequence_set {
 public:
  bool contains(std::uint64_t sequence) const { return boost::icl::contains(all_, sequence); }
  void insert(std::uint64_t sequence) { all_.add(sequence); }
  /// Adds all up to `last`.
  void raise_floor(std::uint64_t last) { all_.add(range(0, last)); }
  /// Removes all above `last`.
  void cut_above(std::uint64_t last) { all_ &= range(0, last); }
  /// The largest number in the set; 0: none.
  std::uint64_t largest() const { return boost::icl::last(all_); }
  /// Above the floor.
  std::size_t ranges() const noexcept { return all_.iterative_size() - 1; }
  bool operator==(sequence_set const&) const = default;

  /// "17 19-24 30-30": the floor, then the ranges in order.
  std::string text() const;
  /// Throws std::invalid_argument if `text` could not have written it.
  static sequence_set parse(std::string_view text);

 private:
  using range = boost::icl::closed_interval<std::uint64_t>;  // from first to last

  boost::icl::interval_set<std::uint64_t, std::less, range> all_{range(0, 0)};
};

}  // namespace rondo::service
