#include "runtime/device/cuda/cuda_graphs.hpp"

#include <chrono>
#include <list>
#include <stdexcept>
#include <thread>
#include <utility>

#include "runtime/device/cuda/cuda_call.hpp"

namespace rondo {

namespace {

using host_calls = std::list<std::function<void()>>;  // a list, because graphs point to its elements

class cuda_stream final : public stream {
 public:
  cuda_stream(cudaStream_t captured, host_calls& calls) : stream_(captured), calls_(calls) {}

  void copy(std::byte* to, std::byte const* from, std::uint64_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "recording a copy");
  }
  void fill(std::byte* to, std::uint8_t value, std::uint64_t bytes) override {
    check(cudaMemsetAsync(to, value, bytes, stream_), "recording a fill");
  }
  void copy_to_device(std::byte* to, std::byte const* from, std::uint64_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_),
          "recording a copy to the device");
  }
  void copy_to_host(std::byte* to, std::byte const* from, std::uint64_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "recording a copy to the host");
  }
  void call(std::function<void()> step) override {
    check(cudaLaunchHostFunc(
              stream_, [](void* what) { (*static_cast<std::function<void()>*>(what))(); },
              &calls_.emplace_back(std::move(step))),
          "recording a call");
  }
  void* native() const noexcept override { return stream_; }

 private:
  void run(std::function<void()>) override {
    throw std::logic_error("for_each must launch a kernel on a native stream");
  }

  cudaStream_t stream_;
  host_calls& calls_;
};

class cuda_graph final : public graph {
 public:
  explicit cuda_graph(cuda_graphs& engine) : engine_(engine) {}
  ~cuda_graph() override {
    cudaSetDevice(engine_.ordinal());
    if (ended_ != nullptr) cudaEventDestroy(ended_);
    if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
  }

  void capture(std::function<void(stream&)> const& work) override {
    check(cudaSetDevice(engine_.ordinal()), "selecting the GPU");
    if (ended_ == nullptr)
      check(cudaEventCreateWithFlags(&ended_, cudaEventDisableTiming), "creating an event");
    host_calls calls;
    auto const captured = capture(work, calls);
    cudaGraphExecUpdateResultInfo unlike{};
    if (exec_ == nullptr || cudaGraphExecUpdate(exec_, captured.graph, &unlike) != cudaSuccess) {
      cudaGetLastError();  // the steps have changed: rebuild it
      cudaGraphExec_t anew = nullptr;
      check(cudaGraphInstantiate(&anew, captured.graph, 0), "instantiating a graph");
      if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
      exec_ = anew;
    }
    calls_ = std::move(calls);  // a list: its elements do not move
  }

  bool replay() override {
    cudaSetDevice(engine_.ordinal());
    auto const on = engine_.next_stream();
    if (!engine_.succeeded(cudaGraphLaunch(exec_, on), "replaying a graph") ||
        !engine_.succeeded(cudaEventRecord(ended_, on), "replaying a graph"))
      return false;
    for (std::uint32_t looks = 0;; ++looks) {
      auto const e = cudaEventQuery(ended_);
      if (e != cudaErrorNotReady) return engine_.succeeded(e, "a graph");
      cudaGetLastError();  // "not ready" is not an error
      if (looks > 1000)
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      else
        std::this_thread::yield();
    }
  }

 private:
  struct captured_graph {
    cudaGraph_t graph = nullptr;
    captured_graph() = default;
    captured_graph(captured_graph&& other) noexcept : graph(std::exchange(other.graph, nullptr)) {}
    ~captured_graph() {
      if (graph != nullptr) cudaGraphDestroy(graph);
    }
  };

  captured_graph capture(std::function<void(stream&)> const& work, host_calls& calls) {
    captured_graph captured;
    cudaStream_t on = nullptr;  // a new stream, which captures no other launches
    check(cudaStreamCreateWithFlags(&on, cudaStreamNonBlocking), "creating a stream");
    struct end_stream {
      cudaStream_t s;
      ~end_stream() { cudaStreamDestroy(s); }
    } const afterwards{on};
    check(cudaStreamBeginCapture(on, cudaStreamCaptureModeThreadLocal), "capturing a stream");
    try {
      cuda_stream recorder(on, calls);
      work(recorder);
    } catch (...) {
      cudaStreamEndCapture(on, &captured.graph);
      cudaGetLastError();
      throw;
    }
    check(cudaStreamEndCapture(on, &captured.graph),
          "capturing a stream (captured work must not wait or use another stream)");
    return captured;
  }

  cuda_graphs& engine_;
  cudaGraphExec_t exec_ = nullptr;
  cudaEvent_t ended_ = nullptr;
  host_calls calls_;
};

}  // namespace

cuda_graphs::cuda_graphs(int ordinal, verdict succeeded)
    : ordinal_(ordinal), succeeded_(std::move(succeeded)) {
  for (auto& s : streams_) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "creating a stream");
}

cuda_graphs::~cuda_graphs() {
  cudaSetDevice(ordinal_);
  for (auto s : streams_) cudaStreamDestroy(s);
}

std::unique_ptr<graph> cuda_graphs::make_graph() { return std::make_unique<cuda_graph>(*this); }

}  // namespace rondo
