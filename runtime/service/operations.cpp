#include "runtime/service/operations.hpp"

#include <fmt/format.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>

#include "runtime/service/behaviour_names.hpp"
#include "runtime/service/wire.hpp"
#include "runtime/telemetry.hpp"
#include "runtime/trace_log.hpp"

namespace rondo::service {

namespace {

namespace asio = boost::asio;
using flatbuffers::Offset;
using peer = std::shared_ptr<session>;

wire::actor_name wire_name(actor_id id) { return {id.index, id.generation}; }

/// Responds with the outcome of a step that some thread completes.
auto outcome_to(peer client, std::uint64_t id) {
  return asio::bind_executor(asio::system_executor{}, [client = std::move(client), id](error_code ec) {
    client->respond(outcome_frame(id, static_cast<errc>(ec.value())));
  });
}

void find(service_core& core, peer const& client, std::uint64_t id, wire::find const& r) {
  auto const found = core.rt.find_any(text_of(r.name()));
  if (!found) return client->respond(outcome_frame(id, errc::not_found));
  auto& b = frame_builder();
  auto const behaviour = b.CreateString(std::string(found->behaviour().name));
  auto const name = wire_name(found->id());
  client->respond(response_frame(b, id, wire::Createfound(b, &name, behaviour)));
}

void launch(service_core& core, peer const& client, std::uint64_t id, wire::launch const& r) {
  std::string why;
  auto const behaviour = full_behaviour_name(core.rt.behaviours(), text_of(r.behaviour()), why);
  if (behaviour.empty()) return client->respond(outcome_frame(id, errc::not_found, why));
  actor_options options{.device = r.device(), .pinned = r.pinned(), .active = r.active()};
  if (r.capacity() != 0) options.capacity = r.capacity();
  try {
    auto const actor = core.rt.try_launch_untyped(std::string(text_of(r.name())), behaviour, options);
    if (!actor) return client->respond(outcome_frame(id, static_cast<errc>(actor.error().value())));
    auto& b = frame_builder();
    auto const full = b.CreateString(std::string(behaviour));
    auto const name = wire_name(*actor);
    client->respond(response_frame(b, id, wire::Createfound(b, &name, full)));
  } catch (std::invalid_argument const& e) {
    client->respond(outcome_frame(id, errc::service_refuses, e.what()));
  }
}

void control(service_core& core, peer const& client, std::uint64_t id, wire::control const& r) {
  auto const to = core.rt.find_any(text_of(r.name()));
  if (!to) return client->respond(outcome_frame(id, errc::not_found));
  switch (r.kind()) {
    case wire::control_kind_activate:
      return core.rt.activate(to->id(), outcome_to(client, id));
    case wire::control_kind_deactivate:
      return core.rt.deactivate(to->id(), outcome_to(client, id));
    case wire::control_kind_terminate_drain:
      return core.rt.terminate(to->id(), termination::drain, outcome_to(client, id));
    case wire::control_kind_terminate_discard:
      return core.rt.terminate(to->id(), termination::discard, outcome_to(client, id));
  }
  client->respond(outcome_frame(id, errc::service_refuses, "no such control"));
}

Offset<wire::actor_line> line_of(flatbuffers::FlatBufferBuilder& b, listed_actor const& e,
                                 std::string_view behaviour, std::uint32_t capacity,
                                 actor_snapshot const& now) {
  auto const name = b.CreateString(e.name);
  auto const of = b.CreateString(behaviour.data(), behaviour.size());
  auto const state = b.CreateString(name_of(now.state));
  auto const actor = wire_name(e.id);
  return wire::Createactor_line(b, name, of, &actor, e.options.device, capacity, e.options.pinned, state,
                                now.waiting, now.totals.handled, now.totals.failures);
}

void list(service_core& core, peer const& client, std::uint64_t id) {
  auto const entries = core.rt.list();
  auto const moment = core.rt.snapshot();
  auto& b = frame_builder();
  std::vector<Offset<wire::actor_line>> lines;
  for (auto const& e : entries) {
    actor_snapshot now;
    for (auto const& a : moment.actors)
      if (a.now.index == e.id.index && a.now.generation == e.id.generation) now = a.now;
    lines.push_back(line_of(b, e, core.rt.behaviours()[e.behaviour].name,
                            e.options.capacity.value_or(core.rt.settings().default_capacity), now));
  }
  client->respond(response_frame(b, id, wire::Createactors(b, b.CreateVector(lines))));
}

void inspect(service_core& core, peer const& client, std::uint64_t id, wire::inspect const& r) {
  auto const to = core.rt.find_any(text_of(r.name()));
  if (!to) return client->respond(outcome_frame(id, errc::not_found));
  core.rt.inspect(
      to->id(), asio::bind_executor(asio::system_executor{}, [&core, client, id, actor = to->id()](
                                                                 error_code ec, inspection found) {
        if (ec) return client->respond(outcome_frame(id, static_cast<errc>(ec.value())));
        auto& b = frame_builder();
        for (auto const& e : core.rt.list()) {
          if (!(e.id == actor)) continue;
          actor_report const report{e.name, {}, e.options.device, found.now};
          std::vector<wire::depth> depths;
          for (auto const& d : found.depths) depths.emplace_back(d.priority, d.messages);
          auto const line =
              line_of(b, e, core.rt.behaviours()[e.behaviour].name,
                      e.options.capacity.value_or(core.rt.settings().default_capacity), found.now);
          auto const by_priority = b.CreateVectorOfStructs(depths);
          auto const& t = found.now.totals;
          return client->respond(
              response_frame(b, id,
                             wire::Createinspection(b, line, t.accepted, t.rejected, t.dead, t.peak_depth,
                                                    report.mean_latency_ns(), report.latency_ns(0.5),
                                                    report.latency_ns(0.99), by_priority)));
        }
        client->respond(outcome_frame(id, errc::actor_gone));
      }));
}

void describe(service_core& core, peer const& client, std::uint64_t id) {
  auto& b = frame_builder();
  std::vector<Offset<wire::behaviour_line>> behaviours;
  for (auto const& behaviour : core.rt.behaviours()) {
    std::vector<Offset<wire::message_line>> messages;
    for (auto const& m : behaviour.messages)
      messages.push_back(wire::Createmessage_line(b, b.CreateString(std::string(m.name)), m.id, m.bytes,
                                                  m.has_reply, m.reply_id));
    auto const all = b.CreateVector(messages);
    behaviours.push_back(wire::Createbehaviour_line(b, b.CreateString(std::string(behaviour.name)), all));
  }
  std::vector<Offset<wire::blob>> schemas;
  for (auto const& schema : core.schemas) schemas.push_back(wire::Createblob(b, b.CreateVector(schema)));
  auto const all = b.CreateVector(behaviours);
  client->respond(response_frame(b, id, wire::Createdescription(b, all, b.CreateVector(schemas))));
}

/// For work that blocks; its errors are the client's.
template <class Work>
void slowly(service_core& core, peer const& client, std::uint64_t id, Work work) {
  asio::post(core.slow_work, [client, id, work = std::move(work)] {
    try {
      work();
    } catch (std::exception const& e) {
      client->respond(outcome_frame(id, errc::service_refuses, e.what()));
    }
  });
}

void watch(service_core& core, peer const& client, std::uint64_t id) {
  slowly(core, client, id, [&core, client, id] {
    auto const report = core.report();
    auto& b = frame_builder();
    client->respond(response_frame(b, id, wire::Createtelemetry_report(b, b.CreateVector(report))));
  });
}

void checkpoint(service_core& core, peer const& client, std::uint64_t id) {
  if (core.checkpoint_file.empty())
    return client->respond(
        outcome_frame(id, errc::service_refuses, "its configuration names no `checkpoint` file to write"));
  slowly(core, client, id, [&core, client, id] {
    core.write_checkpoint();
    auto& b = frame_builder();
    client->respond(
        response_frame(b, id, wire::Createcheckpoint_done(b, b.CreateString(core.checkpoint_file.string()))));
  });
}

void traces(service_core& core, peer const& client, std::uint64_t id, wire::traces const& r) {
  slowly(core, client, id, [&core, client, id, trace = r.trace()] {
    auto const hops = core.rt.traces(trace);
    auto& b = frame_builder();
    std::vector<Offset<wire::trace_hop>> packed;
    for (auto const& h : hops) {
      auto const actor = wire_name(h.actor);
      auto const name = b.CreateString(h.actor_name), message = b.CreateString(h.message);
      packed.push_back(wire::Createtrace_hop(
          b, h.trace, h.hop, h.parent, h.on_host, h.handled, &actor, name, h.team, h.type, message,
          h.priority, h.attempt, static_cast<std::uint32_t>(h.outcome), h.sent_ns, h.begun_ns, h.ended_ns));
    }
    std::vector<std::string> devices;
    for (std::uint32_t d = 0; d < core.rt.device_count(); ++d) devices.push_back(core.rt.info(d).name);
    auto const all = b.CreateVector(packed);
    client->respond(response_frame(
        b, id, wire::Createtrace_report(b, all, b.CreateVectorOfStrings(devices), core.rt.forgotten_hops())));
  });
}

}  // namespace

void operate(service_core& core, std::shared_ptr<session> const& client, wire::request const& request) {
  auto const id = request.id();
  switch (request.body_type()) {
    case wire::ask_body_find:
      return find(core, client, id, *request.body_as_find());
    case wire::ask_body_launch:
      return launch(core, client, id, *request.body_as_launch());
    case wire::ask_body_control:
      return control(core, client, id, *request.body_as_control());
    case wire::ask_body_list:
      return list(core, client, id);
    case wire::ask_body_inspect:
      return inspect(core, client, id, *request.body_as_inspect());
    case wire::ask_body_describe:
      return describe(core, client, id);
    case wire::ask_body_watch:
      return watch(core, client, id);
    case wire::ask_body_checkpoint:
      return checkpoint(core, client, id);
    case wire::ask_body_traces:
      return traces(core, client, id, *request.body_as_traces());
    default:
      return client->respond(outcome_frame(id, errc::service_refuses, "this version knows no such request"));
  }
}

}  // namespace rondo::service
