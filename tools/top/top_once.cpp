// `rondo top --once` and `--json`: print one screen or one report, for a file, a pipe or another program.
#include <fmt/format.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <thread>

#include "runtime/text/json_string.hpp"
#include "tools/top/top_screen.hpp"
#include "tools/top/top_terminal.hpp"

namespace rondo::tools {

namespace {

constexpr int width_of_files = 110;

/// The rates of the interval, and the report at its end.
std::string to_json(top_model const& model) {
  auto const& t = model.totals();
  auto text = fmt::format(
      "{{\n\"seconds\": {},\n\"handled_per_second\": {},\n\"accepted_per_second\": "
      "{},\n\"failures_per_second\": {},\n"
      "\"p50_ns\": {},\n\"p99_ns\": {},\n\"actors\": [",
      model.seconds(), t.handled, t.accepted, t.failures, t.p50_ns, t.p99_ns);
  char const* before = "\n";
  for (auto const& a : model.actors()) {
    text += fmt::format(
        "{}  {{ \"name\": {}, \"index\": {}, \"handled_per_second\": {}, \"p50_ns\": {}, \"p99_ns\": {}, "
        "\"new_errors\": {} }}",
        before, json_string(a.now->name), a.now->index, a.rate, a.p50_ns, a.p99_ns, a.new_errors);
    before = ",\n";
  }
  text += "\n],\n\"stages\": [";
  before = "\n";
  for (auto const& s : model.stages()) {
    text += fmt::format(
        "{}  {{ \"graph\": {}, \"name\": {}, \"ticks_per_second\": {}, \"busy\": {}, \"mean_ns\": {} }}",
        before, json_string(s.graph->name), json_string(s.now->name), s.rate, s.busy, s.mean_ns);
    before = ",\n";
  }
  return text + "\n],\n\"report\": " + service::to_json(model.now()) + "}\n";
}

}  // namespace

void print_top(top_source const& source, top_options const& options, bool as_json, std::FILE* out) {
  std::setlocale(LC_ALL, "");
  top_model model;
  model.add(source.next());
  std::this_thread::sleep_for(options.interval);
  model.add(source.next());
  if (as_json) {
    std::fputs(to_json(model).c_str(), out);
    return;
  }
  top_look look;
  look.interactive = false;
  look.ascii = options.ascii || std::string_view(nl_langinfo(CODESET)) != "UTF-8";
  look.width = width_of_files;
  bool const is_terminal = isatty(fileno(out)) != 0;
  if (winsize size{}; is_terminal && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
    look.width = std::min<int>(size.ws_col, most_top_columns);
  char const* const no = std::getenv("NO_COLOR");
  look.colours = is_terminal && !options.no_colour && (no == nullptr || *no == '\0');
  look.height = height_for_all(model);
  auto const grid = draw_top(model, {}, look, {.source = source.name});
  std::fputs((look.colours ? to_ansi(grid) : to_text(grid)).c_str(), out);
}

}  // namespace rondo::tools
