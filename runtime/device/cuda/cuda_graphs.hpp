// The graph engine of a GPU: CUDA Graphs are captured from a stream, instantiated, and replayed on several streams in
// turn.
//
// They run next to the ring kernel, which leaves `free_multiprocessors` of the GPU to them.
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
  /// Returns true if the call succeeded; otherwise records why the machine has faulted.
  using verdict = std::function<bool(cudaError_t, char const* what)>;

  /// Throws std::runtime_error if no stream can be created.
  cuda_graphs(int ordinal, verdict succeeded);
  /// Precondition: its graphs are destroyed.
  ~cuda_graphs() override;
  std::unique_ptr<graph> make_graph() override;

  int ordinal() const noexcept { return ordinal_; }
  bool succeeded(cudaError_t e, char const* what) const { return succeeded_(e, what); }
  cudaStream_t next_stream() noexcept {
    // Relaxed: only for taking turns.
    return streams_[turn_.fetch_add(1, memory_order::relaxed) % streams_.size()];
  }

 private:
  int ordinal_;
  verdict succeeded_;
  std::array<cudaStream_t, 4> streams_{};
  atomic<std::uint32_t> turn_{0};
};

}  // namespace rondo
