// The commands of a service as other programs use them: their output and their exit statuses.
#include <sys/wait.h>

#include <boost/json.hpp>
#include <sstream>

#include "runtime/observe/log.hpp"
#include "runtime/service/monitor/metric_text.hpp"
#include "runtime/text/clean_text.hpp"
#include "tests/catch.hpp"
#include "tests/eventually.hpp"
#include "tests/service/programs.hpp"
#include "tests/service/raw_client.hpp"
#include "tests/service/serve_process.hpp"

using Catch::Matchers::Contains;
using service_test::run;

namespace {

std::string const program = RONDO_COMMAND;

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

/// A service with an actor `clicks`, and the command line of its clients.
struct site {
  rondo_test::scratch_directory scratch{"commands"};
  rondo_test::serve_process server{rondo_test::write_config(
      scratch.directory, "commands", "", R"("actors": [{"name": "clicks", "behaviour": "counter"}])")};
  std::string at = " --at " + rondo_test::socket_of(scratch.directory, "commands").text();

  site() { REQUIRE(server.wait_ready()); }
  std::string command(std::string const& words) const { return program + " " + words + at; }
};

/// Runs a shell command line; returns its exit status and its standard error.
std::pair<int, std::string> run_line(std::string const& line) {
  auto const [status, said] = run("bash -c '" + line + "'");
  return {code_of(status), said};
}

}  // namespace

TEST_CASE("list, inspect and describe print JSON for programs", "[service][commands]") {
  site const s;
  REQUIRE(run(s.command(R"(tell clicks add '{"amount": 2}')")).first == 0);
  auto const listed = run(s.command("list --json"));
  REQUIRE(listed.first == 0);
  auto const line = boost::json::parse(listed.second);
  CHECK(line.at("name").as_string() == "clicks");
  CHECK(line.at("behaviour").as_string() == "rondo::basics::counter");
  CHECK(line.at("state").as_string() == "active");
  CHECK(line.at("id").at("generation").to_number<int>() > 0);
  CHECK_FALSE(line.at("pinned").as_bool());
  auto const inspected = run(s.command("inspect clicks --json"));
  REQUIRE(inspected.first == 0);
  auto const all = boost::json::parse(inspected.second);
  CHECK(all.at("name").as_string() == "clicks");
  CHECK(all.at("accepted").to_number<int>() == 1);
  CHECK(all.at("depths").is_array());
  auto const described = run(s.command("describe --json"));
  REQUIRE(described.first == 0);
  std::istringstream lines(described.second);
  bool found = false;
  for (std::string text; std::getline(lines, text);) {
    auto const behaviour = boost::json::parse(text);
    if (behaviour.at("behaviour").as_string() != "rondo::basics::counter") continue;
    for (auto const& m : behaviour.at("messages").as_array())
      if (m.at("name").as_string() == "rondo.basics.add_and_get")
        found = m.at("reply").as_string().starts_with("rondo.basics.");
  }
  CHECK(found);
}

TEST_CASE(
    "a request without an answer in time ends with one status and a reason, whichever side notices first",
    "[service][commands]") {
  site s;
  REQUIRE(run(s.command("deactivate clicks")).first == 0);
  for (auto const* const limit : {"0.001", "0.02", "0.05", "0.1", "0.2"})
    for (int again = 0; again < 3; ++again) {
      auto const [status, why] = run(s.command(std::string("ask clicks get --timeout ") + limit));
      INFO(why);
      CHECK(code_of(status) == 69);
      CHECK_THAT(why, Contains("no answer from unix:") || Contains("no service answers at unix:"));
      CHECK_THAT(why, !Contains(": ;") && !Contains(": \n"));
    }
  auto const [own, said] = run(s.command("ask clicks get --deadline-us 1000"));  // refused by the service
  CHECK(code_of(own) == 1);
  CHECK_THAT(said, Contains("deadline"));
  REQUIRE(s.server.stop());
  for (auto const* const command : {"ask clicks get", "list", "top --once"}) {
    auto const [status, why] = run(s.command(command) + " --timeout 0.1");
    CHECK(code_of(status) == 69);
    CHECK_THAT(why, Contains("it accepts connections, but does not answer"));
  }
}

