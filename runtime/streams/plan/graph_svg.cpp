#include "runtime/streams/plan/graph_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/text/clean_text.hpp"

namespace rondo::streams {

namespace {

constexpr int box_width = 180, box_height = 70, gap_x = 136, gap_y = 40, margin = 28, heading = 64;
constexpr char const* colours[] = {"#2f6fde", "#1f9d61", "#b3530f",
                                   "#8a3fc7", "#b8264c", "#0d8a94"};  // of devices
constexpr char const* copied_colour = "#d1460b";

/// As text of an XML document, which is UTF-8 and has no control characters, not even escaped ones.
std::string escaped(std::string_view text) {
  std::string out;
  for (char const c : clean_text(text)) switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.0f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

struct box {
  int column = 0, row = 0;
  int x() const { return margin + column * (box_width + gap_x); }
  int y() const { return heading + row * (box_height + gap_y); }
};

/// Each stage right of all that it reads, and near their rows. Sources are next to what reads them.
std::vector<box> place_boxes(graph_plan const& plan) {
  auto const& stages = plan.stages;
  std::vector<box> boxes(stages.size());
  std::vector<int> before_readers(stages.size(), -1);
  for (auto const s : plan.order())
    for (auto const& in : stages[s].inputs)
      if (in.from != no_stage) boxes[s].column = std::max(boxes[s].column, boxes[in.from].column + 1);
  for (std::size_t s = 0; s < stages.size(); ++s)
    for (auto const& in : stages[s].inputs) {
      if (in.from == no_stage) continue;
      auto& before = before_readers[in.from];
      before = before < 0 ? boxes[s].column - 1 : std::min(before, boxes[s].column - 1);
    }
  std::vector<std::vector<std::uint32_t>> columns;
  for (auto const s : plan.order()) {
    bool const is_source =
        std::ranges::all_of(stages[s].inputs, [](planned_input const& in) { return in.from == no_stage; });
    if (is_source && before_readers[s] >= 0) boxes[s].column = before_readers[s];
    auto const column = static_cast<std::size_t>(boxes[s].column);
    if (columns.size() <= column) columns.resize(column + 1);
    columns[column].push_back(s);
  }
  std::vector<double> height(stages.size(), 1e9);  // the mean row of what it reads; sources come last
  for (auto& column : columns) {
    for (auto const s : column) {
      double sum = 0;
      int count = 0;
      for (auto const& in : stages[s].inputs)
        if (in.from != no_stage) sum += boxes[in.from].row, ++count;
      if (count != 0) height[s] = sum / count;
    }
    std::ranges::stable_sort(column, {}, [&](std::uint32_t s) { return height[s]; });
    for (std::size_t r = 0; r < column.size(); ++r) boxes[column[r]].row = static_cast<int>(r);
  }
  return boxes;
}

/// Where the line of the `number`th of `count` ports of one side ends.
int port_y(box const& b, std::size_t number, std::size_t count) {
  return b.y() + static_cast<int>(box_height * (number + 1) / (count + 1));
}
/// The same for an input, among those that are connected.
int input_y(planned_stage const& stage, box const& b, std::uint32_t input) {
  auto const connected = [](planned_input const& in) { return in.from != no_stage; };
  auto const& all = stage.inputs;
  return port_y(b, static_cast<std::size_t>(std::count_if(all.begin(), all.begin() + input, connected)),
                static_cast<std::size_t>(std::ranges::count_if(all, connected)));
}

std::string draw_stage(graph_plan const& plan, std::uint32_t s, box const& b) {
  auto const& stage = plan.stages[s];
  auto const place = plan.places()[s];
  auto const* const colour = colours[place % std::size(colours)];
  auto const copies = stage.how.replicas > 1 ? fmt::format(" × {}", stage.how.replicas) : std::string();
  return fmt::format(
      R"(<rect x="{0}" y="{1}" width="{2}" height="{3}" rx="8" fill="#fff" stroke="{4}" stroke-width="2"/>
<text x="{5}" y="{6}" class="name">{7}{8}</text><text x="{5}" y="{9}" class="type">{10}</text><text x="{5}" y="{11}" class="place" fill="{4}">{12}</text>
)",
      b.x(), b.y(), box_width, box_height, colour, b.x() + 14, b.y() + 25, escaped(stage.name), copies,
      b.y() + 43, escaped(stage.kind->short_name()), b.y() + 60, escaped(plan.devices()[place].name));
}

/// Edges that skip columns go below the boxes there, each in a lane of its own.
class lanes {
 public:
  explicit lanes(std::vector<box> const& boxes) : boxes_(boxes) {}

