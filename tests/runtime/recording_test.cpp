// A recorded run is replayed on one team to the same results; damaged or foreign recordings are refused by name.
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include "runtime/checkpoint.hpp"
#include "runtime/observe/telemetry.hpp"
#include "runtime/recording.hpp"
#include "runtime/replay.hpp"
#include "runtime/state/recording_file.hpp"
#include "runtime/state/replayer.hpp"
#include "tests/at_rest.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/counter_fixture.hpp"
#include "tests/runtime/ledger_fixture.hpp"
#include "tests/scratch_directory.hpp"

using namespace rondo_test;
using Catch::Matchers::Contains;

namespace {

rondo::config one_team() { return {.device = "cpu", .teams = 1, .guest_teams = 1}; }

std::uint64_t digest_of(rondo::actor_ref<ledger> const& a) {
  auto const now = a.ask(look{}, 20s, rondo::block);
  REQUIRE(now.has_value());
  return now->digest;
}

/// Simulates a full disk: during its lifetime no file of this process can grow beyond `bytes`.
class full_disk {
 public:
  explicit full_disk(std::uintmax_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit now = before_;
    now.rlim_cur = bytes;
    if (::setrlimit(RLIMIT_FSIZE, &now) != 0) throw std::runtime_error("the limit of files cannot be set");
  }
  ~full_disk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  full_disk(full_disk const&) = delete;
  full_disk& operator=(full_disk const&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_DFL);  // would end the process
};

}  // namespace

TEST_CASE("a run of several teams is replayed to the same states", "[recording]") {
  rondo_test::scratch_directory const dir("recording");
  auto const file = dir.directory / "run.rondo";
  std::string const devices = GENERATE("cpu", "emulated", "cpu,emulated");
  CAPTURE(devices);
  std::vector<std::uint64_t> digests;
  std::uint64_t handled = 0;
  {
    auto rt = start_ledgers({.device = devices, .teams = 3});
    auto const old = rt->launch<ledger>("old", {.capacity = 4096});
    REQUIRE_FALSE(old.try_tell(enter{41}));  // its state is part of the start of the recording
    digest_of(old);
    rondo::recording tape(*rt, file);
    std::vector<rondo::actor_ref<ledger>> all{old};
    for (int i = 0; i < 3; ++i)
      all.push_back(rt->launch<ledger>(
          "ledger " + std::to_string(i),
          {.device = static_cast<std::uint32_t>(i) % rt->device_count(), .capacity = 4096}));
    for (std::size_t i = 0; i < all.size(); ++i)
      REQUIRE_FALSE(all[i].try_tell(neighbour{all[(i + 1) % all.size()].id()}));
    // Each ledger gets the messages of the threads and of its neighbour in an order that differs from run to run.
    std::vector<std::thread> senders;
    for (std::uint64_t s = 0; s < 2; ++s)
      senders.emplace_back([&, s] {
        for (std::uint64_t n = 0; n < 300; ++n) {
          auto const& to = all[(n + s) % all.size()];
          tell_or_wait(to, enter{n * 2 + s});
          if (n % 150 == 0) tell_or_wait(to, enter{fatal_entry});
        }
      });
    for (auto& s : senders) s.join();
    REQUIRE(comes_to_rest(*rt));  // forwarded messages end without further action
    tape.end();
    for (auto const& a : all) digests.push_back(digest_of(a));
    handled = rt->snapshot().live.handled;
  }

  auto rt = start_ledgers(devices == "cpu,emulated"
                              ? rondo::config{.device = "cpu,cpu", .teams = 1, .guest_teams = 1}
                              : one_team());
  auto const report = rondo::replay(*rt, file);
  CAPTURE(report.differences);
  CHECK(report.differing == 0);
  CHECK(report.complete);
  CHECK(report.launched == 4);
  CHECK(report.messages > 600);
  CHECK(report.messages <= handled + 100);  // failed attempts count as handled messages too
  std::vector<std::uint64_t> again;
  for (auto const* name : {"old", "ledger 0", "ledger 1", "ledger 2"})
    again.push_back(digest_of(rt->find<ledger>(name).value()));
  CHECK(again == digests);
}

