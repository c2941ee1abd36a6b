// Lanes that diverge, meet and wait for each other.
#include "tests/catch.hpp"
#include "tests/ptx/text_ptx.hpp"

using namespace ptx_test;
using Catch::Matchers::Contains;

namespace {

/// Each thread stores %rd9 at its own word.
std::string const store_result = R"(
mov.u32 %r30, %tid.x;
mad.wide.u32 %rd30, %r30, 8, %out;
st.global.u64 [%rd30], %rd9;
)";

std::string error_of(std::string const& body, std::uint32_t threads = 32) {
  try {
    run_kernel(body, threads);
  } catch (ptx::error const& e) {
    return e.what();
  }
  return "no error";
}

struct counter : ptx::observer {
  std::uint64_t instructions = 0, lanes = 0, loads = 0, stores = 0, atomics = 0, fences_seen = 0;
  void executes(ptx::warp const&, ptx::instruction const&, std::uint32_t at) override {
    ++instructions;
    lanes += static_cast<unsigned>(std::popcount(at));
  }
  void accesses(ptx::warp const&, ptx::instruction const&, ptx::warp_access const& a) override {
    if (a.where[0] != ptx::went::device) return;
    ++(a.kind == ptx::access_kind::load ? loads : a.kind == ptx::access_kind::store ? stores : atomics);
  }
  void fences(ptx::warp const&, ptx::instruction const&, std::uint32_t) override { ++fences_seen; }
};

}  // namespace

TEST_CASE("lanes at one instruction count once, also after a branch", "[ptx]") {
  counter seen;
  ptx::grid_options options;
  options.watcher = &seen;
  auto const out = run_kernel(R"(
mov.u32 %r1, %tid.x;
and.b32 %r2, %r1, 1;
setp.eq.u32 %p1, %r2, 0;
mov.u64 %rd9, 7;
@%p1 bra even;
mov.u64 %rd9, 8;
bra.uni both;
even:
mov.u64 %rd9, 9;
both:
add.u64 %rd9, %rd9, 10;
)" + store_result,
                              32, 32, 1, options);
  for (unsigned n = 0; n < 32; ++n) CHECK(out[n] == (n % 2 == 0 ? 19 : 18));
  // ld.param, 5 up to the branch, 2 of the odd lanes, 1 of the even ones, 1 + 3 of both, ret
  CHECK(seen.instructions == 1 + 5 + 2 + 1 + 4 + 1);
  CHECK(seen.lanes == 32 * 11 + 16 * 3);
  CHECK(seen.stores == 1);
}

TEST_CASE("a lane that spins does not stop the lane that it waits for", "[ptx]") {
  // Even lanes spin on a word that the next odd lane writes: first the lower instructions spin, then the higher ones.
  for (std::string const first : {"eq", "ne"}) {
    auto const out = run_kernel(R"(
mov.u32 %r1, %tid.x;
and.b32 %r2, %r1, 1;
or.b32 %r3, %r1, 1;
mad.wide.u32 %rd1, %r3, 8, %out;
mov.u64 %rd9, 1;
setp.)" + first + R"(.u32 %p1, %r2, 0;
@%p1 bra writer;
spin:
ld.relaxed.gpu.u32 %r4, [%rd1+512];
setp.eq.u32 %p2, %r4, 0;
@%p2 bra spin;
mov.u64 %rd9, 5;
bra.uni done;
writer:
st.relaxed.gpu.u32 [%rd1+512], 3;
done:
)" + store_result,
                                32, 128);
    for (unsigned n = 0; n < 32; ++n) CHECK(out[n] == ((n % 2 == 0) == (first == "eq") ? 1 : 5));
  }
}

TEST_CASE("a lock among the lanes of a warp is handed on", "[ptx]") {
  auto const out = run_kernel(R"(
again:
atom.cas.acquire.gpu.b32 %r1, [%out], 0, 1;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra again;
ld.u64 %rd1, [%out+8];
add.u64 %rd1, %rd1, 1;
st.u64 [%out+8], %rd1;
st.release.gpu.u32 [%out], 0;
)",
                              64, 2, 3);
  CHECK(out[1] == 192);
}

