#include "runtime/state/checkpoint_file.hpp"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "generated/checkpoint_generated.h"
#include "runtime/state/checked_file.hpp"

namespace rondo {

namespace {

constexpr std::uint64_t body_limit = (std::uint64_t{1} << 31) - 1;  // FlatBuffers' own limit
constexpr file_format format{"RONDOCKP", checkpoint_version, "a checkpoint", 3};

// -- writing

using flatbuffers::Offset;
using builder = flatbuffers::FlatBufferBuilder;

std::string text(std::string_view view) { return std::string(view); }

auto pack(builder& b, std::vector<behaviour_info> const& module) {
  std::vector<Offset<schemas::saved_behaviour>> behaviours;
  for (auto const& behaviour : module) {
    std::vector<Offset<schemas::saved_message_type>> types;
    for (auto const& m : behaviour.messages)
      types.push_back(schemas::Createsaved_message_type(b, b.CreateString(text(m.name)), m.id, m.bytes,
                                                        m.has_reply, m.reply_id));
    behaviours.push_back(schemas::Createsaved_behaviour(b, b.CreateString(text(behaviour.name)),
                                                        behaviour.state_bytes, b.CreateVector(types)));
  }
  return b.CreateVector(behaviours);
}

schemas::saved_totals pack(actor_totals const& t) {
  return {t.handled, t.rejected, t.dead, t.failures, t.latency_sum_ns, t.latency_samples, t.peak_depth};
}

Offset<schemas::saved_mail> pack(builder& b, std::vector<saved_message> const& mail) {
  std::vector<schemas::saved_header> headers;
  std::vector<std::uint8_t> payloads;
  headers.reserve(mail.size());
  for (auto const& [body, age_ns] : mail) {
    auto const& h = body.header;
    headers.emplace_back(age_ns, h.type, h.correlation, h.reply_to.index, h.reply_to.generation, h.deadline,
                         body.bytes, h.priority, h.flags);
    auto const* const payload = reinterpret_cast<std::uint8_t const*>(body.payload);
    payloads.insert(payloads.end(), payload, payload + body.bytes);
  }
  auto const packed = b.CreateVectorOfStructs(headers);
  return schemas::Createsaved_mail(b, packed, b.CreateVector(payloads));
}

Offset<schemas::saved_followers> pack(builder& b, saved_followers const& f) {
  schemas::saved_totals* to = nullptr;
  auto const totals = b.CreateUninitializedVectorOfStructs(f.count(), &to);
  for (auto const& t : f.totals) *to++ = pack(t);
  auto const states = b.CreateVector(reinterpret_cast<std::uint8_t const*>(f.states.data()), f.states.size());
  std::vector<schemas::saved_latency> latencies;
  latencies.reserve(f.latencies.size());
  for (auto const& l : f.latencies) latencies.emplace_back(l.follower, l.bucket, l.count);
  return schemas::Createsaved_followers(b, totals, states, b.CreateVectorOfStructs(latencies));
}

Offset<schemas::saved_actor> pack(builder& b, saved_actor const& a) {
  schemas::saved_supervision const supervise(a.supervise.within_ms, a.supervise.max_restarts,
                                             static_cast<std::uint8_t>(a.supervise.rule),
                                             a.supervise.poison_after);
  auto const totals = pack(a.totals);
  auto const name = b.CreateString(a.name);
  auto const latency = b.CreateVector(a.latency_counts, latency_histogram::buckets);
  auto const state =
      b.CreateVector(reinterpret_cast<std::uint8_t const*>(a.state_bytes.data()), a.state_bytes.size());
  auto const mail = pack(b, a.mail);
  auto const arriving = pack(b, a.arriving);
  auto const followers = a.followers.count() == 0 ? 0 : pack(b, a.followers);
  return schemas::Createsaved_actor(
      b, name, a.id.index, a.id.generation, a.behaviour, a.capacity, a.pinned, a.paused,
      static_cast<std::uint8_t>(a.state), a.control, &supervise, a.overtakes, &totals, latency, state, mail,
      arriving, static_cast<std::uint8_t>(a.batch), a.reserve.slots, a.reserve.from, followers);
}

Offset<schemas::saved_request> pack(builder& b, device_event const& r) {
  auto const body = pack(b, std::vector<saved_message>{{r.body, 0}});
  return schemas::Createsaved_request(b, static_cast<std::uint32_t>(r.kind),
                                      static_cast<std::uint32_t>(r.reason), r.actor.index, r.actor.generation,
                                      r.detail, r.behaviour, body);
}

/// An upper bound of the body's size, because FlatBuffers aborts the program if a buffer exceeds its limit.
std::uint64_t estimate_bytes(checkpoint_image const& image) {
  std::uint64_t bytes = (1 << 20) + image.notes.size() + 256 * image.requests.size();
  for (auto const& a : image.actors) {
    bytes += 512 + a.name.size() + a.state_bytes.size();
    auto const& f = a.followers;
    bytes += f.states.size() + sizeof(schemas::saved_totals) * f.count() +
             sizeof(schemas::saved_latency) * f.latencies.size();
    for (auto const* const mail : {&a.mail, &a.arriving})
      for (auto const& m : *mail) bytes += sizeof(schemas::saved_header) + m.body.bytes;
  }
  return bytes;
}

// -- reading

using refusal = file_refusal;

template <class... Args>
void require(bool holds, fmt::format_string<Args...> why, Args&&... args) {
  if (!holds) throw refusal(fmt::format(why, std::forward<Args>(args)...));
}

std::string_view view(flatbuffers::String const* s) { return {s->data(), s->size()}; }

void check_module(schemas::saved_arena const& file, std::vector<behaviour_info> const& module) {
  constexpr auto advice = "restore it with the program that wrote it";
  auto const& theirs = *file.behaviours();
  for (std::size_t i = 0; i < std::max<std::size_t>(theirs.size(), module.size()); ++i) {
    require(i < theirs.size(), "was written by another module: it has no behaviour '{}'; {}", module[i].name,
            advice);
    auto const& b = *theirs.Get(static_cast<flatbuffers::uoffset_t>(i));
    require(i < module.size() && view(b.name()) == module[i].name,
            "was written by another module: its behaviour {} is '{}'; {}", i, view(b.name()), advice);
    require(b.state_bytes() == module[i].state_bytes,
            "was written by another module: the state of '{}' has {} bytes in the file, {} here; {}",
            module[i].name, b.state_bytes(), module[i].state_bytes, advice);
    auto const& types = module[i].messages;
    bool same = b.messages()->size() == types.size();
    for (std::size_t m = 0; same && m < types.size(); ++m) {
      auto const& t = *b.messages()->Get(static_cast<flatbuffers::uoffset_t>(m));
      same = view(t.name()) == types[m].name && t.id() == types[m].id && t.bytes() == types[m].bytes &&
             t.has_reply() == types[m].has_reply && t.reply_id() == types[m].reply_id;
    }
    require(same, "was written by another module: '{}' took different messages; {}", module[i].name, advice);
  }
}

actor_totals unpack(schemas::saved_totals const& t, std::uint64_t waiting) {
  actor_totals out;
  out.handled = t.handled();
  out.rejected = t.rejected();
  out.dead = t.dead();
  out.failures = t.failures();
  out.latency_sum_ns = t.latency_sum_ns();
  out.latency_samples = t.latency_samples();
  out.peak_depth = t.peak_depth();
  out.accepted = out.ended() + waiting;
  return out;
}

/// FlatBuffers' verifier checks the alignment of a vector's length, but not of its structs.
template <class T>
bool is_aligned(flatbuffers::Vector<T const*> const& all) {
  return all.size() == 0 || reinterpret_cast<std::uintptr_t>(all.Data()) % alignof(T) == 0;
}

std::vector<saved_message> unpack(schemas::saved_mail const& from, std::string const& actor) {
  require(is_aligned(*from.headers()), "is inconsistent: the mail of '{}' is misaligned", actor);
  std::vector<saved_message> mail(from.headers()->size());
  std::uint8_t const* payload = from.payloads()->data();
  std::uint64_t left = from.payloads()->size();
  for (flatbuffers::uoffset_t i = 0; i < from.headers()->size(); ++i) {
    auto const& h = *from.headers()->Get(i);
    require(h.payload_bytes() <= max_payload_bytes && h.payload_bytes() <= left,
            "is inconsistent: a message of '{}' has {} bytes", actor, h.payload_bytes());
    auto& [body, age_ns] = mail[i];
    age_ns = h.age_ns();
    body.header.type = h.type();
    body.header.correlation = h.correlation();
    body.header.reply_to = {h.reply_to_index(), h.reply_to_generation()};
    body.header.deadline = h.deadline();
    body.header.priority = h.priority();
    body.header.flags = h.flags();
    body.bytes = h.payload_bytes();
    std::memcpy(body.payload, payload, body.bytes);
    payload += body.bytes;
    left -= body.bytes;
  }
  return mail;
}

saved_followers unpack(schemas::saved_followers const& from, saved_actor const& leader) {
  saved_followers f;
  auto const n = from.totals()->size();
  constexpr std::uint32_t max_cells = 1u << device_shift;  // of a device
  require(is_aligned(*from.totals()) && is_aligned(*from.latencies()),
          "is inconsistent: the counters behind {} are misaligned", name_of(leader));
  bool const closing = leader.state == lifecycle::terminating || leader.state == lifecycle::discarding;
  require(leader.name.empty() && !leader.pinned && !closing && leader.control == 0 && leader.overtakes == 0 &&
              leader.mail.empty() && leader.arriving.empty(),
          "is inconsistent: {} has more than a state and counters, and {} follow it", name_of(leader), n);
  require(n < max_cells && cell_of(leader.id) < max_cells - n,
          "is inconsistent: {} actors follow {}, which are more than there are cells", n, name_of(leader));
  require(from.states()->size() == std::uint64_t{n} * leader.state_bytes.size(),
          "is inconsistent: {} bytes of states for the {} actors behind {}", from.states()->size(), n,
          name_of(leader));
  f.totals.reserve(n);
  for (auto const* const t : *from.totals()) f.totals.push_back(unpack(*t, 0));
  auto const states = std::as_bytes(std::span(from.states()->data(), from.states()->size()));
  f.states.assign(states.begin(), states.end());
  f.latencies.reserve(from.latencies()->size());
  for (auto const* const l : *from.latencies()) {
    require(l->follower() < n && l->bucket() < latency_histogram::buckets,
            "is inconsistent: a latency of follower {} of {}, in bucket {}", l->follower(), n, l->bucket());
    f.latencies.push_back({l->follower(), l->bucket(), l->count()});
  }
  return f;
}

saved_actor unpack(schemas::saved_actor const& from, std::vector<behaviour_info> const& module) {
  saved_actor a;
  a.name = from.name()->str();
  require(from.behaviour() < module.size(), "is inconsistent: '{}' has behaviour {}", a.name,
          from.behaviour());
  require(from.state()->size() == module[from.behaviour()].state_bytes,
          "is inconsistent: the state of '{}' has {} bytes", a.name, from.state()->size());
  require(from.latency_counts()->size() == latency_histogram::buckets,
          "is inconsistent: the latencies of '{}' have {} buckets", a.name, from.latency_counts()->size());
  require(from.capacity() != 0 && from.capacity() <= ticket_mask / 4 &&
              from.mail()->headers()->size() <= from.capacity(),
          "is inconsistent: '{}' has {} messages and a capacity of {}", a.name,
          from.mail()->headers()->size(), from.capacity());
  require(from.reserved_slots() < from.capacity(), "is inconsistent: '{}' has {} reserved slots of {}",
          a.name, from.reserved_slots(), from.capacity());
  require(from.batch() != 0 && from.batch() <= max_batch, "is inconsistent: the batch of '{}' is {}", a.name,
          from.batch());
  auto const state = static_cast<lifecycle>(from.state_of_life());
  require(state >= lifecycle::launched && state <= lifecycle::discarding,
          "is inconsistent: the lifecycle state of '{}' is {}", a.name, from.state_of_life());
  auto const& s = *from.supervise();
  require(s.rule() <= static_cast<std::uint8_t>(on_failure::ask_parent) && s.poison_after() != 0 &&
              s.poison_after() <= max_attempts,
          "is inconsistent: the supervision of '{}' is unknown", a.name);
  a.id = {from.index(), from.generation()};
  require(a.id.generation != 0, "is inconsistent: '{}' has no generation", a.name);
  a.behaviour = from.behaviour();
  a.capacity = from.capacity();
  a.batch = from.batch();
  a.reserve = {from.reserved_slots(), from.reserved_from()};
  a.pinned = from.pinned();
  a.paused = from.paused();
  a.state = state;
  a.control = from.control();
  a.supervise = {static_cast<on_failure>(s.rule()), s.poison_after(), s.max_restarts(), s.within_ms()};
  a.overtakes = from.overtakes();
  a.totals = unpack(*from.totals(), from.mail()->headers()->size());
  std::copy(from.latency_counts()->begin(), from.latency_counts()->end(), a.latency_counts);
  auto const* const bytes = reinterpret_cast<std::byte const*>(from.state()->data());
  a.state_bytes.assign(bytes, bytes + from.state()->size());
  a.mail = unpack(*from.mail(), a.name);
  a.arriving = unpack(*from.arriving(), a.name);
  if (from.followers() != nullptr) a.followers = unpack(*from.followers(), a);
  return a;
}

device_event unpack(schemas::saved_request const& from) {
  auto const body = unpack(*from.body(), "a request");
  require(body.size() == 1, "is inconsistent: a request has {} messages", body.size());
  device_event r{.kind = static_cast<event_kind>(from.kind()),
                 .reason = static_cast<errc>(from.reason()),
                 .actor = {from.index(), from.generation()},
                 .detail = from.detail(),
                 .behaviour = from.key(),
                 .body = body.front().body};
  require(is_request(r), "is inconsistent: an actor has made the unknown request {}", from.kind());
  return r;
}

}  // namespace

std::vector<std::byte> encode_checkpoint_body(checkpoint_image const& image,
                                              std::vector<behaviour_info> const& module) {
  if (auto const bytes = estimate_bytes(image); bytes > body_limit)
    throw std::runtime_error(fmt::format(
        "{} bytes of states and mail are more than a checkpoint can hold (2 GiB); let actors handle "
        "their mail first, or keep large data outside their states",
        bytes));
  // A builder that grows copies what it has.
  builder b(static_cast<std::size_t>(estimate_bytes(image)));
  std::vector<Offset<schemas::saved_actor>> actors;
  actors.reserve(image.actors.size());
  for (auto const& a : image.actors) actors.push_back(pack(b, a));
  auto const retired = pack(image.retired);
  auto const packed_module = pack(b, module);
  auto const packed_actors = b.CreateVector(actors);
  flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> notes;  // null: none
  if (!image.notes.empty())
    notes = b.CreateVector(reinterpret_cast<std::uint8_t const*>(image.notes.data()), image.notes.size());
  std::vector<Offset<schemas::saved_request>> requests;
  for (auto const& r : image.requests) requests.push_back(pack(b, r));
  auto const packed_requests = b.CreateVector(requests);
  auto const generations = b.CreateVector(image.generations);
  schemas::Finishsaved_arenaBuffer(
      b, schemas::Createsaved_arena(b, image.written_us, packed_module, packed_actors, &retired,
                                    image.dead_letters, notes, packed_requests, generations));
  auto const* const body = reinterpret_cast<std::byte const*>(b.GetBufferPointer());
  return {body, body + b.GetSize()};
}

void write_checkpoint(std::filesystem::path const& file, checkpoint_image const& image,
                      std::vector<behaviour_info> const& module) {
  std::vector<std::byte> body;
  try {
    body = encode_checkpoint_body(image, module);
  } catch (std::runtime_error const& e) {
    throw std::runtime_error(fmt::format("{}: {}", file.string(), e.what()));
  }
  write_checked_file(file, format, body);
}

checkpoint_image decode_checkpoint_body(std::span<std::byte const> bytes,
                                        std::vector<behaviour_info> const& module) {
  auto const* const body = reinterpret_cast<std::uint8_t const*>(bytes.data());
  auto const tables =
      static_cast<flatbuffers::uoffset_t>(bytes.size() / 8 + 64);  // limited only by the file's size
  flatbuffers::Verifier verifier(body, bytes.size(), 64, tables);
  require(schemas::Verifysaved_arenaBuffer(verifier), "is inconsistent: its body is not a valid FlatBuffer");
  auto const& file = *schemas::Getsaved_arena(body);
  check_module(file, module);
  checkpoint_image image;
  image.written_us = file.written_us();
  image.dead_letters = file.dead_letters();
  image.retired = unpack(*file.retired(), 0);
  image.actors.reserve(file.actors()->size());
  for (auto const* const a : *file.actors()) image.actors.push_back(unpack(*a, module));
  if (auto const* const notes = file.notes(); notes != nullptr) {
    auto const own = std::as_bytes(std::span(notes->data(), notes->size()));
    image.notes.assign(own.begin(), own.end());
  }
  if (file.requests() != nullptr)
    for (auto const* const r : *file.requests()) image.requests.push_back(unpack(*r));
  if (file.generations() != nullptr)
    image.generations.assign(file.generations()->begin(), file.generations()->end());
  return image;
}

checkpoint_image read_checkpoint(std::filesystem::path const& file,
                                 std::vector<behaviour_info> const& module) {
  checked_file const bytes(file, format, body_limit);
  try {
    return decode_checkpoint_body(bytes.body(), module);
  } catch (refusal const& r) {
    throw std::runtime_error(fmt::format("{}: {}", file.string(), r.what()));
  }
}

}  // namespace rondo
