// Random use of a device's memory compared with a plain model at each step: the pool, leases of handlers, the states of
// unified buffers, and every copy. RONDO_SEED repeats a run.
#include <numeric>
#include <random>

#include "runtime/memory/buffer_pool.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "tests/conformance/harness.hpp"
#include "tests/seed.hpp"

using namespace conformance;
using rondo::buffer_state;
using rondo::side;

namespace {

/// Shared by both tests: a runtime, an actor that accesses buffers, and a random generator.
struct bed {
  explicit bed(variant const& v, std::uint64_t seed)
      : rt(start(v.settings)), actor(rt->launch<editor>("editor")), random(seed) {}
  std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); }

  std::unique_ptr<rondo::runtime> rt;
  rondo::actor_ref<editor> actor;
  std::mt19937_64 random;
};

/// Buffers that are acquired, released, and leased by handlers, one of which waits at a gate.
class pool_model {
 public:
  explicit pool_model(bed& b) : bed_(b), holder_(b.rt->launch<editor>("holder")) {}
  ~pool_model() { keeper_.open(); }

  void step() {
    auto const kind = bed_.below(8);
    if (buffers_.empty() || (kind == 0 && buffers_.size() < 20)) return acquire();
    auto const i = bed_.below(buffers_.size());
    switch (kind) {
      case 0:
      case 1:
        return write(buffers_[i]);
      case 2:
      case 3:
        return read(buffers_[i]);
      case 4:
      case 5:
        return holds_ ? let_go() : hold(i);
      default:
        return release(i);
    }
  }
  /// Releases everything; then nothing else is in use.
  void end() {
    if (holds_) let_go();
    for (auto const& b : buffers_)
      if (b.live) REQUIRE(pool().release(b.ref) == errc::ok);
    buffers_.clear();
  }

 private:
  struct owned {
    rondo::buffer_ref ref;
    std::uint32_t count, value;
    bool live = true, held = false, written = false;  // held, written: by the handler at the gate
  };
  rondo::buffer_pool& pool() { return bed_.rt->buffers(); }

  void acquire() {
    auto const count = 1 + bed_.below(500);
    auto const made = pool().acquire(4 * count);
    REQUIRE(made);
    REQUIRE(made->bytes == 4 * count);
    buffers_.push_back({*made, count, 0});
    write(buffers_.back());
  }
  errc expected(owned const& b, bool writes) const {
    if (!b.live) return errc::stale_buffer;
    return b.held && (writes || b.written) ? errc::buffer_in_use : errc::ok;
  }
  void write(owned& b) {
    auto const value = bed_.below(1000);
    auto const should = expected(b, true);
    REQUIRE(fill_with(bed_.actor, b.ref, value).status == should);
    if (should == errc::ok) b.value = value;
  }
  void read(owned const& b) {
    auto const should = expected(b, false);
    auto const answer = sum_of(bed_.actor, b.ref);
    REQUIRE(answer.status == should);
    if (should == errc::ok) REQUIRE(answer.sum == std::uint64_t{b.value} * b.count);
  }
  void release(std::uint32_t i) {
    auto& b = buffers_[i];
    REQUIRE(pool().release(b.ref) == (b.live ? errc::ok : errc::double_release));
    b.live = false;
    if (!b.held && bed_.below(2) == 0)
      buffers_.erase(buffers_.begin() + i);  // else a later step uses the stale handle
  }
  void hold(std::uint32_t i) {
    auto& b = buffers_[i];
    if (!b.live) return;
    gate_ = std::make_unique<in_reach<gate>>();
    keeper_.at = gate_.get();
    answer_ = {};
    b.held = holds_ = true;
    b.written = bed_.below(2) == 0;
    held_ref_ = b.ref;
    held_value_ = bed_.below(1000);
    if (b.written)
      holder_.ask(fill{b.ref, held_value_, &**gate_}, rondo::ask_options{}, answer_.handler());
    else
      holder_.ask(add_up{b.ref, &**gate_}, rondo::ask_options{}, answer_.handler());
    REQUIRE(eventually([&] { return (**gate_).entered.load(rondo::memory_order::acquire) != 0; }));
  }
  void let_go() {
    keeper_.open();
    REQUIRE_FALSE(answer_.wait());
    holds_ = false;
    auto const held = std::ranges::find_if(buffers_, [&](owned const& b) { return b.held; });
    REQUIRE(held != buffers_.end());
    CHECK(answer_.reply->status == errc::ok);  // it kept its lease while others were refused
    if (held->written)
      held->value = held_value_;
    else
      CHECK(answer_.reply->sum == std::uint64_t{held->value} * held->count);
    held->held = held->written = false;
  }

