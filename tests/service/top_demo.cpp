// A runtime of the built-in module under a load that rises and falls, watched by `rondo top`: for demonstrations, and
// for the test on a terminal.
//
//   top_demo [--device NAME] [--once] [--json] [--ascii] [--interval MS] [--still]
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <future>
#include <thread>

#include "actors/basics/basics_module.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/runtime.hpp"
#include "tools/top/top_terminal.hpp"

using namespace std::chrono_literals;
namespace basics = rondo::basics;

namespace {

/// Tells, asks, and occasionally asks for too much.
class load {
 public:
  explicit load(rondo::runtime& rt) : rt_(rt) {
    counters_.push_back(rt.launch<basics::counter>("clicks", {.capacity = 1024}));
    counters_.push_back(rt.launch<basics::counter>("orders", {.capacity = 4096}));
    counters_.push_back(rt.launch<basics::counter>("prices.eu", {.capacity = 256}));
    counters_.push_back(rt.launch<basics::counter>("prices.us", {.capacity = 256}));
    for (int i = 0; i < 8; ++i) rt.launch<basics::cell>("session." + std::to_string(i));
    echo_.push_back(rt.launch<basics::echo>("echo"));
    relays_.push_back(rt.launch<basics::relay>("gateway", {.capacity = 64}));
    for (int i = 0; i < 3; ++i) {
      relays_.push_back(rt.launch<basics::relay>("relay." + std::to_string(i), {.capacity = 64}));
      auto const to = relays_.back().id();
      (void)relays_[relays_.size() - 2].try_tell(basics::link{{to.index, to.generation}});
    }
    auto const archive = rt.launch<basics::counter>("archive", {.capacity = 1000, .active = false});
    for (int i = 0; i < 730; ++i)
      (void)archive.try_tell(basics::add{1}, {.priority = static_cast<std::uint8_t>(i % 5 == 0 ? 200 : 128)});
  }
  void begin() {
    thread_ = std::thread([this] { run(); });
  }
  ~load() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    auto const began = std::chrono::steady_clock::now();
    for (std::uint64_t round = 0; !stop_; ++round) {
      double const t = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      for (std::size_t c = 0; c < counters_.size(); ++c) {
        auto const wave = 1 + std::sin(t / (2.0 + static_cast<double>(c)) + static_cast<double>(c));
        for (int i = 0; i < static_cast<int>(wave * 60); ++i) (void)counters_[c].try_tell(basics::add{1});
      }
      (void)echo_[0].ask(basics::ping{round}, 100ms, rondo::block);
      if (round % 3 == 0) (void)relays_[0].ask(basics::hop{round}, 100ms, rondo::block);
      std::this_thread::sleep_for(2ms);
    }
  }

  rondo::runtime& rt_;
  std::vector<rondo::actor_ref<basics::counter>> counters_;
  std::vector<rondo::actor_ref<basics::echo>> echo_;
  std::vector<rondo::actor_ref<basics::relay>> relays_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace

int main(int argc, char** argv) {
  rondo::config settings;
  settings.device = "cpu";
  settings.teams = 2;
  settings.latency_sample_every = 1;
  rondo::tools::top_options options;
  bool once = false, json = false, still = false;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    once |= word == "--once";
    json |= word == "--json";
    still |= word == "--still";
    options.ascii |= word == "--ascii";
    if (word == "--device" && i + 1 < argc) settings.device = argv[++i];
    if (word == "--interval" && i + 1 < argc)
      options.interval = std::chrono::milliseconds(std::stoi(argv[++i]));
  }
  try {
    rondo::runtime rt(rondo::use<basics::basics_module>, settings);
    rondo::service::service_counters counters;
    rondo::service::gpu_monitor gpus;
    rondo::service::reporter watcher{rt, {.name = "demo", .incarnation = 1}, &counters, &gpus};
    load traffic(rt);
    if (!still) traffic.begin();
    rondo::tools::top_source source;
    source.name = "in this process";
    source.next = [&] { return watcher.gather(); };
    source.inspect = [&](std::string const& name) {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> depths;
      if (auto const actor = rt.find_any(name))
        if (auto const found = rondo::inspect(*actor, rondo::block))
          for (auto const& d : found->depths) depths.emplace_back(d.priority, d.messages);
      return depths;
    };
    if (once)
      print_top(source, options, json, stdout);
    else
      run_top(source, options);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "top_demo: %s\n", e.what());
    return 1;
  }
}
