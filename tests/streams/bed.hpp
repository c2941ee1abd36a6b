// A runtime for graphs of test stages, and what its checkers have found.
#pragma once

#include <cstdio>
#include <map>
#include <mutex>

#include "runtime/streams/graph.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/streams/stages.hpp"

namespace stream_test {

template <class Module>
struct bed_of {
  explicit bed_of(std::string device, std::uint32_t lanes = 0)
      : rt(use<Module>, {.device = std::move(device), .lanes = lanes}),
        log(rt.on_log([this](log_line const& line) {
          std::uint64_t f[4];
          if (std::sscanf(line.text.c_str(), "found %lu %lu %lu %lu", f, f + 1, f + 2, f + 3) != 4) return;
          std::lock_guard const lock(mutex);
          results[line.actor_name] = {f[0], f[1], f[2], f[3], 0, 0};
        })) {}

  checker::found found(std::string const& name) {
    checker::found f{};
    REQUIRE(rondo_test::eventually([&] {
      std::lock_guard const lock(mutex);
      if (!results.contains(name)) return false;
      f = results[name];
      return true;
    }));
    return f;
  }

  runtime rt;
  std::mutex mutex;
  std::map<std::string, checker::found> results;
  subscription log;
};

}  // namespace stream_test
