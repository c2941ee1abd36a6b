// Litmus tests: which outcomes of small programs the machine's memory allows, and which it forbids. Thread 0 of each
// block is one thread of the litmus test. Each runs under many seeds: an allowed weak outcome must occur, a forbidden
// one must not.
#include <set>

#include "tests/catch.hpp"
#include "tests/ptx/text_ptx.hpp"

using namespace ptx_test;

namespace {

constexpr unsigned seeds = 400;

/// Counts `reg` down to 0. A thread that ends at once would show all that it stored.
std::string pause(std::string const& reg) {
  static int n = 0;
  auto const label = "pause" + std::to_string(++n);
  return label + ":\nsetp.eq.u32 %p9, " + reg + ", 0;\n@%p9 bra end_of_" + label + ";\nsub.u32 " + reg +
         ", " + reg + ", 1;\nbra.uni " + label + ";\nend_of_" + label + ":\n";
}

/// `out` holds variables at 0, 64, 128, ... and results from 1024 on; each block begins after a pause of its own, so
/// that all interleavings occur.
struct litmus {
  struct alignas(256) variables : std::array<std::uint64_t, 512> {};  // like a GPU's allocations

  std::vector<std::string> threads;
  bool one_block = false;  // all threads are warps of one block
  std::string before{};    // what each thread does before its pause

  std::set<std::vector<std::uint64_t>> outcomes(std::size_t results) const {
    std::string body =
        one_block ? "mov.u32 %r30, %warpid;\nmov.u32 %r31, %laneid;\nsetp.ne.u32 %p9, %r31, 0;\n@%p9 ret;\n"
                  : "mov.u32 %r30, %ctaid.x;\n";
    body +=
        before + "ld.relaxed.gpu.u32 %r32, [%out+2048];\nshl.b32 %r30, %r30, 2;\nshr.u32 %r32, %r32, %r30;\n";
    body += "shr.u32 %r30, %r30, 2;\nand.b32 %r32, %r32, 15;\n" + pause("%r32");
    for (std::size_t n = 0; n < threads.size(); ++n)
      body +=
          "setp.eq.u32 %p9, %r30, " + std::to_string(n) + ";\n@%p9 bra thread" + std::to_string(n) + ";\n";
    for (std::size_t n = 0; n < threads.size(); ++n)
      body += "thread" + std::to_string(n) + ":\n" + threads[n] + "\nmov.u32 %r32, 15;\n" + pause("%r32") +
              "ret;\n";
    auto const m = ptx::read_module("litmus.ptx", kernel_of(body));
    auto const count = static_cast<std::uint32_t>(threads.size());
    std::set<std::vector<std::uint64_t>> found;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      ptx::grid_options options;
      options.how.seed = seed;
      variables out{};
      out[256] = ptx::random_source(seed)();
      auto const* const to = out.data();
      ptx::grid g(*m, 0, one_block ? 1 : count, one_block ? 32 * count : 1, ptx::params_of(to),
                  {range_of(out)}, options);
      while (g.step(1 + static_cast<std::uint32_t>(seed % 3))) {
      }
      found.emplace(out.begin() + 128, out.begin() + 128 + static_cast<long>(results));
    }
    return found;
  }
};

using outcome = std::vector<std::uint64_t>;

/// Thread 0 writes x (at 0) and then the flag y (at 64); thread 1 reads y, and then x.
litmus message_passing(std::string const& write_flag, std::string const& read_flag,
                       std::string const& write = "st.u32", std::string const& read = "ld.u32",
                       std::string const& before = "") {
  litmus test;
  test.threads = {
      write + " [%out], 1;\n" + write_flag,
      read_flag + "\n" + read + " %r3, [%out];\nst.u32 [%out+1024], %r2;\nst.u32 [%out+1032], %r3;"};
  test.before = before;
  return test;
}

outcome const stale{1, 0};  // the flag was seen, and the data was not

}  // namespace

