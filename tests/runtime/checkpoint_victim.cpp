// Runs journals under load and writes checkpoints of them in a loop until it is killed.
//
// checkpoint_victim <file>   resumes from <file> if it exists; writes a line when the loop begins
#include <cstdio>
#include <thread>

#include "runtime/checkpoint.hpp"
#include "tests/runtime/checkpoint_module.hpp"

using namespace checkpoint_test;

namespace {

/// Sends without end, starting with the next item that the journal expects.
void load(rondo::actor_ref<journal> to, std::uint32_t sender, std::uint64_t seq) {
  for (;; ++seq)
    while (to.try_tell(item{sender, seq}, {.deadline = std::chrono::hours(1)})) std::this_thread::yield();
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) return std::fprintf(stderr, "usage: checkpoint_victim <file>\n"), 2;
  std::filesystem::path const file = arguments[1];
  auto rt = start();
  if (std::filesystem::exists(file)) rondo::restore(*rt, file);
  for (auto const* name : {"a", "b"}) {
    auto j = rt->find<journal>(name);
    if (!j) j = rt->launch<journal>(name, {.capacity = 64});
    auto r = j->ask(get_journal{}, std::chrono::seconds(30), rondo::block);
    // Restored mail may fill the mailbox.
    while (r.error() == rondo::errc::mailbox_full)
      r = j->ask(get_journal{}, std::chrono::seconds(30), rondo::block);
    for (std::uint32_t sender = 0; sender < 2; ++sender)
      std::thread(load, *j, sender, r->next[sender]).detach();
  }
  std::puts("begun");
  std::fflush(stdout);
  for (;;) rondo::checkpoint(*rt, file);
} catch (std::exception const& e) {
  std::fprintf(stderr, "checkpoint_victim: %s\n", e.what());
  std::_Exit(1);
}
