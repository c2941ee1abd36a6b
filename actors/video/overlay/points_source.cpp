#include "actors/video/overlay/points_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "runtime/streams/kinds/stage_spec.hpp"
#include "runtime/text/json_reader.hpp"
#include "runtime/text/parse_number.hpp"

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

/// The points of a line by their ids, which its edges name.
class points_by_id {
 public:
  explicit points_by_id(std::vector<point> const& points) {
    for (auto const& p : points) sorted_.push_back(&p);
    std::ranges::sort(sorted_, {}, &point::id);
  }

  /// From a pair of ids. `at`: where it is, for errors. Throws config_error.
  edge between(json_node const& pair, std::string const& at) const {
    edge e;
    if (pair.what != json_node::kind::list || pair.entries.size() != 2 || !read_id(pair.entries[0], e.from) ||
        !read_id(pair.entries[1], e.to))
      throw config_error(
          fmt::format("{}: is {}; it must be the ids of two points, such as [1, 2]", at, shown(pair)));
    auto const &from = find(e.from, at), &to = find(e.to, at);
    e.x0 = from.x, e.y0 = from.y;
    e.x1 = to.x, e.y1 = to.y;
    return e;
  }

 private:
  static std::string shown(json_node const& v) {
    if (v.what != json_node::kind::list) return v.described();
    if (v.entries.size() != 2) return fmt::format("a list of {}", v.entries.size());
    return fmt::format("[{}, {}]", v.entries[0].described(), v.entries[1].described());
  }
  static bool read_id(json_node const& v, std::uint32_t& to) {
    auto const n = v.what == json_node::kind::number ? parse_number(v.text) : std::nullopt;
    if (!n || *n > ~0u) return false;
    to = static_cast<std::uint32_t>(*n);
    return true;
  }
  point const& find(std::uint32_t id, std::string const& at) const {
    auto const found = std::ranges::equal_range(sorted_, id, {}, &point::id);
    if (found.empty())
      throw config_error(fmt::format(
          "{}: no point of this line has the id {}: add the point, or leave the edge out", at, id));
    if (found.size() > 1)
      throw config_error(fmt::format("{}: {} points of this line have the id {}: give each an id of its own",
                                     at, found.size(), id));
    return *found.front();
  }

  std::vector<point const*> sorted_;
};

}  // namespace

void points_source::spec(options const& o, streams::spec_of<points_source>& s) {
  if (o.file.empty()) return s.refuse("it has no file: name one");
  s.out<"points">({o.most});
  s.out<"boxes">({o.most});
  s.out<"edges">({o.most});
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
  points_.clear(), boxes_.clear(), edges_.clear();
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
    points_by_id const ends(points_);
    line.list("edges", [&](json_node const& v, std::string const& path) {
      edges_.push_back(ends.between(v, fmt::format("{}: {}", origin, path)));
    });
    line.done();
  } catch (config_error const& e) {
    return fail(e.what());
  }
  if (auto const items = std::max({points_.size(), boxes_.size(), edges_.size()}); items > o.most)
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
  auto const between = ctx.output<"edges">({ctx.options().most});
  if (!to || !around || !between) return;
  list_view<point> followed{to.about, to.data};
  list_view<box> boxed{around.about, around.data};
  list_view<edge> linked{between.about, between.data};
  followed.clear(), boxed.clear(), linked.clear();
  for (auto const& p : from.points_) followed.add(p);
  for (auto const& b : from.boxes_) boxed.add(b);
  for (auto const& e : from.edges_) linked.add(e);
}

}  // namespace rondo::video