TEST_CASE(
    "a file of messages is given up when its service has gone, or answers none of as many as are in flight",
    "[service][commands]") {
  site s;
  std::string const line = R"({"actor": "clicks", "message": "add_and_get", "payload": {"amount": 1}})"
                           "\n";
  auto const answers = (s.scratch.directory / "answers").string(),
             errors = (s.scratch.directory / "errors").string();
  auto const count = [&] {
    auto const text = service_test::text_of(answers);
    return std::count(text.begin(), text.end(), '\n');
  };
  SECTION("killed") {
    auto* const file = popen(
        (s.command("ask --file - --open 8 --timeout 0.1") + " >" + answers + " 2>" + errors).c_str(), "w");
    REQUIRE(file != nullptr);
    auto const before = std::signal(SIGPIPE, SIG_IGN);  // the command may end before it has read all
    std::fputs(line.c_str(), file);
    std::fflush(file);
    CHECK(rondo_test::eventually(
        [&] { return run(s.command("inspect clicks")).second.find("handled     1") != std::string::npos; }));
    s.server.end(SIGKILL);
    for (int i = 0; i < 1000; ++i) std::fputs(line.c_str(), file);
    CHECK(code_of(pclose(file)) == 69);
    std::signal(SIGPIPE, before);
    CHECK(count() < 20);
    CHECK_THAT(service_test::text_of(errors),
               (Contains("no service answers any more at unix:") || Contains("in a row had no answer")) &&
                   Contains("those after it were not sent"));
  }
  SECTION("silent") {
    auto const how = GENERATE("ask", "tell");  // told messages wait for room in the mailbox
    REQUIRE(run(s.command("launch silent counter --capacity 32 --inactive")).first == 0);
    auto const all = (s.scratch.directory / "lines").string();
    std::ofstream lines(all);
    for (int i = 0; i < 1000; ++i)
      lines << R"({"actor": "silent", "message": "add_and_get", "payload": {"amount": 1}})"
               "\n";
    lines.close();
    auto const status = std::system((s.command(std::string(how) + " --open 8 --timeout 0.1 --file " + all) +
                                     " >" + answers + " 2>" + errors)
                                        .c_str());
    CHECK(code_of(status) == 69);
    CHECK(count() < 100);
    CHECK_THAT(service_test::text_of(errors),
               Contains("messages in a row had no answer within 0.1 s (--timeout); this line and"));
  }
}

TEST_CASE("a name that is not UTF-8 leaves every output of names valid", "[service][commands]") {
  site s;
  std::string const name =
      R"sh("$(printf '\377\303x')")sh";  // two bytes that are no characters, and one that is
  REQUIRE(run(s.command("launch " + name + " counter")).first == 0);
  auto const shows = [&](std::string const& command, std::string const& file = {}) {
    auto const [status, out] = run(s.command(command));
    auto const text = file.empty() ? out : service_test::text_of(file);
    INFO(command << ": " << out);
    CHECK(status == 0);
    CHECK(rondo::valid_utf8(text) == text);
    CHECK_THAT(text, Contains("??x"));
    return text;
  };
  std::istringstream lines(shows("list --json"));
  for (std::string line; std::getline(lines, line);) CHECK_NOTHROW(boost::json::parse(line));
  CHECK_NOTHROW(boost::json::parse(shows("inspect --json " + name)));
  auto const way = (s.scratch.directory / "way.json").string(),
             otlp = (s.scratch.directory / "way.otlp.json").string();
  auto const ask = "ask " + name + " get --trace ";
  CHECK_NOTHROW(boost::json::parse(shows(ask + way, way)));
  CHECK_NOTHROW(boost::json::parse(shows(ask + otlp, otlp)));
  CHECK_NOTHROW(boost::json::parse(shows("top --json --interval 50")));
  shows("list");
  shows("top --once --interval 50");
  shows("inspect " + name);
  auto const [refused, why] = run(s.command("tell " + name + " nonsense"));
  CHECK(code_of(refused) == 64);
  CHECK_THAT(why, Contains("??x is a rondo::basics::counter"));
}

