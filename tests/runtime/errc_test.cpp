// The error category of rondo::errc.
#include "runtime/base/errc.hpp"

#include <set>
#include <string>

#include "tests/catch.hpp"

using rondo::errc;

TEST_CASE("each error has its own name and text in the category rondo", "[errc]") {
  std::set<std::string> names, texts;
  int const last = static_cast<int>(errc::slots_exhausted);
  for (int i = 0; i <= last; ++i) {
    auto const e = static_cast<errc>(i);
    rondo::error_code const code = e;
    CHECK(code.value() == i);
    CHECK(std::string(code.category().name()) == "rondo");
    CHECK(static_cast<bool>(code) == (e != errc::ok));
    CHECK_FALSE(code.message().empty());
    names.insert(rondo::name_of(e));
    texts.insert(code.message());
  }
  CHECK(names.size() == static_cast<std::size_t>(last + 1));
  CHECK(texts.size() == static_cast<std::size_t>(last + 1));
  CHECK(std::string(rondo::name_of(errc::mailbox_full)) == "mailbox_full");
}

TEST_CASE("an error number of a later version is reported as unknown", "[errc]") {
  for (int const value : {-1, 1000}) {
    CHECK(rondo::error_category().message(value) == "unknown error");
    CHECK(std::string(rondo::name_of(static_cast<errc>(value))) == "unknown");
  }
}
