// The configuration of a runtime: a plain struct with defaults, filled from a JSON file and environment variables.
//
// Ranges and meanings of the fields are in schemas/config.fbs; defaults are here. A field has the same name
// in the struct, in the file, and (in capitals after RONDO_) in the environment: `teams`, `"teams": 2`,
// `RONDO_TEAMS=2`.
//
// Threads: the functions share no mutable state; reading the environment must not race with setenv.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "kernels/base/log_level.hpp"
#include "runtime/text/config_error.hpp"

namespace rondo {

/// How long one launch of the ring kernel lasts: until it is stopped, or for a bounded round, after which it is
/// launched again.
enum class ring_mode : std::uint8_t { persistent, rounds };

struct config {
  std::string device =
      "auto";  // auto, cpu, emulated, cuda, cuda:N, opencl, opencl:NAME, metal, or several separated by commas
  std::uint32_t teams = 0;                 // teams that run handlers; 0: one per core
  std::uint32_t pinned_teams = 0;          // teams for pinned actors; 0: depends on the device
  std::uint32_t guest_teams = 0;           // program threads that can act as teams at the same time
  std::uint32_t lanes = 0;                 // threads per team on a GPU or the emulated device; 0: automatic
  std::uint32_t free_multiprocessors = 2;  // multiprocessors of a GPU left free for other kernels
  std::string inbox = "auto";              // where a GPU reads submissions: auto, pinned, mapped
  std::string portable = "auto";           // where handlers of portable behaviours run: auto, host, gpu

  rondo::ring_mode ring_mode = rondo::ring_mode::persistent;  // how long a launch of the ring kernel lasts
  std::uint32_t round_messages = 4096;                        // messages after which a round ends
  std::uint32_t round_ms = 10;                                // milliseconds after which a round ends

  std::uint32_t actors = 1024;                              // maximum number of actors
  std::uint32_t mail_blocks = 0;                            // shared mail rings; 0: actors + teams, <= 16384
  std::uint32_t default_capacity = 32;                      // of a mailbox, in messages
  std::uint64_t state_bytes = 0;                            // for the states of all actors; 0: automatic
  std::uint32_t asks = 4096;                                // maximum number of open asks
  std::uint32_t submission_slots = 1024;                    // from host to device; a power of two
  std::uint32_t completion_slots = 1024;                    // from device to host; a power of two
  std::uint64_t buffer_bytes_cap = std::uint64_t{1} << 30;  // maximum for the host and for each device
  std::uint32_t buffer_slots = 4096;                        // buffers at once, likewise
  std::uint64_t pinned_bytes = std::uint64_t{64} << 20;     // pinned host memory for unified buffers
  bool share_buffers = false;                               // other processes can be given read access

  std::uint32_t quota = 64;             // messages per turn of an actor
  std::uint32_t starvation_limit = 64;  // how often a message may be overtaken
  std::uint32_t spin_us = 50;           // how long idle threads spin before they sleep
  std::uint32_t poll_us = 200;          // sleep of the polling thread where a GPU cannot wake it
  bool polling = false;                 // idle threads never sleep
  bool pin_teams = false;               // pin each team to one core

  std::uint32_t latency_sample_every = 64;              // sample one in this many messages; a power of two
  std::uint32_t trace_every = 0;                        // trace one in this many messages; 0: only on request
  std::uint32_t trace_hops = 16384;                     // number of trace hops kept
  std::uint32_t handler_limit_ms = 1000;                // when a handler is reported as stuck; 0: never
  std::uint32_t stop_timeout_ms = 5000;                 // how long stop() waits
  rondo::log_level log_level = rondo::log_level::info;  // the least that handlers log; off: nothing

  std::uint64_t seed = 1;                 // of the emulated device's random choices
  std::uint32_t visibility_delay_us = 0;  // delay on the emulated device's bus

  bool operator==(config const&) const = default;
};

/// Reads a JSON object; fields that it does not name keep their value in `base`. Strict JSON, except that
/// comments are allowed. Throws config_error for a file that cannot be read, a syntax error, and a field that is
/// unknown, given twice, of the wrong type, or out of range.
config load_config(std::filesystem::path const& file, config base = {});

/// The same from text; errors name `origin` instead of a file.
config parse_config(std::string const& json, std::string const& origin, config base = {});

/// Applies the environment to `base`: first the file that RONDO_CONFIG names, then RONDO_<FIELD> for each
/// field. An empty value counts as not set. Throws config_error as load_config does, and for a RONDO_ variable
/// that does not name a field.
config config_from_environment(config base = {});

/// The same from a list like main's third argument: `NAME=value` strings, then a null pointer.
config config_from_environment(config base, char const* const* environment);

/// Checks a config that was filled in by code. Throws config_error for the first field that is out of range.
void validate(config const& settings);

/// Sets one field to the value of an option of the command line. Throws config_error, whose text begins with `option`.
/// Precondition: there is such a field.
void set_field(config& settings, std::string_view field, std::string const& text, std::string_view option);

/// What an error calls the field: `RONDO_TEAMS` if the environment set it to this value (or to a list with this value),
/// otherwise its own name. Precondition: there is such a field.
std::string setting_name(config const& settings, std::string_view field);

/// Text for --help: all fields with type, default, range, and meaning, a few lines each.
std::string describe_config_fields();

}  // namespace rondo
