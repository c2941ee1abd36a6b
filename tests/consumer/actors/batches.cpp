// docs/actors.md, "Batch handlers".
#include "runtime/lifecycle.hpp"
#include "runtime/runtime.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct sample { std::uint32_t value; };
struct read_summary {};
struct summary { std::uint32_t calls, samples, sum; };

struct collector {
  using messages = rondo::messages<sample, rondo::ask<read_summary, summary>>;
  summary so_far{};

  RONDO_HD void on(rondo::context&, rondo::batch<sample> const& batch) {
    ++so_far.calls;
    so_far.samples += batch.size();
    for (sample const& s : batch) so_far.sum += s.value;
  }
  RONDO_HD summary on(rondo::context&, read_summary const&) { return so_far; }
};
RONDO_MODULE(collectors, collector)

int main() {
  rondo::runtime rt{rondo::use<collectors>};
  auto const c = rt.launch<collector>("c", {.active = false, .batch = 4});
  sample const eight[] = {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}};
  check(!c.try_tell(std::span<sample const>(eight)));  // all eight, or none
  check(!rondo::activate(c, rondo::block));
  auto const s = c.ask(read_summary{}, 1min, rondo::block).value();
  check(s.calls == 2 && s.samples == 8 && s.sum == 36);
}
