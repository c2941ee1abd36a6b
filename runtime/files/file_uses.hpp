// The files that a command or a graph reads and writes, to refuse an output that would destroy an input, or another
// output.
//
//   file_uses uses;
//   uses.reads("'street'", "clip.mp4");
//   uses.writes("'video'", "./clip.mp4");
//   if (auto const why = uses.conflict(); !why.empty()) ...   // before anything is opened
//
// Two names are the same file if what is there has one device and inode, or if they are the same name through symbolic
// links. Writing NAME includes NAME.part (part_file.hpp). Names may have places for digits: {tick} of stills, and %06d
// of FFmpeg. Devices and FIFOs may be used as often as one likes; standard output has one writer. Threads: one.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

namespace rondo {

class file_uses {
 public:
  /// `who`: for the error, such as "--config" or "'video'". An empty name is no file.
  void reads(std::string const& who, std::string const& name);
  /// The file, and its NAME.part.
  void writes(std::string const& who, std::string const& name);
  /// The files in a URL of FFmpeg: "file:a.mp4", "concat:a.mp4|b.mp4". Most have none.
  void reads_url(std::string const& who, std::string const& url);
  /// The same for a URL that is written.
  void writes_url(std::string const& who, std::string const& url);
  /// Also the files that follow a checkpoint: "clip-from-250.mp4".
  void writes_from_any_tick(std::string const& who, std::string const& name);

  /// Adds what another object has.
  void add(file_uses const& other);
  /// Something writes "-".
  bool writes_standard_output() const;

  /// What is wrong; empty: nothing. Names the users, and both names.
  std::string conflict() const;

 private:
  struct use {
    std::string who, name;  // as they were given
    std::string file;       // resolved; with '\1' for digits
    std::size_t call;       // of `reads` or `writes`: files of one call do not conflict
    bool is_written;
    bool is_there;  // a regular file, of this device and inode:
    dev_t device;
    ino_t inode;
  };
  void add(std::string const& who, std::string const& shown, std::string const& name, bool is_written);
  void add_written(std::string const& who, std::string const& name);
  static bool is_same(use const& a, use const& b);

  std::vector<use> uses_;
  std::size_t calls_ = 0;
};

}  // namespace rondo
