// frame_sender's lifetime, and the functions that the stage calls.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstring>
#include <random>

#include "actors/streams/network/frame_readers.hpp"
#include "runtime/os/run_handlers.hpp"
#include "runtime/os/start_thread.hpp"

namespace rondo::streams {

namespace asio = boost::asio;

namespace {

std::uint64_t random_session() {
  std::random_device random;
  return (std::uint64_t{random()} << 32 | random()) | 1;  // not 0
}

}  // namespace

frame_sender::frame_sender(sender_options options)
    : options_(std::move(options)), session_(random_session()), entrance_(make_process_ptr<entrance>()) {
  entrance_->door = make_listener(network_, options_.listen);
  where_ = entrance_->door->where();
  if (!where_.is_unix && options_.listen.port == 0)  // nobody else knows the port
    write_line(options_.log, "network sink", "listens on " + where_.text());
  entrance_->door->accept(
      [this](stream_socket s, client_address from) { welcome(std::move(s), std::move(from.text)); });
  thread_ = make_process_ptr<std::thread>(start_thread("a network sink", [this] {
    run_handlers(network_, [this](char const* what) { write_line(options_.log, where_.text(), what); });
  }));
}

frame_sender::~frame_sender() {
  if (is_of_parent(thread_)) {
    keep_for_ever(std::make_shared<decltype(readers_)>(std::move(readers_)));
    return;
  }
  {
    std::unique_lock lock(mutex_);
    if (has_ended_) all_left_.wait_for(lock, longest_linger, [this] { return readers_.empty(); });
  }
  network_.stop();
  thread_->join();
  // The sockets go before the context that they use; what waits in it refers to nothing else of this object.
  readers_.clear();
  entrance_.reset();
}

// -- the stage

bool frame_sender::try_send(frame_origin const& origin, void const* about, std::span<std::byte const> data) {
  std::shared_ptr<packet> p;
  {
    std::lock_guard const lock(mutex_);
    bool const has_room = std::ranges::all_of(readers_, [this](reader_ptr const& r) {
      return r->how != delivery::lossless || r->queue.size() < options_.capacity;
    });
    if (!has_room || readers_.size() < needed_) return stage_.want(), false;
    auto const from = origin.session != 0
                          ? origin
                          : frame_origin{session_, counts_.frames, origin.time_ns, origin.lasts_ns};
    next_ = {from.session, from.number + 1};
    ++counts_.frames;
    if (readers_.empty()) return ++counts_.lost, true;
    p = free_packet();
    p->header = {};
    p->header.kind = static_cast<std::uint32_t>(wire_kind::frame);
    p->header.data_bytes = data.size();
    p->header.origin = from;
  }
  // Nobody else uses the packet. Readers may join and leave during the copy, but a queue that had room keeps it.
  std::memcpy(p->header.about, about, options_.terms.about_bytes);
  std::memcpy(p->data.get(), data.data(), data.size());
  std::lock_guard const lock(mutex_);
  if (readers_.empty()) ++counts_.lost;
  for (auto const& r : readers_) enqueue(*r, p);
  wake_readers();
  return true;
}

/// The caller holds the mutex.
void frame_sender::enqueue(reader& r, std::shared_ptr<packet> const& p) {
  auto const& origin = p->header.origin;
  if (r.first.session != origin.session) r.first = origin;
  auto const lose = [&] { ++r.lost, ++counts_.lost; };
  if (r.how == delivery::latest && !r.queue.empty()) {
    r.queue.clear();
    lose();
  } else if (r.queue.size() >= options_.capacity) {
    return lose();
  }
  r.queue.push_back({p, r.first.number});
}

/// The caller holds the mutex, under which the others give theirs up.
std::shared_ptr<frame_sender::packet> frame_sender::free_packet() {
  for (auto const& p : packets_)
    if (p.use_count() == 1) return p;
  auto const& made = packets_.emplace_back(std::make_shared<packet>());
  made->data = std::make_unique_for_overwrite<std::byte[]>(options_.terms.most_bytes);
  return made;
}

void frame_sender::needs_no_readers() {
  std::lock_guard const lock(mutex_);
  needed_ = 0;
}

void frame_sender::end() {
  std::lock_guard const lock(mutex_);
  has_ended_ = true;
  wake_readers();
}

void frame_sender::wake_readers() {
  asio::post(network_, [this] {
    std::lock_guard const lock(mutex_);
    for (auto const& r : readers_) r->changed.cancel();
  });
}

std::uint64_t frame_sender::take_lost() {
  std::lock_guard const lock(mutex_);
  return counts_.lost - std::exchange(taken_lost_, counts_.lost);
}

bool frame_sender::has_readers() const {
  std::lock_guard const lock(mutex_);
  return !readers_.empty();
}

sender_counts frame_sender::counts() const {
  std::lock_guard const lock(mutex_);
  auto c = counts_;
  c.readers = static_cast<std::uint32_t>(readers_.size());
  return c;
}

}  // namespace rondo::streams
