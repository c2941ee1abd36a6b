// The overlay command is killed at random instants, mostly while it writes a checkpoint: the next run resumes from the
// last complete checkpoint, and no frame or message is lost or handled twice.
#include <poll.h>
#include <sys/inotify.h>
#include <sys/resource.h>

#include <cstdio>
#include <optional>
#include <random>
#include <regex>
#include <thread>

#include "tests/actors/command_fixture.hpp"
#include "tests/limit_files.hpp"
#include "tests/long_runs.hpp"
#include "tests/seed.hpp"
#include "tests/variables.hpp"

using namespace command_test;

namespace {

int const wanted_torn = rondo_test::times(6, 40);  // kills in the middle of writing
constexpr int clip_frames = 150, frames_between_checkpoints = 3;

/// Reports the events of the files of a directory in order, including those caused by a process that has died.
class directory_watch {
 public:
  explicit directory_watch(fs::path const& directory) : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    if (fd_ < 0 || inotify_add_watch(fd_, directory.c_str(), IN_CREATE | IN_MODIFY | IN_MOVED_TO) < 0)
      throw std::runtime_error("inotify does not watch " + directory.string());
  }
  ~directory_watch() { close(fd_); }
  directory_watch(directory_watch const&) = delete;
  directory_watch& operator=(directory_watch const&) = delete;

  void sleep_until_something_happens(int at_most_ms) const {
    pollfd p{fd_, POLLIN, 0};
    poll(&p, 1, at_most_ms);
  }
  /// Calls `see(mask, file name)` for the events since the last call.
  template <class F>
  void look(F const& see) const {
    alignas(inotify_event) char bytes[4096];
    for (ssize_t n = 0; (n = read(fd_, bytes, sizeof bytes)) > 0;)
      for (char const* at = bytes; at < bytes + n;) {
        auto const& event = *reinterpret_cast<inotify_event const*>(at);
        if ((event.mask & IN_Q_OVERFLOW) != 0) throw std::runtime_error("inotify lost events");
        see(event.mask, std::string(event.len != 0 ? event.name : ""));
        at += sizeof event + event.len;
      }
  }

 private:
  int fd_;
};

/// The place of the checkpoint, and what is known about its contents.
struct story {
  // In the build folder: the folder for temporary files may not be on a disk; checkpoints would then take microseconds
  // to write, and many kills would come too late.
  folder dir{fs::current_path()};
  std::string clip = make_clip(dir, "walk.mp4", clip_frames);
  fs::path states = make_folder(dir.path / "states");
  fs::path file = states / "state.rondo";
  std::int64_t frames = 0;  // frames done, according to the last complete checkpoint

  static fs::path make_folder(fs::path const& path) {
    fs::create_directory(path);
    return path;
  }
  std::vector<std::string> words(fs::path const& checkpoint, int every, char const* device) const {
    return {"overlay",
            "--no-output",
            "--preload",
            "--input",
            clip,
            "--frames",
            std::to_string(clip_frames),
            "--checkpoint",
            checkpoint.string(),
            "--checkpoint-every",
            std::to_string(every),
            "--device",
            device};
  }
};

enum class aim {
  byte,   // at a byte of a checkpoint: the victim dies when it writes beyond it
  event,  // when a checkpoint's file is created, or grows
  any,    // at any moment
};
struct end_of_life {
  aim at = aim::any;
  int skip = 0;        // complete checkpoints before the kill
  unsigned event = 0;  // IN_CREATE or IN_MODIFY
  rlim_t bytes = 0;    // offset in the checkpoint, which is larger
  int events = 0;      // any: events before the kill ...
  int yields = 0;      // ... and yields of the processor after them
};

struct outcome {
  bool killed = false, torn = false;
  int completed = 0;  // checkpoints that were renamed before the end
  int events = 0;     // of all kinds
};

/// Sets this limit for all processes that are started during its lifetime.
class inherited_limit {
 public:
  explicit inherited_limit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &files_);
    rondo_test::limit_files(getpid(), bytes);
  }
  ~inherited_limit() { setrlimit(RLIMIT_FSIZE, &files_); }
  inherited_limit(inherited_limit const&) = delete;
  inherited_limit& operator=(inherited_limit const&) = delete;

 private:
  rlimit files_{};
};

/// Kills `victim` at that point, unless it ends before.
outcome kill_at(command& victim, story const& s, end_of_life const& how, directory_watch const& watch) {
  outcome o;
  auto const temporary = s.file.filename().string() + ".tmp-" + std::to_string(victim.process());
  bool now = false;
  auto const see = [&](unsigned mask, std::string const& name) {
    ++o.events;
    if ((mask & IN_MOVED_TO) != 0 && name == s.file.filename()) ++o.completed;
    if ((mask & how.event) != 0 && name == temporary && o.completed >= how.skip) now = true;
    if (how.at == aim::any && o.events >= how.events) now = true;
  };
  bool limited = false;
  while (!now && !victim.ended()) {
    if (how.at == aim::byte && o.completed >= how.skip && !std::exchange(limited, true))
      rondo_test::limit_files(victim.process(), how.bytes);
    // Sleeps until the wanted checkpoint is the next one, then polls as fast as possible.
    if (how.at != aim::event || o.completed < how.skip) watch.sleep_until_something_happens(5);
    watch.look(see);
  }
  for (int i = 0; i < how.yields && !victim.ended(); ++i) std::this_thread::yield();
  victim.signal(SIGKILL);
  int const status = victim.wait();
  watch.look(see);
  o.killed = status == 128 + SIGKILL;
  INFO(victim.err());
  REQUIRE((o.killed || status == 0));  // it never refuses the files that the previous process left behind
  o.torn = fs::exists(s.states / temporary);
  return o;
}

