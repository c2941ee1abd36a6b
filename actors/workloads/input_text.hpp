// Text of users, which workloads read: what is wrong with it, its lines, and numbers by name.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rondo::workloads {

/// Input that cannot be read; the text names what, where, and what to do.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Called now and then with a part of the whole, from 0 to 1.
using progress_report = std::function<void(double)>;

/// The lines of a text, without their ends; an end may be that of DOS. `origin` stands for a file in errors.
class input_lines {
 public:
  input_lines(std::string_view text, std::string const& origin, progress_report const& report)
      : text_(text), origin_(origin), report_(report) {}

  /// False at the end.
  bool next(std::string_view& line);
  /// Throws input_error, of the last line.
  [[noreturn]] void refuse(std::string const& why) const;

 private:
  std::string_view text_;
  std::string const& origin_;
  progress_report const& report_;
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
};

/// The beginning of a text, as an error may show it.
std::string beginning_of(std::string_view text);

/// A number that a text may set.
struct named_number {
  std::string_view name;
  std::uint32_t& value;
  std::uint32_t least, most;
};
/// Reads text such as "scale=20,seed=1", each part of which may be left out. Throws input_error, which shows `example`.
void read_numbers(std::string_view text, std::span<named_number const> numbers, std::string_view example);

}  // namespace rondo::workloads
