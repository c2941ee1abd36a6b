#include <fcntl.h>
#include <fmt/format.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "actors/video/media/camera.hpp"
#include "runtime/os/owned_fd.hpp"
#include "runtime/text/clean_text.hpp"

namespace rondo::video {

namespace {

/// What the device says of one number, 0 and up, until it has no more.
template <class Query, class Use>
void each(int device, unsigned long request, Query query, Use const& use) {
  for (query.index = 0; query.index < 64 && ::ioctl(device, request, &query) == 0; ++query.index) use(query);
}

std::string formats_of(int device) {
  std::string text;
  v4l2_fmtdesc formats{};
  formats.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  each(device, VIDIOC_ENUM_FMT, formats, [&](v4l2_fmtdesc const& f) {
    text += fmt::format("  {}:", clean_text(reinterpret_cast<char const*>(f.description)));
    v4l2_frmsizeenum sizes{};
    sizes.pixel_format = f.pixelformat;
    each(device, VIDIOC_ENUM_FRAMESIZES, sizes, [&](v4l2_frmsizeenum const& s) {
      if (s.type != V4L2_FRMSIZE_TYPE_DISCRETE) {
        text += fmt::format(" {}x{} to {}x{}", s.stepwise.min_width, s.stepwise.min_height,
                            s.stepwise.max_width, s.stepwise.max_height);
        return;
      }
      text += fmt::format(" {}x{}", s.discrete.width, s.discrete.height);
      v4l2_frmivalenum rates{};
      rates.pixel_format = f.pixelformat;
      rates.width = s.discrete.width;
      rates.height = s.discrete.height;
      char const* before = " at ";
      each(device, VIDIOC_ENUM_FRAMEINTERVALS, rates, [&](v4l2_frmivalenum const& r) {
        if (r.type != V4L2_FRMIVAL_TYPE_DISCRETE || r.discrete.numerator == 0) return;
        text += fmt::format("{}{:g}", std::exchange(before, "/"),
                            double(r.discrete.denominator) / r.discrete.numerator);
      });
    });
    text += '\n';
  });
  return text;
}

}  // namespace

std::string list_cameras() {
  std::vector<std::string> names;
  std::error_code ec;
  for (auto const& e : std::filesystem::directory_iterator("/dev", ec))
    if (e.path().filename().string().starts_with("video")) names.push_back(e.path());
  std::ranges::sort(names);
  std::string text;
  for (auto const& name : names) {
    owned_fd const device(::open(name.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    v4l2_capability what{};
    if (!device || ::ioctl(device.get(), VIDIOC_QUERYCAP, &what) != 0) continue;
    if (auto const formats = formats_of(device.get()); !formats.empty())
      text += fmt::format("{} ({})\n{}", name, clean_text(reinterpret_cast<char const*>(what.card)), formats);
  }
  return text.empty() ? "no cameras: there is no /dev/video* that takes pictures\n" : text;
}

}  // namespace rondo::video
