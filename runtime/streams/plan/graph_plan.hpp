// The plan of a graph: checks what was built, decides where each stage works, and finds the shapes of all frames.
//
// It knows neither actors nor memory, so it can be made and asked before the graph starts. Threads: one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "runtime/streams/kinds/graph_error.hpp"
#include "runtime/streams/kinds/stage_kind.hpp"
#include "runtime/streams/places/negotiation.hpp"
#include "runtime/streams/plan/graph_options.hpp"

namespace rondo::streams {

inline constexpr std::uint32_t no_stage = ~0u;

/// What an input is connected to.
struct planned_input {
  std::uint32_t from = no_stage, output = 0;
  delivery how{};
  std::uint32_t capacity = 0;  // a power of two
};

/// A stage as it was added.
struct planned_stage {
  stage_kind const* kind = nullptr;
  std::string name;
  std::vector<std::max_align_t> options;  // as many bytes as kind->option_bytes
  stage_options how;
  std::vector<planned_input> inputs;
  std::shared_ptr<std::shared_ptr<void>> opened =
      std::make_shared<std::shared_ptr<void>>();  // spec_of::opened

  void const* option_bytes() const noexcept { return options.data(); }
  /// kind->option_bytes of them.
  void set_options(void const* bytes);
  /// Checks its options, and asks it what it needs and makes for these inputs, in a graph that is as `told` says.
  /// Outputs stay unknown if nothing says what they have. Throws graph_error.
  stage_spec spec_for(stage_spec const& told) const;
  /// Whether it may be run to see how long it takes. A source or a sink would do something for others to see.
  bool is_measurable(stage_spec const& spec) const;
  /// The same for its kernels: a source that has some does nothing else.
  bool has_measurable_kernels() const;
  /// Its half on the host; null: it has none. Throws graph_error.
  std::shared_ptr<void> make_host(stage_spec spec, host_link& link) const;
};

/// An output that some reader of another device needs there: copied once for all of them.
struct planned_transfer {
  std::uint32_t from = 0, output = 0;  // the stage
  std::uint32_t to_device = 0;
  delivery how{};  // the strictest of its readers'
  std::uint32_t capacity = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ns = 0;  // what a copy is expected to take
  bool by_hand = false;  // its readers are `to_device` or `to_host` (actors/streams/transfers.hpp) alone
};

/// What a copy between the host and a device takes.
struct copy_cost {
  std::uint64_t latency_ns = 10'000;
  double ns_per_byte = 1.0 / 12;  // 12 GB/s
  std::uint64_t of(std::uint64_t bytes) const noexcept {
    return latency_ns + static_cast<std::uint64_t>(ns_per_byte * static_cast<double>(bytes));
  }
};

/// A device as the plan sees it.
struct planned_device {
  std::string name;         // "cpu", "cuda:0"
  bool has_memory = false;  // of its own
  copy_cost up{}, down{};   // from the host, and to it
  std::string player{};     // the GPU that plays kernels beside it: "opencl"; empty: none
};

class graph_plan {
 public:
  graph_plan(std::vector<planned_device> devices, backend use, std::vector<std::uint32_t> allowed = {});

  std::vector<planned_stage> stages;
  double rate = 0;  // of the graph's clock
  /// How long the stage takes for a tick on the device, or on the GPU beside it; nullopt: that is not known. Empty: it
  /// is for no stage that does not say so.
  std::function<std::optional<std::uint64_t>(planned_stage const&, stage_spec const&, std::uint32_t device,
                                             bool by_player)>
      measure;

  /// Checks everything, and decides. Throws graph_error. `is_whole`: inputs must be connected, and shapes are checked.
  void decide(bool is_whole);

  // -- after `decide`
  std::vector<std::uint32_t> const& places() const noexcept { return places_; }  // devices of the stages
  /// Whether the stage's kernels play on the GPU beside its device.
  bool plays(std::uint32_t stage) const noexcept { return kernels_[stage].play; }
  std::vector<std::uint32_t> const& order() const noexcept { return order_; }  // each stage after its writers
  std::vector<stage_spec> const& specs() const noexcept { return specs_; }
  std::vector<planned_transfer> const& transfers() const noexcept { return transfers_; }
  std::vector<planned_device> const& devices() const noexcept { return devices_; }
  /// The transfer that brings this input its frames; null: they come from the same device.
  planned_transfer const* transfer_to(std::uint32_t stage, std::uint32_t input) const noexcept;
  /// Puts another stage with the same ports and frames in the place of one.
  void replace(std::uint32_t stage, planned_stage next, stage_spec spec);
  std::uint64_t frame_bytes(std::uint32_t stage, std::uint32_t output) const;
  /// What they are, for people; empty: their type does not say.
  std::string frame_text(std::uint32_t stage, std::uint32_t output) const;
  /// Why the stage works where it does, and where its kernels play.
  std::string why(std::uint32_t stage) const;
  /// "stage.port"
  std::string output_name(std::uint32_t stage, std::uint32_t output) const;
  std::string input_name(std::uint32_t stage, std::uint32_t input) const;

 private:
  void check_connections() const;
  void check_replicas() const;
  void sort();
  void check_taken(std::uint32_t stage, std::array<any_about, most_ports> const& with) const;
  void ask_for_specs(bool is_whole);
  void choose_places();
  void find_transfers();
  struct planned_kernels {
    bool play = false;
    std::string why{};  // empty: there is nothing to choose
  };
  planned_kernels choose_kernels(std::uint32_t stage) const;
  std::vector<stage_place> possible_places(std::uint32_t stage);
  std::string why_there(std::uint32_t stage) const;
  void find_costs(std::uint32_t stage, std::vector<stage_place>& places);
  bool may_use(std::uint32_t device) const;
  bool has_known_outputs(std::uint32_t stage) const;
  std::uint64_t copy_ns(std::uint32_t from_device, std::uint32_t to_device, std::uint64_t bytes) const;

  std::vector<planned_device> devices_;
  backend use_;
  std::vector<std::uint32_t> allowed_;  // empty: all
  std::vector<std::uint32_t> order_, places_;
  std::vector<std::string> costs_;  // of the stages, for `why`
  std::vector<planned_kernels> kernels_;
  std::vector<stage_spec> specs_;
  std::vector<planned_transfer> transfers_;
  std::map<std::array<std::uint32_t, 3>, std::size_t> transfer_at_;  // by stage, output, and device
};

}  // namespace rondo::streams
