// Round trips between the host and an actor: plain ones, in halves, with buffers, of urgent messages under load, and
// the first one after idleness.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "bench/gpu/bed.hpp"
#include "bench/gpu/cases.hpp"
#include "bench/harness/sampling.hpp"
#include "runtime/memory/buffer_pool.hpp"

namespace rondo::bench::gpu {
namespace {

namespace asio = boost::asio;

/// The number in the answer, if all words of the answer agree.
template <class Pong>
std::uint64_t value_of(Pong const& pong) {
  if (!pong.holds(pong.words[0])) throw std::runtime_error("an answer's words differ");
  return pong.words[0];
}

/// The runtime's blocking ask.
template <class Ping>
measurement by_blocking(sample_budget const& budget, std::vector<actor_ref<echo>> const& echoes) {
  return round_trips(budget, [&](std::uint64_t number) {
    auto const& to = echoes[number % echoes.size()];
    return value_of(expect("asking", to.ask(ping_of<Ping>(number), ask_options{}, block)));
  });
}

template <class Ping>
asio::awaitable<void> trips(trip_recorder& recorder, std::vector<actor_ref<echo>> const& echoes) {
  while (recorder.more()) {
    auto const number = recorder.begin();
    auto const pong = co_await echoes[number % echoes.size()].ask(ping_of<Ping>(number), ask_options{},
                                                                  asio::use_awaitable);
    recorder.end(value_of(pong));
  }
}

/// A coroutine on an io_context that is polled by the asking thread.
template <class Ping>
measurement by_coroutine(sample_budget const& budget, std::vector<actor_ref<echo>> const& echoes) {
  asio::io_context io{1};
  trip_recorder recorder(budget);
  std::exception_ptr failure;
  asio::co_spawn(io, trips<Ping>(recorder, echoes), [&](std::exception_ptr e) { failure = e; });
  while (!io.stopped()) io.poll();
  if (failure) std::rethrow_exception(failure);
  return recorder.finish();
}

template <class Ping>
void append_round_trips(case_list& cases, placement where, std::uint32_t actors) {
  actor_options const how{.pinned = where == placement::pinned};
  auto const add = [&](char const* way, auto run) {
    cases.push_back({"gpu_round_trip",
                     std::string("rondo ") + way + ", " + to_string(where),
                     {{"actors", std::to_string(actors)}, {"payload_bytes", std::to_string(sizeof(Ping))}},
                     run});
  };
  auto const by_runtime = [=](auto trip_by) {
    return [=](sample_budget const& b) {
      return with_runtime(settings_for(actors, how.pinned ? actors : 0), [&](runtime& rt) {
        auto const echoes = launch_all<echo>(rt, actors, how);
        return trip_by(b, echoes);
      });
    };
  };
  add("block", by_runtime(by_blocking<Ping>));
  add("coroutine", by_runtime(by_coroutine<Ping>));
}

/// The same with the handle of a buffer of this size in the device's memory, which the actor leases and writes.
measurement by_buffer(sample_budget const& budget, placement where, std::uint64_t bytes) {
  actor_options const how{.pinned = where == placement::pinned};
  return with_runtime(settings_for(1, how.pinned ? 1 : 0), [&](runtime& rt) {
    auto const server = rt.launch<echo>("", how);
    auto const data = expect("acquiring a buffer", rt.buffers().acquire(bytes));
    auto m = round_trips(budget, [&](std::uint64_t number) {
      return value_of(expect("asking", server.ask(buffer_ping{data, number}, ask_options{}, block)));
    });
    rt.buffers().release(data);
    return m;
  });
}

/// A round trip in halves: until the handler begins, and from there. By the device's clock, which the host's differs
/// from by up to a microsecond; the whole is the host's.
measurement halves(sample_budget const& budget, placement where) {
  actor_options const how{.pinned = where == placement::pinned};
  return with_runtime(settings_for(1, how.pinned ? 1 : 0), [&](runtime& rt) {
    auto const server = rt.launch<timekeeper>("", how);
    std::vector<double> there_ns, back_ns;
    auto m = round_trips(budget, [&](std::uint64_t number) {
      auto const began_ns = now_ns();
      auto const pong = expect("asking", server.ask(clock_ping{number}, ask_options{}, block));
      there_ns.push_back(static_cast<double>(pong.handled_ns) - static_cast<double>(began_ns));
      back_ns.push_back(static_cast<double>(now_ns()) - static_cast<double>(pong.handled_ns));
      return pong.number;
    });
    m["way_there_ns"] = std::move(there_ns);
    m["way_back_ns"] = std::move(back_ns);
    return m;
  });
}

// -- urgent

enum class load { same_actor, other_actors };

/// Sends `each` chores to all of `actors`; they continue until they receive `rest`.
void set_to_work(std::vector<actor_ref<busy>> const& actors, std::uint32_t each) {
  for (std::uint32_t i = 0; i < each; ++i)
    for (auto const& one : actors)
      while (auto const refused = one.try_tell(chore{}))
        if (refused != errc::device_busy) throw std::runtime_error("the load: " + refused.message());
}

/// An ask of priority 255 while chores of a microsecond wait: 1000 in the actor's own mailbox, or 4 in each of 512
/// other actors, which is more actors than any GPU has teams.
measurement urgent(sample_budget const& budget, placement where, load of) {
  actor_options const how{.capacity = 4096, .pinned = where == placement::pinned};
  return with_runtime(settings_for(1024, how.pinned ? 1 : 0), [&](runtime& rt) {
    auto const asked = launch_all<busy>(rt, 1, how);
    auto const loaded = of == load::same_actor ? asked : launch_all<busy>(rt, 512, {});
    set_to_work(loaded, of == load::same_actor ? 1000 : 4);
    auto m = round_trips(budget, [&](std::uint64_t number) {
      return value_of(
          expect("an urgent ask", asked.front().ask(ping_of(number), ask_options{.priority = 255}, block)));
    });
    double chores = 0;
    for (auto const& one : loaded)
      chores += static_cast<double>(
          expect("resting", one.ask(rest{}, ask_options{.timeout = patience, .priority = 255}, block))
              .messages);
    if (chores == 0) throw std::runtime_error("nothing was done beside the urgent asks: there was no load");
    m["chores_done"] = {chores};
    return m;
  });
}

// -- the first answer after idleness

constexpr std::chrono::milliseconds idleness{1000};
constexpr int first_answers = 5;

measurement first_answer(placement where, bool polling) {
  using clock = std::chrono::steady_clock;
  actor_options const how{.pinned = where == placement::pinned};
  return with_runtime(settings_for(1, how.pinned ? 1 : 0, polling), [&](runtime& rt) {
    auto const server = rt.launch<echo>("", how);
    expect("a first ask", server.ask(ping_of(0), patience, block));
    measurement m;
    auto& all_ns = m["first_answer_ns"];
    for (std::uint64_t i = 0; i < first_answers; ++i) {
      std::this_thread::sleep_for(idleness);
      auto const start = clock::now();
      auto const pong = expect("asking", server.ask(ping_of(i), ask_options{}, block));
      all_ns.push_back(std::chrono::duration<double, std::nano>(clock::now() - start).count());
      check_equal("reply", i + 1, value_of(pong));
    }
    return m;
  });
}

}  // namespace

case_list latency_cases() {
  case_list cases;
  for (auto const where : {placement::pooled, placement::pinned}) {
    for (std::uint32_t const actors : {1u, where == placement::pinned ? 100u : 10'000u})
      append_round_trips<small_ping>(cases, where, actors);
    append_round_trips<large_ping>(cases, where, 1);
  }
  for (auto const where : {placement::pooled, placement::pinned})
    for (std::uint64_t const bytes : {64u, 4096u})
      cases.push_back({"gpu_round_trip",
                       std::string("rondo block, buffer, ") + to_string(where),
                       {{"actors", "1"}, {"buffer_bytes", std::to_string(bytes)}},
                       [=](sample_budget const& b) { return by_buffer(b, where, bytes); }});
  for (auto const where : {placement::pooled, placement::pinned}) {
    auto const peer = std::string("rondo ") + to_string(where);
    cases.push_back({"gpu_halves", peer, {}, [=](sample_budget const& b) { return halves(b, where); }});
    cases.push_back({"gpu_urgent", peer, {{"load", "before_itself"}}, [=](sample_budget const& b) {
                       return urgent(b, where, load::same_actor);
                     }});
    cases.push_back({"gpu_urgent", peer, {{"load", "512_others"}}, [=](sample_budget const& b) {
                       return urgent(b, where, load::other_actors);
                     }});
    for (bool const polling : {false, true}) {
      bench_case one{"gpu_first_answer",
                     peer + (polling ? ", polling" : ""),
                     {{"idle_ms", "1000"}},
                     [=](sample_budget const&) { return first_answer(where, polling); }};
      one.most_samples = one.attempts = 1;  // of 5 s
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

}  // namespace rondo::bench::gpu
