// Errors, connection options, and a session with the service, which the client commands share. Private to the library.
#pragma once

#include <CLI/CLI.hpp>
#include <fstream>
#include <stdexcept>
#include <string>

#include "runtime/files/file_uses.hpp"
#include "runtime/service/client/client.hpp"
#include "runtime/service/json/message_schemas.hpp"
#include "runtime/service/wire/wire.hpp"
#include "tools/commands/exit_codes.hpp"
#include "tools/commands/options.hpp"

namespace rondo::service {

/// Ends a command with a line on standard error and an exit status.
struct command_error : std::runtime_error {
  command_error(exit_code c, std::string const& text) : std::runtime_error(text), code(c) {}
  exit_code code;
};

/// The connection options, which every client command has.
struct connection_options {
  std::string at{}, token_file{}, authorities{}, server_name{}, name = "rondo";
  double timeout_s = 10;

  void add_to(CLI::App& command);
  client_options options() const;
  /// The files that it names.
  file_uses files() const;
  std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s * 1000));
  }
};

/// A client, and the service's description of its messages.
class service_session {
 public:
  explicit service_session(connection_options const& where) : where_(where), client_(where.options()) {}

  client& link() noexcept { return client_; }
  connection_options const& where() const noexcept { return where_; }

  /// Sends a request and returns the response, which must be a `Body`. Throws command_error with the service's reason.
  template <class Body>
  Body const& request(std::span<std::byte const> frame) {
    last_ = client_.request(frame, where_.timeout());
    auto const* const r =
        last_.ec ? nullptr : flatbuffers::GetSizePrefixedRoot<wire::response>(last_.frame.data());
    auto const* const body = r != nullptr && r->body_type() == wire::answer_bodyTraits<Body>::enum_value
                                 ? static_cast<Body const*>(r->body())
                                 : nullptr;
    if (body == nullptr) fail();
    return *body;
  }
  /// Sends a request that is answered with only an outcome. Throws command_error if that is an error.
  void require(std::span<std::byte const> frame);

  struct message_kind {
    std::string name;
    std::uint32_t id = 0, bytes = 0, reply_id = 0;
    bool has_reply = false;
  };
  /// The actor's message of this name. Throws command_error, which lists the messages that it accepts.
  message_kind const& message_of(std::string const& actor, std::string const& name);
  /// The name of a reply's type; empty if its schema is not known.
  std::string name_of_type(std::uint32_t id);

  std::vector<std::byte> payload(message_kind const& m, std::string const& json);
  /// A payload as JSON, or in hexadecimal if its schema is not known. `type` is a type id.
  std::string text_of(std::uint32_t type, std::span<std::byte const> payload);
  /// Requested from the service only once.
  wire::description const& description();
  message_schemas const& schemas() {
    description();
    return schemas_;
  }

  /// Throws command_error: no answer came within the time limit.
  [[noreturn]] void no_answer() const;
  /// The service's address, and what was heard of it.
  std::string whereabouts(std::string const& words) const;

 private:
  [[noreturn]] void fail();

  connection_options where_;
  client client_;
  response_bytes last_;
  std::vector<std::byte> description_;
  message_schemas schemas_;
  std::map<std::string, std::string> behaviours_;                        // of actors that were found
  std::map<std::string, std::map<std::string, message_kind>> messages_;  // by behaviour
};

/// The schema's spelling of a C++ name: `rondo.basics.add` for `rondo::basics::add`.
std::string dotted(std::string_view name);

/// Throws command_error (exit_usage) if an output would destroy an input, or another output. Before anything is opened.
void require_own_files(file_uses const& uses);

/// Opens a file that the user named. Throws command_error (exit_no_input).
std::ifstream open_input(std::string const& file);

/// Adds a subcommand whose work may throw command_error.
CLI::App& add_command(CLI::App& app, std::string const& name, std::string const& help, int& exit_status,
                      std::function<void()> work);

}  // namespace rondo::service
