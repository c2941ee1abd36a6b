// A runtime on a system that has no thread left for it.
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "tests/runtime/counter_fixture.hpp"

using namespace rondo_test;

namespace {

constexpr std::size_t stack_bytes = 256 << 20;

/// The process gets `more_bytes` of address space beyond what it has, and its threads need stack_bytes each of them.
class little_space {
 public:
  explicit little_space(std::size_t more_bytes) {
    pthread_getattr_default_np(&threads_);
    auto large = threads_;
    pthread_attr_setstacksize(&large, stack_bytes);
    REQUIRE(pthread_setattr_default_np(&large) == 0);
    REQUIRE(::getrlimit(RLIMIT_AS, &space_) == 0);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit const less{pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + more_bytes,
                      space_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_AS, &less) == 0);
  }
  ~little_space() {
    ::setrlimit(RLIMIT_AS, &space_);
    pthread_setattr_default_np(&threads_);
    pthread_attr_destroy(&threads_);
  }
  little_space(little_space const&) = delete;
  little_space& operator=(little_space const&) = delete;

 private:
  pthread_attr_t threads_{};
  rlimit space_{};
};

}  // namespace

TEST_CASE("a runtime throws, whichever of its threads cannot be started", "[runtime]") {
  rondo::config c;
  c.device = "cpu";
  c.teams = 3;
  std::unique_ptr<rondo::runtime> rt;
  std::size_t attempts = 0;
  while (!rt && attempts < 32) {
    little_space const limit(stack_bytes / 2 + attempts++ * stack_bytes);  // each time for one thread more
    try {
      rt = start(c);
    } catch (std::runtime_error const& e) {
      UNSCOPED_INFO(e.what());
    }
  }
  CHECK(rt);
  CHECK(attempts > c.teams);
}
