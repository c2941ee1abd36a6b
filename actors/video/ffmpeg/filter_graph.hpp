// A chain of FFmpeg's filters with one input and one output.
//
// Threads: one at a time.
#pragma once

#include <string>

#include "actors/video/ffmpeg/ffmpeg.hpp"

extern "C" {
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
}

namespace rondo::video::ffmpeg {

struct filter_graph {
  filters graph;  // null: it is not open
  AVFilterContext *in = nullptr, *out = nullptr;

  /// For frames like `like`, with times in these ticks. Returns an error of FFmpeg, or 0. Throws std::bad_alloc.
  int open(AVFrame const& like, AVRational tick, std::string const& description) {
    graph.reset(avfilter_graph_alloc());
    if (!graph) throw std::bad_alloc();
    graph->nb_threads = 1;
    auto const source = "video_size=" + std::to_string(like.width) + "x" + std::to_string(like.height) +
                        ":pix_fmt=" + std::to_string(like.format) + ":time_base=" + std::to_string(tick.num) +
                        "/" + std::to_string(tick.den);
    int result = avfilter_graph_create_filter(&in, avfilter_get_by_name("buffer"), "in", source.c_str(),
                                              nullptr, graph.get());
    if (result >= 0)
      result = avfilter_graph_create_filter(&out, avfilter_get_by_name("buffersink"), "out", nullptr, nullptr,
                                            graph.get());
    if (result < 0) return result;
    AVFilterInOut *outputs = avfilter_inout_alloc(), *inputs = avfilter_inout_alloc();
    if (outputs == nullptr || inputs == nullptr) throw std::bad_alloc();
    outputs->name = av_strdup("in");
    outputs->filter_ctx = in;
    inputs->name = av_strdup("out");
    inputs->filter_ctx = out;
    result = avfilter_graph_parse_ptr(graph.get(), description.c_str(), &inputs, &outputs, nullptr);
    avfilter_inout_free(&inputs);
    avfilter_inout_free(&outputs);
    return result < 0 ? result : avfilter_graph_config(graph.get(), nullptr);
  }
};

}  // namespace rondo::video::ffmpeg
