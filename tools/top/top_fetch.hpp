// Fetches reports at an interval, on its own thread.
//
// Threads: `take`, `watch` and the destructor on the thread that made it. The destructor waits for a call of the source
// that is in progress.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "tools/top/top_screen.hpp"
#include "tools/top/top_terminal.hpp"

namespace rondo::tools {

class top_fetch {
 public:
  using depths = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  struct news {
    std::optional<service::report> report{};  // a new one
    std::string trouble{};                    // why there is none
    std::optional<depths> waiting{};          // messages that wait for the watched actor
  };

  top_fetch(top_source const& source, std::chrono::milliseconds interval);
  ~top_fetch();
  top_fetch(top_fetch const&) = delete;
  top_fetch& operator=(top_fetch const&) = delete;

  /// What arrived since the last call, if anything.
  std::optional<news> take();
  /// From now on, also fetches this actor's mailbox. Empty: no mailbox.
  void watch(std::string const& actor);

 private:
  void run();

  top_source const& source_;
  std::chrono::milliseconds interval_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  bool stop_ = false, hurry_ = false;
  std::string watched_;
  std::optional<news> came_;
  std::thread thread_;
};

}  // namespace rondo::tools
