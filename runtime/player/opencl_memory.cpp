#include "runtime/player/opencl_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "kernels/base/portable.hpp"
#include "runtime/player/memory_blocks.hpp"

namespace rondo {

namespace {

// The strictest that clSVMAlloc promises: the size of the largest type, long16.
constexpr std::size_t driver_alignment = 128;

class shared_virtual_memory final : public opencl_memory {
 public:
  shared_virtual_memory(opencl_api const& api, cl_context context, list_watch const& watch)
      : cl_(api), context_(context), watch_(watch) {}

  cl_int set_argument(cl_kernel kernel, cl_uint index, void* at, cl_ulong& offset) override {
    offset = 0;
    return cl_.clSetKernelArgSVMPointer(kernel, index, at);
  }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    bool const as_asked = alignment <= driver_alignment;
    // Its own beginning stands before a block that is aligned more strictly than the driver can.
    if (!as_asked && __builtin_add_overflow(bytes, alignment + sizeof(void*), &bytes)) throw std::bad_alloc();
    auto* const at = cl_.clSVMAlloc(context_, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes,
                                    static_cast<cl_uint>(std::min(alignment, driver_alignment)));
    if (at == nullptr) throw std::bad_alloc();
    if (as_asked) return at;
    auto const begin = reinterpret_cast<std::uintptr_t>(at) + sizeof(void*);
    auto* const block = static_cast<std::byte*>(at) + sizeof(void*) + (align_up(begin, alignment) - begin);
    std::memcpy(block - sizeof(void*), &at, sizeof at);
    return block;
  }
  void do_deallocate(void* block, std::size_t, std::size_t alignment) override {
    if (watch_.is_stuck()) return;
    if (alignment > driver_alignment)
      std::memcpy(&block, static_cast<std::byte*>(block) - sizeof(void*), sizeof block);
    cl_.clSVMFree(context_, block);
  }
  bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }

  opencl_api const& cl_;
  cl_context context_;
  list_watch const& watch_;
};

// With CL_MEM_USE_HOST_PTR, not CL_MEM_ALLOC_HOST_PTR: only then does a buffer have the same address each time that it
// is mapped. Pages of their own, since that is what drivers share without a copy.
constexpr std::size_t page_bytes = 4096;

class mapped_memory final : public opencl_memory {
 public:
  mapped_memory(opencl_api const& api, cl_context context, cl_command_queue queue, list_watch const& watch)
      : cl_(api), context_(context), queue_(queue), watch_(watch) {}

  cl_int set_argument(cl_kernel kernel, cl_uint index, void* at, cl_ulong& offset) override {
    offset = 0;
    if (at == nullptr) return cl_.clSetKernelArg(kernel, index, sizeof(cl_mem), nullptr);
    auto const place = blocks_.find(at);
    if (!place) return CL_INVALID_MEM_OBJECT;
    offset = place->offset;
    return cl_.clSetKernelArg(kernel, index, sizeof(cl_mem), &place->object.buffer);
  }

  cl_int lend(cl_command_queue queue, std::span<kernel_call const> calls) override {
    for (auto const& b : blocks_of(calls))
      if (auto const status =
              cl_.clEnqueueUnmapMemObject(queue, b.object.buffer, b.begin, 0, nullptr, nullptr);
          status != CL_SUCCESS)
        return status;
    return CL_SUCCESS;
  }

  cl_int take_back(cl_command_queue queue, std::span<kernel_call const> calls, cl_event& last) override {
    for (auto const& b : blocks_of(calls)) {
      cl_event event = nullptr;
      cl_int status = CL_SUCCESS;
      auto* const at = map(queue, b.object, CL_FALSE, &event, status);
      if (status != CL_SUCCESS) return status;
      if (last != nullptr) cl_.clReleaseEvent(last);
      last = event;
      if (at != b.begin) return CL_MAP_FAILURE;
    }
    return CL_SUCCESS;
  }

 private:
  struct block {
    cl_mem buffer;
    std::size_t bytes;
  };
  using place = memory_blocks<block>::place;

  void* map(cl_command_queue queue, block const& b, cl_bool waits, cl_event* event, cl_int& status) {
    return cl_.clEnqueueMapBuffer(queue, b.buffer, waits, CL_MAP_READ | CL_MAP_WRITE, 0, b.bytes, 0, nullptr,
                                  event, &status);
  }

  /// That the calls name, each once.
  std::vector<place> blocks_of(std::span<kernel_call const> calls) const {
    std::vector<place> all;
    for (auto const& c : calls)
      for (auto* const at : c.buffers.of) {
        auto const place = blocks_.find(at);
        if (place && std::ranges::find(all, place->begin, &place::begin) == all.end()) all.push_back(*place);
      }
    return all;
  }

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (bytes > SIZE_MAX - page_bytes) throw std::bad_alloc();
    auto const size = (std::max<std::size_t>(bytes, 1) + page_bytes - 1) / page_bytes * page_bytes;
    auto* const at = std::aligned_alloc(std::max(alignment, page_bytes), size);
    if (at == nullptr) throw std::bad_alloc();
    cl_int status = CL_SUCCESS;
    block b{cl_.clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size, at, &status), size};
    if (status != CL_SUCCESS) {
      std::free(at);
      throw std::bad_alloc();
    }
    // The driver may use the pages until it has destroyed the buffer, which is after it was released.
    status = cl_.clSetMemObjectDestructorCallback(
        b.buffer, [](cl_mem, void* pages) { std::free(pages); }, at);
    bool const frees = status == CL_SUCCESS;
    if (!frees || map(queue_, b, CL_TRUE, nullptr, status) != at) {
      cl_.clReleaseMemObject(b.buffer);
      if (!frees) std::free(at);  // nothing has used it
      throw std::bad_alloc();
    }
    blocks_.add(at, size, b);
    return at;
  }

  void do_deallocate(void* at, std::size_t, std::size_t) override {
    auto const b = blocks_.remove(at);
    if (watch_.is_stuck()) return;
    cl_.clEnqueueUnmapMemObject(queue_, b.buffer, at, 0, nullptr, nullptr);
    cl_.clFlush(queue_);
    cl_.clReleaseMemObject(b.buffer);
  }
  bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }

  opencl_api const& cl_;
  cl_context context_;
  cl_command_queue queue_;
  list_watch const& watch_;
  memory_blocks<block> blocks_;
};

}  // namespace

std::unique_ptr<opencl_memory> make_shared_virtual_memory(opencl_api const& api, cl_context context,
                                                          list_watch const& watch) {
  return std::make_unique<shared_virtual_memory>(api, context, watch);
}
std::unique_ptr<opencl_memory> make_mapped_memory(opencl_api const& api, cl_context context,
                                                  cl_command_queue queue, list_watch const& watch) {
  return std::make_unique<mapped_memory>(api, context, queue, watch);
}

}  // namespace rondo
