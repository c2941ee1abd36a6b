// Buffers that handlers lease, wherever their device keeps them; and data that is shared with the host.
#include <numeric>

#include "runtime/memory/unified_buffer.hpp"
#include "runtime/sharing/adopt.hpp"
#include "runtime/sharing/buffer_exporter.hpp"
#include "runtime/sharing/buffer_importer.hpp"
#include "tests/conformance/harness.hpp"

using namespace conformance;
using rondo::buffer_state;

namespace {

constexpr std::uint64_t count = 1000;

/// Whether host and device have separate memories.
bool is_apart(rondo::runtime& rt) { return !rt.memory().is_one(); }

rondo::unified_buffer<std::uint32_t> field_of(rondo::runtime& rt, std::uint32_t value) {
  rondo::unified_buffer<std::uint32_t> field(rt.memory(), {count});
  for (auto& x : field.overwrite().value()) x = value;
  return field;
}

std::uint64_t sum_on_host(rondo::unified_buffer<std::uint32_t>& field) {
  auto const seen = field.host().value();
  return std::accumulate(seen.begin(), seen.end(), std::uint64_t{0});
}

}  // namespace

TEST_CASE("data is copied once per change of side, and not at all if there is one memory", "[buffers]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  auto const rt = start(v.settings);
  auto const actor = rt->launch<editor>("editor", {.pinned = pinned});
  bool const apart = is_apart(*rt);
  auto const copies = [&] { return std::pair(rt->transfers().to_device, rt->transfers().to_host); };
  auto const once = [&](std::uint64_t down, std::uint64_t up) {
    return apart ? std::pair(down, up) : std::pair<std::uint64_t, std::uint64_t>(0, 0);
  };

  rondo::unified_buffer<std::uint32_t> field(rt->memory(), {10, 100});
  CHECK(field.size() == count);
  CHECK(field.state() == buffer_state::uninitialized);
  CHECK(field.host().error() == errc::buffer_empty);
  CHECK(field.device().error() == errc::buffer_empty);
  for (auto& x : field.overwrite().value()) x = 3;
  CHECK(field.state() == (apart ? buffer_state::host_only : buffer_state::synchronized));
  for (int i = 0; i < 3; ++i) CHECK(sum_of(actor, field.device().value()).sum == 3 * count);
  CHECK(copies() == once(1, 0));
  CHECK(field.state() == buffer_state::synchronized);

  REQUIRE(fill_with(actor, field.device_for_writing().value(), 5).status == errc::ok);
  CHECK(field.state() == (apart ? buffer_state::device_dirty : buffer_state::synchronized));
  CHECK(copies() == once(1, 0));
  for (int i = 0; i < 3; ++i) CHECK(sum_on_host(field) == 5 * count);
  CHECK(copies() == once(1, 1));

  field.edit().value()[7] += 10;
  CHECK(field.state() == (apart ? buffer_state::host_dirty : buffer_state::synchronized));
  CHECK(sum_of(actor, field.device().value()).sum == 5 * count + 10);
  CHECK(copies() == once(2, 1));

  rondo::unified_buffer<std::uint32_t> fresh(rt->memory(), {count});
  REQUIRE(fill_with(actor, fresh.device_for_overwriting().value(), 9).status == errc::ok);
  CHECK(fresh.state() == (apart ? buffer_state::device_only : buffer_state::synchronized));
  CHECK(sum_on_host(fresh) == 9 * count);
  CHECK(copies() == once(2, 2));
  REQUIRE_FALSE(fresh.drop_host());
  CHECK(sum_of(actor, fresh.device().value()).sum == 9 * count);
  CHECK(sum_on_host(fresh) == 9 * count);
}

TEST_CASE("copies can be awaited", "[buffers]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<editor>("editor");
  auto field = field_of(*rt, 2);
  REQUIRE_FALSE(outcome_of([&](auto handler) { field.async_sync_to_device(std::move(handler)); }));
  CHECK(field.state() == buffer_state::synchronized);
  REQUIRE(fill_with(actor, field.device_for_writing().value(), 4).status == errc::ok);
  REQUIRE_FALSE(outcome_of([&](auto handler) { field.async_sync_to_host(std::move(handler)); }));
  CHECK(sum_on_host(field) == 4 * count);
}

TEST_CASE("an invalid handle is an error for its reader", "[buffers][G7]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<editor>("editor");
  auto& pool = rt->buffers();
  auto const first = pool.acquire(4 * count).value();
  REQUIRE(fill_with(actor, first, 1).status == errc::ok);
  CHECK(sum_of(actor, first.slice(400, 40)).sum == 10);
  CHECK(sum_of(actor, first.slice(0, 4 * count + 4)).status == errc::buffer_out_of_bounds);
  CHECK(sum_of(actor, first.slice(2, 4)).status == errc::buffer_out_of_bounds);  // not aligned
  REQUIRE(pool.release(first) == errc::ok);
  CHECK(sum_of(actor, first).status == errc::stale_buffer);
  CHECK(pool.release(first) == errc::double_release);
  // A successor in the same slot.
  REQUIRE(eventually([&] { return pool.statistics().buffers_in_use == 0; }));
  auto const second = pool.acquire_buffer(4 * count).value();
  CHECK(fill_with(actor, second.ref(), 2).sum == count);
  CHECK(sum_of(actor, first).status == errc::stale_buffer);
  CHECK(sum_of(actor, rondo::buffer_ref{}).status == errc::stale_buffer);
  auto const of_the_host = rt->host_buffers().acquire_buffer(64).value();
  CHECK(fill_with(actor, of_the_host.ref(), 1).status == (is_apart(*rt) ? errc::buffer_elsewhere : errc::ok));
  CHECK(pool.read(second.ref()).status() == (is_apart(*rt) ? errc::buffer_elsewhere : errc::ok));
  CHECK(second.span().empty() == is_apart(*rt));
}

