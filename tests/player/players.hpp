// The players that this build has, for tests that all must pass.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "kernels/portable/kernel_list.hpp"
#include "runtime/player/kernel_player.hpp"
#include "runtime/player/list_watch.hpp"

namespace rondo::test {

inline constexpr char const* pocl = "Portable Computing Language";

/// "host", then those of "opencl", "opencl mapped" (pocl as a device without shared memory), "opencl spirv" (as one
/// that takes no bitcode) and "metal" that there are.
std::vector<std::string> const& player_names();
/// With the kernels of tests/player/kernels.hpp and of pixels.
std::unique_ptr<kernel_player> make_player(std::string const& name,
                                           std::chrono::nanoseconds limit = kernel_list_limit);

/// What has come of a list.
struct outcome {
  error_code why;
  std::string text;
};
template <class Arguments>
kernel_call call(portable_kernel<Arguments> const& kernel, std::type_identity_t<Arguments> const& arguments,
                 kernel_buffers const& buffers, std::uint32_t rows, std::uint32_t columns) {
  kernel_calls list;
  list.add(kernel, arguments, buffers, rows, columns);
  return list.all.front();
}
/// Waits.
outcome play(kernel_player& player, std::vector<kernel_call> calls);

/// Memory of a player, all of whose bytes are 0xA5.
class shared_block {
 public:
  shared_block(kernel_player& of, std::size_t bytes);
  ~shared_block() { of_.memory().deallocate(at_, bytes_, 64); }
  shared_block(shared_block const&) = delete;
  shared_block& operator=(shared_block const&) = delete;

  unsigned char* data() const { return static_cast<unsigned char*>(at_); }
  std::vector<unsigned char> copy() const { return {data(), data() + bytes_}; }

 private:
  kernel_player& of_;
  std::size_t bytes_;
  void* at_;
};

/// Three blocks and a sum after two lists of two kernels each, all in the middle of their memory. Throws if one fails.
std::vector<std::vector<unsigned char>> all_mixes(kernel_player& player, int rows, int columns);

}  // namespace rondo::test
