// A player runs lists of portable kernels (kernels/portable/kernel.hpp) over buffers, and says when they have ended. No
// team waits for it: it is for a GPU in which no ring kernel can live.
//
//   player->play({call(blur_rows_down_kernel, work, {between, from}, rows, columns), ...},
//                [](error_code why, std::string const& text) { ... });
//
// Players: host_player, which runs the same functions on a thread, and opencl_player.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory_resource>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/portable/kernel.hpp"
#include "runtime/base/errc.hpp"

namespace rondo {

inline constexpr std::uint32_t most_kernel_argument_bytes = 128;

/// One kernel, over all its rows.
struct kernel_call {
  kernel_entry kernel{};
  std::array<void*, 4> buffers{};  // in the player's memory; null: the kernel does not use it
  std::uint32_t rows = 1;
  std::uint32_t columns = 1;  // of a row, which lanes may share
  std::uint32_t argument_bytes = 0;
  alignas(16) std::byte arguments[most_kernel_argument_bytes] = {};
};

/// Precondition: the buffers are of the player that gets it.
template <class Arguments>
kernel_call call(portable_kernel<Arguments> const& kernel, std::type_identity_t<Arguments> const& arguments,
                 std::array<void*, 4> const& buffers, std::uint32_t rows, std::uint32_t columns) {
  static_assert(std::is_trivially_copyable_v<Arguments> && sizeof(Arguments) <= most_kernel_argument_bytes,
                "a kernel's arguments are a trivially copyable struct of at most 128 bytes");
  kernel_call c{.kernel = kernel,
                .buffers = buffers,
                .rows = rows,
                .columns = columns,
                .argument_bytes = sizeof(Arguments)};
  std::memcpy(c.arguments, &arguments, sizeof arguments);
  return c;
}

/// Threads: any. Lifetime: longer than what it plays, and than its memory.
class kernel_player {
 public:
  /// What has come of a list; `text`: the driver's own words, if it has failed. Called once, on a thread of the player,
  /// so it is to be short, and must not throw.
  using ended = std::function<void(error_code why, std::string const& text)>;

  virtual ~kernel_player() = default;
  /// Its machine, for people.
  virtual std::string description() const = 0;
  /// Memory that the host and the kernels share. Throws std::bad_alloc.
  virtual std::pmr::memory_resource& memory() = 0;
  /// Runs the kernels one after the other, each over all its rows, and then calls `done`. Lists run in the order in
  /// which they were given. Returns at once. `device_lost`: the machine is gone, also for lists that waited; what the
  /// kernels had written so far is then undefined. `unknown_message`: the program has no such kernel.
  virtual void play(std::vector<kernel_call> calls, ended done) = 0;
  /// Its machine is gone: it plays nothing more.
  virtual bool is_lost() const noexcept = 0;
};

}  // namespace rondo