TEST_CASE("a buffer that a handler leases is not reused before the lease ends", "[buffers][G9]") {
  auto const v = GENERATE(from_range(variants()));
  bool const writes = GENERATE(false, true);
  INFO(v.name << (writes ? ", written" : ", read"));
  in_reach<gate> const reached;
  auto const rt = start(v.settings);
  gate_keeper const keeper{*reached};
  auto const actor = rt->launch<editor>("editor"), other = rt->launch<editor>("other");
  auto& pool = rt->buffers();
  auto const leased = pool.acquire(4 * count).value();
  REQUIRE(fill_with(actor, leased, 1).status == errc::ok);
  pending<buffer_answer> held;
  if (writes)
    actor.ask(fill{leased, 7, &*reached}, rondo::ask_options{}, held.handler());
  else
    actor.ask(add_up{leased, &*reached}, rondo::ask_options{}, held.handler());
  REQUIRE(eventually([&] { return (*reached).entered.load(rondo::memory_order::acquire) != 0; }));
  CHECK(fill_with(other, leased, 2).status == errc::buffer_in_use);
  CHECK(sum_of(other, leased).status == (writes ? errc::buffer_in_use : errc::ok));
  REQUIRE(pool.release(leased) == errc::ok);
  auto const fresh = pool.acquire_buffer(4 * count).value();
  CHECK(fresh.ref().slot != leased.slot);
  CHECK(fill_with(other, fresh.ref(), 9).status == errc::ok);
  CHECK(pool.statistics().buffers_in_use == 2);
  keeper.open();
  REQUIRE_FALSE(held.wait());
  CHECK(held.reply->status == errc::ok);
  CHECK(held.reply->sum == count);  // numbers written, or numbers added up
  REQUIRE(eventually([&] {
    if (auto* const home = pool.home()) home->collect();
    return pool.statistics().buffers_in_use == 1;
  }));
}

TEST_CASE("a handler that receives a buffer can release it", "[buffers][G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto const rt = start(v.settings);
  auto const actor = rt->launch<editor>("editor");
  auto& pool = rt->buffers();
  auto const given = pool.acquire_buffer(4 * count).value().detach();
  CHECK(ask(actor, use_up{given}).value().status == errc::ok);
  CHECK(ask(actor, use_up{given}).value().status == errc::double_release);
  CHECK(sum_of(actor, given).status == errc::stale_buffer);
  REQUIRE(eventually([&] {
    if (auto* const home = pool.home()) home->collect();
    return pool.statistics().buffers_in_use == 0;
  }));
  CHECK(pool.release(given) == errc::double_release);
}