TEST_CASE("shuffles follow the table of the PTX manual", "[ptx]") {
  auto const shuffle = [](std::string const& mode, int b, int c) {
    return run_kernel("mov.u32 %r1, %tid.x;\nmul.lo.u32 %r2, %r1, 3;\nshfl.sync." + mode +
                      ".b32 %r3|%p1, %r2, " + std::to_string(b) + ", " + std::to_string(c) +
                      ", -1;\nselp.u32 %r4, 1000, 0, %p1;\nadd.u32 %r3, %r3, %r4;\ncvt.u64.u32 %rd9, %r3;" +
                      store_result);
  };
  auto const idx = shuffle("idx", 5, 31), up = shuffle("up", 2, 0), down = shuffle("down", 3, 31),
             bfly = shuffle("bfly", 1, 31), segments = shuffle("idx", 1, 24 << 8 | 7);
  for (unsigned n = 0; n < 32; ++n) {
    CHECK(idx[n] == 1015);
    CHECK(up[n] == (n < 2 ? 3 * n : 3 * (n - 2) + 1000));
    CHECK(down[n] == (n + 3 > 31 ? 3 * n : 3 * (n + 3) + 1000));
    CHECK(bfly[n] == 3 * (n ^ 1) + 1000);
    CHECK(segments[n] == 3 * (n / 8 * 8 + 1) + 1000);
  }
}

