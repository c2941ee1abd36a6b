// A program that compiles unless RONDO_WRONG selects one of its mistakes: see compile.cmake.
#include "runtime/runtime.hpp"

#ifndef RONDO_WRONG
#define RONDO_WRONG 0
#endif

struct order {
  std::byte bytes[RONDO_WRONG == 1 ? 97 : 96];
};
struct refund {
  int number;
};

struct price_of {};
struct price {
  int cents;
#if RONDO_WRONG == 8
  std::byte more[96];
#endif
};
#if RONDO_WRONG == 5
using declared = int;
#else
using declared = price;
#endif

struct shop {
#if RONDO_WRONG == 2
  using messages = rondo::messages<order, refund>;
#else
  using messages = rondo::messages<order, rondo::ask<price_of, declared>>;
#endif
  RONDO_HD void on([[maybe_unused]] rondo::context& ctx, order const&) {
#if RONDO_WRONG == 7
    ctx.tell(rondo::address<shop>{}, refund{7});
#endif
  }
#if RONDO_WRONG == 4
  RONDO_HD refund on(rondo::context&, price_of const&) { return {1}; }
#else
  RONDO_HD price on(rondo::context&, price_of const&) { return {1}; }
#endif
};
#if RONDO_WRONG == 9
namespace {
struct hidden {};
struct cellar {
  using messages = rondo::messages<hidden>;
  RONDO_HD void on(rondo::context&, hidden const&) {}
};
}  // namespace
RONDO_MODULE(shops, shop, cellar)
#else
RONDO_MODULE(shops, shop)
#endif

int main() {
  rondo::runtime rt{rondo::use<shops>};
  auto const open = rt.launch<shop>("open");
#if RONDO_WRONG == 6
  return open.ask(order{}, std::chrono::seconds(1), rondo::block).error().value();
#elif RONDO_WRONG == 3
  return open.try_tell(refund{7}).value();
#else
  return open.try_tell(order{}).value();
#endif
}