TEST_CASE("many buffers are acquired and released, and none is lost", "[buffers][G10]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto settings = v.settings;
  settings.buffer_bytes_cap = 1 << 20;
  auto const rt = start(settings);
  auto const actor = rt->launch<editor>("editor");
  auto& pool = rt->buffers();
  std::mt19937 random(7);
  std::vector<rondo::buffer> held;
  std::uint64_t acquired = 0;
  for (int i = 0; i < 3000; ++i) {
    if (random() % 3 != 0 || held.empty()) {
      auto made = pool.acquire_buffer(4 * (1 + random() % 20'000));
      if (made) {
        ++acquired;
        held.push_back(std::move(*made));
        if (random() % 8 == 0) {
          auto const value = static_cast<std::uint32_t>(random() % 100);
          auto const& last = held.back();
          REQUIRE(fill_with(actor, last.ref(), value).status == errc::ok);
          REQUIRE(sum_of(actor, last.ref()).sum == last.bytes() / 4 * value);
        }
      } else {
        auto const why = made.error();
        CHECK((why == errc::pool_exhausted || why == errc::out_of_memory || why == errc::device_busy));
        held.clear();
      }
    } else {
      std::swap(held[random() % held.size()], held.back());
      held.pop_back();
    }
    auto const s = pool.statistics();
    REQUIRE(s.in_use_bytes + s.cached_bytes <= settings.buffer_bytes_cap);
    REQUIRE(s.buffers_in_use >= held.size());
  }
  CHECK(acquired > 500);
  held.clear();
  REQUIRE(eventually([&] {
    if (auto* const home = pool.home()) home->collect();
    return pool.statistics().buffers_in_use == 0;
  }));
  CHECK(pool.trim() != 0);
  CHECK(pool.statistics().cached_bytes == 0);
}

TEST_CASE("each device leases only buffers of its own memory", "[buffers][several]") {
  auto const v = GENERATE(from_range(variants_of_several()));
  INFO(v.name);
  auto const rt = start(v.settings);
  for (std::uint32_t d = 0; d < rt->device_count(); ++d) {
    auto const actor = rt->launch<editor>("editor " + std::to_string(d), {.device = d});
    rondo::unified_buffer<std::uint32_t> field(rt->memory(d), {count});
    for (auto& x : field.overwrite().value()) x = d + 1;
    CHECK(sum_of(actor, field.device().value()).sum == count * (d + 1));
    for (std::uint32_t e = 0; e < rt->device_count(); ++e) {
      auto const buffer = rt->buffers(e).acquire_buffer(64).value();
      bool const same = &rt->buffers(e) == &rt->buffers(d);
      CHECK(fill_with(actor, buffer.ref(), 1).status == (same ? errc::ok : errc::buffer_elsewhere));
    }
  }
}

TEST_CASE("a full submission ring delays a release, and loses none", "[buffers][G5]") {
  auto const v = GENERATE(from_range(variants()));
  if (v.settings.device != "emulated") return;
  INFO(v.name);
  auto settings = v.settings;
  settings.submission_slots = 4;
  auto const [rt, device] = start_losable(settings);
  auto& pool = rt->buffers();
  std::vector<rondo::buffer> held;
  REQUIRE(eventually([&] {
    if (auto made = pool.acquire_buffer(64)) held.push_back(std::move(*made));
    return held.size() == 20;
  }));
  device.hold_submissions(true);
  held.clear();  // more than the ring has slots
  auto const refused = pool.acquire(64);
  CHECK(refused.error() == errc::device_busy);
  device.hold_submissions(false);
  REQUIRE(eventually([&] { return pool.acquire_buffer(64).has_value(); }));
  REQUIRE(eventually([&] { return pool.statistics().buffers_in_use == 0; }));
}

TEST_CASE("buffers of a lost or stopped device report its error", "[buffers][G9]") {
  auto const v = GENERATE(from_range(variants()));
  if (v.settings.device != "emulated") return;
  bool const stops = GENERATE(false, true);
  INFO(v.name << (stops ? ", stopped" : ", lost"));
  auto const [rt, device] = start_losable(v.settings);
  auto const actor = rt->launch<editor>("editor");
  auto field = field_of(*rt, 1);
  REQUIRE(fill_with(actor, field.device_for_writing().value(), 2).status == errc::ok);
  auto const gone = stops ? errc::stopped : errc::device_lost;
  stops ? void(rt->stop()) : device.lose();
  REQUIRE(eventually([&] { return rt->buffers().acquire_buffer(64).error() == gone; }));
  if (!stops) CHECK(field.host().error() == errc::device_lost);
  field = {};
  CHECK(eventually([&] { return rt->buffers().statistics().buffers_in_use == 0; }));
}

TEST_CASE("buffers written by handlers are read by others, in place if the memory is the host's",
          "[buffers][share]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  auto settings = v.settings;
  settings.share_buffers = true;
  settings.buffer_bytes_cap = 16 << 20;
  auto const rt = start(settings);
  auto const actor = rt->launch<editor>("editor");
  scratch_file const at;
  rondo::buffer_exporter exporter(*rt->shared_memory(),
                                  {.path = at.path, .report = [](std::string const&) {}});
  rondo::buffer_importer importer(at.path);
  auto const written = rt->buffers().acquire_buffer(4 * count).value();
  REQUIRE(fill_with(actor, written.ref(), 6).status == errc::ok);
  auto const shared = exporter.export_buffer(rt->buffers(), written.ref()).value();
  CHECK(exporter.statistics().copies == is_apart(*rt));
  {
    auto const lease = importer.lease(shared).value();
    auto const seen = lease.as<std::uint32_t>();
    CHECK(std::accumulate(seen.begin(), seen.end(), std::uint64_t{0}) == 6 * count);
    CHECK(lease.valid());
  }
  if (!is_apart(*rt)) CHECK(fill_with(actor, written.ref(), 7).status == errc::buffer_in_use);
  // As another process's frame: a handler leases it in place, and may not write it.
  REQUIRE(exporter.announce(shared, 1).value() == 1);
  REQUIRE(exporter.withdraw(shared) == errc::ok);
  auto foreign = rondo::adopt(rt->buffers(), importer.receive(std::chrono::seconds(30)).value().lease);
  CHECK(foreign.has_value() == !is_apart(*rt));
  if (foreign) {
    auto const ref = foreign->ref();
    CHECK(sum_of(actor, ref).sum == 6 * count);
    CHECK(fill_with(actor, ref, 7).status == errc::buffer_in_use);
    CHECK(foreign->release() == errc::ok);
    CHECK(sum_of(actor, ref).status == errc::stale_buffer);
  }
  REQUIRE(eventually([&] { return fill_with(actor, written.ref(), 7).status == errc::ok; }));
}
