#include "actors/video/files/whole_mp4.hpp"

#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "actors/video/ffmpeg/ffmpeg.hpp"

namespace rondo::video {

namespace {

/// The file that is being made; removed unless it is kept.
struct new_file {
  explicit new_file(std::string name) : path(std::move(name)) {}
  ~new_file() {
    if (output != nullptr && output->pb != nullptr) avio_closep(&output->pb);
    avformat_free_context(output);
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  new_file(new_file const&) = delete;
  new_file& operator=(new_file const&) = delete;

  std::string path;
  AVFormatContext* output = nullptr;
};

bool add_stream(AVFormatContext& to, AVStream const& from) {
  auto* const s = avformat_new_stream(&to, nullptr);
  if (s == nullptr || avcodec_parameters_copy(s->codecpar, from.codecpar) < 0) return false;
  s->time_base = from.time_base;
  s->avg_frame_rate = from.avg_frame_rate;
  s->sample_aspect_ratio = from.sample_aspect_ratio;
  for (auto const type :
       {AV_PKT_DATA_DISPLAYMATRIX, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, AV_PKT_DATA_CONTENT_LIGHT_LEVEL}) {
    std::size_t bytes = 0;
    if (auto const* const data = av_stream_get_side_data(&from, type, &bytes))
      if (auto* const copy = av_stream_new_side_data(s, type, bytes)) std::memcpy(copy, data, bytes);
  }
  return true;
}

}  // namespace

bool make_whole(std::string const& path, char const* container, std::int64_t packets, std::int64_t last_ns) {
  AVFormatContext* raw = nullptr;
  if (avformat_open_input(&raw, ("file:" + path).c_str(), nullptr, nullptr) < 0) return false;
  ffmpeg::input const in(raw);
  if (avformat_find_stream_info(in.get(), nullptr) < 0) return false;
  new_file to(path + ".whole");
  std::error_code ignored;
  std::filesystem::remove(to.path, ignored);  // what a killed process left, or a link to somebody's file
  auto const url = "file:" + to.path;
  if (avformat_alloc_output_context2(&to.output, nullptr, container, url.c_str()) < 0) return false;
  for (unsigned i = 0; i < in->nb_streams; ++i)
    if (!add_stream(*to.output, *in->streams[i])) return false;
  if (avio_open(&to.output->pb, url.c_str(), AVIO_FLAG_WRITE) < 0) return false;
  AVDictionary* options = nullptr;
  // At most so much is the index: a size and a time for each packet, and a place for each run of one stream's.
  av_dict_set_int(&options, "moov_size", (in->nb_streams > 1 ? 30 : 14) * packets + 2048, 0);
  int const begun = avformat_write_header(to.output, &options);
  av_dict_free(&options);
  if (begun < 0) return false;
  // A packet waits until it is known whether it is the last of its stream.
  std::vector<ffmpeg::packet> waiting(in->nb_streams);
  auto const write = [&](ffmpeg::packet& p) {
    auto const i = static_cast<std::size_t>(p->stream_index);
    av_packet_rescale_ts(p.get(), in->streams[i]->time_base, to.output->streams[i]->time_base);
    return av_interleaved_write_frame(to.output, p.get()) >= 0;
  };
  for (;;) {
    auto p = ffmpeg::new_packet();
    int const result = av_read_frame(in.get(), p.get());
    if (result == AVERROR_EOF) break;
    if (result < 0) return false;
    auto& before = waiting[static_cast<std::size_t>(p->stream_index)];
    if (before && !write(before)) return false;
    before = std::move(p);
  }
  for (auto& p : waiting) {
    if (!p) continue;
    auto const& s = *in->streams[p->stream_index];
    if (s.codecpar->codec_type == AVMEDIA_TYPE_VIDEO && last_ns > 0)
      p->duration = av_rescale_q(last_ns, ffmpeg::nanoseconds, s.time_base);
    if (!write(p)) return false;
  }
  if (av_write_trailer(to.output) < 0 || to.output->pb->error < 0 || avio_closep(&to.output->pb) < 0)
    return false;
  std::error_code failed;
  std::filesystem::permissions(to.path, std::filesystem::status(path).permissions(), failed);
  std::filesystem::rename(to.path, path, failed);
  return !failed;
}

}  // namespace rondo::video
