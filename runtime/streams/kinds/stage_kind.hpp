// A type of stages as a graph knows it: its ports, where it works, and what the stage has for the host:
//
//   static void spec(options const&, streams::spec_of<Stage>&);
//       What it needs, and what it makes: runtime/streams/kinds/stage_spec.hpp. May throw; the text is part of the
//       graph's error.
//   class host {
//     host(options const&, streams::spec_of<Stage> const&, streams::host_link&);
//     streams::stage_error why_failed() const;
//   };
//       The host's half of a stage that works on the host: stage_context::host. Made when the graph begins, with as
//       many of these arguments as its constructor takes, and destroyed after the graph's actors, before its memory.
//       The constructor may throw; the text is part of the graph's error. With the link, threads of the program can
//       wake the stage and keep frames. `why_failed` is optional: the graph's error after stage_context::fail_graph,
//       and what has failed (kernels/streams/fault.hpp), or a std::string; called on another thread, when the stage
//       does nothing more. `void flush()` is called before a checkpoint, `void trigger()` by graph::trigger, both on
//       other threads. A `host` that is a `lender` gets frames back that the stage has lent (stage_context::lend).
//   using upgrades = Old;
//       Takes over the scratch memory of an Old that it replaces in a running graph (graph::upgrade), as it is.
//
// A function of one of these names that does not fit is an error of the compiler, which names it.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/streams/fault.hpp"
#include "kernels/streams/host_link.hpp"
#include "kernels/streams/stage.hpp"
#include "runtime/messaging/messages_ref.hpp"
#include "runtime/runtime.hpp"
#include "runtime/streams/kinds/option_list.hpp"
#include "runtime/streams/kinds/stage_spec.hpp"

namespace rondo::streams {

/// A port of a type of stages.
struct port_kind {
  std::string_view name;
  std::string_view frame;      // the qualified name of its frame type
  bool is_optional = false;    // an input need not be connected; an output is not the main one
  delivery how{};              // of an input, unless a connection says otherwise
  std::string_view edit_of{};  // of an output: the input whose frames it may pass on
  std::uint64_t (*bytes)(any_about const&) = nullptr;
  bool (*takes)(any_about const&) = nullptr;  // of an input
  std::string (*text)(any_about const&) =
      nullptr;  // what frames look like, for people; null: they do not say
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
  void (*describe)(void* options, option_visitor&) = nullptr;  // null: they do not list themselves
  void (*spec)(void const* options, stage_spec&) = nullptr;    // null: outputs are as the inputs
  std::shared_ptr<void> (*make_host)(void const* options, stage_spec&, host_link&) = nullptr;  // null: none
  stage_error (*why_failed)(void const* host) = nullptr;
  void (*flush)(void* host) = nullptr;
  void (*trigger)(void* host) = nullptr;
  lender* (*lender_of)(void* host) = nullptr;  // of a stage whose frames lie in memory of somebody else
  bool has_own_ticks = false;
  bool takes_any = false;    // a tick as soon as one input has a frame
  bool is_transfer = false;  // it only says where its frames are to be
  bool has_kernels = false;  // that a GPU beside its device may play
  /// Throws as runtime::launch.
  stage_actor (*launch)(runtime&, std::string name, actor_options const&, stage_memory*) = nullptr;
};

namespace detail {

/// Whether a stage takes such frames: its function `takes` says so, if it has one for frames of this type, else the
/// frames themselves, by `is_plain`: what every stage has to take.
template <class Stage, class Frame>
bool takes_frame(any_about const& about) {
  auto const* const f = about.get<Frame>();
  if (f == nullptr) return true;
  if constexpr (requires {
                  { Stage::takes(*f) } -> std::same_as<bool>;
                })
    return Stage::takes(*f);
  else if constexpr (requires {
                       { f->is_plain() } -> std::same_as<bool>;
                     })
    return f->is_plain();
  else
    return true;
}

template <class Stage, class Port>
port_kind port_kind_of() {
  using frame = typename Port::frame;
  port_kind p{.name = std::string_view(Port::name.text), .frame = type_name<frame>};
  p.is_optional = Port::is_optional;
  if constexpr (Port::is_input) {
    p.takes = takes_frame<Stage, frame>;
    p.how = Port::how;
  } else {
    p.edit_of = std::string_view(Port::edit_of.text);
  }
  p.bytes = [](any_about const& about) -> std::uint64_t {
    auto const* const f = about.get<frame>();
    return f != nullptr ? f->bytes() : 0;
  };
  if constexpr (requires(frame const& f) {
                  { to_text(f) } -> std::same_as<std::string>;
                })
    p.text = [](any_about const& about) {
      auto const* const f = about.get<frame>();
      return f != nullptr ? to_text(*f) : std::string();
    };
  return p;
}

template <class Stage>
options_of<Stage> const& options_at(void const* bytes) {
  return *static_cast<options_of<Stage> const*>(bytes);
}

/// Whether a class has a member of this name, whatever it is.
#define RONDO_DEFINE_NAMES(member)                           \
  struct has_##member {                                      \
    int member;                                              \
  };                                                         \
  template <class T>                                         \
  struct has_##member##_beside : T, has_##member {};         \
  template <class T>                                         \
  concept names_##member = std::is_class_v<T> && !requires { \
    &has_##member##_beside<T>::member;                       \
  };
