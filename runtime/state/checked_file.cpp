#include "runtime/state/checked_file.hpp"

#include <fmt/format.h>

#include <boost/crc.hpp>
#include <cstring>

#include "runtime/files/durable_file.hpp"

namespace rondo {

namespace {

struct file_head {
  char magic[8] = {};
  std::uint32_t byte_order = 0x0102'0304;
  std::uint32_t version = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t body_crc = 0;
  std::uint64_t head_crc = 0;  // of the fields before it
};
static_assert(sizeof(file_head) == 40 && std::is_trivially_copyable_v<file_head>);

std::uint64_t crc64(void const* bytes, std::size_t count) {
  boost::crc_optimal<64, 0x42f0'e1eb'a9ea'3693, ~0ull, ~0ull, true, true> crc;
  crc.process_bytes(bytes, count);
  return crc.checksum();
}

std::uint64_t head_crc_of(file_head const& head) { return crc64(&head, offsetof(file_head, head_crc)); }

file_head head_for(file_format const& format) {
  file_head head;
  std::memcpy(head.magic, format.magic.data(), std::min(sizeof head.magic, format.magic.size()));
  head.version = format.version;
  return head;
}

template <class... Args>
void refuse_unless(bool holds, fmt::format_string<Args...> why, Args&&... args) {
  if (!holds) throw file_refusal(fmt::format(why, std::forward<Args>(args)...));
}

void check_head(std::vector<std::byte> const& bytes, file_format const& format) {
  file_head head;
  refuse_unless(bytes.size() >= sizeof head, "is not {}, or is truncated: it has {} bytes", format.what,
                bytes.size());
  std::memcpy(&head, bytes.data(), sizeof head);
  auto const own = head_for(format);
  refuse_unless(std::memcmp(head.magic, own.magic, sizeof own.magic) == 0,
                "is not {}: it does not begin with {}", format.what, format.magic);
  refuse_unless(head.byte_order == own.byte_order,
                "was written on a machine with another byte order, or is damaged");
  refuse_unless(head.version >= format.oldest && head.version <= format.version,
                "has format version {}, but this program reads only version {}; restore it with the program "
                "that wrote it",
                head.version,
                format.oldest == format.version ? fmt::to_string(format.version)
                                                : fmt::format("{} to {}", format.oldest, format.version));
  refuse_unless(head.head_crc == head_crc_of(head), "is damaged: the checksum of its head is wrong");
  refuse_unless(head.body_bytes == bytes.size() - sizeof head,
                "is truncated: {} bytes follow its head, not {}", bytes.size() - sizeof head,
                head.body_bytes);
  refuse_unless(head.body_crc == crc64(bytes.data() + sizeof head, bytes.size() - sizeof head),
                "is damaged: its checksum is wrong");
}

}  // namespace

void write_checked_file(std::filesystem::path const& file, file_format const& format,
                        std::span<std::byte const> body) {
  auto head = head_for(format);
  head.body_bytes = body.size();
  head.body_crc = crc64(body.data(), body.size());
  head.head_crc = head_crc_of(head);
  std::span<std::byte const> const parts[] = {std::as_bytes(std::span(&head, 1)), body};
  replace_file(file, parts);
}

checked_file::checked_file(std::filesystem::path const& file, file_format const& format,
                           std::uint64_t limit_bytes)
    : bytes_(read_whole_file(file, limit_bytes + sizeof(file_head))) {
  try {
    check_head(bytes_, format);
  } catch (file_refusal const& r) {
    throw std::runtime_error(fmt::format("{}: {}", file.string(), r.what()));
  }
}

std::span<std::byte const> checked_file::body() const noexcept {
  return std::span(bytes_).subspan(sizeof(file_head));
}

}  // namespace rondo
