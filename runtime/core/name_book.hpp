// The names of a runtime's actors, messages, behaviours, and teams, for human readers.
//
// Threads: any. Not on the message path.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "runtime/core/device_set.hpp"
#include "runtime/core/directory.hpp"

namespace rondo {

class name_book {
 public:
  /// `running` is the current module. All three must outlive the book.
  name_book(device_set& devices, directory const& actors, std::atomic<program const*> const& running) noexcept
      : devices_(devices), actors_(actors), program_(running) {}

  /// Empty for an actor that is gone or has no name.
  std::string of_actor(actor_id id) const;
  /// The name of the actor in this cell; "#7" if it has no name.
  std::string of_cell(std::uint32_t index) const;
  /// Empty for a message type that the module does not have.
  std::string of_type(std::uint32_t type) const;
  /// The size of this message type; 0 for one that the module does not have.
  std::uint32_t bytes_of(std::uint32_t type) const;
  std::string of_behaviour(std::uint32_t index) const;
  std::string of_team(std::uint32_t device, std::size_t team) const;
  /// "team 1 <does> actor 'x', in a handler of y".
  std::string of_busy_team(std::uint32_t device, stuck_team const& t, char const* does) const;
  /// Such a line for each team that is running a handler.
  std::vector<std::string> busy_teams(char const* does) const;

 private:
  auto const& behaviours() const noexcept { return program_.load(std::memory_order_acquire)->behaviours; }

  device_set& devices_;
  directory const& actors_;
  std::atomic<program const*> const& program_;
};

}  // namespace rondo
