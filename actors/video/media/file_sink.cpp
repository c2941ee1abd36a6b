#include "actors/video/media/file_sink.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <vector>

#include "actors/video/files/video_writer.hpp"
#include "actors/video/pixels/rates.hpp"
#include "runtime/files/part_file.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

namespace rondo::video {

namespace {

constexpr std::size_t most_early_bytes = 64u << 20;  // of sound before the first picture

writing writing_of(file_sink::options const& o, streams::host_link& link) {
  return {.container = o.container.c_str(),
          .codec = o.codec.c_str(),
          .preset = o.preset.c_str(),
          .quality = o.quality,
          .bit_rate = o.bit_rate,
          .key_every = o.key_every,
          .threads = o.threads,
          .low_memory = o.low_memory,
          .of = o.file.empty() ? (o.url.empty() ? video_name::pattern : video_name::url) : video_name::file,
          .remark = [&link](std::string const& text) { link.log(log_level::warning, text.c_str()); }};
}

}  // namespace

/// A video that is being written. Threads: the stage's, and then the one that ends the graph.
class video_file {
 public:
  video_file(file_sink::options const& o, std::string const& file, streams::spec_of<file_sink> const& s,
             bool begins_at_zero, streams::host_link& link)
      : rate_(o.rate),
        graph_rate_(s.rate()),
        by_graph_(s.rate() > 0 && s.sources() > 1),
        writer_(file, writing_of(o, link)) {
    if (auto const* const heard = s.in<"sound">(); heard != nullptr) heard_ = *heard;
    if (!begins_at_zero) base_ns_ = 0;
  }

  /// False, here and below: see why_failed.
  bool write(image about, std::byte const* data, streams::tick const& t) {
    return attempt([&] {
      auto when = time_of(about, t);
      if (!writer_.has_begun()) {
        if (!base_ns_) base_ns_ = when.time_ns;
        writer_.begin(about, heard_ ? &*heard_ : nullptr, *base_ns_);
        for (auto const& early : early_) writer_.write_sound(early.data());
        early_.clear();
      }
      when.time_ns = when.time_ns > *base_ns_ ? when.time_ns - *base_ns_ : 0;
      writer_.write(data, when);
    });
  }
  bool write_sound(std::byte const* data) {
    return attempt([&] {
      if (writer_.has_begun()) return writer_.write_sound(data);
      early_.emplace_back(data, data + bytes_in(*heard_, data));
      early_bytes_ += early_.back().size();
      if (early_bytes_ > most_early_bytes)
        throw video_error(
            fmt::format("{} MiB of sound have come, and no picture: connect pictures that begin with it",
                        most_early_bytes >> 20));
    });
  }
  bool finish() {
    return attempt([&] { writer_.close(); });
  }
  void flush() { writer_.flush(); }
  std::string const& why_failed() const noexcept { return why_; }

 private:
  shown_time time_of(image& about, streams::tick const& t) const {
    auto const steady = [&](double rate) {
      set_rate(about, rate);
      auto const number = static_cast<double>(t.number);
      return shown_time{
          static_cast<std::uint64_t>(std::llround(number * 1e9 * about.rate_den / about.rate_num)), 0};
    };
    if (rate_ > 0) return steady(rate_);
    if (t.origin.time_ns != streams::no_time && !by_graph_) return {t.origin.time_ns, t.origin.lasts_ns};
    return steady(graph_rate_ > 0 ? graph_rate_ : 25);
  }
  bool attempt(auto const& work) {
    try {
      work();
      return true;
    } catch (std::exception const& e) {
      why_ = e.what();
      return false;
    }
  }

  double rate_, graph_rate_;
  bool by_graph_;
  std::optional<sound> heard_;
  std::optional<std::uint64_t>
      base_ns_;  // the time at which the file begins; empty: that of the first picture
  std::vector<std::vector<std::byte>> early_;  // sound that has come before the first picture
  std::size_t early_bytes_ = 0;
  video_writer writer_;
  std::string why_;
};

void file_sink::spec(options const& o, streams::spec_of<file_sink>& s) {
  int const named = !o.file.empty() + !o.url.empty() + !o.pattern.empty();
  if (named == 0) return s.refuse("it has no file: name one, or a `url`, or a `pattern`");
  if (named > 1) s.refuse("it has several of `file`, `url` and `pattern`: name one of them");
}

file_sink::host::host(options const& o, streams::spec_of<file_sink> const& s, streams::host_link& link) try {
  auto const first = link.begins_at().tick;
  std::string name = o.url.c_str();
  if (o.url.empty()) {
    std::string const first_name = o.pattern.empty() ? o.file.c_str() : o.pattern.c_str();
    if (first != 0) part_file::finish_left(first_name);
    name = name_from(first_name, first);
  }
  file_ = std::make_unique<video_file>(o, name, s, first != 0, link);
} catch (video_device_error const& e) {
  throw streams::stage_error(streams::fault::unavailable, e.what());
}
file_sink::host::~host() = default;
streams::stage_error file_sink::host::why_failed() const {
  return {streams::fault::output_refused, file_->why_failed()};
}
void file_sink::host::flush() { file_->flush(); }

void file_sink::process(streams::stage_context<file_sink>& ctx, streams::tick const& t) {
  auto& file = *ctx.host().file_;
  if (auto const heard = ctx.input<"sound">(); heard && !file.write_sound(heard.data))
    return ctx.fail_graph();
  auto const in = ctx.input<"video">();
  if (in && !file.write(in.about, in.data, t)) ctx.fail_graph();
}
void file_sink::on_stop(streams::stage_context<file_sink>& ctx) {
  if (!ctx.host().file_->finish()) ctx.fail_graph();
}

}  // namespace rondo::video
