// The five-stage pipeline (pattern, blur, waveform, frame rate, null sink) in one of several ways; prints one line of JSON.
//
//   rondo         a graph of stages on `cpu`
//   paced         the same, for a run with --rate
//   copies        five threads with queues between them; each edge copies the picture into memory allocated for it
//   loop          one thread that calls the same pixel code, without any runtime
//   bare          a graph of stages that do nothing: what the runtime itself costs
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "actors/video/video_module.hpp"
#include "kernels/streams/shapes.hpp"
#include "runtime/streams/graph.hpp"

using namespace rondo;
using namespace rondo::video;

namespace {

/// Passes its picture on, and does nothing.
struct idle_stage {
  using ports = streams::ports<streams::in<"video", image>, streams::out<"video", image, "video">>;
  void process(streams::stage_context<idle_stage>& ctx, streams::tick const&) { ctx.pass<"video">(); }
};
struct idle_source {
  using ports = streams::ports<streams::out<"video", image>>;
  static std::string shapes(streams::options_of<idle_source> const&, streams::shapes_of<idle_source>& s) {
    s.out<"video">({16, 16});
    return {};
  }
  void process(streams::stage_context<idle_source>& ctx, streams::tick const&) {
    static_cast<void>(ctx.output<"video">({16, 16}));
  }
};

struct work {
  std::int32_t width = 1920, height = 1080;
  std::uint64_t frames = 300;
  std::uint32_t teams = 2, replicas = 1, window = 4;
  float sigma = 2;
};

/// When pictures arrive at the sink: how long they took from their tick.
struct arrivals {
  std::mutex mutex;
  std::vector<std::uint64_t> ns;
  static void take(void* with, image const&, std::byte const*, streams::tick const& t) {
    auto& self = *static_cast<arrivals*>(with);
    std::lock_guard const lock(self.mutex);
    self.ns.push_back(now_ns() - t.time_ns);
  }
};

struct outcome {
  double seconds = 0, cpu_seconds = 0;
  std::uint64_t frames = 0, p50_latency_ns = 0;
};

double cpu_now() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  auto const s = [](timeval t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return s(u.ru_utime) + s(u.ru_stime);
}

template <class F>
outcome timed(std::uint64_t frames, F const& f) {
  auto const begun = std::chrono::steady_clock::now();
  auto const cpu = cpu_now();
  f();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(), cpu_now() - cpu,
          frames, 0};
}

RONDO_STAGES(bench_stages, test_pattern, blur, waveform, frame_rate, callback_sink, idle_source, idle_stage,
             null_sink)

outcome run_graph(work const& w, double rate) {
  runtime rt{use<bench_stages>, {.device = "cpu", .teams = w.teams}};
  arrivals seen;
  streams::graph g{rt, {.rate = rate, .ticks = w.frames, .window = w.window}};
  auto const pattern = g.add<test_pattern>("pattern", {.width = w.width, .height = w.height});
  auto const soft = g.add<blur>("soft", {.sigma = w.sigma}, {.replicas = w.replicas});
  auto const wave = g.add<waveform>("wave");
  auto const shown = g.add<frame_rate>("rate");
  auto const to = g.add<callback_sink>("to", {arrivals::take, &seen});
  g.connect(pattern.out<"video">(), soft.in<"video">());
  g.connect(soft.out<"video">(), wave.in<"video">());
  g.connect(wave.out<"video">(), shown.in<"video">());
  g.connect(shown.out<"video">(), to.in<"video">());
  auto o = timed(w.frames, [&] {
    g.start();
    if (auto const e = g.wait()) throw std::runtime_error(e.message() + ": " + g.why_failed());
  });
  std::ranges::sort(seen.ns);
  o.frames = seen.ns.size();
  if (!seen.ns.empty()) o.p50_latency_ns = seen.ns[seen.ns.size() / 2];
  return o;
}

outcome run_bare(work const& w) {
  runtime rt{use<bench_stages>, {.device = "cpu", .teams = w.teams}};
  streams::graph g{rt, {.ticks = w.frames, .window = w.window}};
  auto const from = g.add<idle_source>("from");
  auto const a = g.add<idle_stage>("a"), b = g.add<idle_stage>("b"), c = g.add<idle_stage>("c");
  auto const to = g.add<null_sink>("to");
  g.connect(from.out<"video">(), a.in<"video">());
  g.connect(a.out<"video">(), b.in<"video">());
  g.connect(b.out<"video">(), c.in<"video">());
  g.connect(c.out<"video">(), to.in<"video">());
  return timed(w.frames, [&] {
    g.start();
    if (auto const e = g.wait()) throw std::runtime_error(e.message());
  });
}

// -- the same work without Rondo

team const one{0};

