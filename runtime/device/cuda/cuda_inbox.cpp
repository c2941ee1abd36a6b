#include "runtime/device/cuda/cuda_inbox.hpp"

#include <cuda.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <utility>

#include "kernels/base/portable.hpp"
#include "runtime/device/cuda/cuda_call.hpp"

namespace rondo {

namespace {

constexpr std::size_t gpu_page = 65536;

/// The needed part of libgdrapi, with the interface of gdrapi.h 2.x.
struct gdr_library {
  struct memory_handle {
    unsigned long h;
  };
  void* (*open)() = nullptr;
  int (*pin)(void*, unsigned long, std::size_t, std::uint64_t, std::uint32_t, memory_handle*) = nullptr;
  int (*unpin)(void*, memory_handle) = nullptr;
  int (*map)(void*, memory_handle, void**, std::size_t) = nullptr;

  /// False, with the reason in `why`, if it cannot be loaded.
  bool load(std::string& why) {
    void* const library = dlopen("libgdrapi.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return why = "libgdrapi.so.2 is not installed", false;
    auto const find = [&](auto& function, char const* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    if (find(open, "gdr_open") && find(pin, "gdr_pin_buffer") && find(unpin, "gdr_unpin_buffer") &&
        find(map, "gdr_map"))
      return true;
    return why = "libgdrapi.so.2 lacks a function", false;
  }
};

/// On failure, `host` is null and `where` has the reason.
cuda_inbox map_by_gdrdrv(std::size_t bytes) {
  cuda_inbox none, mapped;
  gdr_library gdr;
  if (!gdr.load(none.where)) return none;
  void* const driver = gdr.open();
  if (driver == nullptr) return none.where = "the gdrdrv driver is not loaded", none;
  bytes = align_up(bytes, gpu_page);
  void* p = nullptr;
  check(cudaMalloc(&p, bytes + gpu_page), "allocating device memory for the inbox");
  mapped.device = reinterpret_cast<std::byte*>(align_up(reinterpret_cast<std::uintptr_t>(p), gpu_page));
  check(cudaMemset(mapped.device, 0, bytes), "clearing the inbox");
  gdr_library::memory_handle handle{};
  void* host = nullptr;
  auto const address = reinterpret_cast<unsigned long>(mapped.device);
  if (gdr.pin(driver, address, bytes, 0, 0, &handle) != 0) {
    cudaFree(p);
    return none.where = "gdrdrv cannot pin memory of this GPU", none;
  }
  if (gdr.map(driver, handle, &host, bytes) != 0) {
    gdr.unpin(driver, handle);
    cudaFree(p);
    return none.where = "gdrdrv cannot map memory of this GPU", none;
  }
  mapped.host = static_cast<std::byte*>(host);
  mapped.combines_writes = true;
  mapped.where = "inbox in device memory, mapped by gdrdrv";
  return mapped;
}

bool is_coherent(int ordinal) {
  int direct = 0;
  check(cudaDeviceGetAttribute(&direct, cudaDevAttrDirectManagedMemAccessFromHost, ordinal),
        "querying whether the host can access its memory");
  return direct != 0;
}

cuda_inbox share_coherently(int ordinal, std::size_t bytes) {
  cuda_inbox shared;
  void* p = nullptr;
  check(cudaMallocManaged(&p, bytes), "allocating managed memory for the inbox");
  cudaMemLocation gpu{}, host{};
  gpu.type = cudaMemLocationTypeDevice;
  gpu.id = ordinal;
  host.type = cudaMemLocationTypeHost;
  check(cudaMemAdvise(p, bytes, cudaMemAdviseSetPreferredLocation, gpu), "placing the inbox");
  check(cudaMemAdvise(p, bytes, cudaMemAdviseSetAccessedBy, host), "placing the inbox");
  check(cudaMemset(p, 0, bytes), "clearing the inbox");
  check(cudaDeviceSynchronize(), "clearing the inbox");
  shared.host = shared.device = static_cast<std::byte*>(p);
  shared.where = "inbox in device memory, coherent with the host";
  return shared;
}

using gpu_block = std::pair<int, std::size_t>;  // GPU, bytes
std::map<gpu_block, cuda_inbox>& kept() {
  static std::map<gpu_block, cuda_inbox> all;
  return all;
}

}  // namespace

cuda_inbox map_inbox(int ordinal, std::size_t bytes, std::string const& choice) {
  cuda_inbox pinned{.where = "inbox in pinned memory"};
  if (choice == "pinned") return pinned;
  if (auto const found = kept().find({ordinal, bytes}); found != kept().end()) {
    check(cudaMemset(found->second.device, 0, bytes), "clearing the inbox");
    check(cudaDeviceSynchronize(), "clearing the inbox");
    return found->second;
  }
  cuda_inbox mapped;
  if (is_coherent(ordinal))
    mapped = share_coherently(ordinal, bytes);
  else if (choice == "mapped")
    mapped = map_by_gdrdrv(bytes);
  else
    return pinned;
  if (mapped.host == nullptr)
    throw std::runtime_error(fmt::format(
        "the inbox cannot be mapped into this GPU's memory: {}; or use RONDO_INBOX=auto", mapped.where));
  return kept()[{ordinal, bytes}] = mapped;
}

void forget_inboxes(int ordinal) {
  std::erase_if(kept(), [&](auto const& k) { return k.first.first == ordinal; });
}

}  // namespace rondo