TEST_CASE("votes, matches and reductions of lanes that come from different branches", "[ptx]") {
  // The odd lanes come later than the even ones.
  auto const of = [](std::string const& code) {
    return run_kernel(R"(
mov.u32 %r1, %tid.x;
and.b32 %r2, %r1, 1;
setp.eq.u32 %p1, %r2, 0;
mov.u32 %r3, 0;
mov.u64 %rd9, 0;
@%p1 bra meet;
add.u32 %r3, %r3, 1;
meet:
setp.lt.u32 %p2, %r1, 4;
)" + code + store_result);
  };
  CHECK(of("vote.sync.ballot.b32 %r4, %p2, -1;\ncvt.u64.u32 %rd9, %r4;")[7] == 15);
  CHECK(of("vote.sync.ballot.b32 %r4, !%p2, -1;\ncvt.u64.u32 %rd9, %r4;")[7] == 0xffff'fff0);
  CHECK(of("vote.sync.any.pred %p3, %p2, -1;\nselp.u64 %rd9, 1, 0, %p3;")[31] == 1);
  CHECK(of("vote.sync.all.pred %p3, %p2, -1;\nselp.u64 %rd9, 1, 0, %p3;")[31] == 0);
  CHECK(of("vote.sync.uni.pred %p3, %p2, -1;\nselp.u64 %rd9, 1, 0, %p3;")[31] == 0);
  CHECK(of("match.any.sync.b32 %r4, %r3, -1;\ncvt.u64.u32 %rd9, %r4;")[2] == 0x5555'5555);
  CHECK(of("match.any.sync.b32 %r4, %r3, -1;\ncvt.u64.u32 %rd9, %r4;")[3] == 0xaaaa'aaaa);
  CHECK(of("match.all.sync.b32 %r4|%p3, %r3, -1;\nselp.u64 %rd9, 1, 2, %p3;")[3] == 2);
  CHECK(of("redux.sync.add.u32 %r4, %r1, -1;\ncvt.u64.u32 %rd9, %r4;")[3] == 496);
  CHECK(of("redux.sync.max.s32 %r4, %r1, -1;\ncvt.u64.u32 %rd9, %r4;")[3] == 31);
  CHECK(of("@%p1 bra even;\nactivemask.b32 %r4;\ncvt.u64.u32 %rd9, %r4;\neven:")[3] == 0xaaaa'aaaa);
  CHECK(of("elect.sync %r4|%p3, -1;\nselp.u64 %rd9, 1, 2, %p3;")[0] == 1);
  CHECK(of("elect.sync %r4|%p3, -1;\nselp.u64 %rd9, 1, 2, %p3;")[1] == 2);
  // Two halves of a warp meet by themselves.
  CHECK(of(R"(
selp.b32 %r5, 0x55555555, 0xaaaaaaaa, %p1;
redux.sync.add.u32 %r4, %r1, %r5;
cvt.u64.u32 %rd9, %r4;)")[2] == 240);
}

TEST_CASE("lanes may wait for all while some of these still meet by themselves", "[ptx]") {
  // Lane 2 waits for lane 0, which comes from far, while the others wait for both.
  auto const found = run_kernel(std::string(R"(
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
setp.eq.u32 %p2, %r1, 2;
mov.u64 %rd9, 0;
@%p1 bra far;
@!%p2 bra all;
two:
redux.sync.add.u32 %r4, %r1, 5;
cvt.u64.u32 %rd9, %r4;
all:
bar.warp.sync -1;
bra.uni store;
far:
add.u32 %r3, %r1, 1;
bra.uni two;
store:
)") + store_result);
  CHECK(found[0] == 2);
  CHECK(found[1] == 0);
  CHECK(found[2] == 2);
}

TEST_CASE("masks and meetings that a GPU does not define are errors that name both places", "[ptx]") {
  std::string const odd = "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 1;\n";
  CHECK_THAT(error_of("bar.warp.sync 1;"),
             Contains("with a mask that does not name it") && Contains("lane 1 of warp 0"));
  CHECK_THAT(error_of(odd + "@%p1 bar.warp.sync 0x55555555;"), Contains("does not name it"));
  CHECK_THAT(error_of(odd + "@%p1 ret;\nbar.warp.sync -1;"), Contains("a lane that has exited"));
  CHECK_THAT(error_of(odd + "@%p1 bra other;\nbar.warp.sync -1;\nother:\nret;"),
             Contains("test.ptx:") && Contains("waits for it at"));
  CHECK_THAT(
      error_of(odd + "@%p1 bra other;\nbar.warp.sync -1;\nret;\nother:\nvote.sync.any.pred %p2, %p1, -1;"),
      Contains("waits with another mask or elsewhere") && Contains("vote.sync.any") &&
          Contains("bar.warp.sync"));
  // Lane 1 waits for lane 2, lane 2 for lane 3, and lane 3 for lane 1.
  CHECK_THAT(error_of("mov.u32 %r1, %tid.x;\nshl.b32 %r2, 1, %r1;\nadd.u32 %r3, %r1, 1;\n"
                      "setp.eq.u32 %p1, %r3, 4;\nselp.u32 %r3, 1, %r3, %p1;\nshl.b32 %r3, 1, %r3;\n"
                      "or.b32 %r2, %r2, %r3;\nbar.warp.sync %r2;"),
             Contains("waits with another mask or elsewhere"));
  CHECK_THAT(error_of(odd + "@%p1 bra other;\nbar.warp.sync -1;\nret;\nother:\nbar.sync 0;"),
             Contains("waits for"));
  CHECK_THAT(error_of("shfl.sync.idx.b32 %r1, %r2, 5, 31, 1;", 1),
             Contains("reads lane 5, which does not take part"));
  CHECK_THAT(error_of(odd + "@%p1 ret;\nbar.sync 0;"), Contains("threads of its block that have exited"));
  CHECK_THAT(error_of(odd + "@!%p1 bra other;\nbar.sync 0;\nret;\nother:\nbra.uni here;\nhere: ret;"),
             Contains("exits, but threads of its block wait"));
  CHECK_THAT(error_of("trap;"), Contains("traps"));
  CHECK_THAT(error_of("mov.u64 %rd1, 99;\ncall %rd1, (), none;\nnone: .callprototype _ ();"),
             Contains("a call of what is no function"));
}

TEST_CASE(
    "a barrier of a block makes its threads' stores visible to each other, in shared and in device memory",
    "[ptx]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ptx::grid_options options;
    options.how.seed = seed;
    auto const out = run_kernel(R"(
.shared .align 8 .b8 words[1024];
mov.u32 %r1, %tid.x;
mov.u64 %rd1, words;
mad.wide.u32 %rd2, %r1, 8, %rd1;
cvt.u64.u32 %rd3, %r1;
st.shared.u64 [%rd2], %rd3;
mad.wide.u32 %rd4, %r1, 8, %out;
st.u64 [%rd4+1024], %rd3;
barrier.sync 0;
xor.b32 %r2, %r1, 127;
mad.wide.u32 %rd5, %r2, 8, %rd1;
cvta.shared.u64 %rd5, %rd5;
ld.u64 %rd6, [%rd5];
mad.wide.u32 %rd7, %r2, 8, %out;
ld.u64 %rd8, [%rd7+1024];
shl.b64 %rd8, %rd8, 32;
or.b64 %rd9, %rd6, %rd8;
)" + store_result,
                                128, 256, 1, options);
    for (std::uint64_t n = 0; n < 128; ++n) REQUIRE(out[n] == ((127 - n) << 32 | (127 - n)));
  }
}

TEST_CASE("named barriers count the threads that take part", "[ptx]") {
  auto const out = run_kernel(R"(
.shared .align 8 .b8 word[8];
mov.u32 %r1, %tid.x;
setp.ge.u32 %p1, %r1, 64;
@%p1 bra others;
st.shared.u32 [word], 5;
barrier.sync 1, 64;
ld.shared.u32 %r2, [word];
cvt.u64.u32 %rd9, %r2;
bra.uni done;
others:
mov.u64 %rd9, 1;
done:
)" + store_result,
                              96, 96);
  CHECK(out[0] == 5);
  CHECK(out[63] == 5);
  CHECK(out[64] == 1);
}

TEST_CASE("memory that a GPU would not let a lane touch is an error with its place", "[ptx]") {
  CHECK_THAT(error_of("ld.global.u32 %r1, [%out+2];", 1),
             Contains("a misaligned access of 4 bytes") && Contains("test.ptx:14: 'ld.global.u32"));
  CHECK_THAT(error_of("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%out+8];", 1),
             Contains("misaligned access of 16 bytes"));
  CHECK_THAT(error_of("ld.global.u32 %r1, [%out+4096];", 1), Contains("outside all known memory"));
  CHECK_THAT(error_of("mov.u64 %rd1, 0;\nst.u32 [%rd1], 1;", 1), Contains("outside all known memory: 0x0"));
  CHECK_THAT(error_of(".shared .align 4 .b8 word[4];\nld.shared.u32 %r1, [word];", 1),
             Contains("reads shared memory that nobody has written"));
  CHECK_THAT(error_of(".shared .align 4 .b8 word[4];\natom.shared.add.u32 %r1, [word], 1;", 1),
             Contains("nobody has written"));
  CHECK_THAT(error_of(".shared .align 4 .b8 word[4];\nld.shared.u32 %r1, [word+64];", 1),
             Contains("outside its block's shared memory"));
  CHECK_THAT(
      error_of(".local .align 4 .b8 depot[4];\nmov.u64 %rd1, depot;\nst.local.u32 [%rd1+1000000], 1;", 1),
      Contains("the local memory of another lane"));
  CHECK_THAT(error_of(R"(
.local .align 4 .b8 depot[4];
mov.u64 %rd1, depot;
shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;
mov.b64 {%r3, %r4}, %rd1;
shfl.sync.idx.b32 %r3, %r3, 0, 31, -1;
shfl.sync.idx.b32 %r4, %r4, 0, 31, -1;
mov.b64 %rd1, {%r3, %r4};
st.u32 [%rd1], 1;)"),
             Contains("the local memory of another lane"));
  std::vector<std::uint32_t> host(4);
  auto const m =
      ptx::read_module("test.ptx", kernel_of(".loc 1 77 3\natom.add.relaxed.sys.u32 %r1, [%out], 1;"));
  auto const* const to = host.data();
  ptx::grid g(*m, 0, 1, 1, ptx::params_of(to), {range_of(host, ptx::memory_kind::host)});
  CHECK_THROWS_WITH(g.run(), Contains("read-modify-write on host memory") && Contains(":77)"));
}
