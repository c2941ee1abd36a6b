// Announcements: what a slow importer gets with each delivery, and that everything is accounted for.
#include <fstream>
#include <future>
#include <optional>
#include <set>

#include "tests/catch.hpp"
#include "tests/runtime/share_fixture.hpp"

using namespace share_test;
using rondo::streams::delivery;

namespace {

/// Exports, announces, and withdraws at once; true: announced, false: no_room. Precondition: there is a slot and a
/// block. On any thread, so without assertions of Catch.
bool publish(exporting& e, std::uint64_t tag) {
  auto const shared = e.export_filled(tag);
  auto const reached = e.exporter.announce(shared, tag);
  if (e.exporter.withdraw(shared) != errc::ok || (!reached && reached.error() != errc::no_room))
    throw std::runtime_error("a buffer was neither announced nor refused for want of room");
  return reached.has_value();
}

/// The tag, and that the bytes are those of this tag.
std::uint64_t tag_of(rondo::announced_buffer const& a) {
  REQUIRE(a.refused == errc::ok);
  REQUIRE(whole(a.lease, a.tag));
  REQUIRE(a.lease.valid());
  return a.tag;
}

std::set<std::filesystem::path> own_tasks() {
  using tasks = std::filesystem::directory_iterator;
  std::set<std::filesystem::path> all;
  for (auto const& task : tasks("/proc/self/task")) all.insert(task.path());
  return all;
}
/// How often the threads of this process have slept, but those in `before`: the calling one, and perhaps a sanitizer's.
/// None if one of them does not sleep.
std::optional<std::uint64_t> sleeps_of_others(std::set<std::filesystem::path> const& before) {
  std::uint64_t all = 0;
  for (auto const& task : own_tasks()) {
    if (before.contains(task)) continue;
    std::ifstream status(task / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("State:") && line.find('S', 6) == line.npos) return std::nullopt;
      if (line.starts_with("voluntary_ctxt_switches:")) all += std::stoull(line.substr(24));
    }
  }
  return all;
}
/// Waits until all of them sleep, and go on sleeping. Returns how often they have slept then.
std::uint64_t wait_for_quiet(std::set<std::filesystem::path> const& before) {
  std::optional<std::uint64_t> last;
  REQUIRE(eventually([&] {
    auto const now = sleeps_of_others(before);
    bool const is_quiet = now && now == last;
    last = now;
    if (!is_quiet) std::this_thread::sleep_for(20ms);
    return is_quiet;
  }));
  return *last;
}

}  // namespace

TEST_CASE("lossless: the exporter is told that there is no room, and a slow importer gets everything",
          "[share]") {
  exporting e({.slots = 16});
  rondo::buffer_importer importer(e.s.socket, {.how = delivery::lossless, .capacity = 3});
  constexpr std::uint64_t all = 500;
  std::atomic<std::uint64_t> refused{0};
  std::jthread const publishing([&] {
    for (std::uint64_t tag = 1; tag <= all;) {
      auto const seen = e.exporter.freed();
      if (publish(e, tag))
        ++tag;
      else if (++refused, e.exporter.wait_freed(seen, 60s) != errc::ok)
        return;
    }
  });
  CHECK(eventually([&] { return refused != 0; }));  // before anything was read
  for (std::uint64_t tag = 1; tag <= all; ++tag) REQUIRE(tag_of(importer.receive(60s).value()) == tag);
  CHECK(importer.receive(0ms).error() == errc::timed_out);
  auto const now = e.exporter.statistics();
  CHECK(now.announced == all);
  CHECK(now.dropped == 0);
  CHECK(now.replaced == 0);
  CHECK(e.all_back());
}

TEST_CASE("lossless: what an importer still leases counts, and one that is full stops the others",
          "[share]") {
  exporting e;
  rondo::buffer_importer slow(e.s.socket, {.how = delivery::lossless, .capacity = 2});
  rondo::buffer_importer quick(e.s.socket, {.capacity = 8});
  CHECK(publish(e, 1));
  CHECK(publish(e, 2));
  auto first = slow.receive(30s).value();
  CHECK_FALSE(publish(e, 3));
  CHECK(tag_of(first) == 1);
  CHECK(e.exporter.importers()[0].unreturned == 2);
  first.lease.end();
  CHECK(eventually([&] { return publish(e, 4); }));
  for (std::uint64_t const tag : {1, 2, 4}) CHECK(tag_of(quick.receive(30s).value()) == tag);
  for (std::uint64_t const tag : {2, 4}) CHECK(tag_of(slow.receive(30s).value()) == tag);
  CHECK(e.all_back());
}