TEST_CASE("text for metrics and for logs of handlers is valid UTF-8, whatever an actor is called",
          "[service]") {
  rondo::service::metric_text metrics;
  metrics.family("depth", "gauge", "Waiting messages.");
  metrics.sample({{"actor", "\xff\"x"}}, 1.0);
  CHECK_THAT(std::move(metrics).take(), Contains(R"(depth{actor="?\"x"} 1)"));
  rondo::log_line line;
  line.actor_name = "\xff\x1b[2J";
  line.behaviour = "counter";
  line.text = "over";
  CHECK(rondo::to_text(line) == "[info] counter '??[2J': over");
}

TEST_CASE("a command that cannot write its output reports that", "[service][commands]") {
  site const s;
  auto const [full, why] = run_line("exec 3>&1; " + s.command("list") + " 2>&3 >/dev/full");
  CHECK(full == 73);
  CHECK_THAT(why, Contains("standard output cannot be written"));
  // Its socket must not get the number of the closed stream.
  auto const [closed, why_closed] = run_line(s.command("list") + " >&-");
  CHECK(closed == 73);
  CHECK_THAT(why_closed, Contains("standard output cannot be written"));
  CHECK(run_line(s.command("list") + " <&- 2>&-").first == 0);
  CHECK(run_line(program + " --help >/dev/full").first == 73);
}

TEST_CASE("invalid settings and unavailable devices have different exit statuses", "[service][commands]") {
  rondo_test::scratch_directory const scratch("commands");
  auto const config = (scratch.directory / "config.json").string();
  auto const status_of = [&](std::string const& text) {
    std::ofstream(config) << text;
    return run_line(program + " serve --config " + config +
                    " --listen unix:" + (scratch.directory / "s").string());
  };
  for (auto const* text : {"{", R"({"nonsense": 1})", R"({"runtime": {"device": "toaster"}})",
                           R"({"runtime": {"state_bytes": 18446744073709551615}})",
                           R"({"runtime": {"buffer_bytes_cap": 18446744073709551615}})",
                           R"({"runtime": {"pinned_bytes": 70368744177665}})"}) {
    INFO(text);
    auto const [status, said] = status_of(text);
    CHECK(status == 78);
    CHECK_THAT(said, Contains("config.json"));
  }
  CHECK(run_line(program + " serve --device toaster").first == 78);
  CHECK(run_line(program + " serve --listen nowhere").first == 78);
  CHECK(run_line(program + " list --at nowhere").first == 78);
  CHECK(run_line("RONDO_LANES=many " + program + " serve").first == 78);
  auto const [not_numeric, metrics] = status_of(R"({"metrics": "localhost:9464"})");
  CHECK(not_numeric == 78);
  CHECK_THAT(metrics,
             Contains("metrics: 'localhost:9464' is refused; it must be ADDRESS:PORT") && !Contains("tcp:"));
  auto const [status, said] = run_line(program + " serve --device metal");
  CHECK(status == 69);
  CHECK_THAT(said, Contains("metal"));
}

