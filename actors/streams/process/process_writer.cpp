#include "actors/streams/process/process_writer.hpp"

#include <fmt/format.h>

#include "actors/streams/process/process_note.hpp"
#include "runtime/streams/built/stage_link.hpp"

namespace rondo::streams {

/// A use of a frame's block, which ends with it.
class process_writer::kept_frame {
 public:
  kept_frame(keeping& all, frame const& f) noexcept : all_(all), frame_(f) {
    all_.count.fetch_add(1, std::memory_order_relaxed);  // by the stage alone, which also asks for room
  }
  kept_frame(kept_frame const&) = delete;
  kept_frame& operator=(kept_frame const&) = delete;
  ~kept_frame() {
    all_.link.give_up(frame_);
    // relaxed: a stage that has found no room is woken by a message, and looks again after it
    if (all_.count.fetch_sub(1, std::memory_order_relaxed) == all_.most) all_.link.wake();
  }
  frame const& get() const noexcept { return frame_; }

 private:
  keeping& all_;
  frame const frame_;
};

process_writer::process_writer(process_listening how, host_link& link)
    : how_(std::move(how)),
      kept_{link, how_.blocks},
      memory_(static_cast<stage_link&>(link).of().shared_memory()) {
  if (memory_ == nullptr) {
    // Room for blocks of the next size class, and for their alignment.
    own_memory_ =
        std::make_unique<memfd_resource>(2 * how_.blocks * (how_.most_bytes + 65536), "rondo-frames");
    memory_ = own_memory_.get();
  }
  std::lock_guard const lock(mutex_);  // until then the exporter's thread waits
  exporter_ = std::make_unique<buffer_exporter>(
      *memory_,
      buffer_exporter_options{
          .path = how_.path,
          .slots = 256,
          .importers = 64,
          // A reader may keep its last frame as long as it is alive.
          .keep_timeout = std::chrono::milliseconds::max(),
          .report = [&link](std::string const& line) { link.log(log_level::warning, line.c_str()); },
          .joined =
              [this](std::uint64_t) {
                std::lock_guard const held(mutex_);
                ++joined_;
                pass_on();
              },
          .changed =
              [this] {
                std::lock_guard const held(mutex_);
                pass_on();
              },
      });
}

process_writer::~process_writer() {
  wait_for_readers();
  {
    std::lock_guard const lock(mutex_);
    waiting_.clear();
  }
  exporter_.reset();  // before what its thread uses
}

void process_writer::give_up_unread() {
  std::lock_guard const lock(mutex_);
  gives_up_unread_ = true;
  drop_unread();
}

bool process_writer::pass(frame const& kept, std::uint64_t type) {
  auto f = std::make_shared<kept_frame>(kept_, kept);
  bool const in_place = memory_->holds(kept.data);
  std::lock_guard const lock(mutex_);
  if (!in_place && copies_ == nullptr) make_copies();
  waiting_.push_back({std::move(f), type, {}});
  drop_unread();
  pass_on();
  return !in_place;
}

process_lost process_writer::lost() {
  std::lock_guard const lock(mutex_);
  auto const of_readers = exporter_->statistics();
  process_lost const now{of_readers.dropped + unread_, of_readers.replaced};
  process_lost const since{now.dropped - lost_.dropped, now.replaced - lost_.replaced};
  lost_ = now;
  return since;
}

/// The caller holds the mutex.
void process_writer::drop_unread() {
  if (!gives_up_unread_ || joined_ >= how_.readers) return;
  unread_ += waiting_.size();
  waiting_.clear();
}

/// As many as there is room for. The caller holds the mutex.
void process_writer::pass_on() {
  if (joined_ < how_.readers) return;
  while (!waiting_.empty()) {
    auto& next = waiting_.front();
    if (next.shared.generation == 0 && !share(next)) return;
    frame const& f = next.kept->get();
    process_note note{.time_ns = f.time_ns, .type = next.type, .origin = f.origin, .about = {}};
    std::memcpy(note.about, f.about, sizeof note.about);
    auto const announced = exporter_->announce(next.shared, f.number, note_of(note));
    if (!announced && announced.error() == errc::no_room) return;
    auto const dropped = exporter_->statistics().dropped;
    if ((!announced || *announced == 0) && dropped == dropped_) ++unread_;  // else it was a reader's loss
    dropped_ = dropped;
    static_cast<void>(exporter_->withdraw(next.shared));
    waiting_.pop_front();
  }
}

/// False: not before something comes back.
bool process_writer::share(waiting_frame& next) {
  frame const& f = next.kept->get();
  if (memory_->holds(f.data)) {
    if (auto const shared = exporter_->export_bytes({f.data, f.bytes}, next.kept)) next.shared = *shared;
  } else if (auto copy = copies_->acquire_buffer(f.bytes)) {
    std::memcpy(copy->span().data(), f.data, f.bytes);
    if (auto const shared = exporter_->export_buffer(*copies_, copy->ref())) next.shared = *shared;
  }
  return next.shared.generation != 0;
}

/// For frames outside the shared memory.
void process_writer::make_copies() {
  copies_ = std::make_unique<buffer_pool>(
      buffer_pool_options{.cap_bytes = memory_->size(), .slots = how_.blocks, .upstream = memory_});
  if (auto const one = copies_->acquire_buffer(how_.most_bytes); !one)  // the pool keeps it
    throw std::runtime_error(
        fmt::format("to_process: no shared memory for a copy of {} bytes: {}; raise "
                    "the runtime's buffer_bytes_cap, or set RONDO_BUFFER_BYTES_CAP",
                    how_.most_bytes, one.error().message()));
}

/// Until nothing waits, and the readers have given back everything.
void process_writer::wait_for_readers() {
  auto const limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(how_.linger_ms);
  for (;;) {
    auto const seen = exporter_->freed();
    if (is_done()) return;
    auto const left = limit - std::chrono::steady_clock::now();
    if (left.count() <= 0 || exporter_->wait_freed(seen, left) != errc::ok) return;
  }
}

bool process_writer::is_done() {
  std::lock_guard const lock(mutex_);
  auto const now = exporter_->statistics();
  return (now.importers == 0 && joined_ >= how_.readers) || (waiting_.empty() && now.leases == 0);
}

}  // namespace rondo::streams
