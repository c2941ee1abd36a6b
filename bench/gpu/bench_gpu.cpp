// bench_gpu: compares Rondo's device `cuda` with bare CUDA, in one process. bench_gpu --help lists the options.
//
// Every sample is watched: if one takes longer than its case allows, the process exits with status 3, the name of the case,
// and the results of all earlier samples.
#include <fmt/core.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <future>
#include <iostream>
#include <set>
#include <sstream>

#include "bench/gpu/bed.hpp"
#include "bench/gpu/cases.hpp"
#include "bench/gpu/targets.hpp"
#include "bench/gpu/watchdog.hpp"
#include "bench/harness/session.hpp"
#include "runtime/device/cuda/cuda_machine.hpp"

namespace rondo::bench::gpu {

std::vector<std::pair<std::string, std::string>> facts();  // gpu.hpp, which needs CUDA's headers

namespace {

constexpr int exit_failed = 1, exit_no_gpu = 2, exit_hangs = 3;

struct options {
  session_options session;
  unsigned seconds = 60;
  unsigned idle_seconds = 0;
  bool quick = false, experiments = false, rehearse = false;
};

case_list selected_cases(options const& chosen) {
  if (chosen.idle_seconds != 0) return idle_cases(std::chrono::seconds(chosen.idle_seconds));
  if (chosen.experiments) return experiment_cases();
  case_list cases = latency_cases();
  append(cases, lifecycle_cases());
  append(cases, device_cases());
  append(cases, memory_cases());
  append(cases, sustained_cases(std::chrono::seconds(chosen.seconds)));
  if (chosen.rehearse) return cases;  // the other cases need CUDA
  append(cases, copy_cases());
  append(cases, bare_cases());
  append(cases, bare_memory_cases());
  return cases;
}

/// Takes the samples of a session and publishes the results, even if one of the samples hangs.
class bench {
 public:
  bench(case_list cases, options const& chosen)
      : json_(chosen.session.json),
        publishes_(!chosen.rehearse),
        session_(
            std::move(cases), chosen.session,
            [this](bench_case const& work, sample_budget const& budget) { return sample(work, budget); },
            stderr),
        dog_([this](std::string const& what) {
          give_up(what + ": it takes longer than it may, so it hangs");
        }) {}

  session& work() noexcept { return session_; }

  int run() {
    if (publishes_) from_.device = facts();
    session_.run();
    publish();
    return failed_.empty() ? 0 : exit_failed;
  }

 private:
  /// On a separate thread, which may bind itself to a processor. A case that fails is reported and skipped from then on.
  measurement sample(bench_case const& work, sample_budget const& budget) {
    auto const name = describe(work) + " by " + work.peer;
    if (failed_.contains(name)) return {};
    measurement found;
    dog_.begin(name, work.limit);
    try {
      found = std::async(std::launch::async, [&] { return work.run(budget); }).get();
    } catch (device_stuck const& e) {
      give_up(name + ": " + e.what());
    } catch (std::exception const& e) {
      fmt::print(stderr, "{}: failed, its figures are left out: {}\n", name, e.what());
      failed_.insert(name);
    }
    dog_.end();
    return found;
  }

  [[noreturn]] void give_up(std::string const& why) {
    fmt::print(stderr, "bench_gpu: {}\n", why);
    try {
      publish();
    } catch (std::exception const& e) {
      fmt::print(stderr, "bench_gpu: {}\n", e.what());
    }
    std::fflush(nullptr);
    _exit(exit_hangs);  // the driver ends the kernels that still run
  }

  void publish() const {
    if (!publishes_) return;
    std::stringstream lines;
    session_.write(from_, lines);
    if (json_.empty()) {
      std::cout << lines.str() << std::flush;
    } else if (!(std::ofstream(json_, std::ios::app) << lines.str()).flush()) {
      throw std::runtime_error("cannot write the results to " + json_);
    }
    write_summary(std::cerr, parse_results(lines, "the results of this run"));
  }

  std::string json_;
  bool publishes_;
  std::set<std::string> failed_;
  provenance from_ = describe_run();
  session session_;
  watchdog dog_;
};

int start(options const& chosen) {
  chosen_bed() = {.device = chosen.rehearse ? "emulated" : "cuda", .rehearsal = chosen.rehearse};
  bench all(selected_cases(chosen), chosen);
  if (all.work().empty()) {
    fmt::print(stderr, "no case matches --case and --peer; --list without them names all\n");
    return exit_failed;
  }
  if (chosen.session.list) return all.work().list(), 0;
  // Before anything else calls CUDA: this makes it load all modules at once.
  if (std::string why; !chosen.rehearse && cuda_machine::count(why) == 0) {
    fmt::print(stderr,
               "bench_gpu: there is no GPU to measure: {}. --rehearse runs the cases of Rondo on the "
               "emulated device, to "
               "check this program\n",
               why);
    return exit_no_gpu;
  }
  return all.run();
}

}  // namespace
}  // namespace rondo::bench::gpu

int main(int argc, char** argv) {
  rondo::bench::gpu::options chosen;
  auto& session = chosen.session;
  session.rounds = 4;
  CLI::App app{
      "Measures Rondo's device cuda beside bare CUDA, on the first GPU that CUDA_VISIBLE_DEVICES shows"};
  add_options(app, session);
  app.add_option("--sample-seconds", session.seconds, "timed region of a sample")
      ->check(CLI::Range(0.01, 0.4))
      ->capture_default_str();
  app.add_option("--seconds", chosen.seconds, "how long the sustained loads last")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--quick", chosen.quick, "one short sample per case, to see that all works");
  app.add_flag(
      "--experiments", chosen.experiments,
      "what the hardware does, in place of the benches (inboxes in pinned memory: CUDA maps none of the "
      "device for the host)");
  app.add_option("--idle", chosen.idle_seconds,
                 "keep an idle runtime up for so many seconds, in place of the benches");
  app.add_flag("--rehearse", chosen.rehearse,
               "on the emulated device, and without results: to check this program where there is no GPU");
  CLI11_PARSE(app, argc, argv);
  if (chosen.quick) {
    if (app.count("--rounds") == 0) session.rounds = 1;
    if (app.count("--sample-seconds") == 0) session.seconds = 0.05;
    if (app.count("--seconds") == 0) chosen.seconds = 2;
  }
  try {
    return rondo::bench::gpu::start(chosen);
  } catch (std::exception const& failure) {
    fmt::print(stderr, "bench_gpu: {}\n", failure.what());
    return 1;
  }
}
