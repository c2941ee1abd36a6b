#include "tests/catch.hpp"
#include "tests/ptx/text_ptx.hpp"

using namespace ptx_test;
using Catch::Matchers::Contains;

namespace {

std::string error_of(std::string const& text) {
  try {
    ptx::read_module("test.ptx", text);
  } catch (ptx::error const& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("the reader names file, line and text of an instruction that it does not know", "[ptx]") {
  auto const text = error_of(kernel_of("add.u32 %r1, %r2, %r3;\nfrobnicate.u32 %r1, %r2;"));
  REQUIRE(text == "test.ptx:15: unknown instruction 'frobnicate.u32': 'frobnicate.u32 %r1, %r2;'");
}

TEST_CASE("the reader refuses unknown forms of known instructions", "[ptx]") {
  CHECK_THAT(error_of(kernel_of("add.sat.s32 %r1, %r2, %r3;")),
             Contains("unknown instruction 'add.sat.s32'"));
  CHECK_THAT(error_of(kernel_of("ld.global.u33 %r1, [%out];")),
             Contains("unknown instruction 'ld.global.u33'"));
  CHECK_THAT(error_of(kernel_of("atom.global.nand.b32 %r1, [%out], %r2;")), Contains("unknown instruction"));
  CHECK_THAT(error_of(kernel_of("mov.u32 %r1, %nonsense;")), Contains("unknown name '%nonsense'"));
  CHECK_THAT(error_of(kernel_of("add.u32 %r1, %r2;")), Contains("expected ','"));
  CHECK_THAT(error_of(kernel_of("add.u32 %r1, %r2, %r99;")), Contains("unknown name '%r99'"));
  CHECK_THAT(error_of(kernel_of("bra $nowhere;")), Contains("unknown label '$nowhere'"));
  CHECK_THAT(error_of(kernel_of(".strange 4;")), Contains("unknown directive '.strange'"));
  CHECK_THAT(error_of(header + ".strange x;"), Contains("unknown directive '.strange'"));
  CHECK_THAT(error_of(header + ".func f();\n.entry k()\n{\ncall.uni f, ();\nret;\n}"),
             Contains("calls 'f', which has no body"));
}

TEST_CASE("variables have their initial values, also addresses of others", "[ptx]") {
  auto const m = ptx::read_module("test.ptx", header + R"(
.func f()
{
ret;
}
.global .align 4 .u32 numbers[4] = {1, -2, 0x30, 010};
.global .align 8 .u64 pointer = generic(numbers)+4;
.const .align 8 .b64 functions[2] = {f, numbers};
.global .align 1 .b8 bytes[8] = {0xFF(numbers), 0xFF00(numbers)};
.global .align 8 .f64 half = 0d3FE0000000000000;
)");
  auto const* const numbers = reinterpret_cast<std::int32_t const*>(m->find_variable("numbers").address);
  CHECK(std::vector<int>(numbers, numbers + 4) == std::vector<int>{1, -2, 48, 8});
  auto const word = [&](char const* name, std::size_t n) {
    return reinterpret_cast<std::uint64_t const*>(m->find_variable(name).address)[n];
  };
  auto const at = reinterpret_cast<std::uint64_t>(numbers);
  CHECK(word("pointer", 0) == at + 4);
  CHECK(word("functions", 0) == ptx::function_addresses);
  CHECK(word("functions", 1) == at);
  CHECK(word("bytes", 0) == (at & 0xffff));
  CHECK(word("half", 0) == 0x3fe0'0000'0000'0000);
}

TEST_CASE("functions take and return parameters, by name and by address, and have local memory of their own",
          "[ptx]") {
  auto const m = ptx::read_module("test.ptx", header + R"(
.func (.param .b32 result) twice(.param .b32 twice_0)
{
.local .align 8 .b8 depot[16];
.reg .b32 %r<3>;
.reg .b64 %rd<3>;
mov.u64 %rd1, depot;
cvta.local.u64 %rd2, %rd1;
ld.param.u32 %r1, [twice_0];
st.u32 [%rd2+4], %r1;
ld.local.u32 %r2, [%rd1+4];
add.u32 %r2, %r2, %r1;
st.param.b32 [result], %r2;
ret;
}
.func (.param .b32 result) factorial(.param .b32 n)
{
.reg .b32 %r<4>;
.reg .pred %p;
ld.param.u32 %r1, [n];
setp.eq.u32 %p, %r1, 0;
@%p bra done;
sub.u32 %r2, %r1, 1;
{
.param .b32 a;
st.param.b32 [a], %r2;
.param .b32 b;
call.uni (b),
factorial,
(
a
);
ld.param.b32 %r3, [b];
}
mul.lo.u32 %r3, %r3, %r1;
st.param.b32 [result], %r3;
ret;
done:
st.param.b32 [result], 1;
ret;
}
.entry test(.param .u64 out)
{
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
.reg .pred %p;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
{
.param .b32 a;
st.param.b32 [a], %r1;
.param .b32 b;
call.uni (b), factorial, (a);
ld.param.b32 %r2, [b];
}
mov.u64 %rd2, twice;
setp.gt.u32 %p, %r1, 1;
@%p mov.u64 %rd2, factorial;
{
.param .b32 a;
st.param.b32 [a], %r1;
.param .b32 b;
prototype_0: .callprototype (.param .b32 _) _ (.param .b32 _);
call (b), %rd2, (a), prototype_0;
ld.param.b32 %r3, [b];
}
mad.wide.u32 %rd3, %r1, 8, %rd1;
st.global.v2.u32 [%rd3], {%r2, %r3};
ret;
}
)");
  std::vector<std::uint32_t> out(16);
  auto const* const to = out.data();
  ptx::grid g(*m, m->find_entry("test"), 1, 8, ptx::params_of(to), {range_of(out)});
  g.run();
  CHECK(out == std::vector<std::uint32_t>{1, 0, 1, 2, 2, 2, 6, 6, 24, 24, 120, 120, 720, 720, 5040, 5040});
}

TEST_CASE("a branch by index takes the label of its list", "[ptx]") {
  auto const out = run_kernel(R"(
mov.u32 %r1, %tid.x;
mad.wide.u32 %rd1, %r1, 8, %out;
labels: .branchtargets first, second, third;
mov.u64 %rd2, 0;
brx.idx %r1, labels;
first: add.u64 %rd2, %rd2, 1;
second: add.u64 %rd2, %rd2, 10;
third: add.u64 %rd2, %rd2, 100;
st.global.u64 [%rd1], %rd2;
)",
                              3);
  CHECK(out[0] == 111);
  CHECK(out[1] == 110);
  CHECK(out[2] == 100);
}
