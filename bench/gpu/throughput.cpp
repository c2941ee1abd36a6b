// Message rates among actors of the device: ping-pong, many to one, all to all; and an idle runtime.
#include "bench/gpu/bed.hpp"
#include "bench/gpu/cases.hpp"
#include "bench/harness/sampling.hpp"

namespace rondo::bench::gpu {
namespace {

/// Runs matches of growing length until one takes an eighth of the budget, then repeats it until the budget is used.
/// Timed on the device, from the first ball to the last.
measurement hops(sample_budget const& budget, placement where) {
  actor_options const how{.pinned = where == placement::pinned};
  return with_runtime(settings_for(2, how.pinned ? 2 : 0), [&](runtime& rt) {
    auto const pair = launch_all<player>(rt, 2, how);
    auto const play = [&](std::uint64_t rounds) {
      auto const m =
          expect("ping-pong", pair[0].ask(player::serve{pair[1].where(), rounds}, patience, block));
      check_equal("sum of the values that came back", rounds * (rounds + 1) / 2, m.total);
      return m;
    };
    expect("meeting the partner", pair[1].ask(player::serve{pair[0].where(), 0}, patience, block));
    std::uint64_t rounds = 256;
    auto const long_enough_ns = static_cast<std::uint64_t>(budget.time.count()) / 8;
    while (play(rounds).ns < long_enough_ns) rounds *= 2;
    measurement m;
    auto& hop_ns = m["hop_ns"];
    for (int i = 0; i < 8; ++i)
      hop_ns.push_back(static_cast<double>(play(rounds).ns) / static_cast<double>(2 * rounds));
    return m;
  });
}

/// `senders` actors send equally many messages to `receivers`. `send(each)` makes them send and waits until they have
/// sent.
template <class Receiver, class Send>
measurement traffic(sample_budget const& budget, std::uint32_t senders,
                    std::vector<actor_ref<Receiver>> const& receivers, Send send) {
  counted before{};
  return throughput(budget, "messages_per_s", 1, [&](std::uint64_t& messages) {
    auto const each = std::max<std::uint64_t>(messages / senders, 1);
    messages = each * senders;
    stopwatch const watch;
    send(each);
    auto const now = count_all(receivers);  // after everything that was sent
    timing const took = watch.stop();
    check_equal("messages", messages, now.messages - before.messages);
    check_equal("sum of what was sent", senders * (each * (each - 1) / 2), now.sum - before.sum);
    before = now;
    return took;
  });
}

/// `producers` actors send to one actor, which has its own team. Consumer: the type that takes messages one by one or
/// in batches.
template <class Consumer>
measurement many_to_one(sample_budget const& budget, std::uint32_t producers) {
  return with_runtime(settings_for(producers + 1, 1), [&](runtime& rt) {
    auto const consumers = launch_all<Consumer>(rt, 1, {.capacity = 16384, .pinned = true});
    auto const all = launch_all<producer>(rt, producers, {});
    return traffic(budget, producers, consumers, [&](std::uint64_t each) {
      // The messages are the same for both types of consumer.
      ask_all(all, [&](std::size_t) { return producer::produce{{consumers[0].id()}, each}; });
    });
  });
}

/// Each of `traders` actors sends to all the others in turn.
measurement all_to_all(sample_budget const& budget, std::uint32_t traders) {
  auto settings = settings_for(traders);
  settings.submission_slots =
      std::max(settings.submission_slots, 2 * ceil_power_of_two(traders));  // for ask_all
  return with_runtime(settings, [&](runtime& rt) {
    auto const all = launch_all<trader>(rt, traders, {.capacity = 256});
    for (std::uint32_t i = 0; i < traders; ++i)  // traders rely on this
      if (!(all[i].id() == actor_id{all[0].id().index + i, all[0].id().generation}))
        throw std::runtime_error("the cells of a new runtime are not given out in order");
    return traffic(budget, traders, all, [&](std::uint64_t each) {
      ask_all(all, [&](std::size_t) { return trader::trade{all[0].id(), traders, each}; });
    });
  });
}

/// Idle for `duration`: the processor time that the host's threads use. The GPU's power draw is read from outside.
measurement idle(std::chrono::seconds duration) {
  return with_runtime(settings_for(1, 0, false), [&](runtime& rt) {
    auto const actor = rt.launch<echo>("");
    auto const is_well = [&] { expect("asking the idle actor", actor.ask(ping_of(1), patience, block)); };
    is_well();
    std::fprintf(stderr, "an idle runtime is up for %lld s: %s\n", static_cast<long long>(duration.count()),
                 rt.info().description.c_str());
    auto m = processor_time_of_idling(duration);
    is_well();
    return m;
  });
}

}  // namespace

case_list device_cases() {
  case_list cases;
  for (auto const where : {placement::pinned, placement::pooled})
    cases.push_back({"gpu_hop", std::string("rondo ") + to_string(where), {}, [=](sample_budget const& b) {
                       return hops(b, where);
                     }});
  for (std::uint32_t const producers : {1u, 32u, 256u}) {
    auto const add = [&](char const* peer, auto run) {
      cases.push_back({"gpu_many_to_one",
                       peer,
                       {{"payload_bytes", "32"}, {"producers", std::to_string(producers)}},
                       [=](sample_budget const& b) { return run(b, producers); }});
    };
    add("rondo", many_to_one<consumer>);
    add("rondo, batches", many_to_one<batch_consumer>);
  }
  for (std::uint32_t const traders : {64u, 1024u})
    cases.push_back({"gpu_all_to_all",
                     "rondo",
                     {{"actors", std::to_string(traders)}, {"payload_bytes", "32"}},
                     [=](sample_budget const& b) { return all_to_all(b, traders); }});
  return cases;
}

case_list idle_cases(std::chrono::seconds duration) {
  bench_case one{
      "gpu_idle", "rondo", {{"seconds", std::to_string(duration.count())}}, [=](sample_budget const&) {
        return idle(duration);
      }};
  one.limit = duration + std::chrono::seconds(60);
  one.most_samples = 1;
  return {std::move(one)};
}

}  // namespace rondo::bench::gpu