TEST_CASE("message passing with release and acquire of gpu scope never shows old data", "[ptx][litmus]") {
  auto const warm = "ld.u32 %r4, [%out];\n";  // puts the data into the L1
  auto const found = message_passing("st.release.gpu.u32 [%out+64], 1;", "ld.acquire.gpu.u32 %r2, [%out+64];",
                                     "st.u32", "ld.u32", warm)
                         .outcomes(2);
  CHECK(found.count(stale) == 0);
  CHECK(found.count({1, 1}) == 1);
  CHECK(found.count({0, 0}) == 1);
}

TEST_CASE("message passing with fences and relaxed flags never shows old data", "[ptx][litmus]") {
  for (std::string const fence : {"fence.acq_rel.gpu;", "fence.sc.gpu;", "membar.gl;"}) {
    auto const found = message_passing(fence + "\nst.relaxed.gpu.u32 [%out+64], 1;",
                                       "ld.relaxed.gpu.u32 %r2, [%out+64];\n" + fence, "st.u32", "ld.u32",
                                       "ld.u32 %r4, [%out];\n")
                           .outcomes(2);
    CHECK(found.count(stale) == 0);
    CHECK(found.count({1, 1}) == 1);
  }
}

TEST_CASE("a load that need not be in order may be done behind a later one, also one that acquires",
          "[ptx][litmus]") {
  auto const warm = "ld.u32 %r4, [%out];\n";
  auto const shows_stale = [&](std::string const& between, std::string const& behind = "ld.u32") {
    litmus test;
    test.before = warm;
    test.threads = {"st.u32 [%out], 1;\nst.release.gpu.u32 [%out+64], 1;",
                    "ld.relaxed.gpu.u32 %r2, [%out+64];\n" + between + "\n" + behind +
                        " %r3, [%out];\nmov.u32 %r9, 8;\n" + pause("%r9") +
                        "st.u32 [%out+1024], %r2;\nst.u32 [%out+1032], %r3;"};
    return test.outcomes(2).count(stale) == 1;
  };
  CHECK(shows_stale("ld.acquire.gpu.u32 %r9, [%out+128];"));
  CHECK(shows_stale("ld.acquire.gpu.u32 %r9, [%out+128];", "ld.relaxed.gpu.u32"));
  CHECK(shows_stale("fence.release.gpu;"));
  CHECK_FALSE(shows_stale("fence.acquire.gpu;"));
  CHECK_FALSE(shows_stale("fence.acquire.sys;"));
  CHECK_FALSE(shows_stale("fence.acquire.gpu;", "ld.relaxed.gpu.u32"));
}

