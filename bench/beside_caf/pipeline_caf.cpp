// A pipeline: a request such as "17*3" goes to a parser, a worker, and one that replies. The client keeps 64 on their
// way. Each is answered within a second, or fails; with an argument on the command line, there is no time limit.
#include <caf/all.hpp>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>

constexpr std::uint64_t in_flight = 64;

struct calculation {
  char text[32];
};
struct parsed {
  std::uint64_t a, b;
};
struct product {
  std::uint64_t value;
};
struct answer {
  std::uint64_t value;
};
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(calculation)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(parsed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(product)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(answer)
using begin_atom = caf::atom_constant<caf::atom("begin")>;

caf::behavior replier() {
  return {[](product const& m) { return answer{m.value}; }};
}

caf::behavior worker(caf::event_based_actor* self, caf::actor const& next) {
  return {[=](parsed const& m) { return self->delegate(next, product{m.a * m.b}); }};
}

caf::behavior parser(caf::event_based_actor* self, caf::actor const& next) {
  return {[=](calculation const& m) -> caf::result<answer> {
    parsed out{};
    auto const end = m.text + strnlen(m.text, sizeof m.text);
    auto const [times, error] = std::from_chars(m.text, end, out.a);
    if (error != std::errc{} || times == end || *times != '*' ||
        std::from_chars(times + 1, end, out.b).ptr != end)
      return caf::sec::invalid_argument;
    self->delegate(next, out);
    return caf::delegated<answer>{};
  }};
}

struct progress {
  caf::actor to;
  std::uint64_t requests;
  caf::duration limit;
  caf::response_promise asker;
  std::uint64_t sent = 0, ended = 0, sum = 0, failed = 0;
};
using client_actor = caf::stateful_actor<progress>;

void go_on(client_actor* self);
void send_next(client_actor* self) {
  auto& s = self->state;
  calculation m{};
  std::snprintf(m.text, sizeof m.text, "%u*3", static_cast<unsigned>(++s.sent));
  self->request(s.to, s.limit, m)
      .then(
          [=](answer const& a) {
            self->state.sum += a.value;
            go_on(self);
          },
          [=](caf::error const&) {
            ++self->state.failed;
            go_on(self);
          });
}
void go_on(client_actor* self) {
  auto& s = self->state;
  if (s.sent < s.requests) send_next(self);
  if (++s.ended == s.requests) s.asker.deliver(s.sum, s.failed);
}

caf::behavior client(client_actor* self, caf::actor const& to, std::uint64_t requests, caf::duration limit) {
  self->state.to = to, self->state.requests = requests, self->state.limit = limit;
  return {[=](begin_atom) {
    auto& s = self->state;
    s.asker = self->make_response_promise();
    while (s.sent < in_flight) send_next(self);
    return s.asker;
  }};
}

int main(int argc, char**) {
  bool const limited = argc == 1;
  std::uint64_t const requests = limited ? 200'000 : 2'000'000;
  caf::actor_system_config cfg;
  cfg.set("scheduler.max-threads", 2);
  caf::actor_system system{cfg};
  auto const r = system.spawn(replier);
  auto const w = system.spawn(worker, r);
  auto const p = system.spawn(parser, w);
  auto const c =
      system.spawn(client, p, requests, limited ? caf::duration{std::chrono::seconds(1)} : caf::infinite);
  caf::scoped_actor self{system};
  std::uint64_t sum = 0, failed = 0;
  auto const begun = std::chrono::steady_clock::now();
  self->request(c, std::chrono::minutes(1), begin_atom::value)
      .receive([&](std::uint64_t of_all, std::uint64_t count) { sum = of_all, failed = count; },
               [&](caf::error const& e) { std::fprintf(stderr, "%s\n", to_string(e).c_str()); });
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begun;
  std::printf("%.0f requests/s\n", static_cast<double>(requests) / took.count());
  for (auto const& a : {r, w, p, c}) caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
  return sum == 3 * (requests * (requests + 1) / 2) && failed == 0 ? 0 : 1;
}
