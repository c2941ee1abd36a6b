// Who decides at each choice of an execution: which thread goes on, and which store a load reads.
//
// Choice 0 is always the plain one (the same thread goes on, the newest store). So a path of zeros is an undisturbed
// execution, and every other number is a disturbance that the bounds count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace model {

class strategy {
 public:
  virtual ~strategy() = default;
  /// Called before each execution; false when there is nothing left to try.
  virtual bool begin() = 0;
  /// Which of `threads` (numbers of threads that can go on) runs next. If the running thread can go on, it is the
  /// first one.
  virtual std::size_t choose_thread(std::vector<std::size_t> const& threads) = 0;
  /// Which of `n` stores a load reads; 0 is the newest.
  virtual std::uint32_t choose_store(std::uint32_t n) = 0;
  /// How many later accesses of its thread a store is overtaken by, below `n`; 0: none.
  virtual std::uint32_t choose_lateness(std::uint32_t n) = 0;
  /// The running thread is in a spin loop. True: it gives others its turn; false: it goes on, as a thread that only
  /// lingers for a moment would.
  virtual bool spins(std::size_t /*thread*/) { return true; }
  /// The running thread has run for so long that others must have a turn.
  virtual void tires(std::size_t /*thread*/) {}
  /// How the execution at hand can be repeated: arguments of the command line.
  virtual std::string how_to_repeat() const = 0;
  /// "31 %" of all that it will try.
  virtual std::string progress() const = 0;
};

/// How far from undisturbed an exhaustive search goes.
struct bounds {
  std::uint32_t switches = 2;  // times that another thread runs than the one whose turn it is
  std::uint32_t stale = 1;     // loads that return another store than the newest
  std::uint32_t late = 0;      // stores that later accesses of their thread overtake
};

/// Every execution within the bounds, depth first.
class exhaustive final : public strategy {
 public:
  explicit exhaustive(bounds b) : bounds_(b) {}
  /// Only the execution of this path, as how_to_repeat wrote it.
  exhaustive(bounds b, std::string const& path);

  bool begin() override;
  std::size_t choose_thread(std::vector<std::size_t> const& threads) override;
  std::uint32_t choose_store(std::uint32_t n) override;
  std::uint32_t choose_lateness(std::uint32_t n) override;
  std::string how_to_repeat() const override;
  /// Rough: as if all parts of the tree were equally large.
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

/// Random executions, each determined by its seed: threads by priorities that change at a few random moments (PCT,
/// Burckhardt et al. 2010), or at each step by chance; stale reads by chance.
class random_search final : public strategy {
 public:
  /// `executions` of them, from `seed` on.
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
