// CUDA Graphs: captured from a stream, instantiated, replayed on several streams in turn beside the ring kernel.
//
// The ring kernel leaves `free_multiprocessors` of the GPU to them.
//
// Threads: any, as graph.hpp says.
#pragma once

#include <cuda_runtime_api.h>

#include <array>

#include "kernels/base/atomic.hpp"
#include "runtime/graph/graph.hpp"

namespace rondo {

class cuda_graphs final : public graph_engine {
 public:
  /// Remembers why the machine has faulted; true when a call has succeeded.
  using verdict = std::function<bool(cudaError_t, char const* what)>;

  /// Throws std::runtime_error when the GPU gives no stream.
  cuda_graphs(int ordinal, verdict succeeded);
  /// Precondition: its graphs are gone.
  ~cuda_graphs() override;
  std::unique_ptr<graph> make_graph() override;

  int ordinal() const noexcept { return ordinal_; }
  bool succeeded(cudaError_t e, char const* what) const { return succeeded_(e, what); }
  cudaStream_t next_stream() noexcept {
    // Relaxed: that they take turns is all.
    return streams_[turn_.fetch_add(1, memory_order::relaxed) % streams_.size()];
  }

 private:
  int ordinal_;
  verdict succeeded_;
  std::array<cudaStream_t, 4> streams_{};
  atomic<std::uint32_t> turn_{0};
};

}  // namespace rondo
