// All scenarios, one function per source file.
#pragma once

#include "tests/model/gates.hpp"

namespace model {

std::vector<scenario> mailbox_scenarios();
std::vector<scenario> queue_scenarios();
std::vector<scenario> team_scenarios();
std::vector<scenario> lifecycle_scenarios();
std::vector<scenario> doorbell_scenarios();
std::vector<scenario> buffer_scenarios();
std::vector<scenario> share_scenarios();
std::vector<scenario> small_scenarios();
std::vector<scenario> bus_ring_scenarios();
std::vector<scenario> queue_pair_scenarios();
std::vector<scenario> grid_scenarios();
std::vector<scenario> whole_grid_scenarios();
std::vector<scenario> ask_scenarios();
std::vector<scenario> run_scenarios();
std::vector<scenario> window_scenarios();
std::vector<scenario> pass_scenarios();
std::vector<scenario> stream_scenarios();

inline std::vector<scenario> all_scenarios() {
  std::vector<scenario> all;
  auto const add = [&all](std::vector<scenario> const& some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  for (auto const of_mailboxes : {mailbox_scenarios, queue_scenarios, team_scenarios, lifecycle_scenarios,
                                  whole_grid_scenarios, run_scenarios, window_scenarios})
    add(and_with_gates(of_mailboxes()));
  for (auto const others :
       {doorbell_scenarios, buffer_scenarios, share_scenarios, small_scenarios, bus_ring_scenarios,
        queue_pair_scenarios, grid_scenarios, ask_scenarios, pass_scenarios, stream_scenarios})
    add(others());
  return all;
}

}  // namespace model