TEST_CASE("a replay reports where it differs", "[recording]") {
  rondo_test::scratch_directory const dir("recording");
  auto const file = dir.directory / "run.rondo";
  auto rt = start_ledgers(one_team());
  auto const a = rt->launch<ledger>("a");
  rondo::recording tape(*rt, file);
  REQUIRE_FALSE(a.try_tell(draw{}));  // depends on a number outside the recording
  digest_of(a);
  tape.end();
  outside_number += 1;
  auto again = start_ledgers(one_team());
  auto const report = rondo::replay(*again, file);
  REQUIRE(report.differing == 1);
  CHECK_THAT(report.differences.at(0), Contains("actor 'a'") && Contains("look"));
}

TEST_CASE("a recording is valid up to the last complete write, however its process ends", "[recording]") {
  rondo_test::scratch_directory const dir("recording");
  auto const file = dir.directory / "run.rondo", torn = dir.directory / "torn.rondo";
  {
    auto rt = start_ledgers(one_team());
    auto const a = rt->launch<ledger>("a");
    rondo::recording tape(*rt, file);
    for (std::uint64_t i = 0; i < 20; ++i) REQUIRE_FALSE(a.try_tell(enter{i}));
    digest_of(a);
    rt->stop();  // also ends the recording
  }
  std::ifstream in(file, std::ios::binary);
  std::string const whole((std::istreambuf_iterator<char>(in)), {});
  auto const step = std::max<std::size_t>(1, whole.size() / 40);
  std::uint64_t most = 0;
  for (std::size_t n = 0; n < whole.size(); n += step) {
    CAPTURE(n, whole.size());
    std::ofstream(torn, std::ios::binary).write(whole.data(), static_cast<std::streamsize>(n));
    auto rt = start_ledgers(one_team());
    try {
      auto const report = rondo::replay(*rt, torn);
      CHECK_FALSE(report.complete);
      CHECK(report.differing == 0);
      CHECK(report.messages >= most);
      most = report.messages;
    } catch (std::runtime_error const& e) {
      CHECK_THAT(e.what(), Contains(torn.string()));
      CHECK(most == 0);  // the start of the recording was incomplete
    }
  }
  CHECK(most >= 19);
}

TEST_CASE("damage to a recording is not mistaken for its end", "[recording]") {
  rondo_test::scratch_directory const dir("recording");
  auto const file = dir.directory / "run.rondo", damaged = dir.directory / "damaged.rondo";
  auto rt = start_ledgers(one_team());
  auto const a = rt->launch<ledger>("a");
  rondo::recording tape(*rt, file);
  for (std::uint64_t i = 0; i < 2; ++i) REQUIRE_FALSE(a.try_tell(enter{i}));
  digest_of(a);
  tape.end();
  std::ifstream in(file, std::ios::binary);
  std::string const whole((std::istreambuf_iterator<char>(in)), {});
  constexpr std::size_t head_bytes = 16;
  for (std::size_t at = head_bytes; at < whole.size(); ++at) {
    CAPTURE(at, whole.size());
    auto changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    std::ofstream(damaged, std::ios::binary | std::ios::trunc) << changed;
    std::ifstream from(damaged, std::ios::binary);
    auto const read_all = [&] {
      rondo::recording_reader reader(from, rt->behaviours());
      while (reader.next()) continue;
    };
    REQUIRE_THROWS_WITH(read_all(), Contains("damaged"));
  }
}

TEST_CASE("invalid recordings are refused with the reason", "[recording]") {
  rondo_test::scratch_directory const dir("recording");
  auto const file = dir.directory / "run.rondo";
  auto rt = start_ledgers(one_team());
  rt->launch<ledger>("a");
  auto const checkpoint = dir.directory / "checkpoint";
  rondo::checkpoint(*rt, checkpoint);
  rondo::recording tape(*rt, file);
  CHECK_THROWS_WITH(rondo::recording(*rt, dir.directory / "two"), Contains("another recording"));
  CHECK_FALSE(std::filesystem::exists(dir.directory / "two"));
  CHECK_THROWS_WITH(rondo::restore(*rt, checkpoint), Contains("a recording is in progress"));
  tape.end();
  CHECK_THROWS_WITH(tape.end(), Contains("already ended"));
  CHECK_THROWS_WITH(rondo::recording(*rt, file), Contains("move it away"));
  CHECK_THROWS_WITH(rondo::replay(*rt, file), Contains("use a new one"));
  auto other = start();
  CHECK_THROWS_WITH(rondo::replay(*other, file), Contains("another module"));
  CHECK_THROWS_WITH(rondo::replay(*other, dir.directory / "none"), Contains("cannot be read"));
  std::ofstream(dir.directory / "text") << "this is not a recording at all";
  CHECK_THROWS_WITH(rondo::replay(*other, dir.directory / "text"), Contains("is not a recording"));
}

