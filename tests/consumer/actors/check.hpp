// What the programs of docs/actors.md claim: `check` and `check_soon` end the program with status 1 if a claim is
// false.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <thread>

inline void check(bool claim, std::source_location at = std::source_location::current()) {
  if (claim) return;
  std::fprintf(stderr, "%s:%u: this is not so\n", at.file_name(), static_cast<unsigned>(at.line()));
  std::_Exit(1);
}

/// Waits until the claim holds, at most a minute.
template <class Claim>
void check_soon(Claim claim, std::source_location at = std::source_location::current()) {
  auto const end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!claim()) {
    check(std::chrono::steady_clock::now() < end, at);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}
