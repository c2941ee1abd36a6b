// The code that nvcc made of recorded.cu: it works under every seed, and bugs planted in it are found.
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/ptx/text_ptx.hpp"

using namespace ptx_test;
using Catch::Matchers::Contains;

namespace {

std::string recorded() {
  std::ifstream in(RONDO_RECORDED_PTX);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// With the occurrence number `n` (from 0) of `from` replaced.
std::string with_bug(std::string text, std::string const& from, std::string const& to, unsigned n) {
  std::size_t at = text.find(from);
  for (; n > 0; --n) at = text.find(from, at + 1);
  if (at == std::string::npos) throw std::runtime_error("recorded.ptx has no '" + from + "' there");
  return text.replace(at, from.size(), to);
}

struct alignas(256) ring_memory : std::array<std::uint32_t, 8 * 32> {};

/// What was sent and what was received.
std::array<std::uint64_t, 2> pass_items(ptx::module const& m, std::uint64_t seed, bool threads,
                                        ptx::weakness how = {}) {
  constexpr std::uint32_t rounds = 12;
  ring_memory slots{};
  std::array<std::uint64_t, 2> sums{};
  how.seed = seed;
  ptx::grid_options options;
  options.how = how;
  ptx::grid g(m, m.find_entry("pass_items"), 2, 32, ptx::params_of(slots.data(), rounds, sums.data()),
              {range_of(slots), range_of(sums)}, options);
  if (threads)
    g.start(), g.wait();
  else
    g.run();
  return sums;
}

/// The number of seeds under which something is wrong.
unsigned count_wrong(std::string const& text, unsigned seeds = 40) {
  auto const m = ptx::read_module("recorded.ptx", text);
  unsigned wrong = 0;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    auto const [sent, received] = pass_items(*m, seed, false);
    if (sent != received) ++wrong;
  }
  return wrong;
}

}  // namespace

TEST_CASE("items arrive as they were sent, under every seed", "[ptx]") {
  auto const m = ptx::read_module("recorded.ptx", recorded());
  auto const strong = pass_items(*m, 1, false, {1, 256, 0});
  CHECK(strong[0] == strong[1]);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) REQUIRE(pass_items(*m, seed, false) == strong);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) REQUIRE(pass_items(*m, seed, true) == strong);
}

TEST_CASE("the same seed gives the same run, if one thread steps through it", "[ptx]") {
  struct still : ptx::machine_clock {
    std::uint64_t now = 0;
    std::uint64_t now_ns() noexcept override { return now += 10; }
  };
  auto const m = ptx::read_module("recorded.ptx", recorded());
  auto const count = [&](std::uint64_t seed) {
    ring_memory slots{};
    std::array<std::uint64_t, 2> sums{};
    still clock;
    ptx::grid_options options;
    options.how.seed = seed;
    options.clock = &clock;
    std::uint32_t const rounds = 5;
    ptx::grid g(*m, m->find_entry("pass_items"), 2, 32, ptx::params_of(slots.data(), rounds, sums.data()),
                {range_of(slots), range_of(sums)}, options);
    g.run();
    return g.executed();
  };
  CHECK(count(3) == count(3));
  std::map<std::uint64_t, int> different;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) ++different[count(seed)];
  CHECK(different.size() > 1);
}

TEST_CASE("planted bugs of order are found", "[ptx]") {
  auto const text = recorded();
  CHECK(count_wrong(text) == 0);
  // The receiver comes first in the code. Both loads of its loop, one of which ends it:
  auto const no_acquire =
      with_bug(with_bug(text, "ld.acquire", "ld.relaxed", 1), "ld.acquire", "ld.relaxed", 0);
  CHECK(count_wrong(no_acquire) > 0);
  CHECK(count_wrong(with_bug(text, "st.release", "st.relaxed", 1)) > 0);
  CHECK(count_wrong(with_bug(text, "st.release.gpu", "st.release.cta", 1)) > 0);
}

TEST_CASE("lanes that reserve places together get each place once", "[ptx]") {
  auto const run = [](std::string const& text, std::uint64_t seed) {
    auto const m = ptx::read_module("recorded.ptx", text);
    std::array<std::uint32_t, 128> keys{}, places{};
    std::array<std::uint32_t, 8> counts{};
    std::array<std::uint32_t, 1> total{};
    ptx::random_source random(seed);
    for (auto& k : keys) k = random() % 8;
    ptx::grid_options options;
    options.how.seed = seed;
    ptx::grid g(*m, m->find_entry("group_keys"), 1, 128,
                ptx::params_of(keys.data(), counts.data(), places.data(), total.data()),
                {range_of(keys), range_of(places), range_of(counts), range_of(total)}, options);
    g.start();
    g.wait();
    std::map<std::pair<std::uint32_t, std::uint32_t>, unsigned> taken;
    std::uint32_t odd = 0;
    for (std::size_t n = 0; n < keys.size(); ++n) ++taken[{keys[n], places[n]}], odd += keys[n] & 1;
    return taken.size() == keys.size() && std::accumulate(counts.begin(), counts.end(), 0u) == keys.size() &&
           total[0] == odd;
  };
  auto const text = recorded();
  for (std::uint64_t seed = 1; seed <= 10; ++seed) CHECK(run(text, seed));
  auto const from = text.find("shfl.sync.idx.b32");
  auto const line = text.substr(from, text.find(';', from) - from);
  auto swapped = line;  // lane 0 instead of the leader
  auto const second = swapped.rfind(", %r", swapped.rfind(", %r", swapped.rfind(", %r") - 1) - 1);
  swapped.replace(second, swapped.find(',', second + 1) - second, ", 0");
  CHECK_FALSE(run(with_bug(text, line, swapped, 0), 1));
}

TEST_CASE("a missing barrier, a byte store, and a wrong mask are found", "[ptx]") {
  auto const text = recorded();
  auto const error_of = [](std::string const& changed) -> std::string {
    auto const m = ptx::read_module("recorded.ptx", changed);
    std::array<std::uint32_t, 128> keys{}, places{};
    std::array<std::uint32_t, 8> counts{};
    std::array<std::uint32_t, 1> total{};
    try {
      ptx::grid g(*m, m->find_entry("group_keys"), 1, 128,
                  ptx::params_of(keys.data(), counts.data(), places.data(), total.data()),
                  {range_of(keys), range_of(places), range_of(counts), range_of(total)});
      while (g.step(100'000)) {  // one warp after the other, as far as they get
      }
    } catch (ptx::error const& e) {
      return e.what();
    }
    return "no error";
  };
  CHECK(error_of(text) == "no error");
  // Without the barrier, warp 0 reads what the others have not written.
  CHECK_THAT(error_of(with_bug(text, "bar.sync", "// bar.sync", 0)),
             Contains("reads shared memory that nobody has written") && Contains("recorded.cu:"));
  CHECK_THAT(error_of(with_bug(text, "st.shared.u32", "st.shared.u8", 0)), Contains("nobody has written"));
}
