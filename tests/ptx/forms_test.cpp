// Each form of an instruction against known results, computed by hand or by C++ with other means than the machine's.
#include <cmath>
#include <limits>

#include "tests/catch.hpp"
#include "tests/ptx/text_ptx.hpp"

using namespace ptx_test;

namespace {

/// Registers of this many bytes (kernel_of).
char const* register_of(unsigned bytes) { return bytes == 2 ? "%rs" : bytes == 4 ? "%r" : "%rd"; }

/// Runs `mnemonic d, a, b, ...` with `to` and `from` bytes for the registers. Counts are 32 bits: `last` bytes for
/// operands behind the first, 0: as the first.
std::uint64_t run(std::string const& mnemonic, unsigned to, unsigned from,
                  std::vector<std::uint64_t> const& operands, unsigned last = 0) {
  std::string body, list;
  for (std::size_t n = 0; n < operands.size(); ++n) {
    auto const bytes = n == 0 || last == 0 ? from : last;
    auto const name = register_of(bytes) + std::to_string(n + 1);
    body += "mov.b" + std::to_string(8 * bytes) + " " + name + ", " + std::to_string(operands[n]) + ";\n";
    list += ", " + name;
  }
  auto const result = register_of(to) + std::string("9");
  body +=
      mnemonic + " " + result + list + ";\nst.global.b" + std::to_string(8 * to) + " [%out], " + result + ";";
  return result_of(body);
}

constexpr std::uint64_t m16 = 0xffff, m32 = 0xffff'ffff, m64 = ~0ull;
std::uint64_t f32(float v) { return std::bit_cast<std::uint32_t>(v); }
std::uint64_t f64(double v) { return std::bit_cast<std::uint64_t>(v); }

}  // namespace

