#include "runtime/state/recording_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <istream>
#include <stdexcept>

#include "generated/recording_generated.h"
#include "runtime/files/file_size_errors.hpp"
#include "runtime/state/checkpoint_file.hpp"

namespace rondo {

namespace {

struct recording_head {
  char magic[8] = {'R', 'O', 'N', 'D', 'O', 'R', 'E', 'C'};
  std::uint32_t byte_order = 0x0102'0304;
  std::uint32_t version = recording_version;
};
static_assert(sizeof(recording_head) == 16);

struct frame_head {
  std::uint32_t bytes, crc;  // of the body
  std::uint32_t own_crc;     // of these two: a damaged length must not look like the end of the file
};

constexpr std::size_t buffer_bytes = 64 * 1024;
constexpr std::uint32_t frame_limit = 0x7fff'ffff;  // FlatBuffers' own

std::uint32_t crc32(void const* bytes, std::size_t count) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes, count);
  return crc.checksum();
}

std::uint32_t own_crc(frame_head const& head) { return crc32(&head, offsetof(frame_head, own_crc)); }

using builder = flatbuffers::FlatBufferBuilder;

template <class Table>
void finish(builder& b, flatbuffers::Offset<Table> what) {
  b.Finish(schemas::Createrecorded_entry(b, schemas::happeningTraits<Table>::enum_value, what.Union()));
}

void pack(builder& b, recorded_message const& m) {
  auto const& h = m.body.header;
  auto const payload = b.CreateVector(reinterpret_cast<std::uint8_t const*>(m.body.payload), m.body.bytes);
  finish(b, schemas::Createended_message(b, m.actor.index, m.actor.generation, h.type, h.correlation,
                                         h.reply_to.index, h.reply_to.generation, h.sent_ns(), h.priority,
                                         h.flags, m.team, m.handled, static_cast<std::uint32_t>(m.reason),
                                         m.digest, payload));
}
void pack(builder& b, recorded_launch const& l) {
  auto const name = b.CreateString(l.name);
  auto const arguments =
      b.CreateVector(reinterpret_cast<std::uint8_t const*>(l.arguments.data()), l.arguments.size());
  auto const& s = l.supervise;
  finish(b, schemas::Createnew_actor(b, l.actor.index, l.actor.generation, name, l.behaviour, l.capacity,
                                     l.pinned, s.within_ms, s.max_restarts, static_cast<std::uint8_t>(s.rule),
                                     s.poison_after, arguments, l.reserve.slots, l.reserve.from));
}
void pack(builder& b, recorded_end const& e) {
  finish(b, schemas::Creategone_actor(b, e.actor.index, e.actor.generation));
}
void pack(builder& b, recording_closed const& c) { finish(b, schemas::Createend_of_recording(b, c.entries)); }

template <class... Args>
void check_recording(bool holds, fmt::format_string<Args...> why, Args&&... args) {
  if (!holds) throw std::runtime_error(fmt::format(why, std::forward<Args>(args)...));
}

recorded unpack(schemas::ended_message const& m) {
  recorded_message out;
  out.actor = {m.actor_index(), m.actor_generation()};
  check_recording(m.payload()->size() == max_payload_bytes,
                  "a recorded message has {} bytes of payload, not {}", m.payload()->size(),
                  max_payload_bytes);
  auto& h = out.body.header;
  h.type = m.type();
  h.correlation = m.correlation();
  h.reply_to = {m.reply_to_index(), m.reply_to_generation()};
  h.sent_low = static_cast<std::uint32_t>(m.sent_ns());
  h.sent_high = static_cast<std::uint16_t>(m.sent_ns() >> 32);
  h.priority = m.priority();
  h.flags = m.flags();
  out.body.bytes = max_payload_bytes;
  std::memcpy(out.body.payload, m.payload()->data(), max_payload_bytes);
  out.team = m.team();
  out.handled = m.handled();
  out.reason = static_cast<errc>(m.reason());
  out.digest = m.digest();
  return out;
}

