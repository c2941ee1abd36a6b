#include "runtime/nats/durable_notes.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rondo::service {

constexpr std::string_view mark = "rondo.nats 1 ";

std::vector<std::byte> encode(durable_notes const& notes) {
  auto const text = fmt::format("{}{} {}", mark, notes.stream_created_ns, notes.taken.text());
  auto const bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

durable_notes decode_notes(std::span<std::byte const> bytes) {
  durable_notes notes;
  if (bytes.empty()) return notes;
  std::string_view text{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  if (!text.starts_with(mark))
    throw std::invalid_argument(
        "its notes were not written by a service with durable NATS actors, or by a later version of one");
  text.remove_prefix(mark.size());
  auto const* const end = text.data() + text.size();
  auto const [stop, failed] = std::from_chars(text.data(), end, notes.stream_created_ns);
  if (failed != std::errc() || stop == end || *stop != ' ')
    throw std::invalid_argument("its notes do not name a NATS stream");
  notes.taken = sequence_set::parse({stop + 1, static_cast<std::size_t>(end - stop - 1)});
  return notes;
}

}  // namespace rondo::service
