// Exceptions of an actor's code: caught on host threads; a GPU has none.
#pragma once

#include "kernels/base/portable.hpp"

#if !defined(__CUDA_ARCH__)
#include <exception>
#endif

namespace rondo {

/// Calls `code()`. If it throws on a host thread, calls `on_throw` with the exception's text, which is valid during
/// that call. Code that cannot throw costs nothing: the compiler then leaves out the handler.
template <class Code, class OnThrow>
RONDO_HOT RONDO_HD inline void call_caught(Code const& code, [[maybe_unused]] OnThrow const& on_throw) {
#if defined(__CUDA_ARCH__)
  code();
#else
  try {
    code();
  } catch (std::exception const& e) {
    on_throw(e.what());
  } catch (...) {
    on_throw("an exception that is not a std::exception");
  }
#endif
}

}  // namespace rondo
