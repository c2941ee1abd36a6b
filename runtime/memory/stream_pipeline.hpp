// A pipeline that loads the next item while the current one is computed, with a few unified buffers in turn.
//
//   rondo::stream_pipeline<float> rows(rt.memory(1), {4096});
//   auto const report = rows.run([&](std::span<float> to, std::uint64_t i) { return file.read(to, i); },
//                                [&](rondo::buffer_ref row, std::uint64_t) {
//                                  return worker.ask(add_row{row}, 1s, rondo::block).error();
//                                });
//
// Threads: `load` runs on the pipeline's own thread, `compute` on the caller's, and copies to the device on the
// runtime's copier. So three steps run at the same time, each on a different item.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "runtime/memory/unified_buffer.hpp"
#include "runtime/os/start_thread.hpp"

namespace rondo {

/// How long a run took.
struct pipeline_report {
  std::uint64_t items = 0;                // number of computed items
  std::chrono::nanoseconds loading{0};    // the time in `load`
  std::chrono::nanoseconds computing{0};  // the time in `compute`
  std::chrono::nanoseconds elapsed{0};    // of the whole run

  /// The time saved compared to loading and computing in sequence, not counting copies.
  std::chrono::nanoseconds saved() const noexcept { return loading + computing - elapsed; }
};

template <class T>
class stream_pipeline {
  using clock = std::chrono::steady_clock;

 public:
  /// `shape`: of each item. `depth`: number of buffers, at least 2. Throws std::invalid_argument.
  stream_pipeline(memory_pair const& memory, std::vector<std::uint64_t> shape, std::uint32_t depth = 2) {
    if (depth < 2)
      throw std::invalid_argument(
          "stream_pipeline: depth must be at least 2: one item is loaded while another is computed");
    for (std::uint32_t i = 0; i < depth; ++i) slots_.emplace_back(memory, shape);
  }

  /// Calls load(std::span<T>, index), which fills the next item or returns false if there is none, and for each item in
  /// turn compute(buffer_ref, index), which returns an error_code and must then have finished with the buffer. Stops
  /// after the last item or at the first error, of unified_buffer or of compute. Propagates exceptions of both.
  template <class Load, class Compute>
  boost::system::result<pipeline_report> run(Load load, Compute compute) {
    pipeline_report report;
    hand_over h(slots_.size());
    auto const began = clock::now();
    std::thread loader = start_thread("a pipeline's loader", [&] { load_all(load, h, report.loading); });
    struct join_loader {
      hand_over& h;
      std::thread& loader;
      ~join_loader() {
        h.change([&] { h.cancelled = true; });
        loader.join();
      }
    };
    error_code failed;
    {
      join_loader const afterwards{h, loader};
      for (std::uint64_t i = 0; !failed && h.wait_for_item(i); ++i) {
        auto const ref = slots_[i % slots_.size()].device();
        if (!ref) {
          failed = ref.error();
          break;
        }
        auto const since = clock::now();
        failed = compute(*ref, i);
        report.computing += clock::now() - since;
        report.items += !failed;
        h.change([&] { h.computed = i + 1; });
      }
    }
    if (h.thrown) std::rethrow_exception(h.thrown);
    if (!failed) failed = h.failed;
    if (failed) return failed;
    report.elapsed = clock::now() - began;
    return report;
  }

 private:
  struct hand_over {
    explicit hand_over(std::uint64_t n) : slots(n) {}
    std::uint64_t const slots;
    std::mutex mutex;
    std::condition_variable changed;
    // Guarded by mutex.
    std::uint64_t loaded = 0, computed = 0;
    bool ended = false, cancelled = false;
    error_code failed{};
    std::exception_ptr thrown{};

    template <class Change>
    void change(Change c) {
      std::lock_guard lock(mutex);
      c();
      changed.notify_all();
    }
    /// False if there are no more items.
    bool wait_for_item(std::uint64_t i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return loaded > i || ended; });
      return loaded > i;
    }
    /// False if the run was cancelled.
    bool wait_for_room(std::uint64_t i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return i < computed + slots || cancelled; });
      return !cancelled;
    }
  };

  template <class Load>
  void load_all(Load& load, hand_over& h, std::chrono::nanoseconds& time) {
    error_code failed;
    std::exception_ptr thrown;
    try {
      for (std::uint64_t i = 0; h.wait_for_room(i); ++i) {
        auto& slot = slots_[i % slots_.size()];
        auto const since = clock::now();
        bool more = false;
        {
          auto view = slot.overwrite();
          if (!view) {
            failed = view.error();
            break;
          }
          more = load(view->span(), i);
        }
        time += clock::now() - since;
        if (!more) break;
        failed = slot.prefetch_to_device();
        if (failed) break;
        h.change([&] { h.loaded = i + 1; });
      }
    } catch (...) {
      thrown = std::current_exception();
    }
    h.change([&] {
      h.ended = true;
      h.failed = failed;
      h.thrown = thrown;
    });
  }

  std::vector<unified_buffer<T>> slots_;
};

}  // namespace rondo
