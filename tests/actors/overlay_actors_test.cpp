// The camera and the painter on a runtime: they draw the same pixels as the plain stages, keep order, obey control and
// refuse bad frames.
#include <algorithm>
#include <cstring>
#include <future>
#include <vector>

#include "actors/overlay/overlay_module.hpp"
#include "runtime/core/make_device.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "runtime/runtime.hpp"
#include "tests/catch.hpp"

RONDO_EMULATED_MODULE(rondo::overlay::overlay_module)

using namespace std::chrono_literals;
using namespace rondo;
using namespace rondo::overlay;

namespace {

constexpr int width = 160, height = 122;
constexpr std::uint8_t control = 255;

/// A still scene through which a block of a person's size walks.
void paint(frame_view const& f, int number) {
  for (int y = 0; y < f.y.height; ++y)
    for (int x = 0; x < f.y.width; ++x) f.y.at(x, y) = static_cast<std::uint8_t>(60 + (x * 7 + y * 3) % 20);
  for (auto const& plane : {f.u, f.v})
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x) plane.at(x, y) = 128;
  for (int y = 30; y < 90; ++y)
    for (int x = 10 + 2 * number; x < 34 + 2 * number && x < width; ++x) f.y.at(x, y) = 200;
}

/// The same scene behind a fence, whose posts are 8 pixels wide and 8 apart.
void paint_fence(frame_view const& f, int number) {
  paint(f, number);
  for (int y = 0; y < f.y.height; ++y)
    for (int x = 0; x < f.y.width; ++x)
      if (x % 16 < 8) f.y.at(x, y) = 200;
}

config settings_for(std::string const& device) {
  config c;
  c.device = device;
  c.teams = 2;
  c.lanes = device == "cuda" ? 32 : 2;
  return c;
}

/// A runtime with one opened camera, and frames for it.
struct stage {
  explicit stage(std::string const& device = "cpu", int tiles = 6, int wide = width)
      : rt(use<overlay_module>, settings_for(device)) {
    painting = rt.launch<painter>("painter 1");
    looking = rt.launch<camera>("camera 1", {.capacity = 64});
    overlay_params const params;
    memory = {rt.memory(), {overlay_bytes(wide, height, tiles, params)}};
    // The buffer's old contents do not matter: the camera only reads what it has written.
    std::ranges::fill(memory.overwrite().value(), std::byte{0xa5});
    opening.camera = 1;
    opening.width = static_cast<std::uint16_t>(wide);
    opening.height = height;
    opening.tiles = static_cast<std::uint16_t>(tiles);
    opening.shown_rate_x10 = 250;
    opening.painter = handle_of(painting.id());
    opening.memory = handle_of(memory.device_for_writing().value());
    std::memcpy(opening.name, "north gate", 10);
  }
  errc open() {
    auto const answer = looking.ask(opening, ask_options{.timeout = 60s}, block).value();
    return static_cast<errc>(answer.status);
  }
  frame make(int number, decltype(&paint) how = paint) {
    int const wide = opening.width;
    auto& pixels = frames.emplace_back(rt.memory(), std::vector{frame_buffer_bytes(wide, height)});
    {
      auto const picture = pixels.overwrite().value();
      std::ranges::fill(picture, std::byte{0});
      carver c(picture.begin());
      how(carve_frame(c, wide, height), number);
    }
    frame f;
    f.camera = 1;
    f.format = rondo::overlay::pixel_format::i420;
    f.number = static_cast<std::uint64_t>(number);
    f.width = opening.width;
    f.height = height;
    f.stride_bytes = static_cast<std::uint32_t>((wide + 63) / 64 * 64);
    f.pixels = handle_of(pixels.device_for_writing().value());
    return f;
  }
  /// Sends the ask at once; the future gets the answer.
  std::future<frame_done> send(frame const& f) {
    auto const answer = std::make_shared<std::promise<frame_done>>();
    looking.ask(f, ask_options{}, [answer](error_code error, frame_done const& done) {
      if (error)
        answer->set_exception(std::make_exception_ptr(boost::system::system_error(error)));
      else
        answer->set_value(done);
    });
    return answer->get_future();
  }

  runtime rt;
  actor_ref<painter> painting;
  actor_ref<camera> looking;
  unified_buffer<std::byte> memory;
  open_camera opening;
  std::vector<unified_buffer<std::byte>> frames;
};

