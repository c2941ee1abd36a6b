// Operations of a runtime that block, as operations of Asio: they run on a thread of their own, one after the other, in
// the order of their calls, and complete on the handler's executor, by default the runtime's own thread.
//
// At the end of the runtime, those that have not begun fail as the calls would.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "runtime/messaging/blocking.hpp"
#include "runtime/messaging/deliver.hpp"
#include "runtime/messaging/typed_answer.hpp"

namespace rondo::detail {

/// What a handler of (error_code, Found) gets.
template <class Found>
struct operation_outcome {
  error_code reason{};
  Found found{};
};

/// The outcome of work() -> result<Found>.
template <class Found, class Work>
operation_outcome<Found> outcome_of(Work& work) {
  try {
    auto made = work();
    if (!made) return {made.error(), {}};
    return {{}, std::move(*made)};
  } catch (boost::system::system_error const& e) {
    return {e.code(), {}};
  } catch (std::bad_alloc const&) {
    return {errc::out_of_memory, {}};
  } catch (std::invalid_argument const&) {  // not so when it was called: the module has changed
    return {boost::system::errc::make_error_code(boost::system::errc::invalid_argument), {}};
  }
}

/// Completes with void(error_code, Found), by work() -> result<Found>, which may throw system_error.
template <class Found, class Runtime, class Token, class Work>
auto operate(Runtime& rt, Token&& token, Work work) {
  return boost::asio::async_initiate<Token, void(error_code, Found)>(
      [](auto handler, Runtime* of, Work what) {
        typed_answer<decltype(handler), Found> to{std::move(handler)};
        boost::asio::post(of->operations(), [of, to = std::move(to), what = std::move(what)]() mutable {
          auto outcome = outcome_of<Found>(what);
          deliver_later(of->executor(), std::move(to), std::move(outcome));
        });
      },
      token, &rt, std::move(work));
}

/// Completes with void(std::exception_ptr): what work() throws, or null.
template <class Runtime, class Token, class Work>
auto operate_or_throw(Runtime& rt, Token&& token, Work work) {
  return boost::asio::async_initiate<Token, void(std::exception_ptr)>(
      [](auto handler, Runtime* of, Work what) {
        auto keeps = work_for(handler);
        boost::asio::post(of->operations(), [of, keeps = std::move(keeps), to = std::move(handler),
                                             what = std::move(what)]() mutable {
          std::exception_ptr thrown;
          try {
            what();
          } catch (...) {
            thrown = std::current_exception();
          }
          deliver_later(of->executor(), std::move(to), std::move(thrown));
        });
      },
      token, &rt, std::move(work));
}

/// A completion token, of those that such an operation takes.
template <class Token, class Signature>
concept operation_token = boost::asio::completion_token_for<Token, Signature>;

}  // namespace rondo::detail
