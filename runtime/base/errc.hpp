// rondo::errc as a boost::system::error_code, so that it works with every Asio completion token.
#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

#include "kernels/base/status.hpp"

// -- for Boost

template <>
struct boost::system::is_error_code_enum<rondo::errc> : std::true_type {};

// -- for programs

namespace rondo {

using boost::system::error_code;

/// A value, or the error_code that says why there is none.
template <class T>
using result = boost::system::result<T>;

/// The error category "rondo"; its messages say what to do.
boost::system::error_category const& error_category() noexcept;

/// The same outcome as an error_code.
inline error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), error_category()}; }

/// The name of `e` as in the source, such as `mailbox_full`.
char const* name_of(errc e) noexcept;

}  // namespace rondo
