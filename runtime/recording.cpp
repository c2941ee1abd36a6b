#include "runtime/recording.hpp"

#include "runtime/core/runtime_core.hpp"
#include "runtime/runtime.hpp"
#include "runtime/state/actor_images.hpp"

namespace rondo {

namespace {

[[noreturn]] void not_recorded(std::filesystem::path const& file, std::string const& why) {
  throw std::runtime_error(file.string() + ": the recording was not started: " + why);
}

/// The living actors without their mail, which is written when it completes, and without those that are saved apart.
checkpoint_image image_of(runtime_core const& core, std::vector<living_actor> const& living,
                          std::vector<arena_ref> const& arenas) {
  checkpoint_image image;
  for (auto const& arena : arenas)
    for (auto& a : copy_actors(arena, living, core.behaviours(), [](auto const&) { return false; })) {
      if (core.behaviours()[a.behaviour].saved_apart) continue;
      a.totals.accepted -= a.mail.size();
      a.mail.clear();
      image.actors.push_back(std::move(a));
    }
  return image;
}

}  // namespace

recording::recording(runtime& rt, std::filesystem::path const& file) : runtime_(rt) {
  auto& core = rt.core();
  std::unique_lock const held(core.launching());
  // One that only the core holds has lost its owner, whose destructor found no safepoint; it ends here.
  if (core.recording() && core.recording().use_count() > 1)
    not_recorded(file, "another recording is in progress");
  auto const living = core.actors().all_living();
  try {
    require_savable(living, core.behaviours());
  } catch (std::runtime_error const& e) {
    not_recorded(file, e.what());
  }
  auto const begun =
      std::make_shared<recorder>(file, [&core](std::string const& why) { core.watched().report(why); });
  std::shared_ptr<recorder> orphan;
  std::exception_ptr failure;
  bool const quiet = core.at_safepoint(arena_access::writes, [&](std::vector<arena_ref> const& arenas) {
    try {
      begun->begin(image_of(core, living, arenas), core.behaviours());
      // Relaxed: the safepoint orders it.
      for (auto const& arena : arenas) arena.header().journal.store(journal_report, memory_order::relaxed);
      orphan = core.set_recording(begun);
    } catch (...) {
      failure = std::current_exception();  // no exception may leave a safepoint
    }
  });
  if (quiet && !failure) {
    recorder_ = begun;
    if (orphan) core.close_recording(*orphan);
    return;
  }
  std::error_code ignored;
  std::filesystem::remove(file, ignored);  // it is empty
  if (failure) std::rethrow_exception(failure);
  not_recorded(file, core.why_no_safepoint());
}

recording::~recording() {
  if (!recorder_ || recorder_->is_of_parent() || recorder_->is_closed())
    return;                                 // stopping the runtime has closed it, and reported errors
  bool const written = recorder_->flush();  // reports by itself, once, that the file cannot be written
  try {
    end();
  } catch (std::runtime_error const& e) {
    if (recorder_) recorder_->flush();  // it could not end: what was recorded meanwhile is not to be lost
    if (written) runtime_.core().watched().report(e.what());
  }
}

bool recording::flush() {
  std::shared_lock const held(runtime_.core().launching());
  if (!recorder_) throw std::runtime_error("the recording has already ended");
  return recorder_->flush();
}

void recording::end() {
  auto& core = runtime_.core();
  std::unique_lock const held(core.launching());
  if (!recorder_) throw std::runtime_error("the recording has already ended");
  // If it is not the core's, stopping the runtime has closed it.
  if (core.recording() == recorder_ && !core.set_journal(0, [&] { core.set_recording(nullptr); }))
    throw std::runtime_error("the recording continues: " + core.why_no_safepoint());
  std::exchange(recorder_, nullptr)->close();
}

}  // namespace rondo