  /// The height of the next edge between these boxes.
  int next(box const& from, box const& to) {
    int rows = 0;
    for (auto const& b : boxes_)
      if (b.column > from.column && b.column < to.column) rows = std::max(rows, b.row + 1);
    auto const y = heading + rows * (box_height + gap_y) - gap_y + ++used_ * height;
    lowest_ = std::max(lowest_, y);
    return y;
  }
  int lowest() const { return lowest_; }

 private:
  static constexpr int height = 20;
  std::vector<box> const& boxes_;
  int used_ = 0, lowest_ = 0;
};

std::string draw_edge(graph_plan const& plan, std::uint32_t s, std::uint32_t i, std::vector<box> const& boxes,
                      lanes& below) {
  auto const& in = plan.stages[s].inputs[i];
  auto const &from = boxes[in.from], &to = boxes[s];
  int const x1 = from.x() + box_width,
            y1 = port_y(from, in.output, plan.stages[in.from].kind->outputs.size());
  int const x2 = to.x(), y2 = input_y(plan.stages[s], to, i);
  auto const* const transfer = plan.transfer_to(s, i);
  auto const* const colour = transfer != nullptr ? copied_colour : "#7a828e";
  bool const skips = to.column > from.column + 1;
  int const lane = skips ? below.next(from, to) : 0;
  // The label is in the gap, or where the lane begins.
  int const middle = skips ? x1 + gap_x + box_width / 2 : x1 + gap_x / 2,
            label_y = skips ? lane : (y1 + y2) / 2;
  auto const half = gap_x / 2;
  auto const way = skips ? fmt::format("C{0} {1} {0} {2} {3} {2} H{4} C{5} {2} {5} {6}", x1 + half, y1, lane,
                                       x1 + gap_x, x2 - gap_x, x2 - half, y2)
                         : fmt::format("C{0} {1} {0} {2}", x1 + half, y1, y2);
  auto text = fmt::format(
      R"svg(<path d="M{} {} {} {} {}" fill="none" stroke="{}" stroke-width="1.8"{} marker-end="url(#head{})"/>
<text x="{}" y="{}" class="edge">{} · {}</text>
)svg",
      x1, y1, way, x2 - 2, y2, colour, transfer != nullptr ? R"( stroke-dasharray="6 4")" : "",
      transfer != nullptr ? "-copied" : "", middle, label_y - (skips ? 5 : 7), name_of(in.how),
      bytes_text(plan.frame_bytes(in.from, in.output)));
  if (transfer != nullptr)
    text += fmt::format("<text x=\"{}\" y=\"{}\" class=\"edge\" style=\"fill:{}\">copied, {} us</text>\n",
                        middle, label_y + 17, copied_colour, (transfer->ns + 500) / 1000);
  return text;
}

}  // namespace

std::string graph_svg(graph_plan const& plan, std::string const& title) {
  auto const boxes = place_boxes(plan);
  int columns = 0, rows = 0;
  for (auto const& b : boxes) columns = std::max(columns, b.column + 1), rows = std::max(rows, b.row + 1);
  int const width = std::max(2 * margin + columns * (box_width + gap_x) - gap_x, 360);
  lanes below(boxes);
  std::string edges;
  for (std::uint32_t s = 0; s < plan.stages.size(); ++s)
    for (std::uint32_t i = 0; i < plan.stages[s].inputs.size(); ++i)
      if (plan.stages[s].inputs[i].from != no_stage) edges += draw_edge(plan, s, i, boxes, below);
  int const height = std::max(heading + rows * (box_height + gap_y) - gap_y, below.lowest()) + margin;
  auto const head = [](char const* id, char const* colour) {
    return fmt::format(
        R"(<marker id="{}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="{}"/></marker>)",
        id, colour);
  };
  auto svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif">
<style>.title{{font-size:17px;font-weight:bold;fill:#1c2733}}.name{{font-size:14px;font-weight:bold;fill:#1c2733}}.type{{font-size:12px;fill:#5a6572}}.place{{font-size:11px}}.edge{{font-size:10.5px;fill:#5a6572;text-anchor:middle;paint-order:stroke;stroke:#f7f8fa;stroke-width:4px}}</style>
<defs>{2}{3}</defs>
<rect width="{0}" height="{1}" fill="#f7f8fa"/>
<text x="{4}" y="36" class="title">{5}</text>
)",
      width, height, head("head", "#7a828e"), head("head-copied", copied_colour), margin, escaped(title));
  svg += edges;
  for (std::uint32_t s = 0; s < plan.stages.size(); ++s) svg += draw_stage(plan, s, boxes[s]);
  return svg + "</svg>\n";
}

}  // namespace rondo::streams