void make_pattern(image const& about, std::byte* data, std::uint64_t number) {
  auto const picture = planes_at(about, data);
  rows const row{one};
  for (int p = 0; p < 3; ++p) {
    auto const& v = picture.of[p];
    auto const shape =
        pixels::pattern_for(about.width, about.height, p == 0 ? 1 : 2, static_cast<std::uint32_t>(number));
    for (std::int32_t y = 0; y < v.height; ++y)
      row.pattern(v.row(y), static_cast<pixels::plane_kind>(p), shape, y);
  }
}
void make_blur(image const& about, std::byte const* in, std::byte* out, float sigma,
               std::vector<u8>& between) {
  auto const from = planes_at(about, in), to = planes_at(about, out);
  auto const weights = blur::weights_for(sigma);
  rows const row{one};
  between.resize(static_cast<std::size_t>(about.width));
  for (int p = 0; p < 3; ++p)
    for (std::int32_t y = 0; y < from.of[p].height; ++y) {
      row.blur_down(between.data(), from.of[p].data, from.of[p].stride, from.of[p].height, y,
                    from.of[p].width, weights);
      row.blur_across(to.of[p].row(y), between.data(), from.of[p].width, weights);
    }
}
/// As the waveform and the frame rate do: a darkened band with a curve, and a mask.
void make_band(image const& about, std::byte* data, std::vector<u16>& lines, std::vector<u8>& mask) {
  auto const picture = planes_at(about, data);
  rows const row{one};
  auto const width = static_cast<std::size_t>(about.width);
  lines.resize(2 * width);
  std::int32_t const band = about.height / 10 * 2;
  for (std::size_t x = 0; x < width; ++x)
    lines[x] = static_cast<u16>(x * 7 % static_cast<std::size_t>(band)),
    lines[width + x] = static_cast<u16>(lines[x] + 3);
  for (int p = 0; p < 3; ++p) {
    std::int32_t const half = p == 0 ? 1 : 2, top = (about.height - band) / half;
    for (std::int32_t y = 0; y < band / half; ++y)
      row.band(picture.of[p].row(top + y), lines.data(), lines.data() + width, half,
               static_cast<u16>(half * y), 220, 230, 16, 96, picture.of[p].width);
  }
  std::int32_t const scale = frame_rate::scale_for({}, about), letters = frame_rate::letters * 6 * scale;
  mask.assign(static_cast<std::size_t>(letters), 200);
  for (int p = 0; p < 3; ++p)
    for (std::int32_t y = 0; y < 7 * scale / (p == 0 ? 1 : 2); ++y)
      row.mask(picture.of[p].row(y), mask.data(), p == 0 ? 1 : 2, 235, letters / (p == 0 ? 1 : 2));
}

outcome run_loop(work const& w) {
  image const about{w.width, w.height};
  std::vector<std::byte> a(about.bytes()), b(about.bytes());
  std::vector<u8> between, mask;
  std::vector<u16> lines;
  return timed(w.frames, [&] {
    for (std::uint64_t n = 0; n < w.frames; ++n) {
      make_pattern(about, a.data(), n);
      make_blur(about, a.data(), b.data(), w.sigma, between);
      make_band(about, b.data(), lines, mask);
    }
  });
}

/// A bounded queue of pictures, each a copy.
class copies_queue {
 public:
  void put(std::vector<std::byte> const& picture) {
    auto copy = std::make_unique<std::vector<std::byte>>(picture);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < 2; });
    waiting_.push_back(std::move(copy));
    changed_.notify_all();
  }
  std::unique_ptr<std::vector<std::byte>> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !waiting_.empty(); });
    auto first = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<std::vector<std::byte>>> waiting_;
};

outcome run_copies(work const& w) {
  image const about{w.width, w.height};
  copies_queue q[4];
  return timed(w.frames, [&] {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < w.frames; ++n) {
        std::vector<std::byte> picture(about.bytes());
        make_pattern(about, picture.data(), n);
        q[0].put(picture);
      }
    });
    threads.emplace_back([&] {
      std::vector<u8> between;
      for (std::uint64_t n = 0; n < w.frames; ++n) {
        auto const in = q[0].take();
        std::vector<std::byte> out(about.bytes());
        make_blur(about, in->data(), out.data(), w.sigma, between);
        q[1].put(out);
      }
    });
    threads.emplace_back([&] {
      std::vector<u8> mask;
      std::vector<u16> lines;
      for (std::uint64_t n = 0; n < w.frames; ++n) {
        auto const in = q[1].take();
        make_band(about, in->data(), lines, mask);
        q[2].put(*in);
      }
    });
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < w.frames; ++n) q[3].put(*q[2].take());
    });
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < w.frames; ++n) q[3].take();
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  work w;
  std::string way = "rondo";
  double rate = 0;
  CLI::App app{"Measures the five-stage pipeline"};
  app.add_option("--way", way, "rondo, paced, copies, loop or bare")
      ->check(CLI::IsMember({"rondo", "paced", "copies", "loop", "bare"}));
  app.add_option("--width", w.width);
  app.add_option("--height", w.height);
  app.add_option("--frames", w.frames);
  app.add_option("--teams", w.teams);
  app.add_option("--replicas", w.replicas, "instances of the blur");
  app.add_option("--window", w.window, "ticks under way");
  app.add_option("--rate", rate, "ticks per second; 0: as fast as possible");
  CLI11_PARSE(app, argc, argv);
  auto const o = way == "rondo" || way == "paced" ? run_graph(w, rate)
                 : way == "bare"                  ? run_bare(w)
                 : way == "loop"                  ? run_loop(w)
                                                  : run_copies(w);
  fmt::print(
      R"({{ "way": "{}", "width": {}, "height": {}, "frames": {}, "teams": {}, "replicas": {}, "rate": {}, "seconds": {:.6f}, )"
      R"("frames_per_s": {:.2f}, "cpu_ms_per_frame": {:.4f}, "p50_latency_us": {:.1f} }})"
      "\n",
      way, w.width, w.height, o.frames, w.teams, w.replicas, rate, o.seconds,
      static_cast<double>(o.frames) / o.seconds, 1e3 * o.cpu_seconds / static_cast<double>(o.frames),
      static_cast<double>(o.p50_latency_ns) / 1e3);
}