  struct opener {
    in_reach<gate>* at = nullptr;
    void open() const {
      if (at != nullptr) (**at).is_open.store(1, rondo::memory_order::release);
    }
  };

  bed& bed_;
  rondo::actor_ref<editor> holder_;
  std::vector<owned> buffers_;
  std::unique_ptr<in_reach<gate>> gate_;
  opener keeper_;
  pending<buffer_answer> answer_;
  rondo::buffer_ref held_ref_{};
  std::uint32_t held_value_ = 0;
  bool holds_ = false;
};

/// Unified buffers compared with plain arrays, and with the expected number of copies.
class transfer_model {
 public:
  explicit transfer_model(bed& b) : bed_(b), apart_(!b.rt->memory().is_one()) {
    for (int i = 0; i < 4; ++i) all_.push_back(fresh());
  }

  void step() {
    auto& one = all_[bed_.below(all_.size())];
    switch (bed_.below(11)) {
      case 0:
        overwrite(one);
        break;
      case 1:
        edit(one);
        break;
      case 2:
        look(one);
        break;
      case 3:
        write_there(one, one.field.device_for_overwriting());
        break;
      case 4: {
        auto const should = due(one, side::device);
        auto const ref = one.field.device_for_writing();
        REQUIRE(ref.has_error() == bool(should));
        if (ref) write_there(one, ref);
        break;
      }
      case 5: {
        auto const should = due(one, side::device);
        auto const ref = one.field.device();
        REQUIRE(ref.has_error() == bool(should));
        if (ref) REQUIRE(sum_of(bed_.actor, *ref).sum == sum(one));
        break;
      }
      case 6: {
        auto const to = any_side();
        auto const should = due(one, to);
        REQUIRE(one.field.sync(to) == should);
        break;
      }
      case 7:
        prefetch(one);
        break;
      case 8:
        batch(any_side());
        break;
      case 9: {
        auto const should = apart_ ? due(one, side::device) : error_code{};
        REQUIRE(one.field.drop_host() == should);
        break;
      }
      default:
        if (bed_.below(4) == 0) one = fresh();
        return;
    }
    auto const t = bed_.rt->transfers();
    REQUIRE(t.to_device + t.to_host == (apart_ ? copies_ : 0));
  }
  void end() {
    for (auto& one : all_) look(one);
    all_.clear();
  }

 private:
  struct beside {
    rondo::unified_buffer<std::uint32_t> field;
    std::vector<std::uint32_t> plain;
    bool written = false;
  };
  beside fresh() {
    auto const count = 1 + bed_.below(500);
    return {rondo::unified_buffer<std::uint32_t>(bed_.rt->memory(), {count}),
            std::vector<std::uint32_t>(count)};
  }
  static std::uint64_t sum(beside const& one) {
    return std::accumulate(one.plain.begin(), one.plain.end(), std::uint64_t{0});
  }
  side any_side() { return bed_.below(2) == 0 ? side::host : side::device; }
  static bool is_older(beside const& one, side s) {
    auto const state = one.field.state();
    return s == side::device ? state == buffer_state::host_only || state == buffer_state::host_dirty
                             : state == buffer_state::device_only || state == buffer_state::device_dirty;
  }
  /// The expected result of an access from that side; counts the expected copy.
  error_code due(beside const& one, side to) {
    if (!one.written) return errc::buffer_empty;
    copies_ += is_older(one, to);
    return {};
  }