TEST_CASE("arithmetic of integers wraps, and knows signs", "[ptx]") {
  CHECK(run("add.u16", 2, 2, {0xffff, 2}) == 1);
  CHECK(run("add.s32", 4, 4, {0x7fff'ffff, 1}) == 0x8000'0000);
  CHECK(run("add.s64", 8, 8, {m64, 2}) == 1);
  CHECK(run("sub.s16", 2, 2, {0, 1}) == m16);
  CHECK(run("sub.u32", 4, 4, {1, 2}) == m32);
  CHECK(run("sub.s64", 8, 8, {5, 7}) == m64 - 1);
  CHECK(run("mul.lo.s32", 4, 4, {0x1'0001, 0x1'0001}) == 0x2'0001);
  CHECK(run("mul.lo.s64", 8, 8, {m64, 3}) == m64 - 2);
  CHECK(run("mul.hi.u32", 4, 4, {m32, m32}) == 0xffff'fffe);
  CHECK(run("mul.hi.s32", 4, 4, {m32, m32}) == 0);
  CHECK(run("mul.hi.u64", 8, 8, {m64, 2}) == 1);
  CHECK(run("mul.hi.s64", 8, 8, {m64, 2}) == m64);
  CHECK(run("mul.wide.u16", 4, 2, {m16, m16}) == 0xfffe'0001);
  CHECK(run("mul.wide.s16", 4, 2, {m16, 2}) == m32 - 1);
  CHECK(run("mul.wide.u32", 8, 4, {m32, m32}) == 0xffff'fffe'0000'0001);
  CHECK(run("mul.wide.s32", 8, 4, {m32, 5}) == m64 - 4);
  CHECK(run("mad.lo.s32", 4, 4, {m32, 3, 10}) == 7);
  CHECK(run("mad.lo.u64", 8, 8, {1ull << 63, 2, 5}) == 5);
  CHECK(run("div.u32", 4, 4, {m32, 2}) == 0x7fff'ffff);
  CHECK(run("div.s32", 4, 4, {m32 - 6, 2}) == m32 - 2);  // -7 / 2 == -3
  CHECK(run("div.s64", 8, 8, {1ull << 63, m64}) == 1ull << 63);
  CHECK(run("rem.s32", 4, 4, {m32 - 6, 2}) == m32);
  CHECK(run("rem.u64", 8, 8, {m64, 10}) == 5);
  CHECK(run("neg.s32", 4, 4, {1}) == m32);
  CHECK(run("neg.s64", 8, 8, {1}) == m64);
  CHECK(run("abs.s32", 4, 4, {m32}) == 1);
  CHECK(run("abs.s32", 4, 4, {0x8000'0000}) == 0x8000'0000);
  CHECK(run("min.s32", 4, 4, {m32, 1}) == m32);
  CHECK(run("min.u32", 4, 4, {m32, 1}) == 1);
  CHECK(run("max.u32", 4, 4, {m32, 1}) == m32);
  CHECK(run("max.s64", 8, 8, {m64, 1}) == 1);
  CHECK(run("max.u64", 8, 8, {m64, 1}) == m64);
}

TEST_CASE("shifts beyond the width give zeros or signs", "[ptx]") {
  CHECK(run("shl.b32", 4, 4, {1, 31}) == 0x8000'0000);
  CHECK(run("shl.b32", 4, 4, {1, 32}) == 0);
  CHECK(run("shl.b32", 4, 4, {1, m32}) == 0);
  CHECK(run("shl.b64", 8, 8, {3, 63}, 4) == 1ull << 63);
  CHECK(run("shl.b64", 8, 8, {3, 64}, 4) == 0);
  CHECK(run("shl.b16", 2, 2, {3, 15}, 4) == 0x8000);
  CHECK(run("shr.u32", 4, 4, {0x8000'0000, 31}) == 1);
  CHECK(run("shr.u32", 4, 4, {0x8000'0000, 32}) == 0);
  CHECK(run("shr.s32", 4, 4, {0x8000'0000, 31}) == m32);
  CHECK(run("shr.s32", 4, 4, {0x8000'0000, 200}) == m32);
  CHECK(run("shr.s32", 4, 4, {0x7fff'ffff, 200}) == 0);
  CHECK(run("shr.u64", 8, 8, {1ull << 63, 48}, 4) == 0x8000);
  CHECK(run("shr.b64", 8, 8, {1ull << 63, 64}, 4) == 0);
  CHECK(run("shr.s64", 8, 8, {1ull << 63, 1}, 4) == 3ull << 62);
  CHECK(run("shr.u16", 2, 2, {0x8000, 15}, 4) == 1);
  CHECK(run("shf.l.wrap.b32", 4, 4, {0x8000'0000, 1, 1}) == 3);
  CHECK(run("shf.l.wrap.b32", 4, 4, {0x8000'0000, 1, 33}) == 3);
  CHECK(run("shf.l.clamp.b32", 4, 4, {7, 1, 33}) == 7);
  CHECK(run("shf.r.wrap.b32", 4, 4, {0, 1, 1}) == 0x8000'0000);
  CHECK(run("shf.r.clamp.b32", 4, 4, {0, 5, 40}) == 5);
}

TEST_CASE("logic, fields and counts of bits", "[ptx]") {
  CHECK(run("and.b32", 4, 4, {0xff00, 0x0ff0}) == 0x0f00);
  CHECK(run("or.b64", 8, 8, {1ull << 40, 1}) == ((1ull << 40) | 1));
  CHECK(run("xor.b16", 2, 2, {0xffff, 0x0ff0}) == 0xf00f);
  CHECK(run("not.b32", 4, 4, {1}) == 0xffff'fffe);
  CHECK(run("not.b64", 8, 8, {0}) == m64);
  CHECK(run("bfe.u32", 4, 4, {0xabcd'1234, 8, 8}) == 0x12);
  CHECK(run("bfe.s32", 4, 4, {0x0000'8000, 8, 8}) == 0xffff'ff80);
  CHECK(run("bfe.s32", 4, 4, {0x8000'0000, 28, 8}) == 0xffff'fff8);
  CHECK(run("bfe.u32", 4, 4, {m32, 28, 8}) == 0xf);
  CHECK(run("bfe.u32", 4, 4, {m32, 40, 8}) == 0);
  CHECK(run("bfe.s32", 4, 4, {m32, 40, 8}) == m32);
  CHECK(run("bfe.u32", 4, 4, {m32, 3, 0}) == 0);
  CHECK(run("bfe.u64", 8, 8, {m64, 32, 16}, 4) == m16);
  CHECK(run("bfe.s64", 8, 8, {m64, 0, 64}, 4) == m64);
  CHECK(run("brev.b32", 4, 4, {1}) == 0x8000'0000);
  CHECK(run("brev.b64", 8, 8, {2}) == 1ull << 62);
  CHECK(run("popc.b32", 4, 4, {0xf0f0}) == 8);
  CHECK(run("popc.b64", 4, 8, {m64}) == 64);
  CHECK(run("clz.b32", 4, 4, {0}) == 32);
  CHECK(run("clz.b32", 4, 4, {1}) == 31);
  CHECK(run("clz.b64", 4, 8, {1}) == 63);
  CHECK(run("clz.b64", 4, 8, {0}) == 64);
  CHECK(run("bfind.u32", 4, 4, {0}) == m32);
  CHECK(run("bfind.u32", 4, 4, {0x100}) == 8);
  CHECK(run("bfind.s32", 4, 4, {m32}) == m32);
  CHECK(run("bfind.s32", 4, 4, {m32 - 1}) == 0);
  CHECK(run("bfind.shiftamt.u32", 4, 4, {0x100}) == 23);
  CHECK(run("bfind.u64", 4, 8, {1ull << 40}) == 40);
  CHECK(run("prmt.b32", 4, 4, {0x3322'1100, 0x7766'5544, 0x7604}) == 0x7766'0044);
  CHECK(run("prmt.b32", 4, 4, {0x0000'0080, 0, 0x0008}) == 0x8080'80ff);  // 8: the sign of byte 0
  CHECK(run("lop3.b32", 4, 4, {0b1100, 0b1010, 0b0110, 0x96}) == (0b1100 ^ 0b1010 ^ 0b0110));
  CHECK(run("lop3.b32", 4, 4, {0b1100, 0b1010, 0b0110, 0xe8}) == 0b1110);  // the majority
  CHECK(run("fns.b32", 4, 4, {0b1011'0000, 0, 2}) == 5);
  CHECK(run("fns.b32", 4, 4, {0b1011'0000, 7, m32}) == 7);
  CHECK(run("fns.b32", 4, 4, {0b1011'0000, 6, m32 - 1}) == 4);
  CHECK(run("fns.b32", 4, 4, {0b1011'0000, 4, 0}) == 4);
  CHECK(run("fns.b32", 4, 4, {0b1011'0000, 3, 0}) == m32);
  CHECK(run("fns.b32", 4, 4, {0b1011'0000, 0, 4}) == m32);
  auto const insert = [](std::string const& type, std::string const& r, std::uint64_t a, std::uint64_t b,
                         int p, int n) {
    return result_of("mov" + type + " " + r + "1, " + std::to_string(a) + ";\nmov" + type + " " + r + "2, " +
                     std::to_string(b) + ";\nbfi" + type + " " + r + "3, " + r + "1, " + r + "2, " +
                     std::to_string(p) + ", " + std::to_string(n) + ";\nst.global" + type + " [%out], " + r +
                     "3;");
  };
  CHECK(insert(".b32", "%r", 0xff, 0, 8, 4) == 0xf00);
  CHECK(insert(".b32", "%r", 0, m32, 8, 8) == 0xffff'00ff);
  CHECK(insert(".b32", "%r", m32, 0, 28, 8) == 0xf000'0000);
  CHECK(insert(".b32", "%r", m32, 5, 3, 0) == 5);
  CHECK(insert(".b32", "%r", m32, 5, 32, 8) == 5);
  CHECK(insert(".b64", "%rd", 0xab, 0, 56, 8) == 0xab00'0000'0000'0000);
}

TEST_CASE("conversions cut off, and extend to the width of the register", "[ptx]") {
  CHECK(run("cvt.u32.u64", 4, 8, {0x1'2345'6789}) == 0x2345'6789);
  CHECK(run("cvt.u64.u32", 8, 4, {m32}) == m32);
  CHECK(run("cvt.s64.s32", 8, 4, {m32}) == m64);
  CHECK(run("cvt.u32.u16", 4, 2, {m16}) == m16);
  CHECK(run("cvt.s32.s16", 4, 2, {m16}) == m32);
  CHECK(run("cvt.s32.s8", 4, 4, {0x1ff}) == m32);
  CHECK(run("cvt.u32.u8", 4, 4, {0x1ff}) == 0xff);
  CHECK(run("cvt.s8.s32", 4, 4, {0x180}) == 0xffff'ff80);  // a signed value fills its register with its sign
  CHECK(run("cvt.u8.u32", 2, 4, {0x1ff}) == 0xff);
  CHECK(run("cvt.u16.u64", 2, 8, {0x12345}) == 0x2345);
  CHECK(run("cvt.rn.f64.u64", 8, 8, {m64}) == f64(18446744073709551616.0));
  CHECK(run("cvt.rn.f32.s32", 4, 4, {m32}) == f32(-1.0f));
  CHECK(run("cvt.rn.f32.u32", 4, 4, {16777217}) == f32(16777216.0f));
  CHECK(run("cvt.rzi.s32.f32", 4, 4, {f32(-2.7f)}) == m32 - 1);
  CHECK(run("cvt.rni.s32.f32", 4, 4, {f32(2.5f)}) == 2);
  CHECK(run("cvt.rmi.s32.f64", 4, 8, {f64(-2.5)}) == m32 - 2);
  CHECK(run("cvt.rpi.s32.f64", 4, 8, {f64(2.1)}) == 3);
  CHECK(run("cvt.rzi.u32.f32", 4, 4, {f32(-1.0f)}) == 0);
  CHECK(run("cvt.rzi.u32.f32", 4, 4, {f32(1e20f)}) == m32);
  CHECK(run("cvt.rzi.s32.f32", 4, 4, {f32(-1e20f)}) == 0x8000'0000);
  CHECK(run("cvt.rzi.s32.f32", 4, 4, {f32(NAN)}) == 0);
  CHECK(run("cvt.rzi.u64.f64", 8, 8, {f64(NAN)}) == 1ull << 63);
  CHECK(run("cvt.f64.f32", 8, 4, {f32(0.5f)}) == f64(0.5));
  CHECK(run("cvt.rn.f32.f64", 4, 8, {f64(0.1)}) == f32(0.1f));
}

TEST_CASE("floats follow IEEE 754; min and max prefer numbers", "[ptx]") {
  auto const nan = f64(NAN), inf = f64(INFINITY);
  CHECK(run("add.f64", 8, 8, {f64(0.1), f64(0.2)}) == f64(0.1 + 0.2));
  CHECK(run("add.rn.f32", 4, 4, {f32(0.1f), f32(0.2f)}) == f32(0.1f + 0.2f));
  CHECK(run("sub.f64", 8, 8, {f64(1), f64(3)}) == f64(-2));
  CHECK(run("mul.f64", 8, 8, {f64(1e200), f64(1e200)}) == inf);
  CHECK(run("div.rn.f64", 8, 8, {f64(1), f64(3)}) == f64(1.0 / 3.0));
  CHECK(run("rcp.rn.f64", 8, 8, {f64(4)}) == f64(0.25));
  CHECK(run("rcp.rn.f64", 8, 8, {f64(0)}) == inf);
  CHECK(run("sqrt.rn.f64", 8, 8, {f64(2)}) == f64(std::sqrt(2.0)));
  CHECK(run("fma.rn.f64", 8, 8, {f64(0.1), f64(10), f64(-1)}) == f64(std::fma(0.1, 10.0, -1.0)));
  CHECK(run("neg.f64", 8, 8, {f64(0)}) == f64(-0.0));
  CHECK(run("abs.f32", 4, 4, {f32(-2)}) == f32(2));
  CHECK(run("min.f64", 8, 8, {nan, f64(1)}) == f64(1));
  CHECK(run("max.f64", 8, 8, {f64(1), nan}) == f64(1));
  CHECK(run("min.f64", 8, 8, {f64(0.0), f64(-0.0)}) == f64(-0.0));
  CHECK(run("max.f64", 8, 8, {f64(-0.0), f64(0.0)}) == f64(0.0));
}

TEST_CASE("comparisons, also with NaN, and what they are combined with", "[ptx]") {
  auto const compare = [](std::string const& what, char const* reg, std::uint64_t a, std::uint64_t b,
                          std::string const& more = "") {
    auto const bits = std::string(reg) == "%r" ? "32" : std::string(reg) == "%rs" ? "16" : "64";
    auto const r = std::string(reg);
    return result_of("mov.b" + std::string(bits) + " " + r + "1, " + std::to_string(a) + ";\nmov.b" + bits +
                     " " + r + "2, " + std::to_string(b) + ";\nmov.pred %p3, -1;\nsetp." + what +
                     " %p1|%p2, " + r + "1, " + r + "2" + more +
                     ";\nselp.u64 %rd8, 1, 0, %p1;\nselp.u64 %rd9, 2, 0, %p2;\nor.b64 %rd9, %rd8, %rd9;\n" +
                     "st.global.u64 [%out], %rd9;");
  };
  constexpr auto yes = 1u, no = 2u;
  auto const nan = f64(NAN);
  CHECK(compare("lt.s32", "%r", m32, 1) == yes);
  CHECK(compare("lt.u32", "%r", m32, 1) == no);
  CHECK(compare("hi.u32", "%r", m32, 1) == yes);
  CHECK(compare("ge.s64", "%rd", m64, 0) == no);
  CHECK(compare("gt.u64", "%rd", m64, 0) == yes);
  CHECK(compare("le.u64", "%rd", 5, 5) == yes);
  CHECK(compare("gt.u16", "%rs", m16, 1) == yes);
  CHECK(compare("lt.s16", "%rs", m16, 1) == yes);
  CHECK(compare("eq.b16", "%rs", 1, 1) == yes);
  CHECK(compare("ne.s64", "%rd", 1ull << 63, 0) == yes);
  CHECK(compare("eq.f64", "%rd", nan, nan) == no);
  CHECK(compare("ne.f64", "%rd", nan, f64(1)) == no);
  CHECK(compare("neu.f64", "%rd", nan, f64(1)) == yes);
  CHECK(compare("equ.f64", "%rd", nan, f64(1)) == yes);
  CHECK(compare("lt.f64", "%rd", nan, f64(1)) == no);
  CHECK(compare("ltu.f64", "%rd", nan, f64(1)) == yes);
  CHECK(compare("gt.f32", "%r", f32(2), f32(-3)) == yes);
  CHECK(compare("num.f64", "%rd", nan, f64(1)) == no);
  CHECK(compare("nan.f64", "%rd", nan, f64(1)) == yes);
  CHECK(compare("eq.and.s32", "%r", 1, 1, ", %p3") == yes);
  CHECK(compare("eq.and.s32", "%r", 1, 1, ", !%p3") == 0);
  CHECK(compare("eq.or.s32", "%r", 1, 2, ", %p3") == (yes | no));
  CHECK(compare("eq.xor.s32", "%r", 1, 1, ", %p3") == no);
}

TEST_CASE("predicates guard instructions and calculate", "[ptx]") {
  CHECK(result_of(R"(
mov.pred %p1, -1;
mov.pred %p2, 0;
mov.u64 %rd1, 0;
@%p1 add.u64 %rd1, %rd1, 1;
@!%p1 add.u64 %rd1, %rd1, 2;
@%p2 add.u64 %rd1, %rd1, 4;
@!%p2 add.u64 %rd1, %rd1, 8;
and.pred %p3, %p1, %p2;
@%p3 add.u64 %rd1, %rd1, 16;
or.pred %p3, %p1, %p2;
@%p3 add.u64 %rd1, %rd1, 32;
xor.pred %p3, %p1, %p1;
@%p3 add.u64 %rd1, %rd1, 64;
not.pred %p3, %p2;
@%p3 add.u64 %rd1, %rd1, 128;
@%p2 bra skip;
add.u64 %rd1, %rd1, 256;
skip:
@%p1 bra skip2;
add.u64 %rd1, %rd1, 512;
skip2:
@%p2 ret;
st.global.u64 [%out], %rd1;
)") == 1 + 8 + 32 + 128 + 256);
}

TEST_CASE("vectors are loaded, stored, packed and unpacked", "[ptx]") {
  auto const out = run_kernel(R"(
mov.u32 %r1, 0x11223344;
mov.u32 %r2, 0x55667788;
mov.b64 %rd1, {%r1, %r2};
st.global.u64 [%out], %rd1;
st.global.v4.u32 [%out+16], {%r1, %r2, %r2, %r1};
mov.b64 {%r3, %r4}, %rd1;
st.global.v2.u32 [%out+8], {%r4, %r3};
ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%out+16];
st.global.u32 [%out+32], %r7;
ld.global.v2.u16 {%rs1, %rs2}, [%out];
mov.b32 %r9, {%rs2, %rs1};
st.global.u32 [%out+36], %r9;
ld.global.v4.u8 {%rs3, %rs4, %rs5, %rs6}, [%out];
st.global.u16 [%out+40], %rs6;
ld.global.s8 %r10, [%out+4];
st.global.u32 [%out+48], %r10;
ld.global.s8 %rd2, [%out+4];
st.global.u64 [%out+56], %rd2;
ld.global.u32 %rd3, [%out+4];
st.global.u64 [%out+64], %rd3;
st.global.v2.u64 [%out+80], {%rd1, 7};
)",
                              1);
  CHECK(out[0] == 0x5566'7788'1122'3344);
  CHECK(out[1] == 0x1122'3344'5566'7788);
  CHECK(out[2] == 0x5566'7788'1122'3344);
  CHECK(out[3] == 0x1122'3344'5566'7788);
  CHECK(out[4] == 0x3344'1122'5566'7788);
  CHECK(out[5] == 0x11);
  CHECK(out[6] == 0xffff'ff88);
  CHECK(out[7] == 0xffff'ffff'ffff'ff88);
  CHECK(out[8] == 0x5566'7788);
  CHECK(out[10] == 0x5566'7788'1122'3344);
  CHECK(out[11] == 7);
}

TEST_CASE("atomics return the old value", "[ptx]") {
  auto const once = [](std::string const& what, std::string const& type, std::uint64_t first,
                       std::string const& operands) {
    auto const r = type.ends_with("64") ? std::string("%rd1") : std::string("%r1");
    auto const out = run_kernel(
        "mov.u64 %rd9, " + std::to_string(first) + ";\nst.global.u64 [%out], %rd9;\natom." + what + "." +
            type + " " + r + ", [%out], " + operands + ";\nst.global." + type + " [%out+8], " + r + ";",
        1);
    CHECK(out[1] == first);
    return out[0];
  };
  CHECK(once("add.relaxed.gpu", "u32", 5, "7") == 12);
  CHECK(once("global.add", "u64", 5, "-1") == 4);
  CHECK(once("exch.acquire.sys", "b32", 5, "7") == 7);
  CHECK(once("cas.acq_rel.gpu", "b64", 5, "5, 9") == 9);
  CHECK(once("cas.acq_rel.gpu", "b64", 5, "6, 9") == 5);
  CHECK(once("and.relaxed.gpu", "b64", 6, "3") == 2);
  CHECK(once("or.relaxed.gpu", "b32", 6, "3") == 7);
  CHECK(once("xor.relaxed.gpu", "b32", 6, "3") == 5);
  CHECK(once("min.relaxed.gpu", "u32", 6, "-1") == 6);
  CHECK(once("min.relaxed.gpu", "s32", 6, "-1") == m32);
  CHECK(once("max.relaxed.gpu", "s64", 6, "-1") == 6);
  CHECK(once("inc.relaxed.gpu", "u32", 6, "6") == 0);
  CHECK(once("dec.relaxed.gpu", "u32", 0, "6") == 6);
  CHECK(once("add.relaxed.gpu", "f64", f64(0.5), "0d3FE0000000000000") == f64(1.0));
}

TEST_CASE("special registers say where a thread is", "[ptx]") {
  auto const out = run_kernel(R"(
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.u32 %r4, %r1, %r2, %r3;
mad.wide.u32 %rd1, %r4, 8, %out;
mov.u32 %r5, %nctaid.x;
mov.u32 %r6, %laneid;
mov.u32 %r7, %warpid;
mad.lo.u32 %r8, %r5, 10000, %r6;
mad.lo.u32 %r8, %r7, 100, %r8;
mov.u32 %r9, %lanemask_lt;
st.global.v2.u32 [%rd1], {%r8, %r9};
)",
                              48, 96, 2);
  for (std::uint64_t n = 0; n < 96; ++n) {
    auto const lane = n % 48 % 32;
    CHECK((out[n] & m32) == 20000 + n % 48 / 32 * 100 + lane);
    CHECK(out[n] >> 32 == (1ull << lane) - 1);
  }
}