TEST_CASE("latest: the newest announcement replaces those that were not read, which are counted", "[share]") {
  exporting e;
  rondo::buffer_importer importer(e.s.socket, {.how = delivery::latest, .capacity = 2});
  publish(e, 1);
  auto held = importer.receive(30s).value();
  CHECK(tag_of(held) == 1);
  constexpr std::uint64_t last = 300;
  for (std::uint64_t tag = 2; tag <= last; ++tag) REQUIRE(publish(e, tag));
  // One is leased, one waits at the importer, and at most one at the exporter. The newest one arrives, whatever the
  // others do.
  CHECK(e.pool.statistics().buffers_in_use <= 3);
  std::uint64_t received = 1;
  CHECK(eventually([&] {
    auto news = importer.receive(1ms);
    if (!news) return false;
    ++received;
    return tag_of(*news) == last;
  }));
  CHECK(importer.receive(0ms).error() == errc::timed_out);
  auto const now = e.exporter.statistics();
  CHECK(now.announced == last);
  CHECK(received + now.replaced + importer.replaced() == last);
  CHECK(now.replaced + importer.replaced() > 0);
  CHECK(e.exporter.importers()[0].replaced == now.replaced);
  held.lease.end();
  CHECK(e.all_back());
}

TEST_CASE("every: an importer has what it has room for, in order, and the rest is counted", "[share]") {
  exporting e;
  std::atomic<std::uint64_t> joined{0};
  rondo::buffer_importer importer(e.s.socket, {.capacity = 4});
  for (std::uint64_t tag = 1; tag <= 20; ++tag) REQUIRE(publish(e, tag));
  CHECK(e.pool.statistics().buffers_in_use == 4);
  CHECK(e.exporter.statistics().dropped == 16);
  CHECK(e.exporter.importers()[0].dropped == 16);
  CHECK(e.exporter.announce_to(1, e.export_filled(21), 21) == errc::no_room);
  for (std::uint64_t tag = 1; tag <= 4; ++tag) CHECK(tag_of(importer.receive(30s).value()) == tag);
  CHECK(eventually([&] { return e.exporter.importers()[0].unreturned == 0; }));
  CHECK(publish(e, 22));
  CHECK(tag_of(importer.receive(30s).value()) == 22);
  CHECK(e.exporter.statistics().announced == 5);
  CHECK(e.exporter.statistics().dropped == 17);
}

TEST_CASE("an announced buffer that was withdrawn can be read, and no longer be leased anew", "[share]") {
  exporting e;
  rondo::buffer_importer importer(e.s.socket);
  publish(e, 7);
  CHECK(e.exporter.statistics().closing == 1);
  CHECK(e.exporter.statistics().leases == 1);  // from the announcement on
  auto const news = importer.receive(30s).value();
  CHECK(tag_of(news) == 7);
  CHECK(importer.lease(news.ref).error() == errc::stale_buffer);
  CHECK(e.exporter.announce(news.ref, 8).error() == errc::stale_buffer);
  CHECK(e.exporter.announce_to(1, news.ref, 8) == errc::stale_buffer);
  CHECK(e.exporter.announce_to(99, news.ref, 8) == errc::peer_gone);
}

TEST_CASE("a slice and a note travel with an announcement; a slice outside is refused", "[share]") {
  exporting e;
  rondo::buffer_importer importer(e.s.socket);
  auto const shared = e.export_filled(3);
  rondo::announcement_note note{};
  note.back() = std::byte{9};
  CHECK(e.exporter.announce(shared.slice(8, 16), 1, note).value() == 1);
  auto news = importer.receive(30s).value();
  CHECK(news.lease.bytes().size() == 16);
  CHECK(news.note == note);
  CHECK(e.exporter.announce(shared.slice(800, 8), 2).value() == 1);
  news = importer.receive(30s).value();
  CHECK(news.refused == errc::buffer_out_of_bounds);
  CHECK_FALSE(news.lease);
  CHECK(eventually([&] { return e.exporter.importers()[0].unreturned == 0; }));
}

TEST_CASE("what was announced before the exporter's death can be received after it", "[share][kill]") {
  scratch s;
  victim v("last", s.socket);
  REQUIRE(v.began());
  rondo::buffer_importer importer(s.socket, {.timeout = 30s});
  while (importer.connected()) std::this_thread::sleep_for(1ms);  // it kills itself after three
  CHECK(v.wait() != 0);
  for (std::uint64_t tag = 1; tag <= 3; ++tag) CHECK(tag_of(importer.receive(30s).value()) == tag);
  CHECK(importer.receive(0ms).error() == errc::peer_gone);
}

