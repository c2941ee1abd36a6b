// A terminal for tests, which tmux provides and reads back.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/eventually.hpp"
#include "tests/scratch_directory.hpp"
#include "tests/service/programs.hpp"

namespace service_test {

using rondo_test::eventually;

/// A terminal in which `command` runs, with its own tmux server.
class terminal {
 public:
  terminal(std::string const& command, int width, int height) : scratch_("top") {
    auto const size = " -x " + std::to_string(width) + " -y " + std::to_string(height);
    std::ofstream((scratch_.directory / "tmux.conf").string())
        << "set -g default-terminal tmux-256color\nset -g escape-time 0\n";
    tmux("new-session -d" + size + " \"cd " + scratch_.directory.string() + " && LC_ALL=C.UTF-8 " + command +
         "; echo ended with \\$?; cat\"");
  }
  ~terminal() { tmux("kill-server"); }
  terminal(terminal const&) = delete;
  terminal& operator=(terminal const&) = delete;

  std::string tmux(std::string const& command) const {
    return run("tmux -L " + name_ + " -f " + (scratch_.directory / "tmux.conf").string() + " " + command)
        .second;
  }
  void press(std::string const& keys) const { tmux("send-keys " + keys); }
  bool shows(std::string const& what) {
    return eventually([&] {
      screen = tmux("capture-pane -p");
      return screen.find(what) != std::string::npos;
    });
  }
  std::filesystem::path const& directory() const { return scratch_.directory; }

  std::string screen;

 private:
  static inline int made = 0;
  rondo_test::scratch_directory scratch_;
  std::string name_ = "rondo-" + std::to_string(getpid()) + "-" + std::to_string(made++);
};

}  // namespace service_test
