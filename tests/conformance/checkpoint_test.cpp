// G1 and G2 of a checkpoint that is written while messages are on their way: each is in it once, wherever it was.
//
// RONDO_CHECKPOINT_FILES is the number of files for each variant, for a long run by hand.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <span>

#include "runtime/checkpoint.hpp"
#include "tests/at_rest.hpp"
#include "tests/conformance/harness.hpp"
#include "tests/scratch_directory.hpp"

using namespace conformance;

namespace {

constexpr std::uint32_t senders = 4, stores = 4;  // the way to the last store is by the relay

/// Host threads that send notes without a pause, each in its own manner: one tells without waiting, one the same in
/// batches, one awaits the mailbox's answer, and one waits for room. Each counts, for each way and level, what was
/// accepted.
class note_senders {
 public:
  note_senders(std::array<rondo::actor_ref<orderly>, stores> const& to,
               rondo::actor_ref<note_relay> const& relay, std::uint32_t most_by_relay)
      : to_(to), relay_(relay), most_by_relay_(most_by_relay) {
    for (std::uint32_t s = 0; s < senders; ++s) threads_[s] = std::thread([this, s] { send(s); });
  }
  ~note_senders() { end(); }
  void end() {
    ended_ = true;
    for (auto& t : threads_)
      if (t.joinable()) t.join();
  }

  /// What has been accepted for each store.
  std::array<std::uint64_t, stores> accepted() const {
    std::array<std::uint64_t, stores> all{};
    for (auto const& of_sender : accepted_)
      for (std::uint32_t i = 0; i < stores; ++i)
        for (auto const& of_level : of_sender[i]) all[i] += of_level;
    return all;
  }

 private:
  static constexpr std::uint32_t levels[] = {1, 3};

  void send(std::uint32_t s) {
    for (std::uint32_t i = 0; !ended_; ++i) {
      auto const store = i % stores, level = levels[i / stores % 2];
      auto& count = accepted_[s][store][level];
      std::uint32_t const next = count;
      bool const relayed = store == stores - 1;
      if (relayed && next >= most_by_relay_) continue;
      note const notes[] = {{s, level, next}, {s, level, next + 1}, {s, level, next + 2}};
      bool const ok = relayed ? is_accepted(relay_, s, notes) : is_accepted(to_[store], s, notes);
      if (ok)
        count += s == 1 ? 3u : 1u;
      else
        std::this_thread::yield();
    }
  }
  template <class Behaviour>
  static bool is_accepted(rondo::actor_ref<Behaviour> const& to, std::uint32_t s, note const (&notes)[3]) {
    rondo::tell_options const how{.priority = note_priority(notes[0].level), .wait_for_room = s == 3};
    if (s == 0) return !to.try_tell(notes[0], how);
    if (s == 1) return !to.try_tell(std::span<note const>(notes), how);
    return !to.tell(notes[0], how, rondo::block);
  }

  std::array<rondo::actor_ref<orderly>, stores> const to_;
  rondo::actor_ref<note_relay> const relay_;
  std::uint32_t const most_by_relay_;
  std::atomic<bool> ended_{false};
  std::array<std::array<std::array<std::atomic<std::uint32_t>, 4>, stores>, senders> accepted_{};
  std::array<std::thread, senders> threads_;
};

std::string name_of(std::uint32_t store) { return "store " + std::to_string(store); }

struct written {
  std::filesystem::path path;
  std::array<std::uint64_t, stores> before;  // accepted for each store when it was begun
};

/// Writes checkpoints while notes are being sent.
std::vector<written> write_under_load(rondo::config const& settings, bool pinned, std::uint32_t files,
                                      std::filesystem::path const& folder) {
  auto const rt = start(settings);
  auto const devices = rt->device_count();
  std::array<rondo::actor_ref<orderly>, stores> to;
  for (std::uint32_t i = 0; i < stores; ++i)
    to[i] = rt->launch<orderly>(name_of(i), {.device = i % devices, .capacity = 8, .pinned = pinned});
  auto const relay = rt->launch<note_relay>("relay", {.device = devices - 1, .capacity = 8});
  REQUIRE_FALSE(tell(relay, pass_to{to.back().id()}, {.priority = 255}));
  // Between devices, at most 1024 messages wait for an actor.
  note_senders load(to, relay, devices == 1 ? ~0u : 120);
  auto const total = [&] {
    auto const now = load.accepted();
    return std::accumulate(now.begin(), now.end(), std::uint64_t{0});
  };
  std::vector<written> all;
  for (std::uint32_t n = 0; n < files; ++n) {
    auto const goal = total() + 150;
    REQUIRE(eventually([&] { return total() >= goal; }));
    all.push_back({folder / std::to_string(n), load.accepted()});
    rondo::checkpoint(*rt, all.back().path);
  }
  load.end();
  for (auto const& s : to) CHECK(ask_last(s, get{}).disorder == 0);
  return all;
}

/// Each store goes on from the file: it gets every note once and in order, and none is missing that had been accepted
/// before.
void check(written const& file, rondo::config const& settings) {
  auto const rt = start(settings);
  rondo::restore(*rt, file.path);
  REQUIRE(rondo_test::comes_to_rest(*rt));
  for (std::uint32_t i = 0; i < stores; ++i) {
    auto const t = ask_last(rt->find<orderly>(name_of(i)).value(), get{});
    INFO(file.path << ", " << name_of(i));
    CHECK(t.disorder == 0);
    CHECK(t.handled >= file.before[i]);
  }
  CHECK(rt->snapshot().dead_letters == 0);
}

void check_under_load(variant const& v, bool pinned) {
  INFO(v.name << (pinned ? ", pinned" : ""));
  char const* const wanted = std::getenv("RONDO_CHECKPOINT_FILES");
  auto const files = wanted != nullptr ? static_cast<std::uint32_t>(std::atoi(wanted)) : 3;
  constexpr std::uint32_t at_once = 10;  // of one runtime
  auto settings = v.settings;
  settings.submission_slots = 16;  // so that the rings are full, too
  for (std::uint32_t n = 0; n < files; n += at_once) {
    rondo_test::scratch_directory const folder("checkpoints");
    for (auto const& file :
         write_under_load(settings, pinned, std::min(at_once, files - n), folder.directory))
      check(file, settings);
  }
}

}  // namespace

// Regression: rows of messages on their way to a device were saved although the device had put some into the mailbox.
TEST_CASE("a checkpoint under load has each accepted message once, in order, wherever it was on its way",
          "[G1][G2][checkpoint]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  check_under_load(v, pinned);
}

TEST_CASE("a checkpoint under load has each message once that crosses between devices",
          "[several][G1][G2][checkpoint]") {
  auto const v = GENERATE(from_range(variants_of_several()));
  check_under_load(v, false);
}