RONDO_DEFINE_NAMES(spec)
RONDO_DEFINE_NAMES(host)
RONDO_DEFINE_NAMES(why_failed)
RONDO_DEFINE_NAMES(flush)
RONDO_DEFINE_NAMES(trigger)
RONDO_DEFINE_NAMES(phases)
RONDO_DEFINE_NAMES(kernels)
RONDO_DEFINE_NAMES(tiles)
RONDO_DEFINE_NAMES(tile)
RONDO_DEFINE_NAMES(on_start)
RONDO_DEFINE_NAMES(on_stop)
RONDO_DEFINE_NAMES(due)
RONDO_DEFINE_NAMES(describe)
#undef RONDO_DEFINE_NAMES

template <class Stage>
using host_of = typename Stage::host;

/// Makes a stage's host with as many arguments as it takes.
template <class Stage>
std::shared_ptr<host_of<Stage>> make_host(options_of<Stage> const& o, spec_of<Stage> const& s,
                                          host_link& link) {
  using host = host_of<Stage>;
  if constexpr (std::is_constructible_v<host, decltype(o), decltype(s), host_link&>)
    return std::make_shared<host>(o, s, link);
  else if constexpr (std::is_constructible_v<host, decltype(o), decltype(s)>)
    return std::make_shared<host>(o, s);
  else if constexpr (std::is_constructible_v<host, decltype(o)>)
    return std::make_shared<host>(o);
  else
    return std::make_shared<host>();
}

