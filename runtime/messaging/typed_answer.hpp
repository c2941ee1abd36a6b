// Adapters from a caller's handler of (error_code, Reply) to a handler of an untyped answer. They keep its
// associations.
#pragma once

#include <boost/asio/associator.hpp>
#include <utility>

#include "runtime/messaging/answer.hpp"

namespace rondo::detail {

/// `Reply` is void for handlers of (error_code).
template <class Handler, class Reply>
struct typed_answer {
  Handler handler;

  void operator()(answer a) {
    error_code ec = a.reason;
    if constexpr (std::is_void_v<Reply>) {
      std::move(handler)(ec);
    } else {
      if (!ec && a.body.header.type != type_id<Reply>) ec = errc::unknown_message;
      Reply r{};
      if (!ec) __builtin_memcpy(static_cast<void*>(&r), a.body.payload, sizeof r);
      std::move(handler)(ec, r);
    }
  }
};

/// Adapts a handler of (error_code, T) to a struct {reason, found}.
template <class Handler>
struct unpacked {
  Handler handler;

  template <class Outcome>
  void operator()(Outcome o) {
    std::move(handler)(error_code(o.reason), std::move(o.found));
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

template <template <class, class> class Associator, class Handler, class Default>
struct boost::asio::associator<Associator, rondo::detail::unpacked<Handler>, Default>
    : Associator<Handler, Default> {
  static typename Associator<Handler, Default>::type get(rondo::detail::unpacked<Handler> const& u,
                                                         Default const& d = Default()) noexcept {
    return Associator<Handler, Default>::get(u.handler, d);
  }
};
