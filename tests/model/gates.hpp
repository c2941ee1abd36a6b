// Whether the mailboxes of a scenario have gates (kernels/mail/mail_gate.hpp).
#pragma once

#include "tests/model/explore.hpp"

namespace model {

inline bool worlds_have_gates = false;

/// `some`, and each of them once more with gates: in CI, with a switch less.
inline std::vector<scenario> and_with_gates(std::vector<scenario> some) {
  auto all = some;
  for (auto& s : some) {
    s.name += "_gate";
    s.holds += ", with gates";
    if (auto in_ci = s.all_within_in_ci ? s.all_within_in_ci : s.all_within; in_ci && in_ci->switches > 1)
      --in_ci->switches, s.all_within_in_ci = in_ci;
    s.function = [run = s.function](execution& x) {
      struct while_it_runs {
        while_it_runs() { worlds_have_gates = true; }
        ~while_it_runs() { worlds_have_gates = false; }
      } const with_gates;
      run(x);
    };
    all.push_back(std::move(s));
  }
  return all;
}

}  // namespace model
