// Writing beyond the process's limit on the size of files (`ulimit -f`, LimitFSIZE=) as an error, EFBIG, which has a
// text. Without this, the system ends the process by SIGXFSZ.
#pragma once

#include <signal.h>

#include <string>

namespace rondo {

/// While it lives, this thread gets the error instead of the signal. Restores everything, also errno. Scopes nest.
class file_size_errors {
 public:
  file_size_errors() noexcept;
  ~file_size_errors();
  file_size_errors(file_size_errors const&) = delete;
  file_size_errors& operator=(file_size_errors const&) = delete;

 private:
  bool was_pending_;
  sigset_t before_;
};

/// The end of an error's text, which names the limit: "; ...". Empty for other errors than EFBIG.
std::string file_size_advice(int error);

}  // namespace rondo
