#include "runtime/nats/nats_message.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <system_error>

#include "runtime/os/made_here.hpp"
#include "runtime/text/shown_url.hpp"

namespace rondo::service {
namespace {

constexpr char const* type_header = "Rondo-Type";
constexpr char const* priority_header = "Rondo-Priority";
constexpr char const* deadline_header = "Rondo-Deadline-Us";
constexpr char const* status_header = "Rondo-Status";
constexpr char const* reason_header = "Rondo-Reason";

std::string_view header(natsMsg* m, char const* name) {
  char const* value = nullptr;
  return natsMsgHeader_Get(m, name, &value) == NATS_OK && value != nullptr ? value : std::string_view();
}

template <class Number>
void read(natsMsg* m, char const* name, Number& to) {
  auto const text = header(m, name);
  if (text.empty()) return;
  auto const* const end = text.data() + text.size();
  if (auto const [stop, failed] = std::from_chars(text.data(), end, to); failed != std::errc() || stop != end)
    throw nats_error(
        NATS_INVALID_ARG,
        fmt::format("a message for {}: {}: '{}' is not a whole number from 0 to {}", natsMsg_GetSubject(m),
                    name, text.substr(0, 40), std::numeric_limits<Number>::max()));
}

void write(natsMsg* m, char const* name, std::string const& value) {
  check_nats(natsMsgHeader_Set(m, name, value.c_str()), fmt::format("the header {} of a message", name),
             "leave out control characters");
}

}  // namespace

std::string nats_reason(natsStatus status) {
  char const* const detail = nats_GetLastError(nullptr);
  if (detail == nullptr || *detail == '\0') return natsStatus_GetText(status);
  return fmt::format("{} ({})", natsStatus_GetText(status), shown_words(detail));
}

void check_nats(natsStatus status, std::string_view tried, std::string_view advice) {
  if (status != NATS_OK)
    throw nats_error(status, fmt::format("{}: {}; {}", tried, nats_reason(status), advice));
}

void open_nats_library() {
  static made_here const library;
  if (!library)
    throw nats_error(NATS_ILLEGAL_STATE,
                     "using NATS: this process was forked from one that has used it; call exec, or use it "
                     "only in the child");
  // Once: every message asks for it.
  [[maybe_unused]] static bool const is_open =
      (check_nats(nats_Open(-1), "starting the library of NATS", "free some memory or threads"), true);
}

nats_message::nats_message(std::string const& subject, std::span<std::byte const> payload,
                           nats_headers const& headers, std::string const& reply_to) {
  open_nats_library();
  natsMsg* made = nullptr;
  if (payload.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw nats_error(NATS_MAX_PAYLOAD,
                     fmt::format("a message for {}: {} bytes are too many; send the data in parts", subject,
                                 payload.size()));
  check_nats(natsMsg_Create(&made, subject.c_str(), reply_to.empty() ? nullptr : reply_to.c_str(),
                            reinterpret_cast<char const*>(payload.data()), static_cast<int>(payload.size())),
             fmt::format("a message for '{}'", subject), "a subject is words joined by dots");
  message_.reset(made);
  if (!headers.type.empty()) write(made, type_header, headers.type);
  if (headers.priority != default_priority) write(made, priority_header, std::to_string(headers.priority));
  if (headers.deadline_us != 0) write(made, deadline_header, std::to_string(headers.deadline_us));
  if (headers.status) write(made, status_header, std::to_string(*headers.status));
  if (!headers.reason.empty()) write(made, reason_header, headers.reason);
}

std::string_view nats_message::subject() const noexcept { return natsMsg_GetSubject(get()); }

std::string_view nats_message::reply_to() const noexcept {
  char const* const reply = natsMsg_GetReply(get());
  return reply == nullptr ? std::string_view() : reply;
}

std::span<std::byte const> nats_message::payload() const noexcept {
  return {reinterpret_cast<std::byte const*>(natsMsg_GetData(get())),
          static_cast<std::size_t>(natsMsg_GetDataLength(get()))};
}

nats_headers nats_message::headers() const {
  nats_headers all;
  all.type = header(get(), type_header);
  read(get(), priority_header, all.priority);
  read(get(), deadline_header, all.deadline_us);
  if (!header(get(), status_header).empty()) read(get(), status_header, all.status.emplace());
  all.reason = header(get(), reason_header);
  return all;
}

}  // namespace rondo::service
