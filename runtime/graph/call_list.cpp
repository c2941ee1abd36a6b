#include "runtime/graph/call_list.hpp"

#include <cstring>

namespace rondo {

namespace {

using call = std::function<bool()>;  // false: the device is lost

class call_recorder final : public stream {
 public:
  explicit call_recorder(copy_engine const& copies) : copies_(copies) {}

  void copy(std::byte* to, std::byte const* from, std::uint64_t bytes) override {
    run([=] { std::memcpy(to, from, bytes); });
  }
  void fill(std::byte* to, std::uint8_t value, std::uint64_t bytes) override {
    run([=] { std::memset(to, value, bytes); });
  }
  void copy_to_device(std::byte* to, std::byte const* from, std::uint64_t bytes) override {
    cross({to, from, bytes, true});
  }
  void copy_to_host(std::byte* to, std::byte const* from, std::uint64_t bytes) override {
    cross({to, from, bytes, false});
  }
  void call(std::function<void()> step) override { run(std::move(step)); }

  std::vector<rondo::call> recorded() { return std::move(calls_); }

 private:
  void run(std::function<void()> kernel) override {
    calls_.emplace_back([kernel = std::move(kernel)] { return kernel(), true; });
  }
  void cross(copy_job job) {
    if (!copies_) return copy(job.to, job.from, job.bytes);
    calls_.emplace_back([&copies = copies_, job] { return copies(job); });
  }

  copy_engine const& copies_;
  std::vector<rondo::call> calls_;
};

class call_list final : public graph {
 public:
  explicit call_list(copy_engine const& copies) : copies_(copies) {}

  void capture(std::function<void(stream&)> const& work) override {
    call_recorder recorder(copies_);
    work(recorder);
    calls_ = recorder.recorded();
  }
  bool replay() override {
    for (auto const& c : calls_)
      if (!c()) return false;
    return true;
  }

 private:
  copy_engine const& copies_;
  std::vector<call> calls_;
};

}  // namespace

std::unique_ptr<graph> call_list_engine::make_graph() { return std::make_unique<call_list>(copies_); }

}  // namespace rondo
