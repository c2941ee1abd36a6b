// The adapter from a caller's handler of (error_code, Reply) to a handler of an untyped answer. It has the handler's
// associations, and keeps work on its executor until the handler was called or destroyed.
#pragma once

#include <boost/asio/associator.hpp>
#include <boost/asio/system_executor.hpp>
#include <utility>

#include "runtime/messaging/answer.hpp"
#include "runtime/messaging/handler_work.hpp"

namespace rondo::detail {

/// `Reply` is void for handlers of (error_code), and answer for handlers of the untyped answer. An outcome that is not
/// an `answer` has a member `found` of type Reply.
template <class Handler, class Reply = void>
struct typed_answer {
  explicit typed_answer(Handler h) : work(work_for(h)), handler(std::move(h)) {}

  [[no_unique_address]] handler_work<Handler> work;
  Handler handler;

  template <class Outcome>
  void operator()(Outcome o) {
    error_code ec = o.reason;
    if constexpr (std::is_same_v<Reply, answer>) {
      std::move(handler)(std::move(o));
    } else if constexpr (std::is_void_v<Reply>) {
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

#if !defined(__CUDACC__)  // nvcc 13 cannot call an any_completion_handler
/// The handler of an untyped answer, with its work. On the system's executor it keeps none.
inline answer_handler with_work(answer_handler handler) {
  auto const executor = boost::asio::get_associated_executor(handler);
  if (executor.target<boost::asio::system_executor>() != nullptr) return handler;
  return answer_handler(typed_answer<answer_handler, answer>(std::move(handler)));
}
#endif

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