std::int64_t number_in(std::string const& text, char const* pattern) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(pattern)) ? std::stoll(found[1]) : 0;
}

/// Resumes from a copy of the checkpoint, runs to the clip's end, and checks the sums. Returns the number of frames in
/// the checkpoint.
std::int64_t finish(story const& s, char const* device) {
  auto const copy = s.dir.path / "copy.rondo";
  fs::remove(copy);
  if (fs::exists(s.file)) fs::copy_file(s.file, copy);
  command c(s.dir, s.words(copy, 1'000'000, device));
  int const status = c.wait();
  auto const text = c.out();
  INFO(text);
  REQUIRE(c.complaints() == "");
  REQUIRE(status == 0);
  auto const earlier = number_in(text, "(\\d+) frames were done before");
  // The painter's counter is in the checkpoint: over all runs it has drawn every frame once.
  REQUIRE(number_in(text, "camera 1 \\(walk.mp4\\) +(\\d+)") == clip_frames - earlier);
  REQUIRE(number_in(text, "painter 1 +(\\d+)") == clip_frames);
  auto const accepted = number_in(text, "messages: (\\d+) accepted = ");
  REQUIRE(accepted == number_in(text, "= (\\d+) handled"));
  REQUIRE(accepted == clip_frames + number_in(text, "camera 1 +(\\d+)"));
  REQUIRE_THAT(text, Contains("handled + 0 rejected + 0 dead + 0 waiting"));
  return earlier;
}

}  // namespace

TEST_CASE("the overlay resumes from its last complete checkpoint whenever it is killed",
          "[command][G1][G9]") {
  std::mt19937_64 random(rondo_test::seed_of("overlay_kill"));
  auto const one_of = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  auto const any_device = [&] { return one_of(4) == 0 ? "emulated" : "cpu"; };
  story s;
  directory_watch const watch(s.states);

  int events = 0;
  REQUIRE(command(s.dir, s.words(s.file, frames_between_checkpoints, "cpu")).wait() == 0);
  watch.look([&](unsigned, std::string const&) { ++events; });
  auto const checkpoint_bytes = static_cast<std::int64_t>(fs::file_size(s.file));
  s.frames = clip_frames;

  int kills = 0, torn_at_byte = 0, torn_at_event = 0, torn_by_chance = 0, went_on = 0;
  for (int runs = 0; torn_at_byte + torn_at_event + torn_by_chance < wanted_torn; ++runs) {
    CAPTURE(runs, kills);
    if (s.frames > clip_frames - 5 * frames_between_checkpoints) {
      fs::remove(s.file);
      s.frames = 0;
    }
    watch.look([](unsigned, std::string const&) {});  // discards old events
    end_of_life how{.skip = static_cast<int>(one_of(4))};
    if (how.at = runs % 2 == 0 ? aim::byte : runs % 4 == 1 ? aim::event : aim::any; how.at == aim::byte)
      how.bytes = static_cast<rlim_t>(one_of(checkpoint_bytes / 2));
    else if (how.at == aim::event)
      how.event = one_of(2) == 0 ? IN_CREATE : IN_MODIFY;
    else
      how.events = static_cast<int>(one_of(events)), how.yields = static_cast<int>(one_of(1000));
    // The time of later checkpoints varies, but the first one cannot become complete.
    bool const certain = how.at == aim::byte && how.skip == 0;
    std::optional<inherited_limit> limit;
    if (certain) limit.emplace(how.bytes);
    std::optional<rondo_test::variables> loads(rondo_test::preloading(RONDO_DIES_AT_LIMIT));
    command victim(s.dir, s.words(s.file, frames_between_checkpoints, any_device()));
    loads.reset();
    limit.reset();
    auto const o = kill_at(victim, s, how, watch);
    if (certain) REQUIRE((o.torn && o.completed == 0));

    auto const frames = finish(s, any_device());
    CAPTURE(s.frames, frames, o.completed);
    REQUIRE((frames > 0) == fs::exists(s.file));
    if (o.completed == 0)
      REQUIRE(frames == s.frames);  // incomplete checkpoints have no effect
    else if (o.killed)
      REQUIRE(frames >= s.frames + frames_between_checkpoints);
    else
      REQUIRE(frames == clip_frames);
    went_on += frames > 0;
    s.frames = frames;
    kills += o.killed;
    (how.at == aim::byte ? torn_at_byte : how.at == aim::event ? torn_at_event : torn_by_chance) += o.torn;
  }
  auto const left = std::count_if(fs::directory_iterator(s.states), {}, [](auto const& entry) {
    return entry.path().filename().string().find(".tmp-") != std::string::npos;
  });
  std::printf(
      "overlay_kill: %d kills, %d of them in the middle of writing a checkpoint: %d at a byte of it, %d "
      "when its file changed, %d by chance; %d went on from a checkpoint\n",
      kills, torn_at_byte + torn_at_event + torn_by_chance, torn_at_byte, torn_at_event, torn_by_chance,
      went_on);
  CHECK(left <= 1);  // each write removes the files of killed writers
  CHECK(went_on >= rondo_test::times(1, kills / 2));
}
