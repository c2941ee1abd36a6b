// The state that the host threads of a simulated run share: the runtime, the actors in their places, and the operations
// that have not completed yet.
#pragma once

#include <boost/asio/cancellation_signal.hpp>
#include <memory>
#include <optional>

#include "runtime/core/make_device.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/runtime.hpp"
#include "tests/simulation/behaviours.hpp"

namespace simulation {

/// The nanoseconds since `begun`, minus the time of clock jumps and stalls; `jumped`: that time at `begun`.
std::uint64_t undisturbed_since(std::uint64_t begun, std::uint64_t jumped);

class stage {
 public:
  explicit stage(plan const& p);

  /// Performs one operation of a host thread; returns when its call returns.
  void perform(operation const& o);
  /// Launches an actor in a place without one.
  void launch(std::uint32_t place);
  void launch_choir();
  void activate_all();
  void restart();
  /// G10: stops the runtime within its limit.
  void stop();
  std::uint32_t pending() const { return pending_; }
  rondo::runtime& runtime() { return *rt_; }
  /// Whether something ended the runtime: a stop, a loss, an actor that escalated its failure.
  bool ended() const;
  void destroy() { rt_.reset(); }

 private:
  struct place {
    rondo::actor_ref<worker> ref;
    std::uint32_t life = nobody, before = nobody;
    rondo::actor_ref<worker> ref_before;
    std::uint32_t launching = 0, launches = 0;  // calls in progress, and in total
  };
  enum class kind : std::uint8_t { tell, awaited, patient };

  void open(rondo::fault_plan const& faults);
  void send(operation const& o, place to, kind k);
  void send_batch(operation const& o);
  template <class Message, class Ref>
  void ask(operation const& o, Ref ref, std::uint32_t life, Message m,
           std::shared_ptr<boost::asio::cancellation_signal> signal = {});
  void ask_blocking(operation const& o);
  void terminate(operation const& o, rondo::termination how);
  void begin_waking(std::uint32_t index);
  void set_active(place p, bool active);
  void checkpoint();
  template <class Hold>
  void hold(operation const& o, Hold hold);
  void count(std::string const& what) { ++book_.counts[what]; }

  plan const& plan_;
  ledger& book_ = ledger::get();
  std::unique_ptr<rondo::runtime> rt_;
  std::optional<std::uint64_t> jumped_before_stop_;  // world::jumped_ns when it was first told to stop
  rondo::emulated_device* device_ = nullptr;         // null: the device is a cpu
  std::vector<place> places_;
  rondo::actor_ref<choir> choir_;
  std::uint32_t choir_life_ = nobody, pending_ = 0;
  rondo::subscription letters_, failures_;
};

}  // namespace simulation
