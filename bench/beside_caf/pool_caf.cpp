// A supervised pool: the client keeps 64 jobs on their way to 4 workers. Every 1,000th job fails its worker, which is
// restarted; all other jobs are answered.
#include <caf/all.hpp>
#include <chrono>
#include <cstdio>
#include <vector>

constexpr std::uint64_t jobs = 2'000'000, in_flight = 64;

struct job {
  std::uint64_t number;
};
struct answer {
  std::uint64_t value;
};
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(answer)
using start_atom = caf::atom_constant<caf::atom("start")>;

caf::behavior worker(caf::event_based_actor* self) {
  return {[=](job const& m) -> caf::result<answer> {
    if (m.number % 1000 != 0) return answer{3 * m.number};
    self->quit(caf::sec::runtime_error);
    return caf::sec::runtime_error;
  }};
}

struct crew {
  std::vector<caf::actor> workers;
  std::size_t next = 0;
};

caf::behavior pool(caf::stateful_actor<crew>* self) {
  for (int i = 0; i < 4; ++i) self->state.workers.push_back(self->spawn<caf::monitored>(worker));
  self->set_down_handler([=](caf::down_msg const& m) {
    for (auto& w : self->state.workers)
      if (w.address() == m.source) w = self->spawn<caf::monitored>(worker);
  });
  return {[=](job const& m) {
    auto& [workers, next] = self->state;
    return self->delegate(workers[next++ % workers.size()], m);
  }};
}

struct progress {
  caf::actor workers;
  caf::response_promise asker;
  std::uint64_t sent = 0, ended = 0, sum = 0, failed = 0;
};
using client_actor = caf::stateful_actor<progress>;

void go_on(client_actor* self);
void send(client_actor* self, std::uint64_t number) {
  auto& s = self->state;
  self->request(s.workers, caf::infinite, job{number})
      .then(
          [=](answer const& m) {
            self->state.sum += m.value;
            go_on(self);
          },
          [=](caf::error const& e) {
            if (e == caf::sec::request_receiver_down)
              return send(self, number);  // it waited behind a failing job
            ++self->state.failed;
            go_on(self);
          });
}
void go_on(client_actor* self) {
  auto& s = self->state;
  if (s.sent < jobs) send(self, ++s.sent);
  if (++s.ended == jobs) s.asker.deliver(s.sum, s.failed);
}

caf::behavior client(client_actor* self, caf::actor const& workers) {
  self->state.workers = workers;
  return {[=](start_atom) {
    auto& s = self->state;
    s.asker = self->make_response_promise();
    while (s.sent < in_flight) send(self, ++s.sent);
    return s.asker;
  }};
}

int main() {
  caf::actor_system_config cfg;
  cfg.set("scheduler.max-threads", 2);
  caf::actor_system system{cfg};
  auto const p = system.spawn(pool);
  auto const c = system.spawn(client, p);
  caf::scoped_actor self{system};
  std::uint64_t sum = 0, failed = 0;
  auto const begun = std::chrono::steady_clock::now();
  self->request(c, std::chrono::minutes(1), start_atom::value)
      .receive([&](std::uint64_t of_all, std::uint64_t count) { sum = of_all, failed = count; },
               [&](caf::error const& e) { std::fprintf(stderr, "%s\n", to_string(e).c_str()); });
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begun;
  std::printf("%.0f jobs/s\n", static_cast<double>(jobs) / took.count());
  for (auto const& a : {p, c}) caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
  constexpr std::uint64_t failing = jobs / 1000;
  constexpr auto expected = 3 * (jobs * (jobs + 1) / 2 - 1000 * (failing * (failing + 1) / 2));
  return sum == expected && failed == failing ? 0 : 1;
}
