#include "tools/stream/stream_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace rondo::tools {

namespace {

char const* text_of(streams::works where) {
  return where == streams::works::on_host          ? "on the host"
         : where == streams::works::on_accelerator ? "on an accelerator"
                                                   : "anywhere";
}
std::string_view last_part(std::string_view name) { return name.substr(name.rfind(':') + 1); }

std::string ports_text(std::vector<streams::port_kind> const& ports) {
  std::string text;
  for (auto const& p : ports)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", p.name, p.is_optional ? "?" : "");
  return text.empty() ? "-" : text;
}

}  // namespace

std::string list_stages(streams::stage_catalog const& catalog) {
  auto text = fmt::format("{:16} {:36} {:12} {}\n", "stage", "inputs", "outputs", "works");
  for (auto const* kind : catalog.all())
    text += fmt::format("{:16} {:36} {:12} {}\n", kind->short_name(), ports_text(kind->inputs),
                        ports_text(kind->outputs), text_of(kind->where));
  return text +
         "\nAn input with ? need not be connected. `rondo stream --list STAGE` shows a stage's options.\n";
}

std::string list_stage(streams::stage_kind const& kind) {
  auto text = fmt::format("{} ({}), works {}\n", kind.short_name(), kind.name, text_of(kind.where));
  for (auto const& p : kind.inputs)
    text += fmt::format("  input   {:12} {}, {}{}\n", p.name, last_part(p.frame), name_of(p.how),
                        p.is_optional ? ", need not be connected" : "");
  for (auto const& p : kind.outputs)
    text += fmt::format("  output  {:12} {}{}\n", p.name, last_part(p.frame),
                        p.edit_of.empty() ? std::string() : fmt::format(", changes {} in place", p.edit_of));
  std::vector<std::max_align_t> object(kind.option_bytes / sizeof(std::max_align_t) + 1);
  kind.default_options(object.data());
  for (auto const& f : streams::options_in(kind, object.data()))
    text += fmt::format("  option  {:12} {}; {} (default: {})\n", f.name, f.meaning, f.accepted(), f.value());
  return text;
}

}  // namespace rondo::tools
