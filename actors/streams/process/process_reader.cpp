#include "actors/streams/process/process_reader.hpp"

#include <cstring>
#include <thread>

#include "actors/streams/process/process_note.hpp"
#include "kernels/streams/fault.hpp"

namespace rondo::streams {

namespace {

using namespace std::chrono_literals;

/// The graph that writes may start later.
std::unique_ptr<buffer_importer> connect(process_connecting const& how, host_link& link) {
  auto const limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(how.wait_ms);
  buffer_importer_options const options{.timeout = std::chrono::milliseconds(std::max(how.wait_ms, 1u)),
                                        .how = how.how,
                                        .capacity = how.capacity,
                                        .arrived = [&link] { link.wake(); }};
  for (;;) try {
      return std::make_unique<buffer_importer>(how.path, options);
    } catch (std::runtime_error const& e) {
      if (std::chrono::steady_clock::now() >= limit) throw stage_error(fault::unavailable, e.what());
      std::this_thread::sleep_for(5ms);
    }
}

}  // namespace

process_reader::process_reader(process_connecting const& how, host_link& link)
    : lender{[](lender& self, std::uint32_t block) noexcept {
        static_cast<process_reader&>(self).end_lease(block);
      }},
      importer_(connect(how, link)) {}

bool process_reader::next(bool& ended) {
  auto news = importer_->receive(0ns);
  ended = !news && news.error() == errc::peer_gone;
  if (!news) return false;
  auto const note = note_from(news->note);
  lease_ = std::move(news->lease);  // empty if it was refused: then the type does not match
  now_ = {.data = lease_.bytes().data(),
          .bytes = lease_.bytes().size(),
          .number = news->tag,
          .time_ns = note.time_ns,
          .type = lease_ ? note.type : 0,
          .origin = note.origin,
          .about = {}};
  std::memcpy(now_.about, note.about, sizeof now_.about);
  return true;
}

process_lost process_reader::lost() {
  auto const now = importer_->replaced();
  return {.dropped = 0, .replaced = now - std::exchange(replaced_, now)};
}

void process_reader::lend(std::uint32_t block) {
  std::lock_guard const lock(mutex_);
  lent_[block] = std::move(lease_);
}

/// On the thread that has ended the last use of the frame.
void process_reader::end_lease(std::uint32_t block) noexcept {
  shared_lease ended;  // without the mutex
  std::lock_guard const lock(mutex_);
  if (auto const found = lent_.find(block); found != lent_.end()) std::swap(ended, found->second);
}

}  // namespace rondo::streams
