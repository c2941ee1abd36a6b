#include "runtime/device/cuda/cuda_view.hpp"

#include <cuda_runtime_api.h>

#include <cstring>

#include "runtime/device/cuda/cuda_machine.hpp"

namespace rondo {

namespace {

class cuda_view final : public device_view {
 public:
  explicit cuda_view(int ordinal) : ordinal_(ordinal) {}
  ~cuda_view() override {
    cudaSetDevice(ordinal_);
    if (ready_ != nullptr) cudaEventDestroy(ready_);
    if (base_ != nullptr) cudaFreeAsync(base_, copies_);
    if (copies_ != nullptr) cudaStreamDestroy(copies_);
    if (pool_ != nullptr) cudaMemPoolDestroy(pool_);
    cudaGetLastError();
  }

  bool open(device_share const& what) {
    if (cudaSetDevice(ordinal_) != cudaSuccess) return false;
    cudaMemPoolPtrExportData where{};
    cudaIpcEventHandle_t event{};
    std::memcpy(&where, what.memory.data(), sizeof where);
    std::memcpy(&event, what.ready.data(), sizeof event);
    cudaMemAccessDesc access{};
    access.location = {cudaMemLocationTypeDevice, ordinal_};
    access.flags = cudaMemAccessFlagsProtReadWrite;  // pools have no read-only access
    auto* const descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(what.pool));
    return cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking) == cudaSuccess &&
           cudaMemPoolImportFromShareableHandle(&pool_, descriptor, cudaMemHandleTypePosixFileDescriptor,
                                                0) == cudaSuccess &&
           cudaMemPoolSetAccess(pool_, &access, 1) == cudaSuccess &&
           cudaMemPoolImportPointer(&base_, pool_, &where) == cudaSuccess &&
           cudaIpcOpenEventHandle(&ready_, event) == cudaSuccess;
  }

  std::byte const* base() const noexcept override { return static_cast<std::byte const*>(base_); }
  bool wait_ready() noexcept override {
    cudaSetDevice(ordinal_);
    return cudaEventSynchronize(ready_) == cudaSuccess;
  }
  bool copy_out(std::byte* to, std::byte const* from, std::uint64_t bytes) noexcept override {
    cudaSetDevice(ordinal_);
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, copies_) == cudaSuccess &&
           cudaStreamSynchronize(copies_) == cudaSuccess;
  }

 private:
  int ordinal_;
  cudaStream_t copies_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
  void* base_ = nullptr;
  cudaEvent_t ready_ = nullptr;
};

}  // namespace

device_opener cuda_opener(int ordinal) {
  std::string why;
  cudaDeviceProp gpu{};
  if (cuda_machine::count(why) <= ordinal || cudaGetDeviceProperties(&gpu, ordinal) != cudaSuccess) return {};
  device_opener opener;
  std::memcpy(opener.identity.data(), &gpu.uuid, sizeof gpu.uuid);
  opener.open = [ordinal](device_share const& what) -> std::unique_ptr<device_view> {
    auto view = std::make_unique<cuda_view>(ordinal);
    if (view->open(what)) return view;
    cudaGetLastError();  // clears the error, which is handled here
    return nullptr;
  };
  return opener;
}

}  // namespace rondo
