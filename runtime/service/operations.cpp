#include "runtime/service/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/system_executor.hpp>
#include <unordered_map>
#include <utility>

#include "runtime/lifecycle.hpp"
#include "runtime/messaging/trace_log.hpp"
#include "runtime/observe/telemetry.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/service/json/qualified_names.hpp"
#include "runtime/service/slow_work.hpp"
#include "runtime/service/wire/wire.hpp"

namespace rondo::service {

namespace {

namespace asio = boost::asio;
using flatbuffers::Offset;
using peer = std::shared_ptr<session>;

wire::actor_name wire_name(actor_id id) { return {id.index, id.generation}; }

/// A place for an operation on an actor, which may outlive its client. If there is none, responds with the reason.
quota_place place_of_control(peer const& client, std::uint64_t id) {
  quota_place place(client->peer(), table::controls);
  if (!place)
    client->respond(outcome_frame(id, errc::service_refuses, client->peer()->why_refused(table::controls)));
  return place;
}

/// A completion handler that responds with the outcome, from any thread.
auto outcome_to(peer client, std::uint64_t id, quota_place place) {
  return asio::bind_executor(asio::system_executor{}, [client = std::move(client), id,
                                                       held = std::move(place)](error_code ec) mutable {
    held.give_back();
    client->respond(outcome_frame(id, static_cast<errc>(ec.value())));
  });
}

/// If the client lacks the right, responds with the reason and returns true.
bool refused(peer const& client, std::uint64_t id, role needed, std::string const& actor = {}) {
  auto const why = client->allows().refusal(needed, actor);
  if (why.empty()) return false;
  client->respond(outcome_frame(id, errc::service_refuses, why));
  return true;
}

void find(service_core& core, peer const& client, std::uint64_t id, wire::find const& r) {
  std::string const actor(text_of(r.name()));
  if (refused(client, id, role::read, actor)) return;
  auto const found = core.rt.find_any(actor);
  if (!found) return client->respond(outcome_frame(id, errc::not_found));
  auto& b = frame_builder();
  auto const behaviour = b.CreateString(std::string(found->behaviour().name));
  auto const name = wire_name(found->id());
  client->respond(response_frame(b, id, wire::Createfound(b, &name, behaviour)));
}

void launch(service_core& core, peer const& client, std::uint64_t id, wire::launch const& r) {
  auto const& limits = core.limits;
  std::string const actor(text_of(r.name()));
  auto const refuse = [&](std::string_view why) {
    client->respond(outcome_frame(id, errc::service_refuses, why));
  };
  if (actor.empty()) return refuse("the actor needs a name: clients address actors by name");
  if (refused(client, id, role::launch, actor)) return;
  if (r.capacity() > limits.capacity)
    return refuse(fmt::format("the mailbox capacity {} exceeds the limit of {} for clients (limits.capacity)",
                              r.capacity(), limits.capacity));
  std::string why;
  auto const behaviour = full_behaviour_name(core.rt.behaviours(), text_of(r.behaviour()), why);
  if (behaviour.empty()) return client->respond(outcome_frame(id, errc::unknown_behaviour, why));
  actor_options options{.device = r.device(), .pinned = r.pinned(), .active = r.active()};
  if (r.capacity() != 0) options.capacity = r.capacity();
  auto const needs = launched_actors::needs_of(core.rt, behaviour, options);
  why = core.launched.refusal(core.rt, core.tables, client->peer(), needs, limits.actors);
  if (!why.empty()) return refuse(why);
  try {
    std::span<std::byte const> arguments;
    if (r.arguments() != nullptr)
      arguments = {reinterpret_cast<std::byte const*>(r.arguments()->data()), r.arguments()->size()};
    auto const& known = core.rt.behaviours();
    auto const info = std::ranges::find(known, behaviour, &behaviour_info::name);
    if (!arguments.empty() && info != known.end() && info->holds_addresses)
      return refuse(
          "actors of this behaviour hold addresses, which no client can know: launch it without an argument");
    auto const made = core.rt.try_launch_untyped(actor, behaviour, options, arguments);
    if (!made) return client->respond(outcome_frame(id, static_cast<errc>(made.error().value())));
    core.launched.add(core.rt, client->peer(), *made, needs);
    auto& b = frame_builder();
    auto const full = b.CreateString(std::string(behaviour));
    auto const name = wire_name(*made);
    client->respond(response_frame(b, id, wire::Createfound(b, &name, full)));
  } catch (std::invalid_argument const& e) {
    refuse(e.what());
  }
}

/// A completion handler of terminate: the place of the actor is free before the client knows it.
template <class Handler>
auto forgotten(service_core& core, actor_id actor, Handler then) {
  return asio::bind_executor(asio::system_executor{},
                             [&core, actor, then = std::move(then)](error_code ec) mutable {
                               if (!ec) core.launched.forget(actor);
                               std::move(then)(ec);
                             });
}

void control(service_core& core, peer const& client, std::uint64_t id, wire::control const& r) {
  std::string const actor(text_of(r.name()));
  if (refused(client, id, role::control, actor)) return;
  auto const to = core.rt.find_any(actor);
  if (!to) return client->respond(outcome_frame(id, errc::not_found));
  auto place = place_of_control(client, id);
  if (!place) return;
  auto done = outcome_to(client, id, std::move(place));
  switch (r.kind()) {
    case wire::control_kind_activate:
      return rondo::activate(*to, std::move(done));
    case wire::control_kind_deactivate:
      return rondo::deactivate(*to, std::move(done));
    case wire::control_kind_terminate_drain:
      return rondo::terminate(*to, termination::drain, forgotten(core, to->id(), std::move(done)));
    case wire::control_kind_terminate_discard:
      return rondo::terminate(*to, termination::discard, forgotten(core, to->id(), std::move(done)));
  }
  client->respond(outcome_frame(id, errc::service_refuses, "unknown kind of control"));
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

/// A client whose answer takes long to make, or has many bytes. `work` returns the response; what it throws is reported
/// to the client.
template <class Work>
class slow_read final : public slow_work::reader {
 public:
  slow_read(peer const& client, std::uint64_t id, Work work)
      : client_(client), id_(id), work_(std::move(work)) {}

  bool has_gone() const override {
    auto const client = client_.lock();
    return client == nullptr || client->has_gone();
  }
  void run() override {
    auto const client = client_.lock();
    if (client == nullptr) return;
    // Looked at just before the work: many clients may have asked while none had unread responses.
    if (client->short_of_room()) {
      client->peer()->count_refusal(table::response_bytes);
      return client->respond_held(
          outcome_frame(id_, errc::service_refuses, client->peer()->why_refused(table::response_bytes)));
    }
    try {
      client->respond_held(work_());
    } catch (std::exception const& e) {
      client->respond_held(outcome_frame(id_, errc::service_refuses, e.what()));
    }
  }
  void refuse() override {
    if (auto const client = client_.lock())
      client->respond_held(outcome_frame(id_, errc::stopped, "the service is stopping"));
  }

 private:
  std::weak_ptr<session> client_;
  std::uint64_t id_;
  Work work_;
};

/// Has slow_work make the answer. The client is not read until it is done.
template <class Work>
void slowly(service_core& core, peer const& client, std::uint64_t id, Work work) {
  client->hold();
  core.slow->read(client->peer(), std::make_unique<slow_read<Work>>(client, id, std::move(work)));
}

std::uint32_t capacity_of(service_core const& core, listed_actor const& e) {
  return e.options.capacity.value_or(core.rt.settings().default_capacity);
}

/// Responds with one page: at most page_actors actors, and about page_bytes bytes.
void list(service_core& core, peer const& client, std::uint64_t id, wire::list const& r) {
  constexpr std::size_t page_actors = 1024, page_bytes = 256 * 1024;
  if (client->allows().most < role::read) return void(refused(client, id, role::read));
  slowly(core, client, id, [&core, id, from = r.from(), allows = client->allows()] {
    auto const entries = core.rt.list(from, page_actors);
    // Of this page alone: a snapshot of all actors for each page would take N squared time.
    std::unordered_map<std::uint32_t, actor_snapshot> by_index;
    if (!entries.empty())
      for (auto const& a : core.rt.snapshot_of(entries.front().id.index, entries.back().id.index))
        by_index.emplace(a.index, a);
    auto& b = frame_builder();
    std::vector<Offset<wire::actor_line>> lines;
    std::uint32_t next = entries.size() == page_actors ? entries.back().id.index + 1 : 0;
    for (auto const& e : entries) {
      if (b.GetSize() >= page_bytes) {
        next = e.id.index;
        break;
      }
      if (!allows.covers(e.name)) continue;
      auto const now = by_index.find(e.id.index);
      bool const same = now != by_index.end() && now->second.generation == e.id.generation;
      lines.push_back(line_of(b, e, core.rt.behaviours()[e.behaviour].name, capacity_of(core, e),
                              same ? now->second : actor_snapshot{}));
    }
    return response_frame(b, id, wire::Createactors(b, b.CreateVector(lines), next));
  });
}

void inspect(service_core& core, peer const& client, std::uint64_t id, wire::inspect const& r) {
  std::string const actor(text_of(r.name()));
  if (refused(client, id, role::read, actor)) return;
  auto const to = core.rt.find_any(actor);
  if (!to) return client->respond(outcome_frame(id, errc::not_found));
  auto place = place_of_control(client, id);
  if (!place) return;
  rondo::inspect(
      *to, asio::bind_executor(asio::system_executor{}, [&core, client, id, who = to->id(),
                                                         held = std::move(place)](error_code ec,
                                                                                  inspection found) mutable {
        held.give_back();
        auto const e = core.rt.listed(who);
        if (!ec && !e) ec = e.error();
        if (ec) return client->respond(outcome_frame(id, static_cast<errc>(ec.value())));
        auto& b = frame_builder();
        actor_report const report{e->name, {}, e->options.device, found.now};
        std::vector<wire::depth> depths;
        for (auto const& d : found.depths) depths.emplace_back(d.priority, d.messages);
        auto const line =
            line_of(b, *e, core.rt.behaviours()[e->behaviour].name, capacity_of(core, *e), found.now);
        auto const by_priority = b.CreateVectorOfStructs(depths);
        auto const& t = found.now.totals;
        client->respond(
            response_frame(b, id,
                           wire::Createinspection(b, line, t.accepted, t.rejected, t.dead, t.peak_depth,
                                                  report.mean_latency_ns(), report.latency_ns(0.5),
                                                  report.latency_ns(0.99), by_priority)));
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
    auto const name = b.CreateString(std::string(behaviour.name));
    Offset<flatbuffers::String> arguments;
    if (!behaviour.arguments_type.empty()) arguments = b.CreateString(std::string(behaviour.arguments_type));
    behaviours.push_back(wire::Createbehaviour_line(b, name, all, arguments,
                                                    static_cast<std::uint32_t>(behaviour.arguments.size())));
  }
  std::vector<Offset<wire::blob>> schemas;
  for (auto const& schema : core.schemas) schemas.push_back(wire::Createblob(b, b.CreateVector(schema)));
  auto const all = b.CreateVector(behaviours);
  client->respond(response_frame(b, id, wire::Createdescription(b, all, b.CreateVector(schemas))));
}

/// One report serves all clients that asked before it was begun.
void watch(service_core& core, peer const& client, std::uint64_t id) {
  if (refused(client, id, role::read)) return;
  slowly(core, client, id, [&core, id, asked = core.slow->turn()] {
    auto& last = core.last_report;
    if (last.began < asked) {
      last.began = core.slow->turn();
      last.bytes = core.report();
    }
    auto& b = frame_builder();
    auto const frame = response_frame(b, id, wire::Createtelemetry_report(b, b.CreateVector(last.bytes)));
    if (core.slow->waiting() == 0) last = {};
    return frame;
  });
}

/// All clients that ask before the writing begins share one file.
void checkpoint(service_core& core, peer const& client, std::uint64_t id) {
  if (refused(client, id, role::admin)) return;
  if (core.checkpoint_file.empty())
    return client->respond(
        outcome_frame(id, errc::service_refuses,
                      "no checkpoint file is configured; set `checkpoint` in the service's configuration"));
  client->hold();
  {
    std::lock_guard lock(core.checkpoint_mutex);
    core.want_checkpoint.emplace_back(client, id);
    if (core.want_checkpoint.size() > 1) return;
  }
  core.slow->control([&core] {
    std::unique_lock lock(core.checkpoint_mutex);
    auto const all = std::exchange(core.want_checkpoint, {});
    lock.unlock();
    std::string why;
    try {
      core.write_checkpoint();
    } catch (std::exception const& e) {
      why = e.what();
    }
    for (auto const& [who, request] : all) {
      auto& b = frame_builder();
      who->respond_held(why.empty() ? response_frame(b, request,
                                                     wire::Createcheckpoint_done(
                                                         b, b.CreateString(core.checkpoint_file.string())))
                                    : outcome_frame(request, errc::service_refuses, why));
    }
  });
}

void traces(service_core& core, peer const& client, std::uint64_t id, wire::traces const& r) {
  if (refused(client, id, role::read)) return;
  slowly(core, client, id, [&core, id, trace = r.trace()] {
    auto const hops = core.rt.traces().read(trace);
    auto& b = frame_builder();
    std::vector<Offset<wire::trace_hop>> packed;
    for (auto const& h : hops) {
      auto const actor = wire_name(h.actor);
      auto const name = b.CreateString(h.actor_name), message = b.CreateString(h.message);
      packed.push_back(wire::Createtrace_hop(b, h.trace, h.hop, h.parent, h.on_host, h.handled, &actor, name,
                                             h.team, h.type, message, h.priority, h.attempt,
                                             static_cast<std::uint32_t>(h.outcome), h.sent_ns, h.begun_ns,
                                             h.ended_ns, h.bytes));
    }
    std::vector<std::string> devices;
    for (std::uint32_t d = 0; d < core.rt.device_count(); ++d) devices.push_back(core.rt.info(d).name);
    auto const all = b.CreateVector(packed);
    return response_frame(b, id,
                          wire::Createtrace_report(b, all, b.CreateVectorOfStrings(devices),
                                                   core.rt.traces().forgotten(), unix_offset_ns()));
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
      return list(core, client, id, *request.body_as_list());
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
      return client->respond(
          outcome_frame(id, errc::service_refuses, "this version of the service does not know this request"));
  }
}

}  // namespace rondo::service