TEST_CASE("a load that is done late has its value for every instruction that needs it", "[ptx][litmus]") {
  auto const found = litmus{{R"(
ld.relaxed.gpu.v2.u32 {%r1, %r2}, [%out+2048];
ld.u32 %r3, [%out+2048];
sub.u32 %r4, %r1, %r3;
ld.u32 %r5, [%out+2048];
mov.u32 %r5, 7;
setp.eq.u32 %p1, %r1, %r3;
ld.u32 %r6, [%out+2048];
@%p1 sub.u32 %r6, %r6, %r1;
add.u32 %r4, %r4, %r6;
st.u32 [%out+1024], %r4;
st.u32 [%out+1032], %r5;
)"}}.outcomes(2);
  CHECK(found == std::set<outcome>{{0, 7}});
}

TEST_CASE("a flag without release may overtake its data", "[ptx][litmus]") {
  CHECK(message_passing("st.relaxed.gpu.u32 [%out+64], 1;", "ld.acquire.gpu.u32 %r2, [%out+64];")
            .outcomes(2)
            .count(stale) == 1);
  CHECK(message_passing("st.u32 [%out+64], 1;", "ld.acquire.gpu.u32 %r2, [%out+64];")
            .outcomes(2)
            .count(stale) == 1);
  CHECK(message_passing("st.relaxed.gpu.u32 [%out+64], 1;", "ld.acquire.gpu.u32 %r2, [%out+64];",
                        "st.relaxed.gpu.u32")
            .outcomes(2)
            .count(stale) == 1);
  // An atomic is at once in memory, and a relaxed one orders nothing.
  CHECK(message_passing("atom.add.relaxed.gpu.u32 %r9, [%out+64], 1;", "ld.acquire.gpu.u32 %r2, [%out+64];")
            .outcomes(2)
            .count(stale) == 1);
  CHECK(message_passing("atom.add.release.gpu.u32 %r9, [%out+64], 1;", "ld.acquire.gpu.u32 %r2, [%out+64];")
            .outcomes(2)
            .count(stale) == 0);
}

TEST_CASE("a load without acquire may find old data in the L1", "[ptx][litmus]") {
  auto const warm = "ld.u32 %r4, [%out];\n";
  auto const found = message_passing("st.release.gpu.u32 [%out+64], 1;", "ld.relaxed.gpu.u32 %r2, [%out+64];",
                                     "st.u32", "ld.u32", warm);
  CHECK(found.outcomes(2).count(stale) == 1);
  // Relaxed loads do not use the L1.
  CHECK(message_passing("st.release.gpu.u32 [%out+64], 1;", "ld.relaxed.gpu.u32 %r2, [%out+64];", "st.u32",
                        "ld.relaxed.gpu.u32", warm)
            .outcomes(2)
            .count(stale) == 0);
}

TEST_CASE("a release of block scope is not enough for another block, and is for the own one",
          "[ptx][litmus]") {
  auto test = message_passing("st.release.cta.u32 [%out+64], 1;", "ld.acquire.gpu.u32 %r2, [%out+64];");
  CHECK(test.outcomes(2).count(stale) == 1);
  test.one_block = true;
  auto const found = test.outcomes(2);
  CHECK(found.count(stale) == 0);
  CHECK(found.count({1, 1}) == 1);
}

TEST_CASE("a release of another lane's data is as good, if a barrier came before", "[ptx][litmus]") {
  // Block 0: lane 1 writes the data, and lane 0 the flag.
  std::string const write = R"(
mov.u32 %r1, %laneid;
setp.eq.u32 %p1, %r1, 1;
@%p1 st.u32 [%out], 1;
bar.warp.sync 3;
setp.eq.u32 %p1, %r1, 0;
@%p1 st.release.gpu.u32 [%out+64], 1;
ret;
)";
  std::string const read = R"(
mov.u32 %r1, %laneid;
ld.u32 %r4, [%out];
mov.u32 %r2, 0;
PAUSE
setp.eq.u32 %p1, %r1, 0;
@%p1 ld.acquire.gpu.u32 %r2, [%out+64];
bar.warp.sync 3;
shfl.sync.idx.b32 %r2, %r2, 0, 31, 3;
ld.u32 %r3, [%out];
setp.eq.u32 %p1, %r1, 1;
@%p1 st.u32 [%out+1024], %r2;
@%p1 st.u32 [%out+1032], %r3;
ret;
)";
  auto const body = [&](std::string const& reader) {
    return "mov.u32 %r30, %ctaid.x;\nsetp.eq.u32 %p9, %r30, 1;\n@%p9 bra reader;\n" + write + "reader:\n" +
           reader;
  };
  auto const shows_stale = [&](std::string const& reader) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      ptx::grid_options options;
      options.how.seed = seed;
      auto text = body(reader);
      text.replace(text.find("PAUSE"), 5, "mov.u32 %r5, " + std::to_string(seed % 16) + ";\n" + pause("%r5"));
      auto const m = ptx::read_module("litmus.ptx", kernel_of(text));
      litmus::variables out{};
      auto const* const to = out.data();
      ptx::grid g(*m, 0, 2, 2, ptx::params_of(to), {range_of(out)}, options);
      while (g.step(1 + static_cast<std::uint32_t>(seed % 5))) {
      }
      if (out[128] == 1 && out[129] == 0) return true;
    }
    return false;
  };
  CHECK_FALSE(shows_stale(read));
  auto relaxed = read;
  relaxed.replace(relaxed.find("ld.acquire"), 10, "ld.relaxed");
  CHECK(shows_stale(relaxed));  // the barrier alone does not refresh the L1
}