TEST_CASE("a killed importer gives back its leases and its credits", "[share][kill]") {
  auto const how = GENERATE(delivery::lossless, delivery::latest, delivery::every);
  exporting e({.lease_timeout = 10min});
  victim v(std::string("stuck-") + name_of(how), e.s.socket);
  REQUIRE(eventually([&] { return e.exporter.statistics().importers == 1; }));
  // It leases one, and reads no more.
  bool full = !publish(e, 1);
  REQUIRE(v.began());  // else it may lease the last one, with `latest`
  for (std::uint64_t tag = 2; tag <= 10; ++tag) full = !publish(e, tag) || full;
  CHECK(full == (how == delivery::lossless));
  CHECK(e.exporter.importers()[0].unreturned >= 2);
  auto const seen = e.exporter.freed();
  auto waits = std::async(std::launch::async, [&] { return e.exporter.wait_freed(seen, 60s); });
  REQUIRE(v.killed());
  CHECK(waits.get() == errc::ok);
  CHECK(e.all_back());
  CHECK(publish(e, 11));  // nobody is left who has no room
}

TEST_CASE("whoever waits for a free block sleeps until one is free, and misses none", "[share]") {
  // No heartbeat or tick comes in the meantime.
  auto const older = own_tasks();
  std::atomic<int> changes{0};
  exporting e({.lease_timeout = 10min, .keep_timeout = std::chrono::milliseconds::max(), .changed = [&] {
                 ++changes;
               }});
  rondo::buffer_importer importer(e.s.socket, {.how = delivery::lossless, .capacity = 1});
  REQUIRE(publish(e, 1));
  auto news = importer.receive(30s).value();
  static_cast<void>(wait_for_quiet(older));  // the handshake is over
  auto const seen = e.exporter.freed();
  int const seen_changes = changes;
  CHECK(e.exporter.wait_freed(seen - 1, 0ms) == errc::ok);  // what was freed before it waited is not missed
  std::promise<void> begins;
  auto waits = std::async(std::launch::async, [&] {
    begins.set_value();
    return e.exporter.wait_freed(seen, 10min);
  });
  begins.get_future().wait();
  auto const before = wait_for_quiet(older);  // the one that waits, too
  std::this_thread::sleep_for(200ms);
  CHECK(sleeps_of_others(older) == before);
  CHECK(changes == seen_changes);
  news.lease.end();
  REQUIRE(waits.wait_for(60s) == std::future_status::ready);
  CHECK(waits.get() == errc::ok);
  CHECK(publish(e, 2));
  CHECK(eventually([&] { return changes > seen_changes; }));
  CHECK(e.exporter.wait_freed(e.exporter.freed(), 1ms) == errc::timed_out);
}

TEST_CASE("each of many frees is noticed by a publisher that has one block and waits for it", "[share]") {
  exporting e({.slots = 1, .lease_timeout = 10min});
  rondo::buffer_importer importer(e.s.socket, {.how = delivery::lossless, .capacity = 1});
  constexpr std::uint64_t all = 2000;
  std::jthread const reading([&] {
    for (std::uint64_t tag = 1; tag <= all; ++tag)
      if (auto const news = importer.receive(60s); !news || !whole(news->lease, tag)) return;
  });
  for (std::uint64_t tag = 1; tag <= all; ++tag) {
    auto const b = filled(e.pool, tag, 100);
    for (;;) {
      auto const seen = e.exporter.freed();
      if (auto const shared = e.exporter.export_buffer(e.pool, b->ref())) {
        REQUIRE(e.exporter.announce(*shared, tag).value() == 1);
        REQUIRE(e.exporter.withdraw(*shared) == errc::ok);
        break;
      }
      REQUIRE(e.exporter.wait_freed(seen, 60s) == errc::ok);
    }
  }
}

TEST_CASE("a wait for room on the exporter's own thread is refused", "[share]") {
  std::promise<errc> found;
  rondo::buffer_exporter* self = nullptr;
  exporting e({.joined = [&](std::uint64_t) { found.set_value(self->wait_freed(self->freed(), 60s)); }});
  self = &e.exporter;
  rondo::buffer_importer const importer(e.s.socket);
  CHECK(found.get_future().get() == errc::would_deadlock);
}

TEST_CASE("bytes that no pool knows of are shared in place until nobody leases them", "[share]") {
  exporting e;
  rondo::buffer_importer importer(e.s.socket);
  auto alive = std::make_shared<int>(1);
  std::weak_ptr<int> const kept = alive;
  auto b = filled(e.pool, 5, 100).value();
  auto const shared = e.exporter.export_bytes(b.span(), std::move(alive)).value();
  CHECK(e.exporter.announce(shared, 5).value() == 1);
  CHECK(e.exporter.withdraw(shared) == errc::ok);
  auto news = importer.receive(30s).value();
  CHECK(tag_of(news) == 5);
  CHECK_FALSE(kept.expired());
  news.lease.end();
  CHECK(eventually([&] { return kept.expired(); }));
  std::array<std::byte, 8> elsewhere{};
  CHECK(e.exporter.export_bytes(elsewhere, {}).error() == errc::buffer_elsewhere);
  CHECK(e.exporter.export_bytes({e.memory.data(), e.memory.size() + 1}, {}).error() ==
        errc::buffer_elsewhere);
}
