// The process to which an object belongs: the one that made it.
//
// A forked child has a copy of each object of its parent, but none of their threads, and it shares their sockets, files
// and shared memory. So the destructors of such objects do nothing in a child: they join, unlink, release and write
// only where the object was made. A child keeps its copies until it ends. What it makes itself works as in any process.
//
//   process_ptr<state> state_;               // destroyed where it was made, and nowhere else
//   ~service() { if (is_of_parent(parts_)) return; stop(); }
//
// A child that execs needs none of this, nor do posix_spawn and vfork. Threads: any; a check costs two loads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace rondo {

/// Remembers the process in which it was constructed. Copies remember the same one.
class made_here {
 public:
  made_here() noexcept;
  /// False in children forked since, and in theirs.
  explicit operator bool() const noexcept {
    // Relaxed: it changes only in a child, before that has a second thread.
    return forks_.load(std::memory_order_relaxed) == forks_before_;
  }

 private:
  static inline constinit std::atomic<std::uint32_t> forks_{0};  // from the first program to this process
  std::uint32_t forks_before_;
};

/// Never destroys the object, which stays reachable for leak checkers.
void keep_for_ever(std::shared_ptr<void const> object);

/// Deletes objects only in the process in which this deleter was made.
struct delete_where_made {
  made_here here{};
  template <class T>
  void operator()(T* object) const {
    if (here)
      delete object;
    else
      keep_for_ever(std::shared_ptr<void const>(object, [](T const*) {}));
  }
};

/// The owner of an object with threads, sockets, files or shared memory. Make it with make_process_ptr.
template <class T>
using process_ptr = std::unique_ptr<T, delete_where_made>;

template <class T, class... Args>
process_ptr<T> make_process_ptr(Args&&... args) {
  return process_ptr<T>(new T(std::forward<Args>(args)...));
}

/// Whether it owns a copy of an object of the process that forked this one.
template <class T>
bool is_of_parent(process_ptr<T> const& owner) noexcept {
  return owner != nullptr && !owner.get_deleter().here;
}

}  // namespace rondo