TEST_CASE("two threads may each miss the other's store, unless there are fences", "[ptx][litmus]") {
  auto const buffering = [](std::string const& fence) {
    return litmus{{"st.relaxed.gpu.u32 [%out], 1;\n" + fence +
                       "ld.relaxed.gpu.u32 %r1, [%out+64];\nst.u32 [%out+1024], %r1;",
                   "st.relaxed.gpu.u32 [%out+64], 1;\n" + fence +
                       "ld.relaxed.gpu.u32 %r1, [%out];\nst.u32 [%out+1032], %r1;"}}
        .outcomes(2);
  };
  CHECK(buffering("").count({0, 0}) == 1);
  CHECK(buffering("fence.sc.gpu;\n").count({0, 0}) == 0);
}

TEST_CASE("one location has one order of its values for all threads", "[ptx][litmus]") {
  std::string const reader = "ld.relaxed.gpu.u32 %r1, [%out];\nld.relaxed.gpu.u32 %r2, [%out];\n";
  auto const found =
      litmus{{"st.relaxed.gpu.u32 [%out], 1;\nst.relaxed.gpu.u32 [%out], 2;",
              reader + "st.v2.u32 [%out+1024], {%r1, %r2};", reader + "st.v2.u32 [%out+1032], {%r1, %r2};"}}
          .outcomes(2);
  for (auto const& o : found)
    for (auto const pair : o) CHECK((pair >> 32) >= (pair & 0xffff'ffff));
  CHECK(found.size() > 3);
}

TEST_CASE("a thread sees its own stores, late as they are for others", "[ptx][litmus]") {
  auto const found = litmus{{R"(
ld.u64 %rd1, [%out];
st.u32 [%out+4], 7;
ld.u32 %r1, [%out+4];
st.u8 [%out+5], 1;
ld.u64 %rd2, [%out];
atom.add.relaxed.gpu.u32 %r2, [%out+4], 1;
ld.u32 %r3, [%out+4];
add.u32 %r1, %r1, %r3;
st.u32 [%out+1024], %r1;
st.u64 [%out+1032], %rd2;
)"}}.outcomes(2);
  CHECK(found == std::set<outcome>{{7 + 0x108, 0x107ull << 32}});
}

TEST_CASE("writes to the host arrive out of order, unless a release of system scope is between",
          "[ptx][litmus]") {
  // The host reads between the steps of the one thread.
  auto const shows_flag_first = [](std::string const& write_flag) {
    auto const m =
        ptx::read_module("litmus.ptx", kernel_of("st.relaxed.sys.u32 [%out], 1;\n" + write_flag +
                                                 "\nnanosleep.u32 0;\nmov.u32 %r1, 40;\nspin:\nsub.u32 %r1, "
                                                 "%r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra spin;"));
    bool first = false;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      ptx::grid_options options;
      options.how.seed = seed;
      std::vector<std::uint32_t> out(64);
      auto const* const to = out.data();
      ptx::grid g(*m, 0, 1, 1, ptx::params_of(to), {range_of(out, ptx::memory_kind::host)}, options);
      while (g.step(1)) first = first || (out[16] == 1 && out[0] == 0);
      CHECK(out[0] == 1);
      CHECK(out[16] == 1);
    }
    return first;
  };
  CHECK(shows_flag_first("st.relaxed.sys.u32 [%out+64], 1;"));
  CHECK(shows_flag_first("st.release.gpu.u32 [%out+64], 1;"));
  CHECK(shows_flag_first("fence.acq_rel.gpu;\nst.relaxed.sys.u32 [%out+64], 1;"));
  CHECK_FALSE(shows_flag_first("st.release.sys.u32 [%out+64], 1;"));
  CHECK_FALSE(shows_flag_first("fence.release.sys;\nst.relaxed.sys.u32 [%out+64], 1;"));
  CHECK(shows_flag_first("fence.acquire.sys;\nst.relaxed.sys.u32 [%out+64], 1;"));
  CHECK_FALSE(shows_flag_first("fence.acq_rel.sys;\nst.relaxed.sys.u32 [%out+64], 1;"));
}
