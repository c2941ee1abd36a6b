#include "bench/harness/harness.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "bench/harness/session.hpp"

namespace rondo::bench {

int bench_main(int argc, char** argv, bench_program const& program) {
  session_options chosen;
  CLI::App app{program.about};
  add_options(app, chosen);
  app.add_option("--seconds", chosen.seconds, "timed region of a sample")
      ->check(CLI::Range(0.01, 0.4))
      ->capture_default_str();
  program.add_options(app);
  CLI11_PARSE(app, argc, argv);

  session work(program.cases(), chosen);
  if (work.empty()) {
    fmt::print(stderr, "no case matches --case and --peer; --list without them names all\n");
    return 1;
  }
  if (chosen.list) return work.list(), 0;
  try {
    provenance from = describe_run();
    work.run();
    from.device = program.device_facts();
    if (chosen.json.empty()) return work.write(from, std::cout), 0;
    std::ofstream file(chosen.json, std::ios::app);
    work.write(from, file);
    if (!file.flush()) throw std::runtime_error("cannot write the results to " + chosen.json);
    return 0;
  } catch (std::exception const& failure) {
    fmt::print(stderr, "bench stopped, nothing was published: {}\n", failure.what());
    return 1;
  }
}

int bench_main(int argc, char** argv, case_list cases) {
  return bench_main(argc, argv,
                    {.about = "Measures Rondo and its peers doing the same work",
                     .add_options = [](CLI::App&) {},
                     .cases = [&] { return std::move(cases); },
                     .device_facts = [] { return std::vector<std::pair<std::string, std::string>>{}; }});
}

}  // namespace rondo::bench
