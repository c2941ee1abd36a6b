// Writes the Prometheus text format, one family after another.
//
// Threads: one at a time.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace rondo::service {

class metric_text {
 public:
  using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// Starts a family, to which all samples that follow belong. `type`: counter, gauge or histogram.
  void family(std::string_view name, std::string_view type, std::string_view help);
  /// `suffix`: _bucket, _sum or _count, for a histogram.
  void sample(labels of, std::integral auto value, std::string_view suffix = {}) {
    add(of, std::to_string(value), suffix);
  }
  void sample(labels of, double value, std::string_view suffix = {});

  /// A family of one sample without labels.
  void counter(std::string_view name, std::string_view help, std::uint64_t value) {
    family(name, "counter", help);
    sample({}, value);
  }
  void gauge(std::string_view name, std::string_view help, auto value) {
    family(name, "gauge", help);
    sample({}, value);
  }

  std::string take() && { return std::move(text_); }

 private:
  void add(labels of, std::string_view value, std::string_view suffix);

  std::string text_, name_;
};

}  // namespace rondo::service
