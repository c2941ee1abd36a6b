#include "tests/model/explore.hpp"

#include <chrono>

namespace model {

findings explore(scenario const& s, strategy& choices, session& with, std::FILE* progress) {
  using clock = std::chrono::steady_clock;
  auto const began = clock::now();
  auto const seconds = [&] { return std::chrono::duration<double>(clock::now() - began).count(); };
  findings f;
  auto const steps_before = with.steps;
  double next_line = 1;
  while (choices.begin()) {
    ++f.executions;
    try {
      execution x{with, choices};
      s.function(x);
    } catch (impossible const&) {
      ++f.discarded;
    } catch (failed const& why) {
      f.failure = why.what();
      f.how_to_repeat = "--scenario " + s.name + " " + choices.how_to_repeat();
      break;
    }
    if (progress != nullptr && (f.executions & 255) == 0 && seconds() > next_line) {
      std::fprintf(progress, "\r%s: %llu executions, %s   ", s.name.c_str(),
                   static_cast<unsigned long long>(f.executions), choices.progress().c_str());
      next_line = seconds() + 1;
    }
  }
  if (progress != nullptr && next_line > 1) std::fprintf(progress, "\r%*s\r", 78, "");
  f.exhausted = f.failure.empty();
  f.seconds = seconds();
  f.steps = with.steps - steps_before;
  return f;
}

}  // namespace model
