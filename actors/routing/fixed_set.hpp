// A set of at most `Most` elements, in the order in which they were added; part of a behaviour's state.
#pragma once

#include "kernels/base/portable.hpp"

namespace rondo {

/// `Element` is trivially copyable and has an equality.
template <class Element, std::uint32_t Most>
class fixed_set {
 public:
  /// The number of elements.
  RONDO_HD std::uint32_t size() const noexcept { return size_; }
  /// Precondition: `i < size()`.
  RONDO_HD Element const& operator[](std::uint32_t i) const noexcept { return elements_[i]; }

  /// False if it is full. True without effect if it has this element.
  RONDO_HD bool add(Element const& e) noexcept {
    for (std::uint32_t i = 0; i < size_; ++i)
      if (elements_[i] == e) return true;
    if (size_ == Most) return false;
    elements_[size_++] = e;
    return true;
  }
  RONDO_HD void remove(Element e) noexcept {  // by value: it may be one of these
    keep_if([&e](Element const& other) { return !(other == e); });
  }
  /// Calls `keep` for each element in order, and removes those for which it returns false.
  template <class Keep>
  RONDO_HD void keep_if(Keep const& keep) noexcept {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < size_; ++i)
      if (keep(elements_[i])) elements_[kept++] = elements_[i];
    size_ = kept;
  }

 private:
  std::uint32_t size_ = 0;
  Element elements_[Most]{};
};

}  // namespace rondo
