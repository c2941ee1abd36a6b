// The host's end of a grid's control block: requests to the keeper, and queries.
//
// Ownership: does not own the block. Threads: requests from one at a time, queries from one at a time, the rest from
// any.
// Ordering: the edges `request`, `acknowledge`, and `page` of kernels/grid/grid.hpp.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "kernels/grid/grid.hpp"

namespace rondo {

class keeper_link {
 public:
  /// `nudge` wakes a sleeping keeper, or triggers the launch of a grid that is between two rounds.
  keeper_link(control_block& control, std::function<void()> nudge)
      : block_(control), nudge_(std::move(nudge)) {}

  /// A grid runs, or is relaunched after each round: requests will be answered.
  void begin() noexcept { answers_.store(1, memory_order::release); }
  void end() noexcept { answers_.store(0, memory_order::release); }
  bool is_answered() const noexcept { return answers_.load(memory_order::acquire) != 0; }

  /// Returns the request, for is_acknowledged. `last`: the ticket up to which submissions are taken before a pause.
  std::uint64_t request(request_kind kind, std::uint64_t last) {
    auto const w = make_request(++requests_, kind);
    block_.last.store(last, memory_order::relaxed);  // relaxed: published by the request
    block_.request.store(w, memory_order::release);  // the edge `request`
    nudge_();
    return w;
  }
  bool is_acknowledged(std::uint64_t request) const noexcept {
    return block_.acknowledged.load(memory_order::acquire) == request;  // the edge `acknowledge`
  }
  bool is_acknowledged_within(std::uint64_t request, std::chrono::nanoseconds limit) const {
    return comes_true(limit, [&] { return is_acknowledged(request); });
  }

  /// Asks the keeper to fill the page with the `actors` cells from `first` on, and to update the reports. False if
  /// there is no answer within `limit`. Precondition: actors <= page_actors.
  bool ask(std::uint32_t first, std::uint32_t actors, std::chrono::nanoseconds limit) {
    auto const query = ++queries_ << 32 | first;
    if (!is_answered()) return false;
    block_.query_actors.store(actors, memory_order::relaxed);  // relaxed: published by the query
    block_.query.store(query, memory_order::release);          // release: the previous page was read
    nudge_();
    return comes_true(limit, [&] {
      return block_.answered.load(memory_order::acquire) == query;  // the edge `page`
    });
  }

  /// Whether a grid that is between two rounds is needed. Relaxed: the grid checks again.
  bool is_wanted() const noexcept {
    return kind_of_request(block_.request.load(memory_order::relaxed)) != request_kind::run ||
           block_.query.load(memory_order::relaxed) != block_.answered.load(memory_order::relaxed);
  }

 private:
  /// False if the condition does not become true within `limit`, or no grid answers any longer.
  template <class Condition>
  bool comes_true(std::chrono::nanoseconds limit, Condition holds) const {
    auto const until = std::chrono::steady_clock::now() + limit;
    for (int looks = 0; !holds(); ++looks) {
      if (!is_answered()) return holds();
      if (looks < 64)
        yield_thread();
      else if (std::chrono::steady_clock::now() > until)
        return false;
      else
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return true;
  }

  control_block& block_;
  std::function<void()> nudge_;
  std::uint64_t requests_ = 0, queries_ = 0;
  atomic<std::uint32_t> answers_{0};
};

}  // namespace rondo
