// Room for a workload in a runtime's settings.
#pragma once

#include <algorithm>
#include <type_traits>

namespace rondo::workloads {

/// Makes a setting at least so large.
template <class T>
void raise(T& setting, std::type_identity_t<T> least) {
  setting = std::max(setting, least);
}

}  // namespace rondo::workloads
