// The overlay command killed at any instant, above all while it writes a checkpoint: the last complete one is
// gone on from, and no frame and no message is lost or comes twice.
#include <poll.h>
#include <sys/inotify.h>

#include <chrono>
#include <cstdio>
#include <random>
#include <regex>

#include "tests/actors/command_fixture.hpp"
#include "tests/seed.hpp"

using namespace command_test;

namespace {

constexpr int wanted_torn = RONDO_OVERLAY_KILLS;  // kills in the middle of writing
constexpr int clip_frames = 150, frames_between_checkpoints = 3;

/// Tells what happens to the files of a directory, in order, and also what happened to those of a dead writer.
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
  /// Calls `see(mask, file name)` for what has happened since.
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

/// Where the checkpoint lies, and what is known about the one in it.
struct story {
  // In the build folder: what is there for temporary files may be no disk, and then checkpoints take microseconds
  // to write and many a kill comes late.
  folder dir{fs::current_path()};
  std::string clip = make_clip(dir, "walk.mp4", clip_frames);
  fs::path states = make_folder(dir.path / "states");
  fs::path file = states / "state.rondo";
  std::int64_t frames = 0;  // done, says the last complete checkpoint

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

struct outcome {
  bool killed = false, torn = false;
  int completed = 0;  // checkpoints that took the name before the end
};

/// Ends `victim` with SIGKILL: at once when its next checkpoint but `skip` begins to be written (`event` is
/// IN_CREATE) or grows (IN_MODIFY); or, with `event` 0, after `instant_us`.
outcome kill_at(command& victim, story const& s, unsigned event, int skip, std::int64_t instant_us,
                directory_watch const& watch) {
  outcome o;
  auto const temporary = s.file.filename().string() + ".tmp-" + std::to_string(victim.process());
  bool now = false;
  auto const see = [&](unsigned mask, std::string const& name) {
    if ((mask & IN_MOVED_TO) != 0 && name == s.file.filename()) ++o.completed;
    if ((mask & event) != 0 && name == temporary && o.completed >= skip) now = true;
  };
  auto const end = std::chrono::steady_clock::now() + std::chrono::microseconds(instant_us);
  while (!now && !victim.ended()) {
    if (event == 0) {
      now = std::chrono::steady_clock::now() >= end;
    } else {
      // Asleep until the wanted checkpoint is the next one, then as quick as can be.
      if (o.completed < skip) watch.sleep_until_something_happens(5);
      watch.look(see);
    }
  }
  victim.signal(SIGKILL);
  int const status = victim.wait();
  watch.look(see);
  o.killed = status == 128 + SIGKILL;
  INFO(victim.err());
  REQUIRE((o.killed || status == 0));  // it never refuses what the one before left behind
  o.torn = fs::exists(s.states / temporary);
  return o;
}

std::int64_t number_in(std::string const& text, char const* pattern) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(pattern)) ? std::stoll(found[1]) : 0;
}

/// Goes on from a copy of the checkpoint to the clip's end, and checks the sums. Returns the frames that the
/// checkpoint had.
std::int64_t finish(story const& s, char const* device) {
  auto const copy = s.dir.path / "copy.rondo";
  fs::remove(copy);
  if (fs::exists(s.file)) fs::copy_file(s.file, copy);
  command c(s.dir, s.words(copy, 1'000'000, device));
  int const status = c.wait();
  auto const text = c.out();
  INFO(text);
  REQUIRE(c.err() == "");
  REQUIRE(status == 0);
  auto const earlier = number_in(text, "(\\d+) frames were done before");
  // The painter's counter is in the checkpoint: it has drawn every frame once, over all the lives.
  REQUIRE(number_in(text, "camera 1 \\(walk.mp4\\) +(\\d+)") == clip_frames - earlier);
  REQUIRE(number_in(text, "painter 1 +(\\d+)") == clip_frames);
  auto const accepted = number_in(text, "messages: (\\d+) accepted = ");
  REQUIRE(accepted == number_in(text, "= (\\d+) handled"));
  REQUIRE(accepted == clip_frames + number_in(text, "camera 1 +(\\d+)"));
  REQUIRE_THAT(text, Contains("handled + 0 rejected + 0 dead + 0 waiting"));
  return earlier;
}

}  // namespace

TEST_CASE("the overlay goes on from its last complete checkpoint whenever it is killed",
          "[command][G1][G9]") {
  std::mt19937_64 random(rondo_test::seed_of("overlay_kill"));
  auto const one_of = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  auto const any_device = [&] { return one_of(4) == 0 ? "emulated" : "cpu"; };
  story s;
  directory_watch const watch(s.states);

  auto const began = std::chrono::steady_clock::now();
  REQUIRE(command(s.dir, s.words(s.file, frames_between_checkpoints, "cpu")).wait() == 0);
  auto const whole_us =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began).count();
  s.frames = clip_frames;

  int kills = 0, aimed = 0, torn_by_aim = 0, torn_by_chance = 0, went_on = 0;
  for (int runs = 0; torn_by_aim + torn_by_chance < wanted_torn && runs < 3 * wanted_torn; ++runs) {
    CAPTURE(runs, kills);
    if (s.frames > clip_frames - 5 * frames_between_checkpoints) {
      fs::remove(s.file);
      s.frames = 0;
    }
    watch.look([](unsigned, std::string const&) {});  // what is over
    bool const aims = runs % 4 != 3;
    unsigned const event = !aims ? 0u : one_of(2) == 0 ? IN_CREATE : IN_MODIFY;
    command victim(s.dir, s.words(s.file, frames_between_checkpoints, any_device()));
    auto const o = kill_at(victim, s, event, static_cast<int>(one_of(4)), one_of(whole_us), watch);

    auto const frames = finish(s, any_device());
    CAPTURE(s.frames, frames, o.completed);
    REQUIRE((frames > 0) == fs::exists(s.file));
    if (o.completed == 0)
      REQUIRE(frames == s.frames);  // what was not complete has no say
    else if (o.killed)
      REQUIRE(frames >= s.frames + frames_between_checkpoints);
    else
      REQUIRE(frames == clip_frames);
    went_on += frames > 0;
    s.frames = frames;
    kills += o.killed;
    aimed += o.killed && aims;
    (aims ? torn_by_aim : torn_by_chance) += o.torn;
  }
  auto const left = std::count_if(fs::directory_iterator(s.states), {}, [](auto const& entry) {
    return entry.path().filename().string().find(".tmp-") != std::string::npos;
  });
  std::printf(
      "overlay_kill: %d kills, %d of them aimed at a checkpoint; %d in the middle of writing one (%d "
      "aimed, %d by chance); %d went on from a checkpoint\n",
      kills, aimed, torn_by_aim + torn_by_chance, torn_by_aim, torn_by_chance, went_on);
  CHECK(left <= 1);  // each write removes what the killed writers before it left
  CHECK(kills >= wanted_torn);
  CHECK(torn_by_aim >= aimed / 10);  // nearly all, but few on a busy machine without a disk
  CHECK(went_on >= kills / 2);
}