recorded unpack(schemas::new_actor const& a, std::vector<behaviour_info> const& module) {
  recorded_launch out{
      .actor = {a.index(), a.generation()},
      .name = a.name()->str(),
      .behaviour = a.behaviour(),
      .capacity = a.capacity(),
      .reserve = {a.reserved_slots(), a.reserved_from()},
      .pinned = a.pinned(),
      .supervise = {static_cast<on_failure>(a.rule()), a.poison_after(), a.max_restarts(), a.within_ms()}};
  check_recording(out.behaviour < module.size(), "the recorded actor '{}' has behaviour {}", out.name,
                  out.behaviour);
  check_recording(out.actor.generation != 0, "the recorded actor '{}' has no generation", out.name);
  check_recording(out.capacity != 0 && out.capacity <= ticket_mask / 4,
                  "the recorded actor '{}' has a capacity of {}", out.name, out.capacity);
  check_recording(out.reserve.slots < out.capacity, "the recorded actor '{}' has {} reserved slots of {}",
                  out.name, out.reserve.slots, out.capacity);
  if (auto const* const given = a.arguments(); given != nullptr && given->size() != 0) {
    check_recording(given->size() == module[out.behaviour].arguments.size(),
                    "the recorded actor '{}' has {} bytes of arguments", out.name, given->size());
    auto const* const bytes = reinterpret_cast<std::byte const*>(given->data());
    out.arguments.assign(bytes, bytes + given->size());
  } else {
    out.arguments = module[out.behaviour].arguments;
  }
  check_recording(a.rule() <= static_cast<std::uint8_t>(on_failure::ask_parent) && a.poison_after() != 0 &&
                      a.poison_after() <= max_attempts,
                  "the supervision of the recorded actor '{}' is unknown", out.name);
  return out;
}

}  // namespace

// -- writing

recorder::recorder(std::filesystem::path file, failure_handler on_failure)
    : file_(std::move(file)),
      on_failure_(std::move(on_failure)),
      fd_(::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
  if (!fd_)
    throw std::runtime_error(fmt::format("{}: the recording cannot be created: {}{}", file_.string(),
                                         std::strerror(errno),
                                         errno == EEXIST ? "; move it away, or choose another name" : ""));
  recording_head const head;
  auto const* const bytes = reinterpret_cast<std::byte const*>(&head);
  buffer_.assign(bytes, bytes + sizeof head);
}

recorder::~recorder() {
  if (made_here_) write_buffer();
}

void recorder::begin(checkpoint_image const& image, std::vector<behaviour_info> const& module) {
  auto const body = encode_checkpoint_body(image, module);
  std::lock_guard lock(mutex_);
  add_frame({reinterpret_cast<std::uint8_t const*>(body.data()), body.size()});
}

void recorder::append(recorded const& what) {
  report_failure_of([&] { add_entry(what); });
}

void recorder::append(device_event const& r) {
  recorded_message m{.actor = r.actor,
                     .body = r.body,
                     .team = r.team,
                     .handled = r.kind == event_kind::handled,
                     .reason = r.reason,
                     .digest = r.behaviour};
  m.body.header.flags &= static_cast<std::uint8_t>(~(flag_traced | flag_sampled));
  append(recorded(m));
}

bool recorder::flush() {
  if (is_of_parent()) return false;
  return report_failure_of([&] { write_buffer(); });
}

void recorder::close() {
  if (is_of_parent())
    throw std::runtime_error(file_.string() + ": a forked child cannot end its parent's recording");
  std::lock_guard lock(mutex_);
  if (!closed_) {
    add_entry(recording_closed{entries_});
    closed_ = true;
    write_buffer();
    if (failure_.empty() && ::fsync(fd_.get()) != 0) fail("syncing it to disk");
  }
  if (!failure_.empty()) throw std::runtime_error(failure_);
}

bool recorder::is_closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

/// Calls `write` under the mutex, and reports the first failure. Returns whether the file is complete so far.
template <class Write>
bool recorder::report_failure_of(Write write) {
  std::unique_lock lock(mutex_);
  bool const well = failure_.empty();
  write();
  if (failure_.empty()) return true;
  lock.unlock();  // the first failure stays
  if (well) on_failure_(failure_);
  return false;
}

// Precondition of the functions below: the caller holds mutex_.

void recorder::add_entry(recorded const& what) {
  if (!failure_.empty() || closed_) return;
  thread_local builder b(512);
  b.Clear();
  std::visit([](auto const& w) { pack(b, w); }, what);
  add_frame({b.GetBufferPointer(), b.GetSize()});
  ++entries_;
}