/// The same clip through the plain stages.
std::vector<std::byte> plain(int count, std::size_t bytes) {
  overlay_params const params;
  auto const aligned = [](std::vector<std::byte>& v) {
    auto const at = reinterpret_cast<std::uintptr_t>(v.data());
    return v.data() + (64 - at % 64) % 64;
  };
  std::vector<std::byte> block(overlay_bytes(width, height, 1, params) + 64), picture(bytes + 64);
  carver memory(aligned(block));
  overlay_ref const o = carve_overlay(memory, width, height, 1, params);
  reset_overlay(o);
  carver c(aligned(picture));
  frame_view const view = carve_frame(c, width, height);
  status_line status{"north gate", 250};
  std::vector<std::byte> all;
  for (int n = 0; n < count; ++n) {
    paint(view, n);
    detect_tile(one_lane{}, o, params, view, 0);
    label_tile(one_lane{}, o, params, 0);
    finish_frame(o, params, view, status);
    draw_tile(one_lane{}, o, view, 0);
    all.insert(all.end(), aligned(picture), aligned(picture) + bytes);
  }
  return all;
}

/// Includes the GPU, if there is one.
std::vector<std::string> devices() {
  std::vector<std::string> all{"cpu", "emulated"};
  if (why_no_cuda(overlay_module::key).empty()) all.emplace_back("cuda");
  return all;
}

}  // namespace

TEST_CASE("actors draw the pixels that the plain stages draw, on each device", "[overlay][G6]") {
  auto const device = GENERATE(from_range(devices()));
  auto const tiles = GENERATE(1, 6);
  CAPTURE(device, tiles);
  constexpr int count = 40;
  stage s(device, tiles);
  REQUIRE(s.open() == errc::ok);
  std::vector<std::future<frame_done>> answers;
  std::uint32_t seen = 0;
  for (int n = 0; n < count; ++n) {
    answers.push_back(s.send(s.make(n)));
    if (n >= 8) seen = std::max(seen, answers[static_cast<std::size_t>(n) - 8].get().tracks);
  }
  for (std::size_t n = count - 8; n < count; ++n) {
    auto const done = answers[n].get();
    CHECK(done.status == 0);
    CHECK(done.number == n);
    seen = std::max(seen, done.tracks);
  }
  CHECK(seen > 0);  // otherwise the comparison below would prove little
  auto const bytes = frame_bytes(width, height);
  auto const expected = plain(count, bytes);
  for (std::size_t n = 0; n < count; ++n) {
    auto const picture = s.frames[n].host().value();
    CAPTURE(n);
    CHECK(std::equal(picture.begin(), picture.begin() + bytes,
                     expected.begin() + static_cast<std::ptrdiff_t>(n * bytes)));
  }
}

TEST_CASE("a snapshot of priority 255 overtakes frames that wait in the mailbox", "[overlay][G3]") {
  auto const priority = GENERATE(as<std::uint8_t>{}, control, default_priority);
  stage s;
  REQUIRE(s.open() == errc::ok);
  // While it is deactivated, the camera keeps all mail: the snapshot is sent last, and its priority decides.
  REQUIRE_FALSE(rondo::deactivate(s.looking, block));
  std::vector<std::future<frame_done>> answers;
  for (int n = 0; n < 5; ++n) answers.push_back(s.send(s.make(n)));
  std::promise<snapshot_noted> noted;
  s.looking.ask(snapshot{1, 77}, ask_options{.priority = priority},
                [&](error_code, snapshot_noted const& answer) { noted.set_value(answer); });
  REQUIRE_FALSE(rondo::activate(s.looking, block));
  auto const answer = noted.get_future().get();
  CHECK(answer.ticket == 77);
  CHECK(answer.started == (priority == control ? 0 : 5));
  for (std::size_t n = 0; n < 5; ++n) {
    auto const done = answers[n].get();
    CHECK(done.status == 0);
    CHECK(done.ticket == (n == answer.started ? 77 : 0));
  }
}

