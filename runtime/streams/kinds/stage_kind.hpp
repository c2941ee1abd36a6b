// A type of stages as a graph knows it: its ports, where it works, and the functions that the stage has for the host:
//
//   static std::string shapes(options const&, streams::shapes_of<Stage>&);
//       The frames of its outputs, from those of its inputs. Returns why it refuses them; empty: it does not. Without it, an output has
//       the shape of the first connected input with the same type of frames.
//   static std::uint64_t scratch_bytes(options const&, streams::shapes_of<Stage> const&);
//       How much memory it needs beside its frames, see stage_context::scratch.
//   static std::shared_ptr<HostSide> open(options const&, streams::shapes_of<Stage> const&);
//       Of a stage that works on the host: what stage_context::host_side returns. It lives as long as the graph runs. May throw; the
//       text is part of the graph's error. With a third parameter, streams::host_link&, threads of the program can wake the stage and keep
//       frames. What `open` has returned is destroyed after the graph's actors, and before its memory.
//   static streams::stage_error why_failed(HostSide const&);
//       The graph's error after stage_context::fail_graph, and what has failed (kernels/streams/fault.hpp); a std::string: the stage has.
//       Called on another thread, when the stage does nothing more.
//   static std::uint32_t keeps(options const&);
//       Of a stage that keeps frames of its inputs beyond their ticks (stage_context::keep): how many.
//   static lender& lender_of(HostSide&);
//       Of a source whose frames lie in memory of somebody else (stage_context::lend): who gets them back.
//   static std::uint64_t cost_ns(options const&, streams::shapes_of<Stage> const&, bool on_accelerator);
//       How long a tick takes there, for negotiation. Without it, no place is better than another.
//   using upgrades = Old;
//       Takes over the scratch memory of an Old that it replaces in a running graph (graph::upgrade), as it is.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/streams/fault.hpp"
#include "kernels/streams/host_link.hpp"
#include "kernels/streams/shapes.hpp"
#include "kernels/streams/stage.hpp"
#include "runtime/messaging/messages_ref.hpp"
#include "runtime/runtime.hpp"
#include "runtime/streams/kinds/option_list.hpp"

