// Connections and stages that do not compile. `WRONG` chooses one; without it, this compiles.
#include "runtime/streams/graph.hpp"
#include "tests/streams/stages.hpp"

using namespace stream_test;

struct names {
  std::uint32_t count = 0;
  std::uint64_t bytes() const noexcept { return count; }
};
struct reader {
  using ports = streams::ports<streams::in<"names", names>>;
  void process(streams::stage_context<reader>&, streams::tick const&) {}
};

// Functions of stages that nearly fit.
template <class Self>
struct nearly {
  using ports = streams::ports<streams::in<"numbers", numbers>>;
  static constexpr auto where = streams::works::on_host;
  void process(streams::stage_context<Self>&, streams::tick const&) {}
};
struct asks_wrongly : nearly<asks_wrongly> {
  struct options {};
  static void spec(options&, streams::spec_of<asks_wrongly>&) {}
};
struct opens_wrongly : nearly<opens_wrongly> {
  struct options {};
  struct host {
    host(options const&, streams::host_link&) {}
  };
};
struct fails_wrongly : nearly<fails_wrongly> {
  struct host {
    std::string why_failed() { return {}; }
  };
};
struct stops_wrongly : nearly<stops_wrongly> {
  void on_stop() {}
};
struct ticks_wrongly : nearly<ticks_wrongly> {
  bool due(streams::stage_context<ticks_wrongly>&, streams::tick_due&) { return true; }
};
struct shares_wrongly : nearly<shares_wrongly> {
  static constexpr std::uint32_t phases = 1;
};
struct lists_wrongly : nearly<lists_wrongly> {
  struct options {
    void describe() {}
  };
};

void connect(streams::graph& g, streams::stage_ref<counter> from, streams::stage_ref<checker> to,
             streams::stage_ref<reader> other) {
  g.connect(from.out<"numbers">(), to.in<"numbers">());
  static_cast<void>(other);
#if WRONG == 1
  g.connect(from.out<"numbers">(), other.in<"names">());
#elif WRONG == 2
  g.connect(from.out<"number">(), to.in<"numbers">());
#elif WRONG == 3
  g.connect(from.out<"numbers">(), to.in<"number">());
#elif WRONG == 4
  static_cast<void>(g.upgrade<reader>(from));
#elif WRONG == 5
  g.add<asks_wrongly>("1"), g.add<opens_wrongly>("2"), g.add<fails_wrongly>("3");
  g.add<stops_wrongly>("4"), g.add<ticks_wrongly>("5"), g.add<lists_wrongly>("6"), g.add<shares_wrongly>("7");
#endif
}