/// That each function which a stage may have fits if it is there.
template <class Stage>
consteval void check_functions() {
  using options = options_of<Stage>;
  using context = stage_context<Stage>;
  static_assert(!std::is_final_v<Stage>,
                "a stage is not final: the names of its functions could not be checked");
  static_assert(
      !names_spec<Stage> ||
          requires(options const& o, spec_of<Stage>& s) {
            { Stage::spec(o, s) } -> std::same_as<void>;
          },
      "a stage's `spec` is to be: static void spec(options const&, streams::spec_of<Stage>&)");
  if constexpr (names_host<Stage>) {
    static_assert(
        requires { typename Stage::host; }, "a stage's `host` is to be a class, its half on the host");
    using host = host_of<Stage>;
    static_assert(works_where<Stage>() == works::on_host,
                  "a stage with a `host` works there: static constexpr auto where = streams::works::on_host");
    static_assert(std::is_constructible_v<host, options const&, spec_of<Stage> const&, host_link&> ||
                      std::is_constructible_v<host, options const&, spec_of<Stage> const&> ||
                      std::is_constructible_v<host, options const&> || std::is_default_constructible_v<host>,
                  "a stage's `host` is to have a constructor that takes nothing, or the first one, two or "
                  "all of: options "
                  "const&, streams::spec_of<Stage> const&, streams::host_link&");
    static_assert(
        !names_why_failed<host> || requires(host const& h) { stage_error(h.why_failed()); } ||
            requires(host const& h) { std::string(h.why_failed()); },
        "a host's `why_failed` is to be: streams::stage_error why_failed() const, or a std::string");
    static_assert(
        !names_flush<host> || requires(host h) { h.flush(); }, "a host's `flush` is to be: void flush()");
    static_assert(
        !names_trigger<host> || requires(host h) { h.trigger(); },
        "a host's `trigger` is to be: void trigger()");
  }
  static_assert(!names_flush<Stage>, "`flush` is a member of the stage's `host`");
  static_assert(!names_trigger<Stage>, "`trigger` is a member of the stage's `host`");
  static_assert(!names_why_failed<Stage>, "`why_failed` is a member of the stage's `host`");
  static_assert(
      !names_on_start<Stage> || requires(Stage s, context & c) { s.on_start(c); },
      "a stage's `on_start` is to be: void on_start(streams::stage_context<Stage>&)");
  static_assert(
      !names_on_stop<Stage> || requires(Stage s, context & c) { s.on_stop(c); },
      "a stage's `on_stop` is to be: void on_stop(streams::stage_context<Stage>&)");
  static_assert((names_phases<Stage> && names_tiles<Stage> && names_tile<Stage>) ||
                    (!names_phases<Stage> && !names_tiles<Stage> && !names_tile<Stage>),
                "a wide stage has all of: static constexpr std::uint32_t phases, `tiles`, and `tile`");
  static_assert(
      !names_tiles<Stage> ||
          requires(Stage s, context & c, tick const& t) {
            { s.tiles(c, t, 0u) } -> std::same_as<std::uint32_t>;
            s.tile(c, t, 0u, 0u);
          },
      "a wide stage's functions are to be: std::uint32_t tiles(streams::stage_context<Stage>&, streams::tick "
      "const&, "
      "std::uint32_t phase), and void tile(the same, std::uint32_t number)");
  static_assert(
      !names_kernels<Stage> || lists_kernels<Stage>,
      "a stage's `kernels` is to be: void kernels(streams::stage_context<Stage>&, streams::tick const&, "
      "kernel_list&), or, of a wide stage: bool kernels(streams::stage_context<Stage>&, streams::tick "
      "const&, "
      "std::uint32_t phase, kernel_list&)");
  static_assert(
      names_due<Stage> == has_own_ticks<Stage>,
      "a stage with ticks of its own has both: static constexpr bool has_own_ticks = true, and `due`");
  static_assert(
      !names_due<Stage> ||
          requires(Stage s, context & c, tick_due & t) {
            { s.due(c, t) } -> std::same_as<bool>;
          },
      "a stage's `due` is to be: bool due(streams::stage_context<Stage>&, streams::tick_due&)");
  static_assert(
      !names_describe<options> || requires(options o, option_visitor v) { o.describe(v); },
      "the options' `describe` is to be: void describe(auto& option)");
}

template <class Stage>
stage_kind make_kind() {
  using options = options_of<Stage>;
  check_functions<Stage>();
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
  if constexpr (names_describe<options>)
    k.describe = [](void* o, option_visitor& v) { static_cast<options*>(o)->describe(v); };
  Stage::ports::for_each([&k]<class Port>(std::type_identity<Port>) {
    (Port::is_input ? k.inputs : k.outputs).push_back(port_kind_of<Stage, Port>());
  });
  if constexpr (names_spec<Stage>)
    k.spec = [](void const* o, stage_spec& s) {
      spec_of<Stage> typed{s};
      Stage::spec(options_at<Stage>(o), typed);
    };
  if constexpr (names_host<Stage>) {
    using host = host_of<Stage>;
    k.make_host = [](void const* o, stage_spec& s, host_link& l) -> std::shared_ptr<void> {
      return make_host<Stage>(options_at<Stage>(o), spec_of<Stage>{s}, l);
    };
    if constexpr (names_why_failed<host>)
      k.why_failed = [](void const* h) -> stage_error {
        auto const& of = *static_cast<host const*>(h);
        if constexpr (requires { stage_error(of.why_failed()); })
          return of.why_failed();
        else
          return {fault::stage, std::string(of.why_failed())};
      };
    if constexpr (names_flush<host>) k.flush = [](void* h) { static_cast<host*>(h)->flush(); };
    if constexpr (names_trigger<host>) k.trigger = [](void* h) { static_cast<host*>(h)->trigger(); };
    if constexpr (std::is_base_of_v<lender, host>)
      k.lender_of = [](void* h) -> lender* { return static_cast<host*>(h); };
  }
  k.has_own_ticks = has_own_ticks<Stage>;
  k.takes_any = takes_any<Stage>;
  if constexpr (requires { Stage::is_transfer; }) k.is_transfer = Stage::is_transfer;
  k.has_kernels = lists_kernels<Stage>;
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
