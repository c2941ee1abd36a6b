// Requests and responses as FlatBuffers of schemas/wire.fbs. Private to the library: users include service.hpp or
// client.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "generated/wire_generated.h"
#include "kernels/base/message.hpp"
#include "runtime/base/errc.hpp"

namespace rondo::service {

/// The request or response (`Root`) in a frame; null if it is not valid.
template <class Root>
Root const* verified(std::span<std::byte const> frame) noexcept {
  auto const* const bytes = reinterpret_cast<std::uint8_t const*>(frame.data());
  // Only the frame's size limits the number of tables: a list of all actors has one for each.
  auto const tables = static_cast<flatbuffers::uoffset_t>(frame.size() / 8 + 64);
  flatbuffers::Verifier verifier(bytes, frame.size(), 16, tables);
  if (!verifier.VerifySizePrefixedBuffer<Root>(nullptr)) return nullptr;
  return flatbuffers::GetSizePrefixedRoot<Root>(bytes);
}

/// The text of a string in a frame; empty if it is missing.
inline std::string_view text_of(flatbuffers::String const* s) {
  return s != nullptr ? s->string_view() : std::string_view();
}

/// This thread's builder of frames; it is reused.
inline flatbuffers::FlatBufferBuilder& frame_builder() {
  thread_local flatbuffers::FlatBufferBuilder builder(1024);
  if (builder.GetSize() > 1 << 20) builder = flatbuffers::FlatBufferBuilder(1024);  // long frames are rare
  builder.Clear();
  return builder;
}

/// Completes a frame whose root table is `root`.
template <class Root>
std::span<std::byte const> finished(flatbuffers::FlatBufferBuilder& builder, flatbuffers::Offset<Root> root) {
  builder.FinishSizePrefixed(root);
  return {reinterpret_cast<std::byte const*>(builder.GetBufferPointer()), builder.GetSize()};
}

template <class Body>
std::span<std::byte const> response_frame(flatbuffers::FlatBufferBuilder& builder, std::uint64_t id,
                                          flatbuffers::Offset<Body> body) {
  return finished(builder,
                  wire::Createresponse(builder, id, wire::answer_bodyTraits<Body>::enum_value, body.Union()));
}

template <class Body>
std::span<std::byte const> request_frame(flatbuffers::FlatBufferBuilder& builder, std::uint64_t id,
                                         flatbuffers::Offset<Body> body) {
  return finished(builder,
                  wire::Createrequest(builder, id, wire::ask_bodyTraits<Body>::enum_value, body.Union()));
}

/// An outcome without a reply. Its text is `mailbox_full: the actor's mailbox ...`, followed by `more`.
inline std::span<std::byte const> outcome_frame(std::uint64_t id, errc status, std::string_view more = {}) {
  auto& b = frame_builder();
  flatbuffers::Offset<flatbuffers::String> reason;
  if (status != errc::ok) {
    auto text = std::string(name_of(status)) + ": " + make_error_code(status).message();
    if (!more.empty()) text.append("; ").append(more);
    reason = b.CreateString(text);
  }
  return response_frame(b, id, wire::Createoutcome(b, static_cast<std::uint32_t>(status), reason));
}

/// An actor's reply.
inline std::span<std::byte const> reply_frame(std::uint64_t id, message const& reply) {
  auto& b = frame_builder();
  auto const payload = b.CreateVector(reinterpret_cast<std::uint8_t const*>(reply.payload), reply.bytes);
  return response_frame(b, id, wire::Createoutcome(b, 0, 0, reply.header.type, payload));
}

}  // namespace rondo::service
