#include "runtime/service/service_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iterator>

#include "runtime/base/config_fields.hpp"
#include "runtime/text/clean_text.hpp"
#include "runtime/text/json_reader.hpp"
#include "runtime/text/shown_url.hpp"

namespace rondo::service {

namespace {

void read_milliseconds(json_reader& from, char const* name, std::chrono::milliseconds& to) {
  auto ms = static_cast<std::uint64_t>(to.count());
  from.number(name, 1, 3'600'000, ms);
  to = std::chrono::milliseconds(ms);
}

void read_path(json_reader& from, char const* name, std::filesystem::path& to) {
  std::string text = to.string();
  from.text(name, text);
  to = text;
}

client_limits read_limits(json_node const& v, std::string const& origin, std::string const& path) {
  client_limits l;
  json_reader from(v, origin, path);
  from.number("clients", 1, 100'000, l.clients);
  from.number("open_requests", 1, 65'536, l.open_requests);
  from.number("frame_bytes", 256, 16 << 20, l.frame_bytes);
  from.number("requests_per_second", 0, 100'000'000, l.requests_per_second);
  from.number("response_bytes", 1 << 20, std::uint64_t{1} << 40, l.response_bytes);
  from.number("actors", 0, 1 << 24, l.actors);
  from.number("keys", 16, 1 << 24, l.keys);
  from.number("capacity", 1, 1'048'576, l.capacity);
  read_milliseconds(from, "hello_ms", l.hello);
  read_milliseconds(from, "frame_ms", l.frame);
  read_milliseconds(from, "reading_ms", l.reading);
  from.done();
  return l;
}

actor_entry read_actor(json_node const& v, std::string const& origin, std::string const& path) {
  actor_entry a;
  json_reader from(v, origin, path);
  from.text("name", a.name);
  from.text("behaviour", a.behaviour);
  std::uint64_t capacity = 0;
  from.number("capacity", 1, 1'048'576, capacity);
  if (capacity != 0) a.options.capacity = static_cast<std::uint32_t>(capacity);
  from.number("device", 0, 255, a.options.device);
  from.flag("pinned", a.options.pinned);
  from.flag("active", a.options.active);
  from.flag("durable", a.durable);
  from.number("poison_after", 1, max_attempts, a.options.supervise.poison_after);
  from.number("max_restarts", 0, 65'535, a.options.supervise.max_restarts);
  from.number("within_ms", 1, 86'400'000, a.options.supervise.within_ms);
  from.done();
  if (a.name.empty()) from.refuse("name", "is missing; clients address actors by name");
  if (a.behaviour.empty()) from.refuse("behaviour", "is missing; it names the actor's type");
  return a;
}

service_config::token_entry read_token_entry(json_node const& v, std::string const& origin,
                                             std::string const& path) {
  service_config::token_entry t;
  json_reader from(v, origin, path);
  read_path(from, "file", t.file);
  std::string role_name;
  from.text("role", role_name);
  from.text("names", t.allows.names);
  from.done();
  if (t.file.empty()) from.refuse("file", "is missing; it names the file that holds the token");
  auto const named = role_named(role_name);
  if (!named) from.refuse("role", fmt::format("must be one of {}", fmt::join(role_names, ", ")));
  t.allows.most = *named;
  if (t.allows.names.empty()) from.refuse("names", "is empty; give a pattern of actor names, * for all");
  return t;
}

}  // namespace

service_config parse_service_config(std::string const& text, std::string const& origin) {
  auto const root = parse_json_file(text, origin);
  service_config c;
  json_reader from(root, origin);
  from.text("name", c.name);
  if (!is_service_name(c.name)) from.refuse("name", service_name_rule);
  from.list("listen", [&](json_node const& v, std::string const& path) {
    if (v.what != json_node::kind::string)
      throw config_error(fmt::format("{}: {}: {} given, a string expected", origin, path, v.described()));
    c.listen.push_back(endpoint::parse(v.text, fmt::format("{}: {}", origin, path)));
  });
  read_path(from, "token_file", c.token_file);
  from.list("tokens", [&](json_node const& v, std::string const& path) {
    c.tokens.push_back(read_token_entry(v, origin, path));
  });
  read_path(from, "tls_certificate", c.tls_certificate);
  read_path(from, "tls_key", c.tls_key);
  from.object("limits",
              [&](json_node const& o, std::string const& path) { c.limits = read_limits(o, origin, path); });
  read_milliseconds(from, "drain_ms", c.drain);
  read_milliseconds(from, "stop_limit_ms", c.stop_limit);
  from.text("metrics", c.metrics);
  read_path(from, "checkpoint", c.checkpoint);
  std::uint64_t every = 0;
  from.number("checkpoint_s", 0, 86'400, every);
  c.checkpoint_every = std::chrono::seconds(every);
  if (every != 0 && c.checkpoint.empty())
    from.refuse("checkpoint_s", "requires `checkpoint`, the file to write");
  read_path(from, "recording", c.recording);
  from.text("nats", c.nats);
  read_milliseconds(from, "nats_wait_ms", c.nats_wait);
  from.object("runtime", [&](json_node const& o, std::string const& path) {
    config_fields::read(c.runtime, o, [&](std::size_t) { return fmt::format("{}: {}", origin, path); });
  });
  from.list("actors", [&](json_node const& v, std::string const& path) {
    c.actors.push_back(read_actor(v, origin, path));
  });
  from.done();
  return c;
}

service_config load_service_config(std::filesystem::path const& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file))
    throw config_error(fmt::format("{}: cannot be read; name an existing JSON file", file.string()));
  return parse_service_config(std::string(std::istreambuf_iterator<char>(in), {}), file.string());
}

endpoint metrics_endpoint(service_config const& c) try {
  return endpoint::parse("tcp:" + c.metrics, "metrics");
} catch (config_error const&) {  // its text is about the sockets of clients
  throw config_error(fmt::format(
      "metrics: '{}' is refused; it must be ADDRESS:PORT with a numeric address, as in 127.0.0.1:9464",
      clean_text(shown_url(c.metrics))));
}

void check_service_config(service_config const& c) {
  if (!is_service_name(c.name))
    throw config_error(fmt::format("name: '{}' {}", clean_text(c.name), service_name_rule));
  if (!c.metrics.empty()) metrics_endpoint(c);
  for (auto const& a : c.actors) {
    if (!a.durable) continue;
    auto const refuse = [&](char const* why) {
      throw config_error(fmt::format("actor '{}': durable: {}", a.name, why));
    };
    if (c.nats.empty())
      refuse("needs `nats`, the server that stores its messages until they are handled: nats://HOST:PORT");
    if (c.checkpoint.empty())
      refuse("needs `checkpoint`, the file that records which messages its state includes");
  }
}

std::string describe_service_config() {
  service_config const d;
  return fmt::format(
      R"(name              name of the service; default {}
listen            list of unix:PATH and tcp:ADDRESS:PORT; default {}
token_file        file with a token of 16 or more characters that allows everything; required beyond this machine
tokens            list of file, role and names: further tokens with the role {}
                  (each includes the ones before it), for actors whose name matches names, such as sensor-*; default all
tls_certificate   PEM file; required beyond this machine
tls_key           PEM file; required beyond this machine
limits            clients ({}), open_requests ({}), frame_bytes ({}), requests_per_second (0: unlimited),
                  response_bytes ({}), hello_ms ({}), frame_ms ({}), reading_ms ({}),
                  actors ({}) that one peer may launch, capacity ({}) of their mailboxes,
                  keys ({}) remembered of messages that must not be handled twice
drain_ms          time to answer open requests when stopping, at most half of stop_limit_ms; default {}
stop_limit_ms     time for the whole stop, with the checkpoint; then the process ends with status 1; default {}.
                  It must be shorter than the time after which a supervisor kills (systemd: TimeoutStopSec)
metrics           ADDRESS:PORT for /metrics, /healthz, /readyz; default none
checkpoint        file to restore at start, and to write when stopping and every checkpoint_s seconds
recording         new file to record all messages to, for rondo replay; default none
nats              nats://HOST:PORT of a NATS server, or tls://HOST:PORT, with USER:PASSWORD@ or TOKEN@ before HOST, or several
                  with commas between; answers the subjects rondo.NAME.ACTOR; default none
nats_wait_ms      how long to wait for the NATS server at start; default {}
actors            list of name, behaviour, capacity, device, pinned, active, poison_after, max_restarts, within_ms,
                  durable (handles the messages of rondo.NAME.durable.ACTOR exactly once; requires nats and checkpoint)
runtime           object with these fields (environment variables in parentheses):
{})",
      d.name, "unix:$XDG_RUNTIME_DIR/rondo/NAME.sock, or in /tmp/rondo-UID", fmt::join(role_names, ", "),
      d.limits.clients, d.limits.open_requests, d.limits.frame_bytes, d.limits.response_bytes,
      d.limits.hello.count(), d.limits.frame.count(), d.limits.reading.count(), d.limits.actors,
      d.limits.capacity, d.limits.keys, d.drain.count(), d.stop_limit.count(), d.nats_wait.count(),
      config_fields::help_text(d.runtime));
}

}  // namespace rondo::service
