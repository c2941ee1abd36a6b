#include "tools/commands/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "runtime/base/config.hpp"
#include "runtime/os/start_thread.hpp"
#include "runtime/service/json/qualified_names.hpp"
#include "runtime/service/net/credentials.hpp"
#include "runtime/text/clean_text.hpp"
#include "runtime/text/to_stderr.hpp"

namespace rondo::service {

std::string dotted(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i, 2) == "::") ++i;
    text += name[i] == ':' ? '.' : name[i];
  }
  return text;
}

void require_own_files(file_uses const& uses) {
  if (auto const why = uses.conflict(); !why.empty()) throw command_error(exit_usage, why);
}

std::ifstream open_input(std::string const& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw command_error(exit_no_input, fmt::format("{}: cannot be read: {}", file, std::strerror(errno)));
  if (std::filesystem::is_directory(file))
    throw command_error(exit_no_input, fmt::format("{}: is a folder; name a file", file));
  return in;
}

CLI::App& add_command(CLI::App& app, std::string const& name, std::string const& help, int& exit_status,
                      std::function<void()> work) {
  auto* const command = app.add_subcommand(name, help);
  command->footer("");  // not the footer of the program
  command->callback([&exit_status, work = std::move(work)] {
    auto const fails = [&exit_status](exit_code code, std::exception const& e) {
      to_stderr(fmt::format("rondo: {}\n", clean_text(e.what())));  // names in it may be of others
      exit_status = code;
    };
    try {
      work();
    } catch (command_error const& e) {
      fails(e.code, e);
    } catch (config_error const& e) {
      fails(exit_bad_config, e);
    } catch (no_thread const& e) {
      fails(exit_unavailable, e);
    } catch (payload_error const& e) {
      fails(exit_bad_data, e);
    } catch (std::exception const& e) {
      if (std::ferror(stdout) != 0) return;  // reported at the end: see run_app
      fails(exit_failed, e);
    }
  });
  return *command;
}

