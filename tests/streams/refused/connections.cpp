// Connections that do not compile. `WRONG` chooses one; without it, this compiles.
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
#endif
}
