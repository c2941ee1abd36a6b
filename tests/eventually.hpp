// Waits in tests for another thread, process or device.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <source_location>
#include <thread>

namespace rondo_test {

/// How long a test waits for an event that must happen. It only bounds a hang; it does not decide a test.
inline constexpr std::chrono::seconds patience{60};

/// Waits until `holds()`. After `patience` it writes the caller's location to stderr and returns false.
template <class Condition>
bool eventually(Condition holds, std::source_location where = std::source_location::current()) {
  auto const end = std::chrono::steady_clock::now() + patience;
  for (std::uint32_t looks = 0; !holds(); ++looks) {
    if (std::chrono::steady_clock::now() > end) {
      std::fprintf(stderr, "%s:%u: the condition did not hold within %lld s\n", where.file_name(),
                   static_cast<unsigned>(where.line()), static_cast<long long>(patience.count()));
      return false;
    }
    if (looks < 100)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

}  // namespace rondo_test
