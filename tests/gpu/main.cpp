// The main function of the GPU tests: skips them if there is no GPU.
#define CATCH_CONFIG_RUNNER
#include <cstdio>

#include "runtime/device/cuda/cuda_machine.hpp"
#include "tests/catch.hpp"

int main(int argc, char** argv) {
  if (std::string why; rondo::cuda_machine::count(why) == 0)
    return std::printf("skipped: %s\n", why.c_str()), 0;
  return Catch::Session().run(argc, argv);
}
