// Collects the texts of callbacks, for a test that waits for them.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace rondo_test {

class inbox {
 public:
  void put(std::string text) {
    std::lock_guard lock(mutex_);
    all_.push_back(std::move(text));
    changed_.notify_all();
  }
  /// False if there are fewer within half a minute.
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return all_.size() >= count; });
  }
  std::vector<std::string> sorted() const {
    std::lock_guard lock(mutex_);
    auto all = all_;
    std::sort(all.begin(), all.end());
    return all;
  }
  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return all_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

inline std::span<std::byte const> bytes_of(std::string const& text) { return std::as_bytes(std::span(text)); }
inline std::string text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

}  // namespace rondo_test
