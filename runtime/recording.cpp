// runtime::begin_recording and end_recording.
#include "runtime/runtime_core.hpp"

#include "runtime/checkpoint.hpp"

namespace rondo {

namespace {

[[noreturn]] void refuse_to_record(std::filesystem::path const& file, std::string const& why) {
  throw std::runtime_error(file.string() + ": " + why);
}

}  // namespace

/// `journal_bits` for all devices; `also` runs while no handler does. False when no quiet moment came. The caller holds
/// launching_.
bool runtime_core::set_journal(std::uint32_t bits,
                               std::function<void(std::vector<arena_ref> const&)> const& also) {
  return at_quiet_point(arena_access::writes, [&](std::vector<arena_ref> const& arenas) {
    // Relaxed: the quiet point orders it.
    for (auto const& arena : arenas) arena.header().journal.store(bits, memory_order::relaxed);
    also(arenas);
  });
}

void runtime_core::begin_recording(std::filesystem::path const& file) {
  std::unique_lock launching(launching_);
  if (recorder_) refuse_to_record(file, "was not begun: another recording is going on");
  auto begun = std::make_unique<recorder>(file, [this](std::string const& why) { failures_->publish(why); });
  std::exception_ptr failure;
  bool const quiet = set_journal(journal_report, [&](std::vector<arena_ref> const& arenas) {
    try {
      checkpoint_image image;
      auto const living = directory_->list();
      for (auto const& arena : arenas)
        for (auto& a : copy_actors(arena, living, behaviours())) {
          a.totals.accepted -= a.mail.size();
          a.mail.clear();  // it is written when it ends
          image.actors.push_back(std::move(a));
        }
      begun->begin(image, behaviours());
      recorder_ = std::move(begun);
    } catch (...) {
      failure = std::current_exception();  // nothing may leave a quiet point
      for (auto const& arena : arenas) arena.header().journal.store(0, memory_order::relaxed);
    }
  });
  if (quiet && !failure) return;
  begun.reset();
  std::error_code ignored;
  std::filesystem::remove(file, ignored);  // it holds nothing
  if (failure) std::rethrow_exception(failure);
  refuse_to_record(file, "was not begun: " + why_not_quiet());
}

bool runtime_core::flush_recording() {
  std::shared_lock const launching(launching_);
  return !recorder_ || recorder_->flush();
}

void runtime_core::end_recording() {
  std::unique_lock launching(launching_);
  if (!recorder_) throw std::runtime_error("no recording is going on");
  std::unique_ptr<recorder> ended;
  if (!set_journal(0, [&](auto const&) { ended = std::move(recorder_); }))
    throw std::runtime_error("the recording goes on: " + why_not_quiet());
  ended->close();
}

/// Precondition: no device reports any more.
void runtime_core::close_recording() {
  std::unique_lock launching(launching_);
  if (!recorder_) return;
  try {
    recorder_->close();
  } catch (std::runtime_error const& e) {
    failures_->publish(e.what());
  }
  recorder_.reset();
}

}  // namespace rondo
