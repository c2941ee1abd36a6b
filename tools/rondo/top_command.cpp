#include "tools/rondo/top_command.hpp"

#include "tools/commands/command_line.hpp"
#include "tools/top/top_terminal.hpp"

namespace rondo::tools {

namespace {

struct top_arguments {
  service::connection_options where;
  top_options shown;
  std::uint32_t interval_ms = 1000;
  bool once = false, json = false;
};

service::report fetch(service::service_session& with) {
  auto& b = service::frame_builder();
  auto const& r = with.request<wire::telemetry_report>(service::request_frame(b, 1, wire::Createwatch(b)));
  if (r.report() == nullptr) throw std::runtime_error("the service sent an empty report");
  return service::decode({r.report()->data(), r.report()->size()});
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> depths_of(service::service_session& with,
                                                               std::string const& actor) {
  auto& b = service::frame_builder();
  auto const& i = with.request<wire::inspection>(
      service::request_frame(b, 1, wire::Createinspect(b, b.CreateString(actor))));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> depths;
  if (i.depths() != nullptr)
    for (auto const* d : *i.depths()) depths.emplace_back(d->priority(), d->messages());
  return depths;
}

}  // namespace

void add_top_command(CLI::App& app, int& exit_status) {
  auto const a = std::make_shared<top_arguments>();
  auto& c = service::add_command(
      app, "top", "Watch a running service: actors, graphs, latencies, devices, memory", exit_status, [a] {
        service::service_session with(a->where);
        a->shown.interval = std::chrono::milliseconds(a->interval_ms);
        top_source const source{a->where.options().at.text(), [&] { return fetch(with); },
                                [&](std::string const& actor) { return depths_of(with, actor); }};
        if (a->once || a->json) return print_top(source, a->shown, a->json, stdout);
        try {
          run_top(source, a->shown);
        } catch (no_terminal const& e) {
          throw service::command_error(exit_usage, e.what());
        }
      });
  service::add_number(c, "--interval", a->interval_ms, "milliseconds between updates", 50, 60'000)
      .default_str(std::to_string(a->interval_ms));
  c.add_flag("--once", a->once, "print one screen and exit");
  c.add_flag("--json", a->json, "print one report as JSON and exit");
  c.add_flag("--ascii", a->shown.ascii, "use only ASCII characters");
  c.add_flag("--no-colour", a->shown.no_colour, "do not use colours, as with NO_COLOR");
  a->where.add_to(c);
  c.footer(
      "Keys: o sort order, / filter, Enter show one actor, Tab graphs of stages, p pause, s save the report, "
      "? help, "
      "q quit.");
}

}  // namespace rondo::tools
