// patient_client SOCKET MILLISECONDS: asks the actor `mirror` of a service every 2 ms, and prints the 99th percentile
// of the latencies in milliseconds.
//
// It is a separate process, as real clients are: in the test's process it would wait for locks of the threads that
// generate the load.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "actors/basics/basics_module.hpp"
#include "runtime/service/client/client.hpp"

int main(int argc, char** argv) try {
  using namespace std::chrono_literals;
  namespace basics = rondo::basics;
  using clock = std::chrono::steady_clock;
  if (argc != 3) return std::fprintf(stderr, "usage: patient_client SOCKET MILLISECONDS\n"), EXIT_FAILURE;
  rondo::service::client c({.at = {true, argv[1], 0}});
  auto const mirror = c.find<basics::echo>("mirror").value();
  std::vector<double> all;
  auto const end = clock::now() + std::chrono::milliseconds(std::atoi(argv[2]));
  do {
    auto const began = clock::now();
    mirror.ask(basics::ping{1}, 60s, rondo::block).value();
    all.push_back(std::chrono::duration<double, std::milli>(clock::now() - began).count());
    std::this_thread::sleep_for(2ms);
  } while (clock::now() < end);
  auto const at = all.begin() + static_cast<std::ptrdiff_t>(all.size() * 99 / 100);
  std::ranges::nth_element(all, at);
  std::printf("%.3f\n", *at);
} catch (std::exception const& e) {
  std::fprintf(stderr, "patient_client: %s\n", e.what());
  return EXIT_FAILURE;
}
