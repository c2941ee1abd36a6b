#include "runtime/memory/two_sided.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <unordered_set>
#include <vector>

#include "kernels/base/clock.hpp"
#include "runtime/os/profiler_range.hpp"

namespace rondo {

namespace {

void add(std::atomic<std::uint64_t>& to, std::uint64_t n) noexcept {
  to.fetch_add(n, std::memory_order_relaxed);  // relaxed: a statistic
}

bool carry(buffer_home& home, std::span<copy_job const> jobs) {
  [[maybe_unused]] profiler_range const range("copies of buffers");
  return home.copy(jobs);
}

}  // namespace

transfer_counts memory_pair::counters::read() const noexcept {
  auto const of = [](auto const& n) { return n.load(std::memory_order_relaxed); };  // relaxed: statistics
  return {of(to_device), of(to_host), of(bytes), of(batches), of(hidden_ns)};
}

two_sided::two_sided(memory_pair const& memory, std::span<std::uint64_t const> shape,
                     std::uint64_t element_bytes)
    : memory_(memory), bytes_(element_bytes) {
  for (auto const extent : shape)
    if (__builtin_mul_overflow(bytes_, extent, &bytes_)) {
      bytes_ = ~std::uint64_t{0};  // more than any pool has
      return;
    }
}

two_sided& two_sided::operator=(two_sided&& other) noexcept {
  if (this == &other) return *this;
  static_cast<void>(wait_for_background());
  assert(busy_ == 0 && views_ == 0 && other.views_ == 0);
  memory_ = other.memory_;
  bytes_ = std::exchange(other.bytes_, 0);
  host_ = std::move(other.host_);
  device_ = std::move(other.device_);
  state_ = std::exchange(other.state_, buffer_state::uninitialized);
  busy_ = std::exchange(other.busy_, 0);
  background_ = std::move(other.background_);  // it refers to the blocks, not to their owner
  return *this;
}

two_sided::~two_sided() {
  // In a forked child nobody ends the copy.
  if (memory_.copier_threads != nullptr && memory_.copier_threads->are_of_parent()) return;
  static_cast<void>(wait_for_background());
  assert(busy_ == 0 && views_ == 0);
}

error_code two_sided::claim(side of) {
  if (memory_.host == nullptr) return errc::buffer_empty;  // default-constructed: it has no elements
  auto& mine = of == side::host || memory_.is_one() ? host_ : device_;
  if (mine) return {};
  auto const take_from = [&](buffer_pool& pool) -> error_code {
    auto claimed = pool.acquire_buffer(bytes_);
    if (!claimed) return claimed.error();
    mine = std::move(*claimed);
    return {};
  };
  if (&mine == &device_) return take_from(*memory_.device);
  if (memory_.pinned != nullptr && !take_from(*memory_.pinned)) return {};
  return take_from(*memory_.host);
}

copy_job two_sided::job(side to) noexcept {
  auto* const there = memory_.device->address_of(device_.ref());
  auto* const here = host_.span().data();
  return to == side::device ? copy_job{there, here, bytes_, true} : copy_job{here, there, bytes_, false};
}

error_code two_sided::prepare(side to, bool& older) {
  older = false;
  if (auto const e = wait_for_background()) return e;
  if (busy_ != 0) return errc::buffer_in_use;  // by a writing view: no copy is running now
  if (state_ == buffer_state::uninitialized) return errc::buffer_empty;
  if (is_current(to)) return {};
  older = true;
  return claim(to);
}

void two_sided::arrived(side to) noexcept {
  add(to == side::device ? memory_.counts->to_device : memory_.counts->to_host, 1);
  add(memory_.counts->bytes, bytes_);
  state_ = buffer_state::synchronized;
}

error_code two_sided::bring(side to) {
  bool older = false;
  if (auto const e = prepare(to, older); e || !older) return e;
  auto const one = job(to);
  if (!carry(*memory_.device->home(), {&one, 1})) return errc::device_lost;
  add(memory_.counts->batches, 1);
  arrived(to);
  return {};
}

error_code sync_all(side to, std::span<two_sided* const> all) {
  struct due {
    two_sided* data;
    copy_job job;
  };
  std::vector<due> left;
  left.reserve(all.size());
  std::unordered_set<two_sided*> listed;
  for (auto* data : all) {
    bool older = false;
    if (auto const e = data->prepare(to, older)) return e;
    if (older && listed.insert(data).second) left.push_back({data, data->job(to)});
  }
  std::vector<copy_job> batch;
  while (!left.empty()) {
    auto* const home = left.front().data->memory_.device->home();
    auto const others = std::partition(
        left.begin(), left.end(), [home](due const& d) { return d.data->memory_.device->home() == home; });
    batch.clear();
    for (auto d = left.begin(); d != others; ++d) batch.push_back(d->job);
    if (!carry(*home, batch)) return errc::device_lost;
    add(left.front().data->memory_.counts->batches, 1);
    for (auto d = left.begin(); d != others; ++d) d->data->arrived(to);
    left.erase(left.begin(), others);
  }
  return {};
}

error_code two_sided::prefetch(side to) {
  if (memory_.is_one()) return sync(to);
  bool older = false;
  if (auto const e = prepare(to, older); e || !older) return e;
  if (!background_) background_ = std::make_unique<background_copy>();
  auto& b = *background_;
  b.running = true;
  b.to = to;
  boost::asio::post(memory_.copier, [&b, home = memory_.device->home(), job = job(to)] {
    auto const began_ns = now_ns();
    bool well = false;
    try {
      well = carry(*home, {&job, 1});
    } catch (...) {  // treated as a failed copy: the thread that waits for it gets the error
    }
    std::lock_guard lock(b.mutex);
    b.arrived = well;
    b.took_ns = now_ns() - began_ns;
    b.running = false;
    b.ended.notify_one();  // under the lock: the waiting thread may then free `b`
  });
  b.began = true;  // only now: if post throws, there is nothing to wait for
  ++busy_;
  return {};
}

error_code two_sided::wait_for_background() noexcept {
  if (!background_ || !background_->began) return {};
  auto& b = *background_;
  auto const began_ns = now_ns();
  std::unique_lock lock(b.mutex);
  b.ended.wait(lock, [&] { return !b.running; });
  b.began = false;
  --busy_;
  if (!b.arrived) return errc::device_lost;
  auto const waited_ns = now_ns() - began_ns;
  if (b.took_ns > waited_ns) add(memory_.counts->hidden_ns, b.took_ns - waited_ns);
  add(memory_.counts->batches, 1);
  arrived(b.to);
  return {};
}

error_code two_sided::drop_host() {
  if (memory_.is_one()) return {};
  if (auto const e = sync(side::device)) return e;
  if (views_ != 0) return errc::buffer_in_use;
  host_ = {};
  state_ = buffer_state::device_only;
  return {};
}

}  // namespace rondo
