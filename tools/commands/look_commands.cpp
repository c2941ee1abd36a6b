#include "tools/commands/look_commands.hpp"

#include <fmt/format.h>

#include "runtime/text/clean_text.hpp"
#include "runtime/text/json_string.hpp"
#include "tools/commands/command_line.hpp"

namespace rondo::service {

namespace {

struct look_arguments {
  connection_options where;
  std::string actor;
  bool json = false;
};

CLI::App& add_look_command(CLI::App& app, char const* name, char const* help, int& exit_status,
                           std::shared_ptr<look_arguments> const& a, std::function<void()> look) {
  auto& c = add_command(app, name, help, exit_status, std::move(look));
  c.add_flag("--json", a->json, "print JSON");
  a->where.add_to(c);
  return c;
}

std::string text_of_member(flatbuffers::String const* text) { return json_string(text_of(text)); }

/// The members of an actor's JSON object, without the braces.
std::string members_of(wire::actor_line const& l) {
  auto const id = l.actor() != nullptr ? fmt::format(R"("id": {{"index": {}, "generation": {}}}, )",
                                                     l.actor()->index(), l.actor()->generation())
                                       : std::string();
  return fmt::format(
      R"("name": {}, "behaviour": {}, {}"state": {}, "device": {}, "pinned": {}, "capacity": {}, )"
      R"("waiting": {}, "handled": {}, "failures": {})",
      text_of_member(l.name()), text_of_member(l.behaviour()), id, text_of_member(l.state()), l.device(),
      l.pinned(), l.capacity(), l.waiting(), l.handled(), l.failures());
}

// -- list

void print_line(wire::actor_line const& l) {
  fmt::print("{:<24} {:<28} {:<12} {:>8} {:>12} {:>9}\n", clean_text(text_of(l.name())),
             clean_text(text_of(l.behaviour())), clean_text(text_of(l.state())), l.waiting(), l.handled(),
             l.failures());
}

void list(look_arguments const& a) {
  service_session with(a.where);
  if (!a.json)
    fmt::print("{:<24} {:<28} {:<12} {:>8} {:>12} {:>9}\n", "actor", "behaviour", "state", "waiting",
               "handled", "failures");
  std::uint32_t from = 0;
  do {
    auto& b = frame_builder();
    auto const& page = with.request<wire::actors>(request_frame(b, 1, wire::Createlist(b, from)));
    auto const count = page.all() != nullptr ? page.all()->size() : 0;
    for (flatbuffers::uoffset_t i = 0; i < count; ++i) {
      auto const& l = *page.all()->Get(i);
      if (a.json)
        fmt::print("{{{}}}\n", members_of(l));
      else
        print_line(l);
    }
    from = page.next();
  } while (from != 0);
}

// -- inspect

void print_inspection(wire::inspection const& i) {
  if (auto const* const l = i.line(); l != nullptr) {
    fmt::print("actor       {}\nbehaviour   {}\nstate       {}\n", clean_text(text_of(l->name())),
               clean_text(text_of(l->behaviour())), clean_text(text_of(l->state())));
    if (l->actor() != nullptr)
      fmt::print("id          {{\"index\": {}, \"generation\": {}}}\n", l->actor()->index(),
                 l->actor()->generation());
    fmt::print("device      {}{}\ncapacity    {}\nwaiting     {}\nhandled     {}\nfailures    {}\n",
               l->device(), l->pinned() ? ", pinned" : "", l->capacity(), l->waiting(), l->handled(),
               l->failures());
  }
  fmt::print("accepted    {}\nrejected    {}\ndead        {}\npeak depth  {}\n", i.accepted(), i.rejected(),
             i.dead(), i.peak_depth());
  fmt::print("latency     mean {:.1f} us, p50 {:.1f} us, p99 {:.1f} us\n", i.mean_latency_ns() / 1e3,
             i.p50_latency_ns() / 1e3, i.p99_latency_ns() / 1e3);
  if (i.depths() != nullptr)
    for (auto const* d : *i.depths()) fmt::print("priority {:>3} {} waiting\n", d->priority(), d->messages());
}

std::string json_of(wire::inspection const& i) {
  std::string depths;
  if (i.depths() != nullptr)
    for (auto const* d : *i.depths())
      depths += fmt::format(R"({}{{"priority": {}, "messages": {}}})", depths.empty() ? "" : ", ",
                            d->priority(), d->messages());
  return fmt::format(
      R"({{{}{}"accepted": {}, "rejected": {}, "dead": {}, "peak_depth": {}, "mean_latency_ns": {}, )"
      R"("p50_latency_ns": {}, "p99_latency_ns": {}, "depths": [{}]}})",
      i.line() != nullptr ? members_of(*i.line()) : "", i.line() != nullptr ? ", " : "", i.accepted(),
      i.rejected(), i.dead(), i.peak_depth(), i.mean_latency_ns(), i.p50_latency_ns(), i.p99_latency_ns(),
      depths);
}

void inspect(look_arguments const& a) {
  service_session with(a.where);
  auto& b = frame_builder();
  auto const& i =
      with.request<wire::inspection>(request_frame(b, 1, wire::Createinspect(b, b.CreateString(a.actor))));
  if (a.json)
    fmt::print("{}\n", json_of(i));
  else
    print_inspection(i);
}

// -- describe

void print_behaviour(service_session& with, wire::behaviour_line const& b) {
  auto const text = [&](std::string const& name, std::uint32_t bytes) {
    return clean_text(with.schemas().knows(name) ? with.schemas().describe(name)
                                                 : fmt::format("{} ({} bytes)", name, bytes));
  };
  auto const argument = dotted(text_of(b.arguments()));
  if (argument.empty())
    fmt::print("{}\n", clean_text(text_of(b.name())));
  else
    fmt::print("{}, launched with {}\n", clean_text(text_of(b.name())), text(argument, b.argument_bytes()));
  if (b.messages() == nullptr) return;
  for (auto const* m : *b.messages()) {
    auto const reply = m->has_reply() ? with.name_of_type(m->reply_id()) : std::string();
    fmt::print("  {}{}{}\n", text(dotted(text_of(m->name())), m->bytes()), m->has_reply() ? "  ->  " : "",
               !m->has_reply() ? ""
               : reply.empty() ? "?"
                               : text(reply, 0));
  }
}

/// "reply" is the name of the reply's type, or null if its schema is not known; without a reply it is left out.
std::string json_of(service_session& with, wire::behaviour_line const& b) {
  std::string messages;
  if (b.messages() != nullptr)
    for (auto const* m : *b.messages()) {
      auto const reply = m->has_reply() ? with.name_of_type(m->reply_id()) : std::string();
      messages += fmt::format(R"({}{{"name": {}, "bytes": {}{}}})", messages.empty() ? "" : ", ",
                              json_string(dotted(text_of(m->name()))), m->bytes(),
                              !m->has_reply() ? ""
                              : reply.empty() ? R"(, "reply": null)"
                                              : R"(, "reply": )" + json_string(reply));
    }
  auto const argument = b.arguments() != nullptr
                            ? fmt::format(R"(, "argument": {})", json_string(dotted(text_of(b.arguments()))))
                            : std::string();
  return fmt::format(R"({{"behaviour": {}{}, "messages": [{}]}})", text_of_member(b.name()), argument,
                     messages);
}

void describe(look_arguments const& a) {
  service_session with(a.where);
  auto const* const all = with.description().behaviours();
  if (all == nullptr) return;
  for (auto const* b : *all) {
    if (a.json)
      fmt::print("{}\n", json_of(with, *b));
    else
      print_behaviour(with, *b);
  }
}

}  // namespace

void add_look_commands(CLI::App& app, int& exit_status) {
  auto a = std::make_shared<look_arguments>();
  add_look_command(app, "list", "List all actors", exit_status, a, [a] {
    list(*a);
  }).footer("With --json: one object per line for each actor.");
  a = std::make_shared<look_arguments>();
  add_look_command(app, "inspect", "Show one actor in detail", exit_status, a, [a] { inspect(*a); })
      .add_option("actor", a->actor, "the actor's name")
      ->required();
  a = std::make_shared<look_arguments>();
  add_look_command(app, "describe", "List actor types and their messages", exit_status, a, [a] {
    describe(*a);
  }).footer("With --json: one object per line for each actor type.");
}

}  // namespace rondo::service
