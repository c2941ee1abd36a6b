// The outcome of an ask, and its handler.
#pragma once

#include <boost/asio/any_completion_handler.hpp>

#include "kernels/base/message.hpp"
#include "runtime/base/errc.hpp"

namespace rondo {

/// `body` is valid only if `reason` is ok.
struct answer {
  errc reason = errc::ok;  // why there is no answer; ok: there is one
  message body{};          // the reply
};

/// Gets the outcome of an ask, once.
using answer_handler = boost::asio::any_completion_handler<void(answer)>;

}  // namespace rondo
