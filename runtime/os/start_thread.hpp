// Starts threads, of which a system has only so many.
//
//   thread_ = start_thread("the network of a client", [this] { run(); });
//   boost::asio::thread_pool pool = started("slow requests", [] { return boost::asio::thread_pool(1); });
#pragma once

#include <boost/system/system_error.hpp>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace rondo {

/// No thread could be started. The text says what for, and what to raise.
struct no_thread : std::runtime_error {
  no_thread(std::string_view what, std::string_view why);
};

/// What `make` returns, which starts threads for `what`. Throws no_thread, and what else `make` throws.
template <class Make>
auto started(std::string_view what, Make&& make) {
  try {
    return std::forward<Make>(make)();
  } catch (std::system_error const& e) {
    if (e.code() == std::errc::resource_unavailable_try_again) throw no_thread(what, e.code().message());
    throw;
  } catch (boost::system::system_error const& e) {  // of Asio
    if (e.code() == boost::system::errc::resource_unavailable_try_again)
      throw no_thread(what, e.code().message());
    throw;
  }
}

/// A thread that runs `f`. Throws no_thread.
template <class F>
std::thread start_thread(std::string_view what, F&& f) {
  return started(what, [&] { return std::thread(std::forward<F>(f)); });
}
#if defined(__cpp_lib_jthread)  // libc++ 19 has it with -fexperimental-library only
/// The same, with the stop token of a std::jthread if `f` takes one.
template <class F>
std::jthread start_jthread(std::string_view what, F&& f) {
  return started(what, [&] { return std::jthread(std::forward<F>(f)); });
}
#endif

}  // namespace rondo
