// Measures raw queues: the speed that the machine allows without any scheduling of actors.
#include "bench/harness/harness.hpp"
#include "bench/peers/raw_queues.hpp"

int main(int argc, char** argv) { return rondo::bench::bench_main(argc, argv, rondo::bench::raw_cases()); }
