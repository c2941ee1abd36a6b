// The commands ask, tell, launch, activate, deactivate, terminate and checkpoint. For list, inspect and describe see
// look_commands.cpp.
#include <fmt/format.h>

#include "kernels/mail/trace.hpp"
#include "runtime/service/json/qualified_names.hpp"
#include "runtime/text/clean_text.hpp"
#include "tools/commands/command_line.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/look_commands.hpp"
#include "tools/commands/send_batch.hpp"
#include "tools/commands/trace_command.hpp"

namespace rondo::service {

namespace {

struct send_arguments {
  connection_options where;
  std::string actor, message, json;
  std::uint32_t priority = default_priority;
  std::uint32_t deadline_us = 0;
  bool wait_for_room = false;
  std::string file;
  std::uint32_t open = 64;
  std::string trace_file;
};

/// The actor's answer to one message, as a line of JSON. Throws command_error. `is_own_limit`: the deadline is the time
/// limit of the command, which may be seen here or by the service first.
std::string outcome_text(service_session& with, wire::outcome const& o, bool is_own_limit) {
  if (is_own_limit && static_cast<errc>(o.status()) == errc::timed_out) with.no_answer();
  if (o.status() != 0)
    throw command_error(exit_failed,
                        o.reason() != nullptr ? o.reason()->str() : name_of(static_cast<errc>(o.status())));
  if (o.type() == 0 || o.payload() == nullptr) return {};
  return with.text_of(o.type(), std::as_bytes(std::span(o.payload()->data(), o.payload()->size())));
}

void send_one(send_arguments const& a, bool wants_reply) {
  auto uses = a.where.files();
  uses.writes("--trace", a.trace_file);
  require_own_files(uses);
  service_session with(a.where);
  auto const& m = with.message_of(a.actor, a.message);
  if (wants_reply && !m.has_reply)
    throw command_error(exit_usage, fmt::format("{} has no reply; use rondo tell", m.name));
  if (!a.trace_file.empty() && m.bytes > max_traced_bytes)
    throw command_error(
        exit_usage, fmt::format("--trace: {} has {} bytes; messages of more than {} bytes cannot be traced",
                                m.name, m.bytes, max_traced_bytes));
  auto const trace = a.trace_file.empty() ? 0 : choose_trace();
  auto const payload = with.payload(m, a.json);
  auto& b = frame_builder();
  auto const name = b.CreateString(a.actor);
  auto const bytes = b.CreateVector(reinterpret_cast<std::uint8_t const*>(payload.data()), payload.size());
  auto deadline_us = a.deadline_us;
  // The actor need not answer a client that has given up. A longer timeout does not fit in the field.
  bool const is_own_limit = deadline_us == 0 && wants_reply && a.where.timeout_s <= 4000;
  if (is_own_limit) deadline_us = static_cast<std::uint32_t>(a.where.timeout_s * 1e6);
  auto const& o = with.request<wire::outcome>(
      request_frame(b, 1,
                    wire::Createsend(b, nullptr, name, m.id, static_cast<std::uint8_t>(a.priority),
                                     wants_reply, a.wait_for_room, deadline_us, 0, 0, bytes, trace)));
  auto const text = outcome_text(with, o, is_own_limit);
  if (!text.empty()) fmt::print("{}\n", text);
  if (trace != 0) write_trace_at_rest(with, trace, a.trace_file);
}

void add_send_command(CLI::App& app, bool wants_reply, int& exit_status) {
  auto const a = std::make_shared<send_arguments>();
  auto& c = add_command(app, wants_reply ? "ask" : "tell",
                        wants_reply ? "Send a message to an actor and print the answer as JSON"
                                    : "Send a message to an actor and wait until its mailbox has accepted it",
                        exit_status, [a, wants_reply] {
                          if (!a->file.empty()) return send_batch({a->where, a->file, wants_reply, a->open});
                          if (a->message.empty())
                            throw command_error(exit_usage, "pass ACTOR and MESSAGE, or --file; see --help");
                          send_one(*a, wants_reply);
                        });
  c.add_option("actor", a->actor, "the actor's name");
  c.add_option("message", a->message,
               "message type: its qualified name in the schema, or the last part of it");
  c.add_option("json", a->json, "fields as a JSON object; omitted fields are 0");
  add_number(c, "--priority", a->priority, "255 is handled first", 0, 255)
      .default_str(fmt::to_string(a->priority));
  add_number(c, "--deadline-us", a->deadline_us,
             "deadline in microseconds; after it the message is not handled; 0: none", 0, 0xffff'ffff);
  if (!wants_reply) c.add_flag("--wait", a->wait_for_room, "wait for room in a full mailbox");
  c.add_option("--trace", a->trace_file,
               "write the path of the message, and of everything it caused, to this file (.otlp.json: for "
               "OpenTelemetry); see rondo trace")
      ->excludes(c.add_option(
          "--file", a->file,
          "send one message per line of this file (- for standard input), {\"actor\": ..., \"message\": ..., "
          "\"payload\": {...}, \"priority\": ...}, and print one answer per line"));
  add_number(c, "--open", a->open, "with --file: how many messages are in flight at once", 1, 2000)
      .default_str(fmt::to_string(a->open));
  a->where.add_to(c);
  c.footer(
      wants_reply
          ? "Examples:\n  rondo ask clicks get\n  rondo ask clicks add_and_get '{\"amount\": 2}' --priority "
            "255\n"
            "  rondo ask --file requests.jsonl > answers.jsonl\n"
          : "Examples:\n  rondo tell clicks add '{\"amount\": 2}'\n  rondo tell --file messages.jsonl\n");
}

void add_control_command(CLI::App& app, char const* name, char const* help, wire::control_kind kind,
                         int& exit_status) {
  struct arguments {
    connection_options where;
    std::string actor;
    bool discard = false;
  };
  auto const a = std::make_shared<arguments>();
  auto& c = add_command(app, name, help, exit_status, [a, kind] {
    service_session with(a->where);
    auto& b = frame_builder();
    auto const how = a->discard ? wire::control_kind_terminate_discard : kind;
    with.require(request_frame(b, 1, wire::Createcontrol(b, b.CreateString(a->actor), how)));
  });
  c.add_option("actor", a->actor, "the actor's name")->required();
  if (kind == wire::control_kind_terminate_drain)
    c.add_flag("--discard", a->discard, "turn waiting mail into dead letters instead of handling it first");
  a->where.add_to(c);
  c.footer(fmt::format("Example:\n  rondo {} clicks\n", name));
}

/// The bytes of a launch argument. Throws command_error.
std::vector<std::byte> argument_of(service_session& with, std::string const& behaviour,
                                   std::string const& json) {
  auto const* const all = with.description().behaviours();
  if (all != nullptr)
    for (auto const* const b : *all) {
      auto const name = text_of(b->name());
      if (!is_called(name, behaviour, "::")) continue;
      auto const type = dotted(text_of(b->arguments()));
      if (type.empty())
        throw command_error(exit_usage, fmt::format("--argument: {} takes no launch argument", name));
      return with.payload({.name = type, .bytes = b->argument_bytes()}, json);
    }
  throw command_error(
      exit_usage, fmt::format("--argument: the service has no behaviour {}; see rondo describe", behaviour));
}

void add_launch_command(CLI::App& app, int& exit_status) {
  struct arguments {
    connection_options where;
    std::string actor, behaviour, argument;
    std::uint32_t capacity = 0, device = 0;
    bool pinned = false, inactive = false;
  };
  auto const a = std::make_shared<arguments>();
  auto& c = add_command(app, "launch", "Launch an actor", exit_status, [a] {
    service_session with(a->where);
    std::vector<std::byte> argument;
    if (!a->argument.empty()) argument = argument_of(with, a->behaviour, a->argument);
    auto& b = frame_builder();
    auto const name = b.CreateString(a->actor), behaviour = b.CreateString(a->behaviour);
    auto const bytes =
        b.CreateVector(reinterpret_cast<std::uint8_t const*>(argument.data()), argument.size());
    auto const& f = with.request<wire::found>(request_frame(
        b, 1,
        wire::Createlaunch(b, name, behaviour, a->capacity, a->device, a->pinned, !a->inactive, bytes)));
    fmt::print("{} is a {}\n", clean_text(a->actor),
               f.behaviour() != nullptr ? clean_text(text_of(f.behaviour())) : "?");
  });
  c.add_option("actor", a->actor, "the actor's name")->required();
  c.add_option("behaviour", a->behaviour, "actor type, as listed by rondo describe")->required();
  c.add_option("--argument", a->argument,
               "its launch argument: the fields of its type as a JSON object; omitted fields are 0");
  add_number(c, "--capacity", a->capacity, "capacity of the mailbox, in messages", 1, 1'048'576);
  add_number(c, "--device", a->device, "index of the device in the service's list", 0, max_devices - 1);
  c.add_flag("--pinned", a->pinned, "give the actor a team of its own, for the lowest latency");
  c.add_flag("--inactive", a->inactive, "do not handle mail until the actor is activated");
  a->where.add_to(c);
  c.footer("Example:\n  rondo launch clicks counter --capacity 4096\n");
}

void add_checkpoint_command(CLI::App& app, int& exit_status) {
  auto const where = std::make_shared<connection_options>();
  auto& c = add_command(app, "checkpoint", "Make the service write its checkpoint now", exit_status, [where] {
    service_session with(*where);
    auto& b = frame_builder();
    auto const& done = with.request<wire::checkpoint_done>(request_frame(b, 1, wire::Createcheckpoint(b)));
    fmt::print("{}\n", clean_text(text_of(done.file())));
  });
  where->add_to(c);
}

}  // namespace

void add_client_commands(CLI::App& app, int& exit_status) {
  add_send_command(app, true, exit_status);
  add_send_command(app, false, exit_status);
  add_launch_command(app, exit_status);
  add_control_command(app, "activate", "Let a deactivated actor handle its mail again",
                      wire::control_kind_activate, exit_status);
  add_control_command(app, "deactivate", "Stop an actor from handling mail; its mail waits",
                      wire::control_kind_deactivate, exit_status);
  add_control_command(app, "terminate", "Terminate an actor", wire::control_kind_terminate_drain,
                      exit_status);
  add_look_commands(app, exit_status);
  add_checkpoint_command(app, exit_status);
  add_trace_command(app, exit_status);
}

}  // namespace rondo::service
