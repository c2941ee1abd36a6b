// One of three processes in a row: chain_role source LISTEN | filter CONNECT LISTEN | sink CONNECT.
//
// The source makes numbered pictures, 1000 a second. Its input: 'm' asks how many it has made ("made N"), the end of
// the input ends it. The sink prints "frame N" for each picture. Each prints a line "done ..." at its end.
#include <unistd.h>

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <thread>

#include "actors/video/stages/network_ports.hpp"
#include "actors/video/stages/sinks.hpp"
#include "runtime/streams/graph.hpp"

namespace chain {

using namespace rondo;
namespace streams = rondo::streams;
using streams::delivery;

constexpr video::image picture{64, 48, video::pixel_format::i420};

std::byte byte_of(std::uint64_t number, std::uint64_t i) {
  return std::byte((number * 31 + i * 7 + (number >> 8)) & 0xff);
}

std::atomic<std::uint64_t> made{0};  // relaxed below: a number, and a mark, that nothing is read through
std::atomic<bool> ends{false};

struct source {
  using ports = streams::ports<streams::out<"video", video::image>>;
  static constexpr auto where = streams::works::on_host;
  static void spec(streams::options_of<source> const&, streams::spec_of<source>& s) {
    s.out<"video">(picture);
  }
  void process(streams::stage_context<source>& ctx, streams::tick const&) {
    if (ends.load(std::memory_order_relaxed)) return ctx.end(), ctx.wait();
    auto const to = ctx.output<"video">(picture);
    if (!to) return;
    auto const number = made.load(std::memory_order_relaxed);
    std::memcpy(to.data, &number, sizeof number);
    for (std::uint64_t i = sizeof number; i < picture.bytes(); ++i) to.data[i] = byte_of(number, i);
    made.store(number + 1, std::memory_order_relaxed);
  }
};

/// Inverts all but the number.
struct filter {
  using ports =
      streams::ports<streams::in<"video", video::image>, streams::out<"video", video::image, "video">>;
  static constexpr auto where = streams::works::on_host;
  void process(streams::stage_context<filter>& ctx, streams::tick const&) {
    auto const f = ctx.edit<"video">();
    for (std::uint64_t i = 8; f && i < f.about.bytes(); ++i) f.data[i] = ~f.data[i];
  }
};

/// What the sink has seen in the pictures themselves.
struct found {
  std::uint64_t frames = 0, first = 0, next = 0, missing = 0, wrong = 0;

  static void look(void* with, video::image const& about, std::byte const* data, streams::tick const&) {
    auto& f = *static_cast<found*>(with);
    std::uint64_t number;
    std::memcpy(&number, data, sizeof number);
    bool is_right = about == picture && (f.frames == 0 || number >= f.next);
    for (std::uint64_t i = sizeof number; is_right && i < picture.bytes(); ++i)
      is_right = data[i] == ~byte_of(number, i);
    if (!is_right) ++f.wrong;
    if (f.frames++ == 0)
      f.first = number;
    else
      f.missing += number - f.next;
    f.next = number + 1;
    std::printf("frame %" PRIu64 "\n", number);
    std::fflush(stdout);
  }
};

RONDO_STAGES(stages, source, filter, video::callback_sink, video::network_source, video::network_sink)

template <std::size_t Bytes>
streams::option_text<Bytes> text(char const* from) {
  streams::option_text<Bytes> t;
  if (!t.assign(from, std::strlen(from))) throw std::invalid_argument("the address is too long");
  return t;
}
auto from(char const* address) {
  return video::network_source::options{.connect = text<128>(address),
                                        .shape = {picture.width, picture.height, picture.format},
                                        .delivery = delivery::lossless,
                                        .follow_end = true};
}

void run(int argc, char** argv) {
  std::string const role = argc > 1 ? argv[1] : "";
  runtime rt{use<stages>, {.device = "cpu"}};
  streams::graph g{rt, {.rate = role == "source" ? 1000.0 : 0.0}};
  auto const ended = [&] {
    if (auto const ec = g.wait()) throw std::runtime_error(g.why_failed() + ec.message());
  };
  if (role == "source" && argc == 3) {
    auto const makes = g.add<source>("makes");
    auto const to = g.add<video::network_sink>("to", {.listen = text<128>(argv[2]), .readers = 0});
    g.connect(makes.out<"video">(), to.in<"video">());
    g.start();
    for (char c; ::read(0, &c, 1) == 1;) {
      std::printf("made %" PRIu64 "\n", made.load(std::memory_order_relaxed));
      std::fflush(stdout);
    }
    ends.store(true, std::memory_order_relaxed);
    ended();
    auto const c = g.counts(to);
    std::printf("done %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", made.load(std::memory_order_relaxed),
                c.processed, c.lost);
  } else if (role == "filter" && argc == 4) {
    auto const gets = g.add<video::network_source>("gets", from(argv[2]));
    auto const inverts = g.add<filter>("inverts");
    auto const to = g.add<video::network_sink>("to", {.listen = text<128>(argv[3]), .readers = 0});
    g.connect(gets.out<"video">(), inverts.in<"video">());
    g.connect(inverts.out<"video">(), to.in<"video">());
    g.start();
    ended();
    std::printf("done\n");
  } else if (role == "sink" && argc == 3) {
    found f;
    auto const gets = g.add<video::network_source>("gets", from(argv[2]));
    auto const looks = g.add<video::callback_sink>("looks", {&found::look, &f});
    g.connect(gets.out<"video">(), looks.in<"video">());
    g.start();
    ended();
    auto const c = g.counts(gets);
    std::printf("done %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", f.frames,
                f.first, f.missing, f.wrong, c.processed, c.lost);
  } else {
    throw std::invalid_argument("chain_role source LISTEN | filter CONNECT LISTEN | sink CONNECT");
  }
}

}  // namespace chain

int main(int argc, char** argv) {
  try {
    chain::run(argc, argv);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "chain_role: %s\n", e.what());
    return 1;
  }
}
