// The adapter from a caller's handler of (error_code, Reply) to a handler of an untyped answer. It keeps the handler's
// associations.
#pragma once

#include <boost/asio/associator.hpp>
#include <utility>

#include "runtime/messaging/answer.hpp"

namespace rondo::detail {

/// `Reply` is void for handlers of (error_code). An outcome that is not an `answer` has a member `found` of type Reply.
template <class Handler, class Reply = void>
struct typed_answer {
  Handler handler;

  template <class Outcome>
  void operator()(Outcome o) {
    error_code ec = o.reason;
    if constexpr (std::is_void_v<Reply>) {
      std::move(handler)(ec);
    } else if constexpr (!std::is_same_v<Outcome, answer>) {
      std::move(handler)(ec, std::move(o.found));
    } else {
      if (!ec && o.body.header.type != type_id<Reply>) ec = errc::unknown_message;
      Reply r{};
      if (!ec) __builtin_memcpy(static_cast<void*>(&r), o.body.payload, sizeof r);
      std::move(handler)(ec, r);
    }
  }
};

}  // namespace rondo::detail

/// Uses executor, allocator, and cancellation slot of the caller's handler.
template <template <class, class> class Associator, class Handler, class Reply, class Default>
struct boost::asio::associator<Associator, rondo::detail::typed_answer<Handler, Reply>, Default>
    : Associator<Handler, Default> {
  static typename Associator<Handler, Default>::type get(rondo::detail::typed_answer<Handler, Reply> const& a,
                                                         Default const& d = Default()) noexcept {
    return Associator<Handler, Default>::get(a.handler, d);
  }
};