void recorder::add_frame(std::span<std::uint8_t const> body) {
  frame_head head{static_cast<std::uint32_t>(body.size()), crc32(body.data(), body.size()), 0};
  head.own_crc = own_crc(head);
  auto const* const bytes = reinterpret_cast<std::byte const*>(&head);
  buffer_.insert(buffer_.end(), bytes, bytes + sizeof head);
  auto const* const first = reinterpret_cast<std::byte const*>(body.data());
  buffer_.insert(buffer_.end(), first, first + body.size());
  if (buffer_.size() >= buffer_bytes) write_buffer();
}

void recorder::write_buffer() {
  std::span<std::byte const> left(buffer_);
  file_size_errors const errors;
  while (!left.empty() && failure_.empty()) {
    auto const n = ::write(fd_.get(), left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail("writing the file");
    left = left.subspan(static_cast<std::size_t>(n));
  }
  buffer_.clear();
}

void recorder::fail(char const* doing) {
  int const error = errno;
  failure_ = fmt::format("{}: the recording ends after {} entries: {}: {}{}", file_.string(), entries_, doing,
                         std::strerror(error), file_size_advice(error));
}

// -- reading

recording_reader::recording_reader(std::istream& from, std::vector<behaviour_info> const& module)
    : from_(from), module_(module) {
  recording_head head;
  recording_head const own;
  from_.read(reinterpret_cast<char*>(&head), sizeof head);
  check_recording(from_.gcount() == sizeof head && std::memcmp(head.magic, own.magic, sizeof own.magic) == 0,
                  "is not a recording");
  check_recording(head.byte_order == own.byte_order, "was written on a machine with another byte order");
  check_recording(head.version == own.version, "is a recording of version {}; this program reads {}",
                  head.version, own.version);
  check_recording(read_frame(), "is truncated: it ends within the actors at its beginning");
  image_ = decode_checkpoint_body(body_, module_);
}

/// False at the end, also if the last frame is torn.
bool recording_reader::read_frame() {
  frame_head head{};
  from_.read(reinterpret_cast<char*>(&head), sizeof head);
  if (from_.gcount() != sizeof head) return false;
  check_recording(head.own_crc == own_crc(head) && head.bytes <= frame_limit,
                  "is damaged: the length of entry {} does not match its checksum", entries_);
  // In pieces: a forged length must not allocate all memory before the file turns out to be shorter.
  body_.clear();
  while (body_.size() < head.bytes) {
    auto const have = body_.size();
    auto const piece = std::min<std::size_t>(head.bytes - have, 1 << 20);
    body_.resize(have + piece);
    from_.read(reinterpret_cast<char*>(body_.data() + have), static_cast<std::streamsize>(piece));
    if (static_cast<std::size_t>(from_.gcount()) != piece) return false;
  }
  check_recording(crc32(body_.data(), body_.size()) == head.crc,
                  "is damaged: entry {} does not match its checksum", entries_);
  return true;
}

recorded decode_recorded(std::span<std::byte const> body, std::vector<behaviour_info> const& module) {
  auto const* const bytes = reinterpret_cast<std::uint8_t const*>(body.data());
  flatbuffers::Verifier verifier(bytes, body.size(), 8, 8);
  check_recording(verifier.VerifyBuffer<schemas::recorded_entry>(nullptr),
                  "an entry is not a valid FlatBuffer");
  auto const& e = *flatbuffers::GetRoot<schemas::recorded_entry>(bytes);
  if (auto const* const m = e.what_as_ended_message(); m != nullptr) return unpack(*m);
  if (auto const* const a = e.what_as_new_actor(); a != nullptr) return unpack(*a, module);
  if (auto const* const g = e.what_as_gone_actor(); g != nullptr)
    return recorded_end{{g->index(), g->generation()}};
  if (auto const* const c = e.what_as_end_of_recording(); c != nullptr) return recording_closed{c->entries()};
  throw std::runtime_error("an entry has an unknown kind");
}

std::optional<recorded> recording_reader::next() {
  if (complete_ || !read_frame()) return std::nullopt;
  try {
    auto entry = decode_recorded(body_, module_);
    if (auto const* const c = std::get_if<recording_closed>(&entry); c != nullptr) {
      check_recording(c->entries == entries_, "its last entry says that it has {} entries", c->entries);
      complete_ = true;
    }
    ++entries_;
    return entry;
  } catch (std::runtime_error const& e) {
    throw std::runtime_error(fmt::format("is damaged after {} entries: {}", entries_, e.what()));
  }
}

}  // namespace rondo