void connection_options::add_to(CLI::App& command) {
  command.add_option("--at", at, "address of the service: unix:PATH or tcp:ADDRESS:PORT");
  command
      .add_option("--service", name, "name of the service; selects its default socket unless --at is given")
      ->capture_default_str();
  command.add_option("--token-file", token_file, "file with the service's token");
  command.add_option("--tls-authorities", authorities,
                     "use TLS, and trust certificates signed by these authorities (PEM)");
  command.add_option("--tls-name", server_name, "name in the certificate, if it differs from the address");
  add_number(command, "--timeout", timeout_s, "seconds that a request may take", 0.001, 86'400)
      .default_str(fmt::to_string(timeout_s));
}

file_uses connection_options::files() const {
  file_uses uses;
  uses.reads("--token-file", token_file);
  uses.reads("--tls-authorities", authorities);
  return uses;
}

client_options connection_options::options() const {
  client_options o{.at = at.empty() ? default_socket(name) : endpoint::parse(at, "--at")};
  if (!token_file.empty()) o.token = read_token(token_file);
  o.tls = !authorities.empty();
  o.authorities = authorities;
  o.server_name = server_name;
  o.program = "rondo";
  o.max_frame_bytes = 1 << 30;  // reports of a million actors; the memory grows with what arrives
  o.connect_timeout = std::min(timeout(), std::chrono::milliseconds(2'000));
  return o;
}

void service_session::fail() {
  if (last_.ec == errc::peer_gone || (last_.ec == errc::timed_out && client_.connections_made() == 0))
    throw command_error(exit_unavailable,
                        fmt::format("no service answers at {}; start one with rondo serve, or pass --at",
                                    whereabouts(last_.why)));
  if (last_.ec == errc::timed_out) no_answer();
  if (last_.ec == errc::outcome_unknown)
    throw command_error(exit_unavailable,
                        fmt::format("the connection was lost before the answer, and whether the request was "
                                    "carried out is not known: {}",
                                    whereabouts(last_.why)));
  if (last_.ec) throw command_error(exit_failed, last_.why.empty() ? last_.ec.message() : last_.why);
  throw command_error(exit_failed,
                      last_.why.empty() ? "the service sent an unexpected kind of answer" : last_.why);
}

std::string service_session::whereabouts(std::string const& words) const {
  auto const at = where_.options().at.text();
  if (words.empty()) return at;
  return words.starts_with(at) ? words : at + ": " + words;
}

void service_session::no_answer() const {
  throw command_error(exit_unavailable, fmt::format("no answer from {} within {} s (--timeout)",
                                                    where_.options().at.text(), where_.timeout_s));
}

void service_session::require(std::span<std::byte const> frame) {
  if (request<wire::outcome>(frame).status() != 0) fail();
}

wire::description const& service_session::description() {
  if (description_.empty()) {
    auto& b = frame_builder();
    request<wire::description>(request_frame(b, 1, wire::Createdescribe(b)));
    description_ = last_.frame;
    auto const& d =
        *flatbuffers::GetSizePrefixedRoot<wire::response>(description_.data())->body_as_description();
    if (d.schemas() != nullptr)
      for (auto const* s : *d.schemas())
        if (s->bytes() != nullptr)
          schemas_.add(std::as_bytes(std::span(s->bytes()->data(), s->bytes()->size())),
                       "the service's schema");
    if (d.behaviours() != nullptr)
      for (auto const* behaviour : *d.behaviours()) {
        if (behaviour->name() == nullptr || behaviour->messages() == nullptr) continue;
        auto& messages = messages_[behaviour->name()->str()];
        for (auto const* m : *behaviour->messages()) {
          if (m->name() == nullptr) continue;
          auto name = dotted(m->name()->string_view());
          messages[name] = {name, m->id(), m->bytes(), m->reply_id(), m->has_reply()};
        }
      }
  }
  return *flatbuffers::GetSizePrefixedRoot<wire::response>(description_.data())->body_as_description();
}

service_session::message_kind const& service_session::message_of(std::string const& actor,
                                                                 std::string const& name) {
  description();
  auto known = behaviours_.find(actor);
  if (known == behaviours_.end()) {
    auto& b = frame_builder();
    auto const& found = request<wire::found>(request_frame(b, 1, wire::Createfind(b, b.CreateString(actor))));
    known = behaviours_.emplace(actor, found.behaviour() != nullptr ? found.behaviour()->str() : "").first;
  }
  auto const& messages = messages_[known->second];
  message_kind const* match = nullptr;
  std::string names;
  for (auto const& [full, m] : messages) {
    names += (names.empty() ? "" : ", ") + full;
    if (full == name) return m;
    if (is_called(full, name, ".")) {
      if (match != nullptr)
        throw command_error(exit_usage, fmt::format("'{}' is ambiguous: {} or {}; use the qualified name",
                                                    name, match->name, full));
      match = &m;
    }
  }
  if (match == nullptr)
    throw command_error(exit_usage, fmt::format("{} is a {}, which has no message '{}'; it accepts {}", actor,
                                                known->second, name, names));
  return *match;
}

std::string service_session::name_of_type(std::uint32_t id) {
  for (auto const& name : schemas().names())
    if (rondo::detail::fnv1a(name) == id) return std::string(name);
  return {};
}

std::vector<std::byte> service_session::payload(message_kind const& m, std::string const& json) {
  if (schemas().knows(m.name)) return schemas_.to_bytes(m.name, json.empty() ? "{}" : json);
  auto bytes = json.empty() && m.bytes == 1 ? std::vector<std::byte>(1) : bytes_from_hex(json);
  if (bytes.size() != m.bytes)
    throw payload_error(
        fmt::format("payload of {}: {} bytes given, {} expected", m.name, bytes.size(), m.bytes));
  return bytes;
}

std::string service_session::text_of(std::uint32_t type, std::span<std::byte const> payload) {
  auto const name = name_of_type(type);
  return name.empty() ? bytes_to_hex(payload) : schemas_.to_json(name, payload);
}

}  // namespace rondo::service
