// A list of portable kernels, to be played one after the other (runtime/player/kernel_player.hpp). For the host.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/portable/kernel.hpp"

namespace rondo {

inline constexpr std::uint32_t most_kernel_argument_bytes = 128;  // of one kernel

/// The buffers of a kernel; null: it does not use one.
struct kernel_buffers {
  void* of[4] = {};  // in the player's memory
  /// A buffer that the kernel only reads.
  static void* read(void const* data) noexcept { return const_cast<void*>(data); }
};

class kernel_list {
 public:
  /// One kernel, over all its rows; lanes may share the columns of a row.
  template <class Arguments>
  void add(portable_kernel<Arguments> const& kernel, std::type_identity_t<Arguments> const& arguments,
           kernel_buffers const& buffers, std::uint32_t rows, std::uint32_t columns) {
    static_assert(std::is_trivially_copyable_v<Arguments> && sizeof(Arguments) <= most_kernel_argument_bytes,
                  "a kernel's arguments are a trivially copyable struct of at most 128 bytes");
    add_call(kernel, &arguments, sizeof arguments, buffers, rows, columns);
  }

 protected:
  ~kernel_list() = default;
  virtual void add_call(kernel_entry const& kernel, void const* arguments, std::uint32_t bytes,
                        kernel_buffers const& buffers, std::uint32_t rows, std::uint32_t columns) = 0;
};

}  // namespace rondo
