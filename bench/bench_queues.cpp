// Raw queues: what the machine allows, before any actor is scheduled.
#include "bench/harness/harness.hpp"
#include "bench/peers/raw_queues.hpp"

int main(int argc, char** argv) { return rondo::bench::bench_main(argc, argv, rondo::bench::raw_cases()); }
