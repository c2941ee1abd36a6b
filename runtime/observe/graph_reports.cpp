#include "runtime/observe/graph_reports.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace rondo {

auto graph_reports::membership::operator=(membership&& other) noexcept -> membership& {
  if (this != &other) {
    end();
    line_ = std::move(other.line_);
  }
  return *this;
}

void graph_reports::membership::end() noexcept {
  if (!line_) return;
  {
    std::lock_guard const lock(line_->mutex);
    line_->report = nullptr;
  }
  line_.reset();
}

auto graph_reports::add(source report) -> membership {
  auto one = std::make_shared<line>();
  one->report = std::move(report);
  std::lock_guard const lock(mutex_);
  if (all_.size() >= purge_at_) {
    // A membership that has ended has given up its share.
    std::erase_if(all_, [](auto const& l) { return l.use_count() == 1; });
    purge_at_ = std::max<std::size_t>(16, 2 * all_.size());
  }
  all_.push_back(one);
  return membership(std::move(one));
}

std::vector<graph_report> graph_reports::read() const {
  std::unique_lock lock(mutex_);
  auto const lines = all_;
  lock.unlock();
  std::vector<graph_report> reports;
  std::set<std::string> names;
  for (auto l = lines.rbegin(); l != lines.rend(); ++l) {
    std::lock_guard const one_at_a_time((*l)->mutex);
    if (!(*l)->report) continue;
    auto report = (*l)->report();
    if (names.insert(report.name).second) reports.push_back(std::move(report));
  }
  std::ranges::reverse(reports);
  return reports;
}

}  // namespace rondo
