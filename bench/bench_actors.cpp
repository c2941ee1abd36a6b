// Compares Rondo's actors with CAF and with raw queues that do the same work, in the same run.
#include "bench/harness/harness.hpp"
#include "bench/peers/caf_cases.hpp"
#include "bench/peers/raw_queues.hpp"
#include "bench/rondo_cases.hpp"

int main(int argc, char** argv) {
  using namespace rondo::bench;
  case_list cases = raw_anchors();
  append(cases, caf_cases());
  append(cases, rondo_cases());
  return bench_main(argc, argv, std::move(cases));
}
