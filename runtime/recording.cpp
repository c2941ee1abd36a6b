#include "runtime/recording.hpp"

#include "runtime/core/runtime_core.hpp"
#include "runtime/runtime.hpp"
#include "runtime/state/actor_images.hpp"

namespace rondo {

namespace {

[[noreturn]] void refuse(std::filesystem::path const& file, std::string const& why) {
  throw std::runtime_error(file.string() + ": the recording was not started: " + why);
}

/// The living actors without their mail, which is written when it completes.
checkpoint_image image_of(runtime_core const& core, std::vector<arena_ref> const& arenas) {
  checkpoint_image image;
  auto const living = core.actors.list();
  for (auto const& arena : arenas)
    for (auto& a : copy_actors(arena, living, core.behaviours())) {
      a.totals.accepted -= a.mail.size();
      a.mail.clear();
      image.actors.push_back(std::move(a));
    }
  return image;
}

}  // namespace

recording::recording(runtime& rt, std::filesystem::path const& file) : runtime_(rt) {
  auto& core = rt.core();
  std::unique_lock const held(core.launching);
  if (core.recording) refuse(file, "another recording is in progress");
  auto begun =
      std::make_unique<recorder>(file, [&core](std::string const& why) { core.watched.report(why); });
  std::exception_ptr failure;
  bool const quiet = core.at_safepoint(arena_access::writes, [&](std::vector<arena_ref> const& arenas) {
    try {
      begun->begin(image_of(core, arenas), core.behaviours());
      // Relaxed: the safepoint orders it.
      for (auto const& arena : arenas) arena.header().journal.store(journal_report, memory_order::relaxed);
      core.recording = std::move(begun);
    } catch (...) {
      failure = std::current_exception();  // no exception may leave a safepoint
    }
  });
  if (quiet && !failure) return;
  begun.reset();
  std::error_code ignored;
  std::filesystem::remove(file, ignored);  // it is empty
  if (failure) std::rethrow_exception(failure);
  refuse(file, core.why_no_safepoint());
}

recording::~recording() {
  if (ended_) return;
  try {
    end();
  } catch (std::runtime_error const& e) {
    runtime_.core().watched.report(e.what());
  }
}

bool recording::flush() {
  auto& core = runtime_.core();
  std::shared_lock const held(core.launching);
  return !core.recording || core.recording->flush();
}

void recording::end() {
  auto& core = runtime_.core();
  std::unique_lock const held(core.launching);
  if (ended_) throw std::runtime_error("the recording has already ended");
  if (!core.recording) {  // stopping the runtime has ended it and reported any errors
    ended_ = true;
    return;
  }
  std::unique_ptr<recorder> last;
  if (!core.set_journal(0, [&] { last = std::move(core.recording); }))
    throw std::runtime_error("the recording continues: " + core.why_no_safepoint());
  ended_ = true;
  last->close();
}

}  // namespace rondo
