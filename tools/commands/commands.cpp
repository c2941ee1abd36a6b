// Runs a program of commands: parses the command line, and checks at the end that its output was written.
#include "tools/commands/commands.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "runtime/text/clean_text.hpp"
#include "runtime/text/shown_url.hpp"
#include "runtime/text/to_stderr.hpp"
#include "tools/commands/command_line.hpp"

namespace rondo::service {

namespace {

/// Opens standard streams that were closed: otherwise a socket could get their number, and receive what is printed.
/// They are opened in the wrong direction, so that printing fails and is noticed.
void fill_standard_streams() {
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY));
}

/// Flushes the output. Returns `status`, or exit_no_output if the output could not be written.
int status_after_output(int status) {
  std::cout.flush();
  bool const failed = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !failed) return status;
  if (status != exit_done) return status;  // it has already reported an error
  if (errno != EPIPE)                      // a reader that closed the pipe knows
    to_stderr(fmt::format("rondo: standard output cannot be written{}{}\n", errno != 0 ? ": " : "",
                          errno != 0 ? std::strerror(errno) : ""));
  return exit_no_output;
}

int parse_and_run(CLI::App& app, int argc, char** argv, int const& exit_status) try {
  app.parse(argc, argv);
  return exit_status;
} catch (CLI::ParseError const& e) {
  if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
  auto const commands = app.get_subcommands();
  auto const program = std::filesystem::path(argv[0]).filename().string();
  if (commands.empty() && argc > 1 && argv[1][0] != '-')
    to_stderr(
        fmt::format("rondo: unknown command '{}'; see {} --help\n", clean_text(shown_url(argv[1])), program));
  else
    to_stderr(fmt::format("rondo: {}; see {}{} --help\n", clean_text(shown_words(e.what())), program,
                          commands.empty() ? "" : " " + commands.front()->get_name()));
  return exit_usage;
}

}  // namespace

int run_app(CLI::App& app, int argc, char** argv, int const& exit_status) {
  fill_standard_streams();
  std::signal(SIGPIPE,
              SIG_IGN);  // who reads the output or the log may go away; no work is left half done for that
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error with its text
  return status_after_output(parse_and_run(app, argc, argv, exit_status));
}

int run_commands(int argc, char** argv, served_module module) {
  CLI::App app{"A service of Rondo actors"};
  app.require_subcommand(1);
  int exit_status = exit_done;
  add_serve_command(app, module, exit_status);
  add_replay_command(app, std::move(module), exit_status);
  add_client_commands(app, exit_status);
  return run_app(app, argc, argv, exit_status);
}

}  // namespace rondo::service
