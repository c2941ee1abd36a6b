// The main function of the GPU tests. Without a GPU they are skipped, except for the smoke tests on another device.
#define CATCH_CONFIG_RUNNER
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "runtime/device/cuda/cuda_machine.hpp"
#include "tests/catch.hpp"

int main(int argc, char** argv) {
  bool needs_gpu = true;
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]).starts_with("--list")) needs_gpu = false;
  // Each smoke test is named after its rung.
  if (char const* device = std::getenv("RONDO_DEVICE");
      device != nullptr && std::string_view(device) != "cuda")
    needs_gpu = needs_gpu && !(argc > 1 && std::string_view(argv[1]).starts_with("smoke "));
  if (std::string why; needs_gpu && rondo::cuda_machine::count(why) == 0)
    return std::printf("skipped: %s\n", why.c_str()), 0;
  return Catch::Session().run(argc, argv);
}
