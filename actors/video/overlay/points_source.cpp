#include "actors/video/overlay/points_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "runtime/streams/kinds/stage_spec.hpp"
#include "runtime/text/json_reader.hpp"

namespace rondo::video {

namespace {

using streams::fault;
using streams::stage_error;

/// What a coordinate may be: drawing uses no others.
constexpr double farthest = 1e6;

class fields {
 public:
  fields(json_node const& of, std::string const& origin, std::string const& path) : read_(of, origin, path) {}

  void number(char const* name, std::uint32_t& to) { read_.number(name, 0, ~0u, to); }
  void number(char const* name, float& to) {
    double value = 0;
    read_.real(name, -farthest, farthest, value);
    to = static_cast<float>(value);
  }
  void done() const { read_.done(); }

 private:
  json_reader read_;
};

point read_point(fields& f) {
  point p;
  f.number("id", p.id);
  f.number("x", p.x), f.number("y", p.y);
  f.number("vx", p.vx), f.number("vy", p.vy);
  f.done();
  return p;
}
box read_box(fields& f) {
  box b;
  f.number("id", b.id);
  f.number("x", b.x), f.number("y", b.y);
  f.number("width", b.width), f.number("height", b.height);
  f.done();
  return b;
}

}  // namespace

void points_source::spec(options const& o, streams::spec_of<points_source>& s) {
  if (o.file.empty()) return s.refuse("it has no file: name one");
  s.out<"points">({o.most});
  s.out<"boxes">({o.most});
}

points_source::host::host(options const& o, streams::spec_of<points_source> const&, streams::host_link&)
    : file_(o.file.c_str()), name_(o.file.c_str()), line_(json_file.bytes + 2) {
  std::error_code ignored;
  if (!file_ || std::filesystem::is_directory(name_, ignored))
    throw stage_error(fault::input_missing, fmt::format("{}: cannot be opened as a file", name_));
}

points_source::host::outcome points_source::host::fail(std::string why) {
  why_ = std::move(why);
  return outcome::failed;
}

points_source::host::outcome points_source::host::read_line(options const& o) {
  auto const get = [&] { file_.getline(line_.data(), static_cast<std::streamsize>(line_.size())); };
  get();
  if (file_.eof() && file_.gcount() == 0 && o.loop && number_ != 0) {
    file_.clear();
    file_.seekg(0);
    number_ = 0;
    get();
  }
  auto const origin = fmt::format("{}: line {}", name_, number_ + 1);
  if (file_.bad()) return fail(origin + ": cannot be read");
  if (file_.eof() && file_.gcount() == 0) return outcome::end;
  if (!file_) return fail(fmt::format("{}: has more than {} bytes", origin, json_file.bytes));
  ++number_;
  std::string_view const text(line_.data(), static_cast<std::size_t>(file_.gcount()) - (file_.eof() ? 0 : 1));
  points_.clear(), boxes_.clear();
  try {
    auto const tree = parse_json_file(text, origin);
    json_reader line(tree, origin);
    line.list("points", [&](json_node const& v, std::string const& path) {
      fields f(v, origin, path);
      points_.push_back(read_point(f));
    });
    line.list("boxes", [&](json_node const& v, std::string const& path) {
      fields f(v, origin, path);
      boxes_.push_back(read_box(f));
    });
    line.done();
  } catch (config_error const& e) {
    return fail(e.what());
  }
  if (auto const items = std::max(points_.size(), boxes_.size()); items > o.most)
    return fail(fmt::format("{}: has {} items; `most` is {}", origin, items, o.most));
  return outcome::read;
}

void points_source::process(streams::stage_context<points_source>& ctx, streams::tick const&) {
  auto& from = ctx.host();
  auto const outcome = from.read_line(ctx.options());
  if (outcome == host::outcome::end) return ctx.end();
  if (outcome == host::outcome::failed) return ctx.fail_graph();
  auto const to = ctx.output<"points">({ctx.options().most});
  auto const around = ctx.output<"boxes">({ctx.options().most});
  if (!to || !around) return;
  list_view<point> followed{to.about, to.data};
  list_view<box> boxed{around.about, around.data};
  followed.clear(), boxed.clear();
  for (auto const& p : from.points_) followed.add(p);
  for (auto const& b : from.boxes_) boxed.add(b);
}

}  // namespace rondo::video
