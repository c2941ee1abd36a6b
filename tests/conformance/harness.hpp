// The helpers of the conformance tests: the device variants, bounded waits, a listener for dead letters.
//
// Every wait ends after `patience`: a broken guarantee fails its test instead of blocking it.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <future>
#include <mutex>

#include "runtime/core/make_device.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/observe/telemetry.hpp"
#include "runtime/runtime.hpp"
#include "tests/conformance/behaviours.hpp"
#include "tests/eventually.hpp"
#include "tests/runtime/result_text.hpp"

namespace conformance {

using namespace std::chrono_literals;
using rondo::errc;
using rondo::error_code;
using rondo_test::eventually;
using rondo_test::patience;

/// One device in one mode.
struct variant {
  std::string name;
  rondo::config settings;
};
inline std::ostream& operator<<(std::ostream& out, variant const& v) { return out << v.name; }

/// cpu, emulated, and cuda with warps and with blocks if there is a GPU, each persistent and in rounds; emulated with 8
/// lanes, persistent, and with 32 in rounds. If RONDO_DEVICE is set, only those with that device.
std::vector<variant> variants();
/// Runtimes of several devices.
std::vector<variant> variants_of_several();
/// Returns `all`; if it is empty, ends the process and says that the test is skipped. A visit of tools/gpu runs each
/// test in a process of its own.
std::vector<variant> some_of(std::vector<variant> all);
/// Starts the testbed on this variant. Compiled once, in harness.cpp, because a module is slow to compile.
std::unique_ptr<rondo::runtime> start(rondo::config const& settings);

/// The same on the device `cpu`, with a player of kernels beside it.
std::unique_ptr<rondo::runtime> start_beside(rondo::config const& settings,
                                             std::shared_ptr<rondo::kernel_player> player);

/// A runtime whose last device is an emulated one, and that device, which a test can lose.
struct losable {
  std::unique_ptr<rondo::runtime> rt;
  rondo::emulated_device& device;
};
losable start_losable(rondo::config const& settings);

/// Whether try_tell returns the mailbox's result; otherwise the message is still on its way when try_tell returns.
inline bool shares_memory(variant const& v) { return v.settings.device == "cpu"; }

/// The error_code of an operation: `begin` starts it with the given completion handler.
template <class Begin>
error_code outcome_of(Begin begin) {
  auto const done = std::make_shared<std::promise<error_code>>();
  auto result = done->get_future();
  begin([done](error_code ec) { done->set_value(ec); });
  if (result.wait_for(patience) != std::future_status::ready)
    throw std::runtime_error("an operation did not complete in time");
  return result.get();
}

template <class Behaviour, class Message>
error_code tell(rondo::actor_ref<Behaviour> const& to, Message const& m, rondo::tell_options options = {}) {
  return outcome_of([&](auto handler) { to.tell(m, options, std::move(handler)); });
}
template <class Behaviour, class Message>
auto ask(rondo::actor_ref<Behaviour> const& to, Message const& m, std::uint8_t priority = 128) {
  return to.ask(m, {.timeout = patience, .priority = priority}, rondo::block);
}
/// Asks at the lowest priority, again and again until the mailbox has room: earlier tells may have filled it.
template <class Behaviour, class Message>
auto ask_last(rondo::actor_ref<Behaviour> const& to, Message const& m) {
  auto answer = ask(to, m, 0);
  if (!eventually([&] { return answer || answer.error() != errc::mailbox_full || (answer = ask(to, m, 0)); }))
    throw std::runtime_error("no room for a question in time");
  return answer.value();
}
template <class Behaviour>
error_code terminate(rondo::actor_ref<Behaviour> const& actor, rondo::termination how) {
  return outcome_of([&](auto handler) { rondo::terminate(actor, how, std::move(handler)); });
}
template <class Behaviour>
error_code activate(rondo::actor_ref<Behaviour> const& actor) {
  return outcome_of([&](auto handler) { rondo::activate(actor, std::move(handler)); });
}
template <class Behaviour>
error_code deactivate(rondo::actor_ref<Behaviour> const& actor) {
  return outcome_of([&](auto handler) { rondo::deactivate(actor, std::move(handler)); });
}
/// Throws boost::system::system_error.
template <class Behaviour>
rondo::inspection inspect(rondo::actor_ref<Behaviour> const& actor) {
  struct found {
    error_code ec;
    rondo::inspection what;
  };
  auto const done = std::make_shared<std::promise<found>>();
  auto result = done->get_future();
  rondo::inspect(actor, [done](error_code ec, rondo::inspection i) { done->set_value({ec, std::move(i)}); });
  if (result.wait_for(patience) != std::future_status::ready)
    throw std::runtime_error("an inspection did not complete in time");
  auto f = result.get();
  if (f.ec) throw boost::system::system_error(f.ec, "inspecting");
  return std::move(f.what);
}

/// A checkpoint file that is removed with the object.
struct scratch_file {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("rondo-conformance-" + std::to_string(::getpid()) + ".checkpoint");
  scratch_file() { std::filesystem::remove(path); }
  ~scratch_file() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    std::filesystem::remove(path.string() + ".lock", ignored);
  }
};