TEST_CASE("files that cannot be read, written or restored have different exit statuses",
          "[service][commands]") {
  site const s;
  auto const status_of = [](std::string const& command) {
    auto const [status, said] = run_line(command);
    INFO(command << ": " << said);
    CHECK_THAT(said, Contains("rondo: "));
    return status;
  };
  auto const serve = program + " serve --listen unix:" + (s.scratch.directory / "other").string();
  auto const junk = s.scratch.directory / "junk";
  std::ofstream(junk) << "junk";
  CHECK(status_of(serve + " --checkpoint " + junk.string()) == 78);
  CHECK(status_of(serve + " --recording /nonexistent/run.rec") == 73);
  CHECK(status_of(program + " replay /nonexistent/run.rec") == 66);
  CHECK(status_of(program + " replay " + s.scratch.directory.string()) == 66);
  CHECK(status_of(program + " replay " + junk.string()) == 65);
  CHECK(status_of(s.command("ask --file /nonexistent/requests")) == 66);
  CHECK(status_of(s.command("ask --file " + junk.string())) == 65);
  CHECK(status_of(s.command("tell clicks add --trace /nonexistent/way.json")) == 73);
  CHECK(status_of(s.command("trace --out /nonexistent/all.json")) == 73);  // of the message above
}

TEST_CASE("rondo top needs a terminal, and suggests an alternative without one", "[service][commands]") {
  site const s;
  auto const [piped, why] = run_line(s.command("top") + " </dev/null | cat; exit ${PIPESTATUS[0]}");
  CHECK(piped == 64);
  CHECK_THAT(why, Contains("use --once"));
  CHECK(run_line(s.command("top --once --interval 50") + " | cat").first == 0);
}

TEST_CASE("rondo-serve does not need video libraries", "[service][commands]") {
  auto const [status, libraries] = run("ldd " RONDO_SERVE);
  REQUIRE(status == 0);
  CHECK_THAT(libraries, Contains("libssl") && !Contains("libav") && !Contains("libX11"));
  CHECK(run(RONDO_SERVE " serve --help").first == 0);
  auto const [refused, why] = run_line(RONDO_SERVE " overlay");
  CHECK(refused == 64);
  CHECK_THAT(why, Contains("unknown command 'overlay'"));
}

TEST_CASE("a log that nobody reads does not delay clients, and its missing lines are counted",
          "[service][commands][hostile]") {
  site s;
  auto const at = rondo_test::socket_of(s.scratch.directory, "commands");
  // A dropped client is a line of the log, which the thread that answers clients writes.
  auto const be_dropped = [&] {
    rondo_test::raw_client stranger(at);
    REQUIRE(stranger.send(std::string(8, '\xff')));
    while (stranger.receive() != nullptr) continue;
  };
  s.server.stuff_log();
  be_dropped();
  REQUIRE(run(s.command(R"(tell clicks add '{"amount": 2}')")).first == 0);
  s.server.listen();
  be_dropped();
  CHECK(rondo_test::eventually([&] {
    s.server.listen();
    return s.server.log().find("log lines were left out: 1;") != std::string::npos;
  }));
}

TEST_CASE("no command shows the password of a URL that it is given", "[service][commands]") {
  for (auto const* const words :
       {"serve --nats tls://u:SECRET@h:port", "serve --nats http://u:SECRET@h", "serve --nats SECRET@h:port",
        "serve --nat nats://u:SECRET@h", "serve --nats=nats://u:SECRET@h --x",
        "serve --listen tcp://u:SECRET@h:1", "list --at nats://u:SECRET@h:1", "list --at u:SECRET@h:1",
        "nats://u:SECRET@h"}) {
    auto const [status, said] = run(program + " " + words);
    INFO(words << " -> " << said);
    CHECK(status != 0);
    CHECK_THAT(said, Contains("rondo: ") && !Contains("SECRET"));
  }
  rondo_test::scratch_directory const scratch("passwords");
  auto const config = rondo_test::write_config(scratch.directory, "passwords", "http://u:SECRET@h",
                                               R"("metrics": "u:SECRET@h:1")");
  auto const [status, said] = run(program + " serve --config " + config.string());
  CHECK(status != 0);
  CHECK_THAT(said, Contains("***@h") && !Contains("SECRET"));
}
