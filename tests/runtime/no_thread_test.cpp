// A runtime on a system that has no thread left for it.
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "runtime/os/start_thread.hpp"
#include "runtime/sharing/buffer_exporter.hpp"
#include "runtime/sharing/buffer_importer.hpp"
#include "tests/runtime/counter_fixture.hpp"
#include "tests/scratch_directory.hpp"

using namespace rondo_test;
using Catch::Matchers::Contains;

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

TEST_CASE("whatever finds no thread says what it was for and what to raise, and is there once it finds one",
          "[runtime]") {
  auto const require_refused = [](char const* what, auto make) {
    little_space const limit(stack_bytes / 2);
    try {
      make();
      FAIL("a thread was found for " << what);
    } catch (rondo::no_thread const& e) {
      CHECK_THAT(e.what(), Contains(what) && Contains("ulimit -u"));
    }
  };
  auto const rt = start({.device = "cpu", .teams = 1, .pinned_teams = 1});
  auto const launch = [&] { return rt->launch<counter>("pinned", {.pinned = true}); };
  require_refused("a team", launch);
  CHECK(launch().ask(get{}, patience, rondo::block));

  scratch_directory const folder("no-thread");
  auto const path = folder.directory / "buffers";
  rondo::memfd_resource memory(1 << 20);
  require_refused("an exporter", [&] { rondo::buffer_exporter(memory, {.path = path}); });
  rondo::buffer_exporter const exporter(memory, {.path = path});
  require_refused("an importer", [&] { rondo::buffer_importer{path}; });
  CHECK_NOTHROW(rondo::buffer_importer{path});
}