/// The answer of an editor about a buffer.
inline buffer_answer fill_with(rondo::actor_ref<editor> const& actor, rondo::buffer_ref where,
                               uint32_t value) {
  return ask(actor, fill{where, value, nullptr}).value();
}
inline buffer_answer sum_of(rondo::actor_ref<editor> const& actor, rondo::buffer_ref where) {
  return ask(actor, add_up{where, nullptr}).value();
}

/// The outcome of an ask that is not awaited at once.
template <class Reply>
struct pending {
  std::shared_ptr<std::promise<error_code>> promise = std::make_shared<std::promise<error_code>>();
  std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<Reply> reply = std::make_shared<Reply>();
  std::future<error_code> done = promise->get_future();

  /// The handler for `ask`. Counts its calls; only the first call sets the outcome.
  auto handler() {
    return [promise = promise, calls = calls, reply = reply](error_code ec, Reply r) {
      if (calls->fetch_add(1) != 0) return;
      *reply = r;
      promise->set_value(ec);
    };
  }
  error_code wait() {
    if (done.wait_for(patience) != std::future_status::ready)
      throw std::runtime_error("an ask did not complete in time");
    return done.get();
  }
  bool is_ready() const { return done.wait_for(0s) == std::future_status::ready; }
};

/// How many starters have started, and how many of the next starts must fail.
std::uint32_t starts();
void fail_starts(std::uint32_t count);

/// Opens its gate at the end of a scope, however the scope is left. Declare it after the runtime.
struct gate_keeper {
  gate& at;
  void open() const { at.is_open.store(1, rondo::memory_order::release); }
  ~gate_keeper() { open(); }
};

/// Sends `hold` and waits until the actor's handler is at the gate.
template <class Behaviour>
void hold_at(rondo::actor_ref<Behaviour> const& actor, gate& at) {
  auto const before = at.entered.load(rondo::memory_order::acquire);
  REQUIRE_FALSE(tell(actor, hold{&at}));
  REQUIRE(eventually([&] { return at.entered.load(rondo::memory_order::acquire) > before; }));
}

/// Collects the events of an event stream.
template <class Event>
class listener {
 public:
  std::function<void(Event const&)> handler() {
    return [this](Event const& e) {
      std::lock_guard lock(mutex_);
      events_.push_back(e);
    };
  }
  std::vector<Event> all() const {
    std::lock_guard lock(mutex_);
    return events_;
  }
  std::size_t count() const { return all().size(); }
  bool wait_for(std::size_t n) const {
    return eventually([&] { return count() >= n; });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

/// Waits until nothing waits or runs in active actors, then returns the telemetry of that moment. `still_waiting`: the
/// mail of deactivated actors. Throws if the counters never account for every message.
rondo::telemetry at_rest(rondo::runtime& rt, std::uint64_t still_waiting = 0);

/// All values of a journal, in order.
std::vector<std::uint32_t> read_all(rondo::actor_ref<journal> const& j);

/// The report about the actor `id` in `t`.
rondo::actor_report const& report_of(rondo::telemetry const& t, rondo::actor_id id);

}  // namespace conformance
