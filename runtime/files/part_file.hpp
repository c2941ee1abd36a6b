// A file that is written for a while: it is called NAME.part until it is finished, and then replaces NAME.
//
//   part_file out("clip.mp4");      // creates clip.mp4.part; clip.mp4 stays as it is
//   write_to(out.path());
//   out.finish();                   // clip.mp4 is the new one
//
// So whoever opens NAME finds a whole file, the old one or the new one, and what a killed process leaves is NAME.part.
// A symbolic link stays: the file that it names is replaced. What is not a regular file is written directly: a FIFO, a
// device (also /dev/stdout), and "-" for standard output.
// Threads: one at a time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "runtime/os/owned_fd.hpp"

namespace rondo {

class part_file {
 public:
  static constexpr std::string_view ending = ".part";

  /// Throws std::system_error, without the name: NAME is a folder, or may not be written, or another process writes it;
  /// NAME.part cannot be created.
  explicit part_file(std::string const& name);
  part_file(part_file&&) = default;
  part_file& operator=(part_file&&) = default;

  /// What to open, and to write.
  std::string const& path() const noexcept { return path_; }
  /// It is written under its own name.
  bool is_direct() const noexcept { return !file_; }
  /// Gives it its name. Throws std::system_error.
  void finish();
  /// Removes it: it holds nothing of use.
  void discard() noexcept;

  /// Finishes what killed processes have left of `name`, and of "clip-from-250.mp4" for a name "clip.mp4" (see
  /// name_from).
  static void finish_left(std::string const& name);

 private:
  std::filesystem::path target_;
  std::string path_;
  owned_fd file_;  // with a lock, while it is written
};

/// Whether a name is that of something that has no NAME.part; see above.
bool is_written_directly(std::string const& name);
/// The file that a name stands for, through symbolic links, there or not.
std::filesystem::path resolved_name(std::string const& name);
/// "clip-from-250.mp4" for "clip.mp4": what follows a checkpoint.
std::string name_from(std::string const& name, std::uint64_t first);

/// Writes a whole file in this way. Throws std::runtime_error with the name and the reason.
void write_output(std::string const& name, std::string_view bytes);

}  // namespace rondo
