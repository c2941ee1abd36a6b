#include "runtime/player/kernel_program.hpp"

namespace rondo {

namespace {

std::vector<kernel_program const*>& programs() {
  static std::vector<kernel_program const*> all;
  return all;
}

}  // namespace

void add_kernels(kernel_program const& program) { programs().push_back(&program); }
std::vector<kernel_program const*> const& all_kernels() noexcept { return programs(); }

}  // namespace rondo
