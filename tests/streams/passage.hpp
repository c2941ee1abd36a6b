// A clip that passes through a source, a drawing stage and a sink, and what has come out.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "tests/streams/clips.hpp"
#include "tests/streams/media_bed.hpp"

namespace clip_test {

using namespace media_test;

/// What the log has said of a run.
struct outcome {
  contents out;
  std::string remarks, error;
};

struct passage {
  file_source::options from{};
  file_sink::options to{};
  bool draws = true;  // with a stage between, on the device
  double rate = 0;    // of the graph
  std::string device = "cpu";
  bool with_sound = true;
  std::uint64_t ticks = 0;
};

inline outcome try_to_pass(std::string const& in, std::string const& out, passage how) {
  outcome o;
  if (how.from.file.empty() && how.from.pattern.empty() && how.from.url.empty())
    how.from.file = text_of<1024>(in);
  if (how.to.pattern.empty() && how.to.url.empty()) how.to.file = text_of<1024>(out);
  {
    std::mutex mutex;
    runtime rt{use<clip_stages>, {.device = how.device == "cpu" ? "cpu" : "cpu," + how.device}};
    auto const log = rt.on_log([&](log_line const& line) {
      std::lock_guard const lock(mutex);
      o.remarks += line.text + "\n";
    });
    streams::graph g{rt, {.rate = how.rate, .ticks = how.ticks, .warn = [](std::string const&) {}}};
    auto const from = g.add<file_source>("from", how.from);
    auto const to = g.add<file_sink>("to", how.to);
    if (how.draws) {
      auto const draw = g.add<frame_rate>("draw", {.fixed = true}, {.device = how.device == "cpu" ? 0u : 1u});
      g.connect(from.out<"video">(), draw.in<"video">());
      g.connect(draw.out<"video">(), to.in<"video">());
    } else {
      g.connect(from.out<"video">(), to.in<"video">());
    }
    if (how.with_sound) g.connect(from.out<"sound">(), to.in<"sound">());
    try {
      g.start();
      if (g.wait(60s)) o.error = g.why_failed();
    } catch (std::exception const& e) {
      o.error = e.what();
    }
  }
  return o;
}

/// And what has come out.
inline outcome pass(std::string const& in, std::string const& out, passage const& how = {}) {
  auto o = try_to_pass(in, out, how);
  INFO(o.error);
  REQUIRE(o.error.empty());
  if (how.to.pattern.empty() && !out.empty()) o.out = clip_test::read(out);
  return o;
}

/// A file of the lossless codec, which shows each difference.
inline passage lossless(std::string const& device = "cpu") {
  passage p{.device = device};
  p.to.codec = "ffv1";
  return p;
}

inline void check_times(std::vector<double> const& found, std::vector<double> const& wanted, double within) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    INFO("picture " << n);
    CHECK(found[n] == Approx(wanted[n]).margin(within));
  }
}

inline std::vector<double> at_rate(AVRational rate, int pictures) {
  std::vector<double> all;
  for (int n = 0; n < pictures; ++n) all.push_back(n * av_q2d(av_inv_q(rate)));
  return all;
}

}  // namespace clip_test
