// What can be set about a runtime: a plain struct with defaults, a JSON file and environment variables that
// fill it.
//
// Ranges and meanings of the fields are in schemas/config.fbs, defaults are here. A field has the same name
// in the struct, in the file and, in capitals after RONDO_, in the environment: `teams`, `"teams": 2`,
// `RONDO_TEAMS=2`.
//
// threads: the functions share no mutable state; reading the environment must not race with setenv.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "runtime/base/config_error.hpp"

namespace rondo {

/// How long one run of the ring kernel lasts: until it is stopped, or for a bounded round that is started
/// again.
enum class ring_mode : std::uint8_t { persistent, rounds };

struct config {
  std::string device = "auto";
  std::uint32_t teams = 0;
  std::uint32_t pinned_teams = 0;
  std::uint32_t guest_teams = 0;
  std::uint32_t lanes = 0;
  std::uint32_t free_multiprocessors = 2;
  std::string inbox = "auto";

  rondo::ring_mode ring_mode = rondo::ring_mode::persistent;
  std::uint32_t round_messages = 4096;
  std::uint32_t round_ms = 10;

  std::uint32_t actors = 1024;
  std::uint32_t mail_blocks = 0;
  std::uint32_t default_capacity = 32;
  std::uint64_t state_bytes = 0;
  std::uint32_t asks = 4096;
  std::uint32_t submission_slots = 1024;
  std::uint32_t completion_slots = 1024;
  std::uint64_t buffer_bytes_cap = std::uint64_t{1} << 30;
  std::uint64_t pinned_bytes = std::uint64_t{64} << 20;
  bool share_buffers = false;

  std::uint32_t quota = 64;
  std::uint32_t starvation_limit = 64;
  std::uint32_t spin_us = 50;
  std::uint32_t poll_us = 200;
  bool polling = false;
  bool pin_teams = false;

  std::uint32_t latency_sample_every = 64;
  std::uint32_t trace_every = 0;
  std::uint32_t trace_hops = 16384;
  std::uint32_t handler_limit_ms = 1000;
  std::uint32_t stop_timeout_ms = 5000;

  std::uint64_t seed = 1;
  std::uint32_t visibility_delay_us = 0;

  bool operator==(config const&) const = default;
};

/// Reads a JSON object; fields that it does not name keep their value in `base`. Strict JSON but for `//`
/// comments. Throws config_error on a file that cannot be read, on a syntax error, and on a field that is
/// unknown, given twice, of the wrong type or out of range.
config load_config(std::filesystem::path const& file, config base = {});

/// The same from text; `origin` is how errors call it, as load_config's call the file.
config parse_config(std::string const& json, std::string const& origin, config base = {});

/// Applies the environment to `base`: first the file that RONDO_CONFIG names, then RONDO_<FIELD> for each
/// field. An empty value counts as not set. Throws config_error as load_config does, and on a RONDO_ variable
/// that is no field.
config config_from_environment(config base = {});

/// The same from a list such as main's third argument: `NAME=value` strings, then a null pointer.
config config_from_environment(config base, char const* const* environment);

/// Throws config_error on the first field that is out of range; for a config that was filled in by hand.
void validate(config const& settings);

/// All fields with type, default, range and meaning, a few lines of text each: for --help.
std::string describe_config_fields();

}  // namespace rondo