TEST_CASE("a recording whose file cannot be created is refused, and the next one starts", "[recording]") {
  rondo_test::scratch_directory const dir("recording");
  auto rt = start_ledgers(one_team());
  auto const a = rt->launch<ledger>("a");
  CHECK_THROWS_WITH(rondo::recording(*rt, "/dev/full"), Contains("/dev/full"));  // it already exists
  CHECK_THROWS_WITH(rondo::recording(*rt, "/nowhere/at/all"), Contains("/nowhere/at/all"));
  rondo::recording tape(*rt, dir.directory / "run.rondo");
  REQUIRE_FALSE(a.try_tell(enter{1}));
  digest_of(a);
  CHECK_NOTHROW(tape.end());
}

TEST_CASE("a recording ends when its object is destroyed, and is complete", "[recording]") {
  rondo_test::scratch_directory const dir("recording");
  auto const file = dir.directory / "run.rondo";
  std::uint64_t digest = 0;
  {
    auto rt = start_ledgers(one_team());
    auto const a = rt->launch<ledger>("a");
    {
      rondo::recording const tape(*rt, file);
      REQUIRE_FALSE(a.try_tell(enter{1}));
      digest = digest_of(a);
    }
    rondo::recording next(*rt, dir.directory / "next.rondo");
    next.end();
  }
  auto rt = start_ledgers(one_team());
  CHECK(rondo::replay(*rt, file).complete);
  CHECK(digest_of(rt->find<ledger>("a").value()) == digest);
}

TEST_CASE("a recording belongs to its object, and stopping the runtime closes it", "[recording]") {
  rondo_test::scratch_directory const dir("recording");
  auto const first = dir.directory / "first", second = dir.directory / "second";
  {
    auto rt = start_ledgers(one_team());
    auto const a = rt->launch<ledger>("a");
    rondo::recording one(*rt, first);
    digest_of(a);
    one.end();
    rondo::recording two(*rt, second);
    digest_of(a);
    CHECK_THROWS_WITH(one.flush(), Contains("already ended"));
    CHECK(rt->stop().stopped);
    CHECK(two.flush());
    two.end();  // closed already
    CHECK_THROWS_WITH(two.end(), Contains("already ended"));
  }
  for (auto const& file : {first, second}) {
    auto rt = start_ledgers(one_team());
    auto const report = rondo::replay(*rt, file);
    CHECK(report.complete);
    CHECK(report.messages == 1);
  }
}

TEST_CASE("a full disk ends the recording and is reported once; the written part can be replayed",
          "[recording]") {
  rondo_test::scratch_directory const dir("recording");
  auto const file = dir.directory / "run.rondo";
  bool const by_end = GENERATE(true, false);
  CAPTURE(by_end);
  std::atomic<int> reports{0};
  {
    auto rt = start_ledgers(one_team());
    auto const subscription = rt->on_failure_report([&](std::string const& text) {
      if (text.find("the recording ends after") != text.npos && text.find(file.string()) != text.npos)
        ++reports;
    });
    auto const a = rt->launch<ledger>("a", {.capacity = 4096});
    std::optional<rondo::recording> tape(std::in_place, *rt, file);
    for (std::uint64_t i = 0; i < 20; ++i) REQUIRE_FALSE(a.try_tell(enter{i}));
    digest_of(a);
    tape->flush();
    CHECK(reports == 0);
    {
      full_disk const full(std::filesystem::file_size(file) +
                           1000);  // there is room for a part of the next write
      for (std::uint64_t i = 0; i < 20; ++i) REQUIRE_FALSE(a.try_tell(enter{i}));
      digest_of(a);
      tape->flush();
      CHECK(eventually([&] { return reports == 1; }));
      if (by_end)
        CHECK_THROWS_WITH(tape->end(), Contains(file.string()) && Contains("the recording ends after"));
      tape.reset();
    }
    digest_of(a);  // the runtime continues
  }
  CHECK(reports == 1);
  auto rt = start_ledgers(one_team());
  auto const report = rondo::replay(*rt, file);
  CHECK_FALSE(report.complete);
  CHECK(report.differing == 0);
  CHECK(report.messages >= 21);
  CHECK(report.messages < 42);
}
