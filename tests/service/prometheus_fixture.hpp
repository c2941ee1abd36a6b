// A real Prometheus on this machine: it scrapes one port, reads the alert rules, and answers queries.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/service/basics_fixture.hpp"
#include "tests/service/http_client.hpp"
#include "tests/service/programs.hpp"

namespace service_test {

class prometheus {
 public:
  explicit prometheus(std::uint16_t scraped) : scratch_("prometheus") {
    auto const at = [&](char const* name) { return (scratch_.directory / name).string(); };
    std::ofstream(at("config.yml")) << "global: { scrape_interval: 200ms, evaluation_interval: 200ms }\n"
                                    << "rule_files: [" RONDO_SOURCE_DIR "/docs/monitoring/rondo.rules.yml]\n"
                                    << "scrape_configs:\n  - job_name: rondo\n    static_configs:\n"
                                    << "      - targets: ['127.0.0.1:" << scraped << "']\n";
    std::string words[] = {"prometheus", "--config.file=" + at("config.yml"),
                           "--storage.tsdb.path=" + at("data"), "--web.listen-address=127.0.0.1:0"};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, at("log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    int const failed = posix_spawnp(&pid_, arguments[0], &files, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) throw std::runtime_error("prometheus cannot be started");
    bool const listens = eventually([&] {
      static constexpr std::string_view said = "msg=\"Listening on\" address=127.0.0.1:";
      auto const log = text_of(at("log"));
      auto const found = log.find(said);
      if (found == std::string::npos || log.find('\n', found) == std::string::npos) return false;
      port_ = static_cast<std::uint16_t>(std::stoul(log.substr(found + said.size())));
      return true;
    });
    if (!listens) throw std::runtime_error("prometheus does not listen: " + text_of(at("log")));
  }
  ~prometheus() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  prometheus(prometheus const&) = delete;
  prometheus& operator=(prometheus const&) = delete;

  /// The response as JSON.
  std::string ask(std::string const& target) const {
    auto const answer = get(port_, target);
    auto const body = answer.find("\r\n\r\n");
    return body == std::string::npos ? answer : answer.substr(body + 4);
  }
  std::string query(std::string const& expression) const {
    std::string escaped;
    for (unsigned char const c : expression) {
      static constexpr char digits[] = "0123456789ABCDEF";
      if (std::isalnum(c) != 0)
        escaped += static_cast<char>(c);
      else
        (((escaped += '%') += digits[c >> 4]) += digits[c & 15]);
    }
    return ask("/api/v1/query?query=" + escaped);
  }

 private:
  rondo_test::scratch_directory scratch_;
  pid_t pid_ = 0;
  std::uint16_t port_ = 0;
};

}  // namespace service_test
