// Makes pictures, as an `image` says what they are, of the frames that a decoder gives: without interlacing, upright,
// with even sizes, in planes of 4:2:0. What need not change is copied.
//
// Colours keep their range and their matrix, unless others are asked for. RGB becomes BT.709, below 720 rows BT.601.
// Threads: one at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "actors/video/ffmpeg/filter_graph.hpp"

namespace rondo::video {

/// How a source wants its pictures.
struct picture_wishes {
  std::int32_t width = 0, height = 0;  // to which they are scaled; 0: their own
  bool turns = true;                   // upright, as players show them
  bool deinterlaces = true;            // interlaced ones
  bool pads = false;                   // an odd width or height grows by one; else it shrinks
  bool is_deep = false;                // keeps 10 bits, if there are more than 8
  int matrix = -1, is_full = -1;       // of colour_description; -1: their own
};

class picture_conversion {
 public:
  /// `first`: the first frame; `of`: its stream. `source`: for messages. Throws video_error.
  picture_conversion(std::string source, AVFormatContext* input, AVStream* of, AVFrame const& first,
                     picture_wishes const& wishes);
  ~picture_conversion();

  image const& about() const noexcept { return about_; }
  /// The bits of a sample, before they become 8.
  int depth() const noexcept { return depth_; }
  /// Columns and rows that are left out, because 4:2:0 has even sizes.
  int cut_columns() const noexcept { return cut_columns_; }
  int cut_rows() const noexcept { return cut_rows_; }

  /// Gives it a frame, whose content it takes; null: there are no more. Throws video_error.
  void give(AVFrame* frame);
  /// The next picture; false: it needs another frame first. Its time is in ticks of the stream. Throws video_error.
  bool take(AVFrame& to);
  /// Copies one that `take` gave to a block of `about().bytes()`. Throws video_error.
  void copy(AVFrame const& from, std::byte* to) const;

 private:
  struct input_kind {
    int width = 0, height = 0, format = -1;
    bool is_full = false, interlaced = false;
    int matrix = 2;
    friend bool operator==(input_kind const&, input_kind const&) = default;
  };
  input_kind kind_of(AVFrame const& f) const;
  bool is_as_wanted(input_kind const& k) const;
  std::string filters_for(input_kind const& k) const;
  void build(AVFrame const& like);
  void end_input();

  std::string source_;
  AVRational tick_;
  picture_wishes wishes_;
  image about_;
  int depth_ = 8, cut_columns_ = 0, cut_rows_ = 0, turns_ = 0;
  bool is_interlaced_ = false;
  std::optional<input_kind> built_for_;
  ffmpeg::filter_graph graph_;  // not open: frames are copied as they are
  ffmpeg::frame waiting_;       // without a graph: the frame that was given
  bool has_waiting_ = false, draining_ = false;
  ffmpeg::frame next_;  // of another kind: given once the graph before it is empty
  bool has_next_ = false;
};

}  // namespace rondo::video