  void overwrite(beside& one) {
    auto view = one.field.overwrite();
    REQUIRE(view);
    for (std::size_t i = 0; i < one.plain.size(); ++i) (*view)[i] = one.plain[i] = bed_.below(1000);
    one.written = true;
    REQUIRE(one.field.device().error() == errc::buffer_in_use);  // while the view exists
  }
  void edit(beside& one) {
    auto const should = due(one, side::host);
    auto view = one.field.edit();
    REQUIRE(view.has_error() == bool(should));
    if (view) (*view)[one.plain.size() / 2] = one.plain[one.plain.size() / 2] = bed_.below(1000);
  }
  void look(beside& one) {
    auto const should = due(one, side::host);
    auto const view = one.field.host();
    REQUIRE(view.has_error() == bool(should));
    if (view) REQUIRE(std::ranges::equal(view->span(), one.plain));
  }
  void write_there(beside& one, boost::system::result<rondo::buffer_ref> const& where) {
    auto const value = bed_.below(1000);
    REQUIRE(fill_with(bed_.actor, where.value(), value).status == errc::ok);
    std::ranges::fill(one.plain, value);
    one.written = true;
  }
  /// A copy that was started is counted once somebody has waited for it; an access of either side waits.
  void prefetch(beside& one) {
    auto const to = any_side(), then = any_side();
    bool const begins = one.written && is_older(one, to);
    auto const should = due(one, to);
    REQUIRE(one.field.prefetch(to) == should);
    if (should) return;
    if (!begins) static_cast<void>(due(one, then));
    REQUIRE_FALSE(one.field.sync(then));
  }
  void batch(side to) {
    auto const i = bed_.below(all_.size());
    auto &one = all_[i], &other = all_[(i + 1) % all_.size()];
    auto const before = bed_.rt->transfers().batches;
    rondo::two_sided* const both[] = {&one.field, &other.field};
    if (!one.written || !other.written) {
      REQUIRE(rondo::sync_all(to, both) == errc::buffer_empty);
      return;
    }
    bool const copies = apart_ && (is_older(one, to) || is_older(other, to));
    static_cast<void>(due(one, to));
    static_cast<void>(due(other, to));
    REQUIRE_FALSE(rondo::sync_all(to, both));
    REQUIRE(bed_.rt->transfers().batches == before + copies);
  }

  bed& bed_;
  bool apart_;
  std::vector<beside> all_;
  std::uint64_t copies_ = 0;
};

}  // namespace

TEST_CASE("random use of a device's memory matches its model", "[buffers][model]") {
  auto const v = GENERATE(from_range(variants()));
  auto const delayed = GENERATE(false, true);
  if (delayed && v.settings.device != "emulated") return;
  auto const seed = rondo_test::seed_of("memory model");
  INFO(v.name << (delayed ? ", delayed" : "") << ", RONDO_SEED=" << seed);
  auto settings = v;
  if (delayed) settings.settings.visibility_delay_us = 20;
  bed b(settings, seed);
  {
    pool_model pools(b);
    transfer_model transfers(b);
    for (int step = 0; step < (delayed ? 150 : 400); ++step) {
      INFO("step " << step);
      pools.step();
      transfers.step();
    }
    pools.end();
    transfers.end();
  }
  auto const memory = b.rt->memory();
  CHECK(eventually([&] {
    return memory.device->statistics().buffers_in_use == 0 && memory.host->statistics().buffers_in_use == 0 &&
           (memory.pinned == nullptr || memory.pinned->statistics().buffers_in_use == 0);
  }));
}
