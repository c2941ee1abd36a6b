// Plays kernels by OpenCL.
//
// The kernels come as LLVM bitcode (SPIR), which clang has made of their source; the driver compiles it for its device
// when the player is made, and pocl keeps the result for the next process. Memory is fine-grained shared virtual
// memory, so nothing is copied.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/player/kernel_player.hpp"
#include "runtime/player/kernel_program.hpp"
#include "runtime/player/opencl_api.hpp"

namespace rondo {

class opencl_player final : public kernel_player {
 public:
  /// Opens a device whose name, or whose platform's name, has this part in it; empty: the first GPU. Throws
  /// std::runtime_error: there is no such device (the text lists those that there are), it shares no memory finely
  /// grained with the host, or it does not compile one of the programs (with the driver's log).
  opencl_player(std::vector<kernel_program const*> const& programs, std::string const& device,
                opencl_api const& api = load_opencl());
  /// Waits for what it plays.
  ~opencl_player() override;
  opencl_player(opencl_player const&) = delete;
  opencl_player& operator=(opencl_player const&) = delete;

  std::string name() const override { return "opencl"; }
  std::string description() const override;
  std::pmr::memory_resource& memory() override;
  void play(std::vector<kernel_call> calls, ended done) override;
  bool is_lost() const noexcept override { return is_lost_.load(std::memory_order_relaxed); }
  std::uint64_t played() const noexcept override { return played_.load(std::memory_order_relaxed); }

 private:
  struct shared_memory;
  struct playing;
  template <class Object, class Release>
  using handle = std::unique_ptr<std::remove_pointer_t<Object>, Release>;

  void choose(std::string const& device);
  void build(kernel_program const& program);
  cl_kernel kernel_of(std::string const& name);
  cl_int enqueue(kernel_call const& c, cl_kernel kernel, cl_event* event);
  void fail(ended const& done, cl_int status, char const* what, bool has_ended = false);
  static void CL_CALLBACK on_event(cl_event event, cl_int status, void* data);

  opencl_api const& cl_;
  cl_device_id device_ = nullptr;
  std::string name_;
  bool is_processor_ = false;
  handle<cl_context, decltype(opencl_api::clReleaseContext)> context_;
  handle<cl_command_queue, decltype(opencl_api::clReleaseCommandQueue)> queue_;
  std::vector<handle<cl_program, decltype(opencl_api::clReleaseProgram)>> programs_;
  std::mutex mutex_;  // guards the kernels, whose arguments are set before each is enqueued
  std::map<std::string, handle<cl_kernel, decltype(opencl_api::clReleaseKernel)>> kernels_;
  std::unique_ptr<shared_memory> memory_;
  std::atomic<bool> is_lost_{false};
  std::atomic<std::uint64_t> played_{0};
};

}  // namespace rondo
