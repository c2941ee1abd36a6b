// OpenCV. Lines are opaque, as it draws no others; a box is blended within its own region.
#include <opencv2/imgproc.hpp>
#include <stdexcept>

#include "bench/render/on_clock.hpp"

namespace render_bench {

namespace {

cv::Point at(float x, float y) { return {static_cast<int>(x + 0.5F), static_cast<int>(y + 0.5F)}; }

std::vector<cv::Point> outline(cv::Size size, int radius) {
  std::vector<cv::Point> all, arc;
  cv::Point const middles[] = {{size.width - radius - 1, size.height - radius - 1},
                               {radius, size.height - radius - 1},
                               {radius, radius},
                               {size.width - radius - 1, radius}};
  for (int n = 0; n < 4; ++n) {
    cv::ellipse2Poly(middles[n], {radius, radius}, 0, n * 90, n * 90 + 90, 6, arc);
    all.insert(all.end(), arc.begin(), arc.end());
  }
  return all;
}

}  // namespace

outcome draw_by_opencv(scene const& s, std::uint32_t frames, std::string const& png) {
  if (s.curves != 0) throw std::runtime_error("OpenCV draws no curves");
  if (!png.empty()) throw std::runtime_error("OpenCV is linked without its files of pictures");
  auto const edges = s.all_edges();
  auto const boxes = s.all_boxes();
  cv::setNumThreads(1);
  cv::Mat picture(s.height, s.width, CV_8UC3, cv::Scalar::all(0)), layer;
  int const stroke = static_cast<int>(s.stroke_px + 0.5F);
  return time_frames(frames, [&] {
    for (auto const& e : edges)
      cv::line(picture, at(e.x0, e.y0), at(e.x1, e.y1), cv::Scalar::all(255), stroke, cv::LINE_AA);
    for (auto const& b : boxes) {
      auto const corner = at(b.x, b.y);
      cv::Rect const where =
          cv::Rect(corner, cv::Size(static_cast<int>(b.width), static_cast<int>(b.height))) &
          cv::Rect(0, 0, s.width, s.height);
      auto region = picture(where);
      auto const shape = outline(where.size(), static_cast<int>(s.radius_of(b)));
      region.copyTo(layer);
      cv::fillConvexPoly(layer, shape, cv::Scalar(0, 128, 255), cv::LINE_AA);
      cv::addWeighted(layer, s.fill_opacity, region, 1 - s.fill_opacity, 0, region);
      cv::polylines(region, shape, true, cv::Scalar::all(255), stroke, cv::LINE_AA);
    }
  });
}

}  // namespace render_bench
