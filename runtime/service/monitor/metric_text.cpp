#include "runtime/service/monitor/metric_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/text/clean_text.hpp"

namespace rondo::service {

namespace {

void append_escaped(std::string& to, std::string_view text, bool quoted) {
  for (char const c : valid_utf8(text)) {  // as the format requires
    if (c == '\\')
      to += "\\\\";
    else if (c == '\n')
      to += "\\n";
    else if (c == '"' && quoted)
      to += "\\\"";
    else
      to += c;
  }
}

}  // namespace

void metric_text::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {} ", name);
  append_escaped(text_, help, false);
  text_ += fmt::format("\n# TYPE {} {}\n", name, type);
}

void metric_text::sample(labels of, double value, std::string_view suffix) {
  add(of,
      std::isnan(value)   ? "NaN"
      : std::isinf(value) ? (value > 0 ? "+Inf" : "-Inf")
                          : fmt::format("{}", value),
      suffix);
}

void metric_text::add(labels of, std::string_view value, std::string_view suffix) {
  text_ += name_;
  text_ += suffix;
  char before = '{';
  for (auto const& [name, text] : of) {
    text_ += before;
    text_ += name;
    text_ += "=\"";
    append_escaped(text_, text, true);
    text_ += '"';
    before = ',';
  }
  if (before == ',') text_ += '}';
  text_ += ' ';
  text_ += value;
  text_ += '\n';
}

}  // namespace rondo::service
