// The threads that complete an object's operations, such as those of a runtime. A thread that is about to wait for an
// operation asks first whether the wait could end: not on one of these threads, and not in a forked child, where they
// do not exist.
//
// Threads: any; the check costs two loads. Lifetime: outlives its threads' scopes.
#pragma once

#include "runtime/os/made_here.hpp"

namespace rondo {

class own_threads {
 public:
  own_threads() noexcept = default;
  own_threads(own_threads const&) = delete;
  own_threads& operator=(own_threads const&) = delete;

  /// While it lives, the calling thread is one of `of`. Scopes nest, also those of different objects. Null: no effect.
  class scope {
   public:
    explicit scope(own_threads const* of) noexcept : of_(of), outer_(innermost_) { innermost_ = this; }
    ~scope() { innermost_ = outer_; }
    scope(scope const&) = delete;
    scope& operator=(scope const&) = delete;

   private:
    friend own_threads;
    own_threads const* of_;
    scope const* outer_;
    static inline constinit thread_local scope const* innermost_ = nullptr;
  };

  /// Whether the calling thread would wait for these threads for ever.
  bool would_deadlock() const noexcept {
    return (scope::innermost_ != nullptr && includes_caller()) || are_of_parent();
  }
  /// Whether a fork has left them behind.
  bool are_of_parent() const noexcept { return !made_here_; }

 private:
  bool includes_caller() const noexcept {
    for (auto const* s = scope::innermost_; s != nullptr; s = s->outer_)
      if (s->of_ == this) return true;
    return false;
  }

  made_here made_here_;
};

}  // namespace rondo
