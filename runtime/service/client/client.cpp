#include "runtime/service/client/client.hpp"

#include <future>

#include "runtime/messaging/deliver.hpp"
#include "runtime/service/client/client_link.hpp"

namespace rondo::service {

client::client(client_options options) : link_(std::make_shared<link>(std::move(options))) { link_->run(); }

client::~client() {
  if (link_->threads.are_of_parent())
    keep_for_ever(std::move(link_));
  else
    link_->stop(link_);
}

result<actor_id> client::find_untyped(std::string const& name, std::string_view behaviour) {
  auto& b = frame_builder();
  auto const found =
      request(request_frame(b, 1, wire::Createfind(b, b.CreateString(name))), std::chrono::seconds(10));
  if (found.ec) return found.ec;
  auto const& r = *flatbuffers::GetSizePrefixedRoot<wire::response>(found.frame.data());
  if (auto const* const o = r.body_as_outcome(); o != nullptr) return static_cast<errc>(o->status());
  auto const* const f = r.body_as_found();
  if (f == nullptr || f->actor() == nullptr) return errc::not_found;
  if (!behaviour.empty() && (f->behaviour() == nullptr || f->behaviour()->string_view() != behaviour))
    return errc::not_found;
  return actor_id{f->actor()->index(), f->actor()->generation()};
}

void client::send(destination const& to, std::uint32_t type, std::span<std::byte const> payload,
                  send_options options, answer_handler handler) {
  submit(to, type, payload, options, rondo::detail::with_work(std::move(handler)));
}

void client::submit(destination const& to, std::uint32_t type, std::span<std::byte const> payload,
                    send_options options, answer_handler handler) {
  link::item i;
  i.to = to;
  i.type = type;
  i.payload.assign(payload.begin(), payload.end());
  i.options = options;
  i.on_answer.swap(handler);  // Boost 1.81: it must not be assigned
  i.deadline = link::after(options.deadline);
  i.until = std::min(i.deadline, link::after(options.patience));
  link_->submit(std::move(i));
}

void client::request(std::span<std::byte const> frame, std::chrono::milliseconds timeout,
                     response_handler handler) {
  link::item i;
  i.frame.assign(frame.begin(), frame.end());
  i.on_response = std::move(handler);
  i.until = link::after(time_limit(timeout));
  link_->submit(std::move(i));
}

response_bytes client::request(std::span<std::byte const> frame, std::chrono::milliseconds timeout) {
  if (threads()->would_deadlock())
    return {errc::would_deadlock, make_error_code(errc::would_deadlock).message(), {}};
  std::promise<response_bytes> done;
  request(frame, timeout, [&done](response_bytes r) { done.set_value(std::move(r)); });
  return done.get_future().get();
}

std::string client::service_name() const {
  return link_->said([](link const& l) { return l.service_name; });
}
std::string client::last_words() const {
  return link_->said([](link const& l) { return l.last_words; });
}
std::uint64_t client::connections_made() const noexcept {
  return link_->said([](link const& l) { return l.connections; });
}
std::size_t client::open() const { return link_->count_open(); }
own_threads const* client::threads() const noexcept { return &link_->threads; }

}  // namespace rondo::service
