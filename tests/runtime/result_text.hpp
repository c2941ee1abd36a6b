// Lets Catch print a rondo::result: boost prints one only if its value can be printed.
#pragma once

#include "runtime/base/errc.hpp"
#include "tests/catch.hpp"

template <class T>
struct Catch::StringMaker<boost::system::result<T>> {
  static std::string convert(boost::system::result<T> const& r) {
    return r ? "a value" : r.error().message();
  }
};
