#include "tests/model/strategy.hpp"

#include <algorithm>
#include <sstream>

#include "tests/model/memory.hpp"

namespace model {

exhaustive::exhaustive(bounds b, std::string const& path) : bounds_(b), single_(true) {
  // "12:1 30:2": choice 12 was 1, choice 30 was 2, all others 0.
  std::istringstream in(path);
  std::size_t position = 0;
  std::uint32_t chosen = 0;
  char colon = 0;
  while (in >> position >> colon >> chosen) {
    path_.resize(std::max(path_.size(), position + 1), {0, 0});
    path_[position] = {chosen, 0};
  }
}

bool exhaustive::begin() {
  at_ = 0;
  left_ = bounds_;
  if (first_) {
    first_ = false;
    return true;
  }
  if (single_) return false;
  while (!path_.empty() && path_.back().chosen + 1 >= path_.back().options) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().chosen;
  return true;
}

std::uint32_t exhaustive::choose(std::uint32_t options, std::uint32_t& left) {
  if (options < 2 || left == 0) return 0;
  if (at_ == path_.size()) path_.push_back({0, options});
  auto const chosen = path_[at_++].chosen;
  if (chosen != 0) --left;
  return std::min(chosen, options - 1);
}

std::size_t exhaustive::choose_thread(std::vector<std::size_t> const& threads) {
  return choose(static_cast<std::uint32_t>(threads.size()), left_.switches);
}
std::uint32_t exhaustive::choose_store(std::uint32_t n) { return choose(n, left_.stale); }
std::uint32_t exhaustive::choose_lateness(std::uint32_t n) { return choose(n, left_.late); }

std::string exhaustive::how_to_repeat() const {
  std::ostringstream out;
  out << "--switches " << bounds_.switches << " --stale " << bounds_.stale << " --late " << bounds_.late
      << " --path \"";
  char const* separator = "";
  for (std::size_t i = 0; i < at_ && i < path_.size(); ++i)
    if (path_[i].chosen != 0) out << separator << i << ':' << path_[i].chosen, separator = " ";
  out << '"';
  return out.str();
}

std::string exhaustive::progress() const {
  double done = 0, share = 1;
  for (auto const& c : path_) {
    if (c.options == 0) break;
    share /= c.options;
    done += share * c.chosen;
  }
  return std::to_string(static_cast<int>(100 * done)) + " %";
}

std::uint64_t random_search::draw() noexcept {  // splitmix64
  auto z = state_ += 0x9e37'79b9'7f4a'7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebull;
  return z ^ (z >> 31);
}

bool random_search::begin() {
  // The effect of a seed must not depend on earlier executions: the usual length is rounded to powers of two.
  if (left_ == 0) return false;
  --left_;
  seed_ = next_seed_++;
  state_ = seed_ * 0xd134'2543'de82'ef95ull + 1;
  by_priority_ = draw() % 4 != 0;
  hasty_ = draw() % 4 == 0;
  switch_one_in_ = 2u << draw() % 5;
  stale_one_in_ = draw() % 4 == 0 ? 0 : 1u << draw() % 5;
  stale_left_ = 40;
  late_one_in_ = draw() % 3 == 0 ? 4u << draw() % 4 : 0;
  usual_steps_ = 32u << draw() % 6;
  steps_ = 0;
  lowest_ = 0;
  priority_.resize(max_threads);
  for (auto& p : priority_) p = static_cast<std::int64_t>(draw() >> 2);
  change_at_.resize(draw() % 5);
  for (auto& at : change_at_) at = draw() % usual_steps_;
  return true;
}

std::size_t random_search::choose_thread(std::vector<std::size_t> const& threads) {
  ++steps_;
  if (!by_priority_) return threads.size() > 1 && one_in(switch_one_in_) ? draw() % threads.size() : 0;
  if (std::find(change_at_.begin(), change_at_.end(), steps_) != change_at_.end())
    priority_[threads[0]] = --lowest_;
  auto const less_urgent = [this](std::size_t a, std::size_t b) { return priority_[a] < priority_[b]; };
  return static_cast<std::size_t>(std::max_element(threads.begin(), threads.end(), less_urgent) -
                                  threads.begin());
}

bool random_search::spins(std::size_t thread) {
  if (hasty_) return false;
  tires(thread);
  return true;
}

std::uint32_t random_search::choose_store(std::uint32_t n) {
  if (stale_left_ == 0 || !one_in(stale_one_in_)) return 0;
  --stale_left_;
  return static_cast<std::uint32_t>(1 + draw() % (n - 1));
}

std::uint32_t random_search::choose_lateness(std::uint32_t n) {
  return one_in(late_one_in_) ? static_cast<std::uint32_t>(1 + draw() % (n - 1)) : 0;
}

std::string random_search::progress() const {
  return std::to_string(all_ == 0 ? 100 : 100 * (all_ - left_) / all_) + " %";
}

std::string random_search::how_to_repeat() const { return "--seed " + std::to_string(seed_); }

}  // namespace model
