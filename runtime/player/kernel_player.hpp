// A player runs lists of portable kernels (kernels/portable/kernel.hpp) over buffers, and says when they have ended. No
// team waits for it: it is for a GPU in which no ring kernel can live.
//
//   kernel_calls list;
//   list.add(blur_rows_down_kernel, work, {between, from}, rows, columns);
//   player->play(std::move(list.all), [](error_code why, std::string const& text) { ... });
//
// Its players: opencl_player, metal_player.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory_resource>
#include <string>
#include <vector>

#include "kernels/portable/kernel_list.hpp"
#include "runtime/base/errc.hpp"

namespace rondo {

/// One kernel, over all its rows.
struct kernel_call {
  kernel_entry kernel{};                                             // which one
  kernel_buffers buffers{};                                          // in the player's memory
  std::uint32_t rows = 1;                                            // of work
  std::uint32_t columns = 1;                                         // of a row, which lanes may share
  std::uint32_t argument_bytes = 0;                                  // of a struct
  alignas(16) std::byte arguments[most_kernel_argument_bytes] = {};  // the struct
};

/// A list for `kernel_player::play`.
class kernel_calls final : public kernel_list {
 public:
  std::vector<kernel_call> all;  // in their order

 private:
  void add_call(kernel_entry const& kernel, void const* arguments, std::uint32_t bytes,
                kernel_buffers const& buffers, std::uint32_t rows, std::uint32_t columns) override {
    auto& c = all.emplace_back(kernel_call{
        .kernel = kernel, .buffers = buffers, .rows = rows, .columns = columns, .argument_bytes = bytes});
    std::memcpy(c.arguments, arguments, bytes);
  }
};

/// Threads: any. Lifetime: longer than what it plays, and than its memory.
class kernel_player {
 public:
  /// What has come of a list; `text`: the driver's own words, if it has failed. Called once, on a thread of the player
  /// or within a call of `play`, so it is to be short, and must not throw. Lists that are played report in their order,
  /// one at a time; those of which nothing is played (the player is lost, or has no such kernel) at once.
  using ended = std::function<void(error_code why, std::string const& text)>;

  virtual ~kernel_player() = default;
  /// What programs and files call it, as in `--device`: "opencl".
  virtual std::string name() const = 0;
  /// Its machine, for people.
  virtual std::string description() const = 0;
  /// Memory that the host and the kernels share. Throws std::bad_alloc.
  virtual std::pmr::memory_resource& memory() = 0;
  /// Whether its programs have this kernel. May take as long as the driver's compiler.
  virtual bool knows(kernel_entry const& kernel) = 0;
  /// Runs the kernels one after the other, each over all its rows, and then calls `done`. Lists run in the order in
  /// which they were given; an empty one ends after those before it. Returns at once. `device_lost`: the machine is
  /// gone, also for lists that waited; what the kernels had written so far is then undefined. `unknown_message`: the
  /// program has no such kernel.
  virtual void play(std::vector<kernel_call> calls, ended done) = 0;
  /// Its machine is gone: it plays nothing more.
  virtual bool is_lost() const noexcept = 0;
  /// How many lists it has played to their end.
  virtual std::uint64_t played() const noexcept = 0;
};

}  // namespace rondo
