// Makes the choices of an execution: which thread continues, and which store a load reads.
//
// Choice 0 is always the undisturbed one (the same thread continues, the newest store). A path of zeros is therefore an
// undisturbed execution, and every other number is a disturbance that the bounds count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace model {

class strategy {
 public:
  virtual ~strategy() = default;
  /// Called before each execution; returns false when nothing is left to try.
  virtual bool begin() = 0;
  /// Chooses which of `threads` (the numbers of the ready threads) runs next. If the running thread is ready, it is the
  /// first one.
  virtual std::size_t choose_thread(std::vector<std::size_t> const& threads) = 0;
  /// Chooses which of `n` stores a load reads; 0 is the newest.
  virtual std::uint32_t choose_store(std::uint32_t n) = 0;
  /// Chooses how many later accesses of its thread overtake a store, below `n`; 0: none.
  virtual std::uint32_t choose_lateness(std::uint32_t n) = 0;
  /// The running thread is in a spin loop. True: it yields to others; false: it continues, like a thread that only
  /// lingers for a moment.
  virtual bool spins(std::size_t /*thread*/) { return true; }
  /// The running thread has run for so long that others must run.
  virtual void tires(std::size_t /*thread*/) {}
  /// The command-line arguments that repeat the current execution.
  virtual std::string how_to_repeat() const = 0;
  /// "31 %" of all executions to try.
  virtual std::string progress() const = 0;
};

/// The bounds of an exhaustive search: how far executions may differ from the undisturbed one.
struct bounds {
  std::uint32_t switches = 2;  // how often another thread runs than the default one
  std::uint32_t stale = 1;     // loads that return a store other than the newest
  std::uint32_t late = 0;      // stores that later accesses of their thread overtake
};

/// Tries every execution within the bounds, depth first.
class exhaustive final : public strategy {
 public:
  explicit exhaustive(bounds b) : bounds_(b) {}
  /// Only the execution with this path, as written by how_to_repeat.
  exhaustive(bounds b, std::string const& path);

  bool begin() override;
  std::size_t choose_thread(std::vector<std::size_t> const& threads) override;
  std::uint32_t choose_store(std::uint32_t n) override;
  std::uint32_t choose_lateness(std::uint32_t n) override;
  std::string how_to_repeat() const override;
  /// A rough estimate, as if all parts of the tree were equally large.
  std::string progress() const override;

 private:
  struct choice {
    std::uint32_t chosen, options;
  };
  std::uint32_t choose(std::uint32_t options, std::uint32_t& left);

  bounds bounds_, left_;
  std::vector<choice> path_;
  std::size_t at_ = 0;
  bool first_ = true, single_ = false;
};

/// Random executions, each determined by its seed: either priorities of threads that change at a few random points
/// (PCT, Burckhardt et al. 2010), or a random choice at each step; stale reads are random too.
class random_search final : public strategy {
 public:
  /// `executions` of them, starting with `seed`.
  random_search(std::uint64_t seed, std::uint64_t executions) : next_seed_(seed), all_(executions) {}

  bool begin() override;
  std::size_t choose_thread(std::vector<std::size_t> const& threads) override;
  std::uint32_t choose_store(std::uint32_t n) override;
  std::uint32_t choose_lateness(std::uint32_t n) override;
  bool spins(std::size_t thread) override;
  void tires(std::size_t thread) override { priority_[thread] = --lowest_; }
  std::string how_to_repeat() const override;
  std::string progress() const override;

 private:
  std::uint64_t draw() noexcept;
  bool one_in(std::uint32_t n) noexcept { return n != 0 && draw() % n == 0; }

  std::uint64_t next_seed_, all_, left_ = all_, seed_ = 0, state_ = 0;
  std::uint64_t steps_ = 0, usual_steps_ = 100;
  bool by_priority_ = true, hasty_ = false;
  std::uint32_t switch_one_in_ = 8, stale_one_in_ = 8, stale_left_ = 0, late_one_in_ = 0;
  std::vector<std::int64_t> priority_;
  std::int64_t lowest_ = 0;
  std::vector<std::uint64_t> change_at_;
};

}  // namespace model
