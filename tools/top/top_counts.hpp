// Compares counters of two reports, and keeps histories.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "tools/top/top_model.hpp"

namespace rondo::tools {

/// How much a counter grew; nothing when it began again.
inline std::uint64_t grown(std::uint64_t now, std::uint64_t before) noexcept {
  return now > before ? now - before : 0;
}

template <class T>
void keep(std::deque<T>& history, T next) {
  history.push_back(std::move(next));
  if (history.size() > top_history) history.pop_front();
}

}  // namespace rondo::tools
