#include "runtime/files/file_uses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "runtime/files/part_file.hpp"

namespace rondo {

namespace {

namespace fs = std::filesystem;

constexpr char digits = '\1';

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Puts one mark for each place where a name has digits of its own: {tick}, and %d or %06d.
std::string with_marks(std::string name) {
  constexpr std::string_view tick = "{tick}";
  for (auto at = name.find(tick); at != std::string::npos; at = name.find(tick))
    name.replace(at, tick.size(), 1, digits);
  for (auto at = name.find('%'); at != std::string::npos; at = name.find('%', at + 1)) {
    auto end = at + 1;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end < name.size() && name[end] == 'd') name.replace(at, end + 1 - at, 1, digits);
  }
  return name;
}

/// Whether a name is one of those that a pattern stands for.
bool matches(std::string_view pattern, std::string_view name) {
  while (!pattern.empty()) {
    if (pattern.front() != digits) {
      if (name.empty() || name.front() != pattern.front()) return false;
      pattern.remove_prefix(1), name.remove_prefix(1);
      continue;
    }
    if (name.empty() || !(is_digit(name.front()) || name.front() == digits)) return false;
    while (!name.empty() && (is_digit(name.front()) || name.front() == digits)) {
      name.remove_prefix(1);
      if (matches(pattern.substr(1), name)) return true;
    }
    return false;
  }
  return name.empty();
}

/// The names within a URL of FFmpeg that may be files: "concat:a.mp4|b.mp4", "subfile,,start,0,end,9,,:a.mp4".
std::vector<std::string> names_in(std::string const& name) {
  std::vector<std::string> all;
  if (name.find("://") != std::string::npos && !name.starts_with("file:")) return all;
  std::string part;
  for (std::size_t at = 0; at <= name.size(); ++at) {
    if (at < name.size() && name[at] != ':' && name[at] != '|') {
      part += name[at];
      continue;
    }
    if (!part.empty() && part.size() != name.size()) all.push_back(part);
    part.clear();
  }
  return all;
}

}  // namespace

void file_uses::add(std::string const& who, std::string const& shown, std::string const& name,
                    bool is_written) {
  if (name.empty()) return;
  if (is_written_directly(name) && !(name == "-" && is_written)) return;
  use u{.who = who,
        .name = shown,
        .file = name == "-" ? name : with_marks(resolved_name(name).string()),
        .call = calls_,
        .is_written = is_written,
        .is_there = false,
        .device = 0,
        .inode = 0};
  struct stat found {};
  if (name != "-" && ::stat(resolved_name(name).c_str(), &found) == 0 && S_ISREG(found.st_mode))
    u.is_there = true, u.device = found.st_dev, u.inode = found.st_ino;
  bool const is_pattern = u.file.find(digits) != std::string::npos;
  uses_.push_back(std::move(u));
  if (!is_pattern) return;
  // Those that are there may be links to others.
  auto const pattern = uses_.back().file;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator(fs::path(pattern).parent_path(), ignored))
    if (matches(pattern, entry.path().string()) && ::stat(entry.path().c_str(), &found) == 0 &&
        S_ISREG(found.st_mode))
      uses_.push_back({.who = who,
                       .name = entry.path().string(),
                       .file = resolved_name(entry.path().string()).string(),
                       .call = calls_,
                       .is_written = is_written,
                       .is_there = true,
                       .device = found.st_dev,
                       .inode = found.st_ino});
}

void file_uses::reads(std::string const& who, std::string const& name) {
  ++calls_;
  add(who, name, name, false);
}

void file_uses::add_written(std::string const& who, std::string const& name) {
  add(who, name, name, true);
  if (name.empty() || is_written_directly(name)) return;
  auto const part = resolved_name(name).string().append(part_file::ending);
  add(who, fs::path(part).filename().string(), part, true);
}

void file_uses::writes(std::string const& who, std::string const& name) {
  ++calls_;
  add_written(who, name);
}

void file_uses::reads_url(std::string const& who, std::string const& url) {
  ++calls_;
  for (auto const& n : names_in(url)) add(who, url, n, false);
}

void file_uses::writes_url(std::string const& who, std::string const& url) {
  ++calls_;
  for (auto const& n : names_in(url)) add(who, url, n, true);
}

void file_uses::writes_from_any_tick(std::string const& who, std::string const& name) {
  ++calls_;
  add_written(who, name);
  if (name.empty() || is_written_directly(name)) return;
  fs::path const file(name);
  add_written(
      who, (file.parent_path() / (file.stem().string() + "-from-%d" + file.extension().string())).string());
}

void file_uses::add(file_uses const& other) {
  for (auto u : other.uses_) u.call += calls_, uses_.push_back(std::move(u));
  calls_ += other.calls_;
}

bool file_uses::writes_standard_output() const {
  return std::ranges::any_of(uses_, [](use const& u) { return u.is_written && u.name == "-"; });
}

bool file_uses::is_same(use const& a, use const& b) {
  if (a.is_there && b.is_there && a.device == b.device && a.inode == b.inode) return true;
  return a.file == b.file || matches(a.file, b.file) || matches(b.file, a.file);
}

std::string file_uses::conflict() const {
  for (auto const& writer : uses_) {
    if (!writer.is_written) continue;
    for (auto const& other : uses_) {
      if (&writer == &other || writer.call == other.call || !is_same(writer, other)) continue;
      return fmt::format("{} would write '{}', which {} {}{}; name another file", writer.who, writer.name,
                         other.who, other.is_written ? "writes, too" : "reads",
                         other.name == writer.name ? "" : fmt::format(" as '{}'", other.name));
    }
  }
  return {};
}

}  // namespace rondo
