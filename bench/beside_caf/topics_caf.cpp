// Publish and subscribe: one publisher, two topics with 4 subscribers each. The publisher goes on when all subscribers
// have seen the last 1,000 prices.
#include <caf/all.hpp>
#include <chrono>
#include <cstdio>
#include <vector>

constexpr std::uint64_t prices = 2'000'000, at_once = 1000, subscribers = 8;
constexpr auto deliveries = prices * subscribers / 2;

struct price {
  std::uint64_t cents;
};
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(price)
using begin_atom = caf::atom_constant<caf::atom("begin")>;
using seen_atom = caf::atom_constant<caf::atom("seen")>;
using count_atom = caf::atom_constant<caf::atom("count")>;

struct count {
  std::uint64_t prices = 0, sum = 0;
};

caf::behavior subscriber(caf::stateful_actor<count>* self, caf::actor const& publisher) {
  return {[=](price const& m) {
            auto& so_far = self->state;
            so_far.sum += m.cents;
            if (++so_far.prices % (at_once / 2) == 0) self->send(publisher, seen_atom::value);
          },
          [=](count_atom) { return caf::make_message(self->state.prices, self->state.sum); }};
}

struct progress {
  caf::response_promise asker;
  std::uint64_t published = 0, acknowledged = 0;
};

caf::behavior publisher(caf::stateful_actor<progress>* self, std::vector<caf::group> const& topics) {
  auto const publish = [=] {
    auto& published = self->state.published;
    for (std::uint64_t i = 0; i < at_once; ++i, ++published)
      self->send(topics[published % 2], price{published});
  };
  return {[=](begin_atom) {
            publish();
            return self->state.asker = self->make_response_promise();
          },
          [=](seen_atom) {
            auto& s = self->state;
            if (++s.acknowledged % subscribers != 0) return;
            if (s.published == prices)
              s.asker.deliver(caf::unit);
            else
              publish();
          }};
}

int main() {
  caf::actor_system_config cfg;
  cfg.set("scheduler.max-threads", 2);
  caf::actor_system system{cfg};
  std::vector<caf::group> const topics{system.groups().get_local("even"), system.groups().get_local("odd")};
  auto const p = system.spawn(publisher, topics);
  std::vector<caf::actor> all;
  for (std::uint64_t i = 0; i < subscribers; ++i)
    all.push_back(system.spawn_in_group(topics[i % 2], subscriber, p));
  caf::scoped_actor self{system};
  auto const failed = [](caf::error const& e) { std::fprintf(stderr, "%s\n", to_string(e).c_str()); };
  auto const begun = std::chrono::steady_clock::now();
  self->request(p, std::chrono::minutes(1), begin_atom::value).receive([] {}, failed);
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begun;
  std::printf("%.0f deliveries/s\n", static_cast<double>(deliveries) / took.count());
  count total{};
  for (auto const& s : all)
    self->request(s, std::chrono::seconds(1), count_atom::value)
        .receive([&](std::uint64_t n, std::uint64_t sum) { total.prices += n, total.sum += sum; }, failed);
  all.push_back(p);
  for (auto const& a : all) caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
  return total.prices == deliveries && total.sum == deliveries * (prices - 1) / 2 ? 0 : 1;
}
