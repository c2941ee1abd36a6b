// A source of tracked points, of edges between them, and of boxes, from a file of JSON lines: one line for each tick.
//
//   {"points": [{"id": 1, "x": 100, "y": 80.5, "vx": 10, "vy": 0}, {"id": 2, "x": 300, "y": 90}], "edges": [[1, 2]],
//   "boxes": [{"id": 1, "x": 90, "y": 60, "width": 20, "height": 40}]}             (one line; any list may be missing)
//
// An edge is a pair of ids, of two points of the same line.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "actors/video/overlay/lists.hpp"
#include "kernels/streams/fault.hpp"
#include "kernels/streams/option_text.hpp"
#include "kernels/streams/stage.hpp"

namespace rondo::video {

struct points_source {
  using ports = streams::ports<streams::out<"points", points>, streams::optional_out<"boxes", boxes>,
                               streams::optional_out<"edges", edges>>;
  struct options {
    streams::option_text<1024> file{};
    bool loop = false;
    std::uint32_t most = 1024;

    void describe(auto& option) {
      option.reads("file", file, "JSON lines to read, one for each tick");
      option("loop", loop, "begins again at its end");
      option("most", most, "points, boxes or edges of a line", 1, 16'384);
    }
  };
  static constexpr auto where = streams::works::on_host;
  static void spec(options const& o, streams::spec_of<points_source>& s);
  class host {
   public:
    host(options const& o, streams::spec_of<points_source> const&, streams::host_link&);
    streams::stage_error why_failed() const { return {streams::fault::input_malformed, why_}; }

   private:
    friend points_source;
    enum class outcome { read, end, failed };
    outcome read_line(options const& o);
    outcome fail(std::string why);

    std::ifstream file_;
    std::string name_, why_;
    std::vector<char> line_;     // with room for the longest one
    std::vector<point> points_;  // of the line
    std::vector<box> boxes_;
    std::vector<edge> edges_;
    std::uint64_t number_ = 0;  // of the line
  };

  /// The graph ends with the file. It fails if a line is not what it should be, or has more than `most` items.
  void process(streams::stage_context<points_source>& ctx, streams::tick const& t);
};

}  // namespace rondo::video
