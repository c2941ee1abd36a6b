// A thread that runs tasks in the order in which they are posted. A task that throws does not end it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <functional>
#include <thread>
#include <utility>

#include "runtime/os/own_threads.hpp"
#include "runtime/os/run_handlers.hpp"
#include "runtime/os/start_thread.hpp"

namespace rondo {

/// Threads: get_executor from any; everything else from one.
class task_thread {
 public:
  /// `report` gets the text of each exception, on this thread, which is one of `own`.
  task_thread(own_threads const& own, std::function<void(char const*)> report)
      : thread_(start_thread("completion handlers", [this, &own, report = std::move(report)] {
          own_threads::scope const scope(&own);
          run_handlers(context_, report);
        })) {}
  ~task_thread() { stop(); }
  task_thread(task_thread const&) = delete;
  task_thread& operator=(task_thread const&) = delete;

  auto get_executor() noexcept { return context_.get_executor(); }
  /// Waits for the running task; those that have not begun are never run. Idempotent.
  void stop() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
  std::thread thread_;
};

}  // namespace rondo