namespace rondo::streams {

/// A port of a type of stages.
struct port_kind {
  std::string_view name;
  std::string_view frame;      // the qualified name of its frame type
  bool is_optional = false;    // of an input
  delivery how{};              // of an input, unless a connection says otherwise
  std::string_view edit_of{};  // of an output: the input whose frames it may pass on
  std::uint64_t (*bytes)(any_about const&) = nullptr;
};

/// A ref to the actor of any stage.
using stage_actor = messages_ref<news, tick_due, stop_source, graph_stops, ask<await_end, stage_counts>,
                                 ask<read_counts, stage_counts>, ask<read_progress, stage_progress>>;

struct stage_kind {
  std::string_view name;        // the qualified name of the stage's type
  std::string_view behaviour;   // that of its actor's
  std::string_view upgrades{};  // the type whose scratch memory it takes over; empty: none
  /// The last part of it, which files use.
  std::string_view short_name() const noexcept { return name.substr(name.rfind(':') + 1); }
  std::vector<port_kind> inputs, outputs;
  works where = works::anywhere;
  std::size_t option_bytes = 0;
  void (*default_options)(void* to) = nullptr;
  void (*describe)(void* options, option_visitor&) = nullptr;           // null: they do not list themselves
  std::string (*shapes)(void const* options, stage_shapes&) = nullptr;  // null: as the inputs
  std::uint64_t (*scratch_bytes)(void const* options, stage_shapes&) = nullptr;
  std::shared_ptr<void> (*open)(void const* options, stage_shapes&, host_link&) = nullptr;
  stage_error (*why_failed)(void const* host_side) = nullptr;
  lender* (*lender_of)(void* host_side) = nullptr;  // of a stage whose frames lie in memory of somebody else
  std::uint32_t (*keeps)(void const* options) = nullptr;
  bool has_own_ticks = false;
  std::uint64_t (*cost_ns)(void const* options, stage_shapes&, bool on_accelerator) = nullptr;
  /// Throws as runtime::launch.
  stage_actor (*launch)(runtime&, std::string name, actor_options const&, stage_memory*) = nullptr;
};

namespace detail {

template <class Port>
port_kind port_kind_of() {
  using frame = typename Port::frame;
  port_kind p{.name = std::string_view(Port::name.text), .frame = type_name<frame>};
  if constexpr (Port::is_input) {
    p.is_optional = Port::is_optional;
    p.how = Port::how;
  } else {
    p.edit_of = std::string_view(Port::edit_of.text);
  }
  p.bytes = [](any_about const& about) -> std::uint64_t {
    auto const* const f = about.get<frame>();
    return f != nullptr ? f->bytes() : 0;
  };
  return p;
}

template <class Stage>
options_of<Stage> const& options_at(void const* bytes) {
  return *static_cast<options_of<Stage> const*>(bytes);
}

template <class Stage>
concept opens_linked = requires(options_of<Stage> const& o, shapes_of<Stage> const& s, host_link& l) {
  Stage::open(o, s, l);
};
template <class Stage>
concept opens = opens_linked<Stage> || requires(options_of<Stage> const& o, shapes_of<Stage> const& s) {
  Stage::open(o, s);
};
/// What `open` returns, with or without a third parameter.
template <class Stage>
auto opened(options_of<Stage> const& o, shapes_of<Stage> const& s, host_link& link) {
  if constexpr (opens_linked<Stage>)
    return Stage::open(o, s, link);
  else
    return Stage::open(o, s);
}

template <class Stage>
stage_kind make_kind() {
  using options = options_of<Stage>;
  static_assert(std::is_trivially_copyable_v<options>, "a stage's options are copied to its device");
  static_assert(Stage::ports::inputs <= most_ports && Stage::ports::outputs <= most_ports,
                "a stage has at most 16 inputs and 16 outputs");
  stage_kind k;
  k.name = type_name<Stage>;
  k.behaviour = type_name<stage_of<Stage>>;
  if constexpr (requires { typename Stage::upgrades; }) k.upgrades = type_name<typename Stage::upgrades>;
  k.where = works_where<Stage>();
  k.option_bytes = sizeof(options);
  k.default_options = [](void* to) { ::new (to) options{}; };
  if constexpr (requires(options o, option_visitor v) { o.describe(v); })
    k.describe = [](void* o, option_visitor& v) { static_cast<options*>(o)->describe(v); };
  Stage::ports::for_each([&k]<class Port>(std::type_identity<Port>) {
    (Port::is_input ? k.inputs : k.outputs).push_back(port_kind_of<Port>());
  });
  if constexpr (requires(options_of<Stage> const& o, shapes_of<Stage>& s) { Stage::shapes(o, s); })
    k.shapes = [](void const* o, stage_shapes& s) {
      shapes_of<Stage> typed{s};
      return std::string(Stage::shapes(options_at<Stage>(o), typed));
    };
  if constexpr (requires(options_of<Stage> const& o, shapes_of<Stage>& s) { Stage::scratch_bytes(o, s); })
    k.scratch_bytes = [](void const* o, stage_shapes& s) -> std::uint64_t {
      return Stage::scratch_bytes(options_at<Stage>(o), shapes_of<Stage>{s});
    };
  if constexpr (opens<Stage>) {
    k.open = [](void const* o, stage_shapes& s, host_link& l) -> std::shared_ptr<void> {
      return opened<Stage>(options_at<Stage>(o), shapes_of<Stage>{s}, l);
    };
    using host_side = typename decltype(opened<Stage>(std::declval<options const&>(),
                                                      std::declval<shapes_of<Stage> const&>(),
                                                      std::declval<host_link&>()))::element_type;
    if constexpr (requires(host_side const& h) { Stage::why_failed(h); })
      k.why_failed = [](void const* h) -> stage_error {
        auto const why = Stage::why_failed(*static_cast<host_side const*>(h));
        if constexpr (std::is_same_v<decltype(why), stage_error const>)
          return why;
        else
          return {fault::stage, why};
      };
    if constexpr (requires(host_side & h) { Stage::lender_of(h); })
      k.lender_of = [](void* h) -> lender* { return &Stage::lender_of(*static_cast<host_side*>(h)); };
  }
  if constexpr (requires(options_of<Stage> const& o) { Stage::keeps(o); })
    k.keeps = [](void const* o) -> std::uint32_t { return Stage::keeps(options_at<Stage>(o)); };
  k.has_own_ticks = has_own_ticks<Stage>;
  if constexpr (requires(options_of<Stage> const& o, shapes_of<Stage>& s) { Stage::cost_ns(o, s, true); })
    k.cost_ns = [](void const* o, stage_shapes& s, bool on_accelerator) -> std::uint64_t {
      return Stage::cost_ns(options_at<Stage>(o), shapes_of<Stage>{s}, on_accelerator);
    };
  k.launch = [](runtime& rt, std::string name, actor_options const& how,
                stage_memory* memory) -> stage_actor {
    return rt.launch<stage_of<Stage>>(std::move(name), how, {memory});
  };
  return k;
}

}  // namespace detail

/// The description of a type of stages.
template <class Stage>
stage_kind const& kind_of() {
  static stage_kind const kind = detail::make_kind<Stage>();
  return kind;
}

}  // namespace rondo::streams
