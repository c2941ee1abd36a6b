// A thread that runs tasks in the order in which they are posted. A task that throws does not end it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "runtime/os/own_threads.hpp"
#include "runtime/os/prepare_thread.hpp"
#include "runtime/os/run_handlers.hpp"
#include "runtime/os/start_thread.hpp"

namespace rondo {

/// Threads: get_executor from any; everything else from one. A forked child's copy does nothing.
class task_thread {
 public:
  /// `name`: for debuggers. `report` gets the text of each exception, on this thread, which is one of `own`.
  task_thread(std::string name, own_threads const& own, std::function<void(char const*)> report)
      : parts_(make_process_ptr<parts>()) {
    parts_->thread = start_thread(
        "completion handlers", [p = parts_.get(), name = std::move(name), &own, report = std::move(report)] {
          prepare_thread(name, -1);
          own_threads::scope const scope(&own);
          run_handlers(p->context, report);
        });
  }
  ~task_thread() { stop(); }
  task_thread(task_thread const&) = delete;
  task_thread& operator=(task_thread const&) = delete;

  auto get_executor() noexcept { return parts_->context.get_executor(); }
  /// Waits for all tasks. No more must be posted.
  void finish() {
    if (is_of_parent(parts_)) return;
    parts_->work.reset();
    if (parts_->thread.joinable()) parts_->thread.join();
  }
  /// Waits for the running task; those that have not begun are never run. Idempotent.
  void stop() {
    if (is_of_parent(parts_)) return;
    parts_->context.stop();
    if (parts_->thread.joinable()) parts_->thread.join();
  }

 private:
  struct parts {
    boost::asio::io_context context{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
    std::thread thread{};
  };
  process_ptr<parts> parts_;
};

}  // namespace rondo
