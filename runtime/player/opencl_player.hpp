// Plays kernels by OpenCL.
//
// The kernels come as LLVM bitcode (SPIR), which clang has made of their source, and as SPIR-V. The driver compiles the
// form that it takes for its device when the player is made, and pocl keeps the result for the next process. Memory is
// shared with the host (runtime/player/opencl_memory.hpp).
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/player/kernel_player.hpp"
#include "runtime/player/kernel_program.hpp"
#include "runtime/player/list_watch.hpp"
#include "runtime/player/opencl_api.hpp"

namespace rondo {

class opencl_player final : public kernel_player {
 public:
  /// Opens a device whose name, or whose platform's name, has this part in it; empty: the first GPU. A list that takes
  /// longer than `limit` is lost, and the player with it. Throws std::runtime_error: there is no such device (the text
  /// lists those that there are), or it does not compile one of the programs (with the driver's log).
  opencl_player(std::vector<kernel_program const*> const& programs, std::string const& device,
                opencl_api const& api = load_opencl(), std::chrono::nanoseconds limit = kernel_list_limit);
  /// Waits for what it plays, for at most the limit. What the driver may still touch then is left to it, which one line
  /// on standard error says.
  ~opencl_player() override;
  opencl_player(opencl_player const&) = delete;
  opencl_player& operator=(opencl_player const&) = delete;

  std::string name() const override { return "opencl"; }
  std::string description() const override;
  std::pmr::memory_resource& memory() override;
  bool knows(kernel_entry const& kernel) override;
  void play(std::vector<kernel_call> calls, ended done) override;
  bool is_lost() const noexcept override { return watch_->is_lost(); }
  std::uint64_t played() const noexcept override { return watch_->played(); }

 private:
  struct machine;

  void choose(std::string const& device);
  void build(kernel_program const& program);
  cl_kernel kernel_of(std::string const& name);
  cl_int enqueue(kernel_call const& c, cl_kernel kernel, cl_event* event);
  std::string enqueue(std::vector<kernel_call> const& calls, std::vector<cl_kernel> const& kernels,
                      cl_event& last);
  static void CL_CALLBACK on_event(cl_event event, cl_int status, void* data);

  opencl_api const& cl_;
  cl_device_id device_ = nullptr;
  std::string name_;
  bool is_processor_ = false;
  bool has_shared_memory_ = false;  // which is fine-grained
  bool takes_spir_ = false;
  bool takes_spirv_ = false;
  std::mutex
      mutex_;  // guards the kernels, whose arguments are set before each is enqueued, and the lists' order
  std::unique_ptr<list_watch> watch_;
  std::unique_ptr<machine> machine_;  // all objects of the driver
};

}  // namespace rondo