TEST_CASE("pause holds back frames in the mailbox, and resume handles them in order", "[overlay][G2]") {
  stage s;
  REQUIRE(s.open() == errc::ok);
  REQUIRE_FALSE(s.looking.try_tell(overlay::pause{1}, {.priority = control}));
  std::vector<std::future<frame_done>> answers;
  for (std::uint32_t n = 0; n < camera::queue_slots; ++n)
    answers.push_back(s.send(s.make(static_cast<int>(n))));
  // The queue is full now: one more is refused. Its answer proves that the ones before it were not started.
  auto const refused = s.send(s.make(99)).get();
  CHECK(static_cast<errc>(refused.status) == errc::mailbox_full);
  CHECK(answers.front().wait_for(0s) == std::future_status::timeout);
  CHECK(s.open() == errc::wrong_state);
  REQUIRE_FALSE(s.looking.try_tell(resume{1}, {.priority = control}));
  for (std::size_t n = 0; n < answers.size(); ++n) {
    auto const done = answers[n].get();
    CHECK(done.status == 0);
    CHECK(done.number == n);
  }
  CHECK(s.open() == errc::ok);
}

TEST_CASE("a camera refuses frames that it cannot use, and continues", "[overlay]") {
  stage s;
  auto good = s.make(0);
  CHECK(static_cast<errc>(s.send(good).get().status) == errc::wrong_state);  // it was not opened
  REQUIRE(s.open() == errc::ok);
  auto other = s.make(1);
  other.width = width / 2;
  CHECK(static_cast<errc>(s.send(other).get().status) == errc::wrong_state);
  auto format = s.make(2);
  format.format = rondo::overlay::pixel_format::rgb24;
  CHECK(static_cast<errc>(s.send(format).get().status) == errc::wrong_state);
  auto small = s.make(3);
  small.pixels.bytes -= 64;
  CHECK(static_cast<errc>(s.send(small).get().status) == errc::buffer_out_of_bounds);
  auto gone = s.make(4);
  s.frames.pop_back();
  CHECK(static_cast<errc>(s.send(gone).get().status) == errc::stale_buffer);
  auto held = s.make(5);
  {
    auto const reader = s.frames.back().host().value();
    CHECK(static_cast<errc>(s.send(held).get().status) == errc::buffer_in_use);
  }
  CHECK(static_cast<errc>(s.send(held).get().status) == errc::ok);
  CHECK(static_cast<errc>(s.send(good).get().status) == errc::ok);
}

TEST_CASE("a frame for a painter that is gone is answered with the reason", "[overlay][G7]") {
  stage s;
  REQUIRE(s.open() == errc::ok);
  REQUIRE_FALSE(rondo::terminate(s.painting, termination::drain, block));
  CHECK(static_cast<errc>(s.send(s.make(0)).get().status) == errc::actor_gone);
  CHECK(static_cast<errc>(s.send(s.make(1)).get().status) == errc::actor_gone);
}

TEST_CASE("a camera is not opened without enough memory", "[overlay]") {
  stage s;
  s.opening.memory.bytes -= 64;
  CHECK(s.open() == errc::buffer_out_of_bounds);
  s.opening.memory.bytes += 64;
  s.opening.tiles = 0;
  CHECK(s.open() == errc::buffer_out_of_bounds);
  s.opening.tiles = 2;
  s.opening.memory.generation += 1;
  CHECK(s.open() == errc::stale_buffer);
}

TEST_CASE("a camera that is opened again keeps ids and counts if requested", "[overlay]") {
  bool const keep = GENERATE(true, false);
  stage s;
  REQUIRE(s.open() == errc::ok);
  std::uint32_t ids = 0;
  for (int n = 0; n < 40; ++n) ids = s.send(s.make(n)).get().ids;
  REQUIRE(ids > 0);
  s.opening.keep_state = keep;
  auto const opened = s.looking.ask(s.opening, ask_options{.timeout = 60s}, block).value();
  CHECK(opened.status == 0);
  CHECK(opened.frames == (keep ? 40 : 0));
  CHECK(s.send(s.make(40)).get().ids == (keep ? ids : 0));
}

TEST_CASE("what has no room is counted, until a camera is opened without its state", "[overlay]") {
  bool const keep = GENERATE(true, false);
  stage s("cpu", 1, 800);
  REQUIRE(s.open() == errc::ok);
  CHECK(s.send(s.make(0)).get().overflow == 0);
  auto const lost = s.send(s.make(0, paint_fence)).get().overflow;
  CHECK(lost > 0);  // a row of the mask has 50 runs, with room for 32
  s.opening.keep_state = keep;
  REQUIRE(s.open() == errc::ok);
  CHECK(s.send(s.make(0)).get().overflow == (keep ? lost : 0));
}
