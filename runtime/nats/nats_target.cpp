#include "runtime/nats/nats_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/text/clean_text.hpp"

namespace rondo::service {
namespace {

/// Takes one character off; `.` and `::` count as one, and both give 0.
char next(std::string_view& text) {
  auto const c = text.front();
  text.remove_prefix(text.starts_with("::") ? 2 : 1);
  return c == '.' || c == ':' ? '\0' : c;
}

message_info const* find_type(behaviour_info const& b, std::string_view given) {
  std::uint32_t number = 0;
  auto const* const end = given.data() + given.size();
  auto const [stop, failed] = std::from_chars(given.data(), end, number);
  bool const is_number = failed == std::errc() && stop == end;
  auto const found = std::ranges::find_if(b.messages, [&](message_info const& m) {
    return is_number ? m.id == number : names_type(given, m.name);
  });
  return found == b.messages.end() ? nullptr : &*found;
}

std::string types_of(behaviour_info const& b) {
  std::string all;
  for (auto const& m : b.messages) {
    if (!all.empty()) all += ", ";
    for (auto name = m.name; !name.empty();) {
      auto const c = next(name);
      all += c == '\0' ? '.' : c;
    }
  }
  return all;
}

}  // namespace

bool names_type(std::string_view given, std::string_view name) noexcept {
  while (!given.empty() && !name.empty())
    if (next(given) != next(name)) return false;
  return given.empty() && name.empty();
}

std::string_view last_word(std::string_view subject) noexcept {
  return subject.substr(subject.rfind('.') + 1);  // npos + 1 is 0
}

std::variant<nats_target, nats_refusal> find_target(rondo::runtime const& rt, std::string_view actor,
                                                    nats_message const& m) {
  nats_headers headers;
  try {
    headers = m.headers();
  } catch (nats_error const& e) {
    return nats_refusal{errc::service_refuses, clean_text(e.what())};
  }
  if (headers.deadline_us > message_header::longest_deadline_us)
    return nats_refusal{errc::deadline_too_long, make_error_code(errc::deadline_too_long).message()};
  auto const to = rt.find_any(actor);
  if (!to)
    return nats_refusal{static_cast<errc>(to.error().value()),
                        fmt::format("this service has no actor '{}'", clean_text(actor))};
  auto const& b = to->behaviour();
  if (headers.type.empty())
    return nats_refusal{
        errc::unknown_message,
        fmt::format("the header Rondo-Type is missing; '{}' accepts {}", clean_text(actor), types_of(b))};
  auto const* const type = find_type(b, headers.type);
  if (type == nullptr)
    return nats_refusal{errc::unknown_message,
                        fmt::format("'{}' does not accept {}; it accepts {}", clean_text(actor),
                                    clean_text(std::string_view(headers.type).substr(0, 100)), types_of(b))};
  if (m.payload().size() != type->bytes)
    return nats_refusal{errc::wrong_size,
                        fmt::format("a message {} must have {} bytes; it has {}", clean_text(headers.type),
                                    type->bytes, m.payload().size())};
  return nats_target{*to, type->id, type->has_reply, std::move(headers)};
}

}  // namespace rondo::service
