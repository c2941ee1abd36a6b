// The configuration of a runtime: a plain struct with defaults, filled from a JSON file and environment variables.
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
  std::string device = "auto";     // auto, cpu, emulated, cuda, cuda:N, or several with commas between
  std::uint32_t teams = 0;         // that run handlers; 0: one per core
  std::uint32_t pinned_teams = 0;  // for pinned actors; 0: chosen for the device
  std::uint32_t guest_teams = 0;   // threads of the program that may act as teams
  std::uint32_t lanes = 0;         // threads per team of a GPU or the emulated device; 0: chosen
  std::uint32_t free_multiprocessors = 2;  // of a GPU, left to other kernels
  std::string inbox = "auto";              // where a GPU reads submissions: auto, pinned, mapped

  rondo::ring_mode ring_mode = rondo::ring_mode::persistent;
  std::uint32_t round_messages = 4096;  // after which a round ends
  std::uint32_t round_ms = 10;          // after which a round ends

  std::uint32_t actors = 1024;                              // at most
  std::uint32_t mail_blocks = 0;                            // shared by the mailboxes; 0: chosen
  std::uint32_t default_capacity = 32;                      // messages of a mailbox
  std::uint64_t state_bytes = 0;                            // of all actors; 0: chosen
  std::uint32_t asks = 4096;                                // open at once
  std::uint32_t submission_slots = 1024;                    // from host to device; a power of two
  std::uint32_t completion_slots = 1024;                    // from device to host; a power of two
  std::uint64_t buffer_bytes_cap = std::uint64_t{1} << 30;  // of all buffers, on the host and on each device
  std::uint64_t pinned_bytes = std::uint64_t{64} << 20;     // of pinned host memory, for copies
  bool share_buffers = false;                               // other processes may be given read access

  std::uint32_t quota = 64;             // messages per turn of an actor
  std::uint32_t starvation_limit = 64;  // overtakes that a message suffers
  std::uint32_t spin_us = 50;           // of idle threads, before they sleep
  std::uint32_t poll_us = 200;          // of the poller's sleep, where a GPU cannot wake it
  bool polling = false;                 // idle threads never sleep
  bool pin_teams = false;               // each team to one core

  std::uint32_t latency_sample_every = 64;  // messages; a power of two
  std::uint32_t trace_every = 0;            // messages from outside; 0: those that request it
  std::uint32_t trace_hops = 16384;         // kept
  std::uint32_t handler_limit_ms = 1000;    // after which a handler is reported; 0: never
  std::uint32_t stop_timeout_ms = 5000;     // that stop() waits

  std::uint64_t seed = 1;                 // of the emulated device
  std::uint32_t visibility_delay_us = 0;  // on the bus of the emulated device

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
/// that is not a field.
config config_from_environment(config base = {});

/// The same from a list such as main's third argument: `NAME=value` strings, then a null pointer.
config config_from_environment(config base, char const* const* environment);

/// Throws config_error on the first field that is out of range; for a config that was filled in by hand.
void validate(config const& settings);

/// All fields with type, default, range and meaning, a few lines of text each: for --help.
std::string describe_config_fields();

}  // namespace rondo
