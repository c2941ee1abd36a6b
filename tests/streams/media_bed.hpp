// What tests of media stages need: pictures that a graph has shown, and clips.
#pragma once

#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "actors/video/media/media_module.hpp"
#include "actors/video/video_module.hpp"
#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/scratch_directory.hpp"

namespace media_test {

using namespace rondo;
using namespace rondo::video;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using rondo_test::eventually;

RONDO_STAGES(stages, test_pattern, blur, null_sink, callback_sink, RONDO_MEDIA_STAGES)
RONDO_STAGES(clip_stages, test_pattern, frame_rate, compositor, waveform, RONDO_MEDIA_STAGES)

/// All pictures that a callback_sink was given.
struct pictures {
  image about{};
  std::vector<std::vector<std::byte>> all{};

  callback_sink::options options() {
    return {[](void* with, image const& i, std::byte const* data, streams::tick const&) {
              auto& p = *static_cast<pictures*>(with);
              p.about = i;
              p.all.emplace_back(data, data + i.bytes());
            },
            this};
  }
  /// As a file for people, if the environment asks for one.
  void show(char const* name) const;
};

template <std::size_t Bytes>
streams::option_text<Bytes> text_of(std::string const& s) {
  streams::option_text<Bytes> text;
  REQUIRE(text.assign(s.data(), s.size()));
  return text;
}

/// The text of the exception that `work` throws.
template <class F>
std::string error_of(F const& work) {
  try {
    work();
  } catch (std::exception const& e) {
    return e.what();
  }
  return "no error";
}

/// The process's files cannot grow beyond so many bytes.
struct limited_files {
  explicit limited_files(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit limit = before;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
    handler = std::signal(SIGXFSZ, SIG_DFL);  // would end the process
  }
  ~limited_files() {
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }
  limited_files(limited_files const&) = delete;
  limited_files& operator=(limited_files const&) = delete;

  rlimit before{};
  void (*handler)(int) = SIG_DFL;
};

/// Test pictures, which are written to a file and returned.
pictures write_clip(std::string const& file, std::uint64_t ticks);

struct clip {
  pictures shown{};
  std::string error{};  // of `start` or `wait`; empty: none
  std::uint64_t processed = 0;
  std::uint32_t damage_reports = 0;  // in the log
};
/// Reads a file by a graph; 0 ticks: to its end.
clip read_clip(file_source::options const& options, std::uint64_t ticks = 0);

/// Of brightness, from 0 to 255.
double mean_error(pictures const& a, std::size_t of_a, pictures const& b, std::size_t of_b);

}  // namespace media_test
