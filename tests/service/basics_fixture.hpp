// A runtime of the built-in module, and traffic for it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "actors/basics/basics_module.hpp"
#include "runtime/runtime.hpp"
#include "tests/eventually.hpp"
#include "tests/runtime/result_text.hpp"

namespace service_test {

using namespace std::chrono_literals;
namespace basics = rondo::basics;
using rondo_test::eventually;
using rondo_test::patience;

/// Two teams.
inline std::unique_ptr<rondo::runtime> start(char const* device = "cpu") {
  rondo::config settings;
  settings.device = device;
  settings.teams = 2;
  settings.latency_sample_every = 1;
  return std::make_unique<rondo::runtime>(rondo::use<basics::basics_module>, settings);
}

}  // namespace service_test
