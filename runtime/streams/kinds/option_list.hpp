// The options of a type of stages, for files, command lines and people: names, meanings, limits. The stage's options
// list themselves:
//
//   struct options {
//     std::int32_t width = 640;
//     float sigma = 2;
//     streams::option_text<256> file;
//     pixel_format format = pixel_format::i420;  // an enum of 32 bits
//
//     void describe(auto& option) {
//       option("width", width, "pixels", 16, 16384);
//       option("sigma", sigma, "standard deviation in pixels", 0.1, 4);
//       option.reads("file", file, "video file to read");
//       option.choice("format", format, "of the pictures", {"i420", "i420a"});
//     }
//   };
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "kernels/streams/option_text.hpp"

namespace rondo {
class file_uses;
struct json_node;
}  // namespace rondo

namespace rondo::streams {

/// One option, in some object of the stage's options.
struct option_field {
  /// A text's place, with room for `bytes - 1`.
  struct text {
    char* at;           // the first byte
    std::size_t bytes;  // of room
  };
  /// Where the value is.
  using place = std::variant<bool*, std::uint8_t*, std::int32_t*, std::uint32_t*, std::uint64_t*, float*,
                             double*, text>;

  /// What the stage does with the file that a text names.
  enum class use { no_file, reads, writes, reads_url, writes_url };

  char const* name = "";                    // in files
  char const* meaning = "";                 // for people
  place at;                                 // its value
  double least = 0;                         // of a number
  double most = 0;                          // likewise
  std::vector<std::string_view> choices{};  // of an enum, by value
  use file = use::no_file;                  // of a text

  /// What it accepts: `a whole number from 16 to 16384`.
  std::string accepted() const;
  /// Its value, as a file would have it.
  std::string value() const;
};

/// Calls a function with each option of an object: what `describe` takes.
class option_visitor {
 public:
  /// `visit` is called with each option.
  explicit option_visitor(std::function<void(option_field const&)> visit) : visit_(std::move(visit)) {}

  /// An option that is true or false.
  void operator()(char const* name, bool& to, char const* meaning) { visit_({name, meaning, &to}); }
  /// A text.
  template <std::size_t Bytes>
  void operator()(char const* name, option_text<Bytes>& to, char const* meaning) {
    visit_({name, meaning, option_field::text{to.text, Bytes}});
  }
  /// A text that names a file which the stage reads. So nothing else of its graph writes that file.
  template <std::size_t Bytes>
  void reads(char const* name, option_text<Bytes>& to, char const* meaning) {
    visit_({name, meaning, option_field::text{to.text, Bytes}, 0, 0, {}, option_field::use::reads});
  }
  /// A text that names a file which the stage writes.
  template <std::size_t Bytes>
  void writes(char const* name, option_text<Bytes>& to, char const* meaning) {
    visit_({name, meaning, option_field::text{to.text, Bytes}, 0, 0, {}, option_field::use::writes});
  }
  /// A text that is a URL, in which files may be named, such as "file:clip.mp4".
  template <std::size_t Bytes>
  void reads_url(char const* name, option_text<Bytes>& to, char const* meaning) {
    visit_({name, meaning, option_field::text{to.text, Bytes}, 0, 0, {}, option_field::use::reads_url});
  }
  /// Likewise.
  template <std::size_t Bytes>
  void writes_url(char const* name, option_text<Bytes>& to, char const* meaning) {
    visit_({name, meaning, option_field::text{to.text, Bytes}, 0, 0, {}, option_field::use::writes_url});
  }
  /// A number, and its limits.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void operator()(char const* name, Number& to, char const* meaning,
                  double least = static_cast<double>(std::numeric_limits<Number>::lowest()),
                  double most = static_cast<double>(std::numeric_limits<Number>::max())) {
    visit_({name, meaning, &to, least, most});
  }
  /// An enum, and the names of its values from 0.
  template <class Enum>
  requires std::is_enum_v<Enum>
  void choice(char const* name, Enum& to, char const* meaning,
              std::initializer_list<std::string_view> names) {
    static_assert(sizeof(Enum) == sizeof(std::uint32_t), "an enum of options has 32 bits");
    visit_({name, meaning, reinterpret_cast<std::uint32_t*>(&to), 0, 0, names});
  }

 private:
  std::function<void(option_field const&)> visit_;
};

struct stage_kind;

/// The options of a type of stages with their defaults. The places belong to `object`, which has as many bytes as the
/// kind's options.
std::vector<option_field> options_in(stage_kind const& kind, void* object);
/// Which option has a value that it does not accept, and what it accepts; empty: none.
std::string wrong_option(stage_kind const& kind, void const* object);
/// Adds the files that a stage with these options reads and writes. `goes_on`: from a checkpoint, so that it writes
/// under another name. Replicas are as many stages, but share a name with {tick} in it: each has ticks of its own.
void add_files(file_uses& to, stage_kind const& kind, void const* object, std::string const& who,
               bool goes_on, std::uint32_t replicas = 1);
/// Sets the options that a JSON object names. Throws config_error, with the path, what was found, and what is accepted.
void read_options(stage_kind const& kind, json_node const& from, std::string const& origin,
                  std::string const& path, void* object);
/// Sets one option as a command line gives it. Throws config_error, which begins with `origin`.
void set_option(stage_kind const& kind, std::string_view name, std::string_view value,
                std::string const& origin, void* object);

}  // namespace rondo::streams
