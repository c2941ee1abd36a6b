#include "actors/streams/network/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/text/clean_text.hpp"

namespace rondo::streams {

std::string frame_terms::text() const {
  return fmt::format("{}{}{}, {} bytes", frame, shape.empty() ? "" : " ", shape, most_bytes);
}

std::string why_not(frame_terms const& writes, frame_terms const& reads) {
  auto const both = [&](char const* what) {
    return fmt::format("{}: the writer sends {}, and the reader expects {}", what, writes.text(),
                       reads.text());
  };
  if (writes.frame != reads.frame || writes.about_bytes != reads.about_bytes)
    return both("another type of frames");
  if (writes.shape != reads.shape) return both("another shape of frames");
  if (writes.most_bytes > reads.most_bytes) return both("frames that are too large");
  return {};
}

wire_terms wire_terms::from(frame_terms const& t) {
  wire_terms w{};
  w.most_bytes = t.most_bytes;
  w.about_bytes = t.about_bytes;
  write_text(w.frame, sizeof w.frame, t.frame);
  write_text(w.shape, sizeof w.shape, t.shape);
  return w;
}

frame_terms wire_terms::read() const {
  return {read_text(frame, sizeof frame), read_text(shape, sizeof shape), most_bytes, about_bytes};
}

void write_text(char* field, std::size_t bytes, std::string const& text) {
  std::memset(field, 0, bytes);
  std::memcpy(field, text.data(), std::min(bytes - 1, text.size()));
}

std::string read_text(char const* field, std::size_t bytes) {
  return clean_text({field, strnlen(field, bytes)});
}

}  // namespace rondo::streams
