// The host side of from_process: an importer, and the leases of the frames that are in the graph.
#include <map>
#include <mutex>
#include <thread>

#include "kernels/streams/fault.hpp"
#include "kernels/streams/process_host.hpp"
#include "runtime/sharing/buffer_importer.hpp"
#include "runtime/streams/built/stage_link.hpp"
#include "runtime/streams/process/process_note.hpp"

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

class importing_reader final : public process_reader {
 public:
  importing_reader(process_connecting const& how, host_link& link)
      : process_reader([](lender& self, std::uint32_t block) noexcept {
          static_cast<importing_reader&>(self).end_lease(block);
        }),
        importer_(connect(how, link)) {}

  bool next(bool& ended) override {
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
  process_frame const& current() const noexcept override { return now_; }
  process_lost lost() override {
    auto const now = importer_->replaced();
    return {.dropped = 0, .replaced = now - std::exchange(replaced_, now)};
  }
  void lend(std::uint32_t block) override {
    std::lock_guard const lock(mutex_);
    lent_[block] = std::move(lease_);
  }

 private:
  /// On the thread that has ended the last use of the frame.
  void end_lease(std::uint32_t block) noexcept {
    shared_lease ended;  // without the mutex
    std::lock_guard const lock(mutex_);
    if (auto const found = lent_.find(block); found != lent_.end()) std::swap(ended, found->second);
  }

  std::unique_ptr<buffer_importer> importer_;
  process_frame now_{};
  std::uint64_t replaced_ = 0;
  shared_lease lease_;  // of `now_`, until it was lent
  std::mutex mutex_;    // guards the leases of the frames in the graph, by block
  std::map<std::uint32_t, shared_lease> lent_;
};

}  // namespace

process_reader* new_process_reader(process_connecting const& how, host_link& link) {
  return new importing_reader(how, link);
}

}  // namespace rondo::streams
