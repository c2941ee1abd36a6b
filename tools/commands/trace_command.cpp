// `rondo trace`, and --trace of ask and tell: writes the paths of messages that a service has recorded to a file.
#include "tools/commands/trace_command.hpp"

#include <fmt/format.h>

#include <charconv>
#include <random>
#include <thread>

#include "runtime/files/part_file.hpp"
#include "runtime/observe/chrome_trace.hpp"
#include "runtime/observe/otlp_trace.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/text/clean_text.hpp"
#include "runtime/text/to_stderr.hpp"
#include "tools/commands/command_line.hpp"

namespace rondo::service {

namespace {

trace_hop unpacked(wire::trace_hop const& h) {
  trace_hop out{.trace = h.trace(),
                .hop = h.hop(),
                .parent = h.parent(),
                .on_host = h.on_host(),
                .handled = h.handled(),
                .actor_name = std::string(text_of(h.name())),
                .team = h.team(),
                .type = h.type(),
                .message = std::string(text_of(h.message())),
                .bytes = h.bytes(),
                .priority = h.priority(),
                .attempt = h.attempt(),
                .outcome = static_cast<errc>(h.status()),
                .sent_ns = h.sent_ns(),
                .begun_ns = h.begun_ns(),
                .ended_ns = h.ended_ns()};
  if (h.actor() != nullptr) out.actor = {h.actor()->index(), h.actor()->generation()};
  return out;
}

void write_text(std::string const& file, std::string const& text) try {
  write_output(file, text);
} catch (std::runtime_error const& e) {
  throw command_error(exit_no_output, e.what());
}

wire::trace_report const& request_traces(service_session& with, std::uint64_t trace) {
  auto& b = frame_builder();
  return with.request<wire::trace_report>(request_frame(b, 1, wire::Createtraces(b, trace)));
}

std::uint64_t parse_trace(std::string const& text) {
  std::uint64_t trace = 0;
  auto const [end, bad] = std::from_chars(text.data(), text.data() + text.size(), trace, 16);
  if (bad != std::errc() || end != text.data() + text.size() || trace == 0)
    throw command_error(
        exit_usage,
        fmt::format("'{}' is not a trace id; expected up to 16 hexadecimal digits, which may have "
                    "zeros in front",
                    text));
  return trace;
}

}  // namespace

std::uint64_t choose_trace() {
  std::random_device source;
  auto const trace = std::uint64_t{source()} << 32 | source();
  return trace != 0 ? trace : 1;
}

void write_trace_at_rest(service_session& with, std::uint64_t trace, std::string const& file) {
  using namespace std::chrono_literals;
  std::size_t before = 0;
  for (int look = 0; look < 50; ++look) {
    auto const* const hops = request_traces(with, trace).hops();
    auto const now = hops != nullptr ? hops->size() : 0;
    if (look != 0 && now == before) break;
    before = now;
    std::this_thread::sleep_for(20ms);
  }
  write_trace(with, trace, file, format_for(file));
}

trace_format format_for(std::string const& file) {
  return file.ends_with(".otlp.json") ? trace_format::otlp : trace_format::chrome;
}

void write_trace(service_session& with, std::uint64_t trace, std::string const& file, trace_format format) {
  auto const& found = request_traces(with, trace);
  std::vector<trace_hop> hops;
  if (found.hops() != nullptr)
    for (auto const* h : *found.hops()) hops.push_back(unpacked(*h));
  std::vector<std::string> devices;
  if (found.devices() != nullptr)
    for (auto const* d : *found.devices()) devices.push_back(d->str());
  if (hops.empty())
    throw command_error(
        exit_failed,
        trace == 0 ? "no message has been traced yet: set `trace_every` in the service's `runtime`, or use "
                     "rondo ask --trace"
                   : fmt::format("the service has no hop of trace {:016x}; it keeps only the latest hops "
                                 "(`trace_hops`) and has dropped {}",
                                 trace, found.forgotten()));
  bool const for_collectors = format == trace_format::otlp;
  auto const offset = found.unix_offset_ns() != 0 ? found.unix_offset_ns() : unix_offset_ns();
  write_text(file, for_collectors ? otlp_trace(hops, devices, {with.link().service_name(), offset})
                                  : chrome_trace(hops, devices));
  if (file != "-")
    to_stderr(fmt::format("{} hops in {}{}\n", hops.size(), clean_text(file),
                          for_collectors ? ", as OTLP/JSON" : ": open it at ui.perfetto.dev"));
}

void add_trace_command(CLI::App& app, int& exit_status) {
  struct arguments {
    connection_options where;
    std::string trace, file = "-";
    bool otlp = false;
  };
  auto const a = std::make_shared<arguments>();
  auto& c = add_command(
      app, "trace", "Write the paths of traced messages to a file for ui.perfetto.dev or OpenTelemetry",
      exit_status, [a] {
        auto const trace = a->trace.empty() ? 0 : parse_trace(a->trace);
        auto uses = a->where.files();
        uses.writes("--out", a->file);
        require_own_files(uses);
        service_session with(a->where);
        write_trace(with, trace, a->file, a->otlp ? trace_format::otlp : format_for(a->file));
      });
  c.add_option("trace", a->trace, "trace id in hexadecimal; default: all stored traces");
  c.add_option("-o,--out", a->file, "output file; - for standard output")->capture_default_str();
  c.add_flag("--otlp", a->otlp,
             "write OTLP/JSON for OpenTelemetry, as for a file whose name ends in .otlp.json");
  a->where.add_to(c);
  c.footer(
      "Examples:\n  rondo ask first hop '{\"number\": 7}' --trace way.json\n  rondo trace --out all.json\n"
      "  rondo trace --out all.otlp.json\n");
}

}  // namespace rondo::service
