// What holds for every command of the program. The list of commands, and their options, come from its help: a new
// command fails here until it has its ways below.
#include <iterator>
#include <map>
#include <optional>

#include "tests/actors/broken_process.hpp"
#include "tests/actors/command_fixture.hpp"
#include "tests/eventually.hpp"
#include "tools/commands/exit_codes.hpp"

using namespace command_test;
using rondo_test::eventually;

namespace {

struct outcome {
  int status;
  std::string out, err;
};

outcome run(folder const& dir, std::string const& program, std::vector<std::string> const& words,
            broken_process::streams how = {}) {
  broken_process p(program, words, how, dir / "out", dir / "err");
  int const status = p.wait();
  return {status, text_of(dir / "out"), text_of(dir / "err")};
}

/// The words of a command, and behind them others.
std::vector<std::string> words_of(std::string const& command, std::vector<std::string> const& more) {
  std::istringstream in(command);
  std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The commands that `rondo --help` lists, and those of commands that have some of their own: "run pagerank".
std::vector<std::string> all_commands(folder const& dir, std::string const& of = {}) {
  auto const help = run(dir, RONDO_COMMAND, words_of(of, {"--help"})).out;
  auto const at = help.find("Subcommands:\n");
  if (at == help.npos) return {of};
  std::vector<std::string> all;
  std::istringstream lines(help.substr(at + 13));
  for (std::string line; std::getline(lines, line) && line.starts_with("  ");) {
    if (of.empty() && !line.starts_with("  run ")) {
      all.push_back(words_of(line, {}).front());
      continue;
    }
    auto const own = all_commands(dir, (of.empty() ? "" : of + " ") + words_of(line, {}).front());
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

/// Most commands are also in rondo-serve, which starts ten times as fast.
std::string program_of(std::string const& command) {
  bool const has_video =
      command == "overlay" || command == "stream" || command == "render" || command.starts_with("run ");
  return has_video ? RONDO_COMMAND : RONDO_SERVE;
}

/// A service that runs, with what each command needs.
struct site {
  folder dir;
  int made = 0;  // of outputs and names that may exist once only

  site() {
    std::string actors = R"({"name": "clicks", "behaviour": "counter"})";
    for (int i = 0; i < 20; ++i)
      actors += R"(, {"name": "t)" + std::to_string(i) + R"(", "behaviour": "counter"})";
    std::ofstream(dir / "service.json")
        << R"({"listen": ["unix:)" + socket("s") + R"("], "checkpoint": ")" + dir / "kept.ckpt" +
               R"(", "runtime": {"device": "cpu", "teams": 1, "trace_every": 1},
      "actors": [)" +
               actors + "]}";
    std::ofstream(dir / "graph.json") << R"({"stages": [
      {"name": "pattern", "stage": "test_pattern", "options": {"width": 64, "height": 48}},
      {"name": "file", "stage": "file_sink", "options": {"file": "unset.mp4"}}],
      "connections": [{"from": "pattern", "to": "file"}]})";
    std::ofstream(dir / "scene.json") << R"({"rate": 25, "stages": [
      {"name": "pattern", "stage": "test_pattern", "options": {"width": 64, "height": 48}}], "connections": []})";
    std::ofstream(dir / "threads.json") << R"({"listen": ["unix:)" + socket("threads") +
                                               R"("], "metrics": "127.0.0.1:0", "runtime": {"teams": 2}})";
    make_clip(dir, "clip.mp4", 12);
    {
      broken_process recorded(RONDO_SERVE,
                              {"serve", "--device", "cpu", "--listen", "unix:" + socket("r"), "--actor",
                               "clicks=counter", "--recording", dir / "run.rec"},
                              {}, dir / "o", dir / "log");
      REQUIRE(eventually([&] { return text_of(dir / "log").find("; ready\n") != std::string::npos; }));
      REQUIRE(
          run(dir, RONDO_SERVE, {"tell", "clicks", "add", R"({"amount": 1})", "--at", "unix:" + socket("r")})
              .status == 0);
      recorded.signal(SIGTERM);
      REQUIRE(recorded.wait() == 0);
    }
    service.emplace(RONDO_SERVE, std::vector<std::string>{"serve", "--config", dir / "service.json"},
                    broken_process::streams{}, dir / "o", dir / "service.log");
    REQUIRE(eventually([&] { return text_of(dir / "service.log").find("; ready\n") != std::string::npos; }));
    REQUIRE(run(dir, RONDO_SERVE, {"tell", "clicks", "add", R"({"amount": 1})", "--at", at()}).status == 0);
  }
  std::string socket(std::string const& name) const { return dir / (name + ".sock"); }
  std::string at() const { return "unix:" + socket("s"); }

  std::optional<broken_process> service;
};

/// One way to call a command: `{n}` is a number of its own, `{d}` the folder.
struct way {
  std::vector<std::string> words;
  int status;
  std::string file{};  // that it writes whole, whatever its streams are
};

std::map<std::string, std::vector<way>> const ways{
    {"overlay",
     {{{"--input", "{d}/clip.mp4", "--output", "{d}/o{n}.mp4", "--device", "cpu"}, 0, "{d}/o{n}.mp4"},
      {{"--input", "{d}/missing.avi", "--no-output"}, 66}}},
    {"stream",
     {{{"{d}/graph.json", "--ticks", "12", "--set", "file.file={d}/s{n}.mp4"}, 0, "{d}/s{n}.mp4"},
      {{"{d}/missing.json"}, 78}}},
    {"render",
     {{{"{d}/scene.json", "{d}/v{n}.mp4", "--ticks", "12", "--rate", "0"}, 0, "{d}/v{n}.mp4"},
      {{"{d}/missing.json"}, 78}}},
    {"run agents",
     {{{"--agents", "200", "--steps", "12", "--device", "cpu", "--quiet", "--video", "{d}/a{n}.mp4"},
       0,
       "{d}/a{n}.mp4"},
      {{"--agents", "0"}, 64}}},
    {"run anomaly",
     {{{"--generate", "sensors=3,readings=500", "--device", "cpu", "--quiet", "--output", "{d}/r{n}.csv"},
       0,
       "{d}/r{n}.csv"},
      {{"{d}/missing.csv"}, 66}}},
    {"run pagerank",
     {{{"--generate", "scale=6", "--device", "cpu", "--quiet", "--output", "{d}/p{n}.csv"},
       0,
       "{d}/p{n}.csv"},
      {{"{d}/missing.txt"}, 66}}},
    {"serve", {{{"--device", "toaster"}, 78}}},
    {"replay",
     {{{"{d}/run.rec", "--checkpoint", "{d}/r{n}.ckpt"}, 0, "{d}/r{n}.ckpt"}, {{"{d}/missing.rec"}, 66}}},
    {"ask", {{{"clicks", "get", "--at", "{at}"}, 0}, {{"nobody", "get", "--at", "{at}"}, 1}}},
    {"tell",
     {{{"clicks", "add", R"({"amount": 1})", "--at", "{at}"}, 0},
      {{"clicks", "nonsense", "--at", "{at}"}, 64}}},
    {"launch", {{{"new{n}", "counter", "--at", "{at}"}, 0}, {{"clicks", "nonsense", "--at", "{at}"}, 1}}},
    {"activate", {{{"clicks", "--at", "{at}"}, 0}, {{"nobody", "--at", "{at}"}, 1}}},
    {"deactivate", {{{"clicks", "--at", "{at}"}, 0}, {{"nobody", "--at", "{at}"}, 1}}},
    {"terminate", {{{"t{n}", "--at", "{at}"}, 0}, {{"nobody", "--at", "{at}"}, 1}}},
    {"list", {{{"--at", "{at}"}, 0}, {{"--at", "unix:{d}/nowhere", "--timeout", "0.05"}, 69}}},
    {"inspect", {{{"clicks", "--at", "{at}"}, 0}, {{"nobody", "--at", "{at}"}, 1}}},
    {"describe", {{{"--at", "{at}"}, 0}, {{"--at", "nowhere"}, 78}}},
    {"checkpoint", {{{"--at", "{at}"}, 0, "{d}/kept.ckpt"}, {{"--at", "nowhere"}, 78}}},
    {"trace",
     {{{"--out", "{d}/t{n}.json", "--at", "{at}"}, 0, "{d}/t{n}.json"}, {{"no trace", "--at", "{at}"}, 64}}},
    {"top", {{{"--once", "--interval", "50", "--at", "{at}"}, 0}, {{"--at", "{at}"}, 64}}},
};

std::string filled(std::string text, site const& s, int n) {
  for (auto const& [mark, value] : {std::pair<std::string, std::string>{"{n}", std::to_string(n)},
                                    {"{d}", s.dir.path.string()},
                                    {"{at}", s.at()}})
    for (auto at = text.find(mark); at != text.npos; at = text.find(mark))
      text.replace(at, mark.size(), value);
  return text;
}

/// Whether a file is whole, whichever command wrote it.
bool is_whole(std::string const& file) {
  if (file.ends_with(".mp4")) return frames_in(file) == 12;
  if (file.ends_with(".json")) return text_of(file).ends_with("]}\n");
  return fs::file_size(file) > 0;
}

}  // namespace

TEST_CASE(
    "every command ends with its own status and whole files when its standard streams are closed, full or "
    "broken pipes",
    "[command]") {
  site s;
  for (auto const& name : all_commands(s.dir)) {
    INFO("the command " << name << "; describe how to call it in `ways`");
    REQUIRE(ways.contains(name));
    for (auto const& w : ways.at(name)) {
      auto const call = [&](broken_process::streams how) {
        int const n = s.made++ % 20;
        auto words = words_of(name, {});
        for (auto const& word : w.words) words.push_back(filled(word, s, n));
        auto const file = filled(w.file, s, n);
        if (!file.empty()) fs::remove(file);
        auto const o = run(s.dir, program_of(name), words, how);
        if (!file.empty()) CHECK((fs::exists(file) && is_whole(file)));
        return o;
      };
      auto const usual = call({});
      INFO(w.words.front() << ": " << usual.err);
      CHECK(usual.status == w.status);
      int const unprinted = usual.status == 0 && !usual.out.empty() ? 73 : w.status;
      for (auto const how : breakages) {
        INFO("its streams are " << name_of(how));
        CHECK(call({how, how, how}).status == unprinted);
        CHECK(call({stream_is::whole, stream_is::whole, how}).status == w.status);
      }
    }
    for (auto const how : breakages) {
      INFO("its streams are " << name_of(how));
      CHECK(run(s.dir, program_of(name), words_of(name, {"--help"}), {how, how, how}).status == 73);
      CHECK(run(s.dir, program_of(name), words_of(name, {"--no-such-option"}), {how, how, how}).status == 64);
    }
  }
}

TEST_CASE(
    "a service whose standard streams are closed, full or broken pipes serves, and writes its checkpoint",
    "[command]") {
  folder const dir;
  for (auto const how : breakages) {
    INFO("its streams are " << name_of(how));
    auto const at = "unix:" + dir / name_of(how), kept = dir / "kept.ckpt";
    broken_process service(
        RONDO_SERVE,
        {"serve", "--device", "cpu", "--listen", at, "--actor", "clicks=counter", "--checkpoint", kept},
        {how, how, how}, dir / "o", dir / "e");
    CHECK(eventually([&] { return run(dir, RONDO_SERVE, {"list", "--at", at}).status == 0; }));
    service.signal(SIGTERM);
    CHECK(service.wait() == 0);
    CHECK(fs::remove(kept));
  }
}

TEST_CASE("a file of messages that cannot be read, or has no end of a line, is refused", "[command]") {
  site s;
  std::vector<std::string> const words{"ask", "--file", "-", "--at", s.at()};
  auto const closed = run(s.dir, RONDO_SERVE, words, {stream_is::closed});
  CHECK(closed.status == 66);
  CHECK_THAT(closed.err, Contains("standard input: cannot be read"));
  auto const endless = run(s.dir, RONDO_SERVE, words, {stream_is::full});  // which reads as zeros without end
  CHECK(endless.status == 65);
  CHECK_THAT(endless.err, Contains("standard input:1: has more than 65536 bytes"));
  CHECK(run(s.dir, RONDO_SERVE, words, {stream_is::broken_pipe}).status == 0);  // it is empty
}

TEST_CASE(
    "every option of every command that takes a number refuses what is no number within its bounds, by name",
    "[command]") {
  folder const dir;
  std::size_t options = 0;
  for (auto const& name : all_commands(dir)) {
    auto const help = run(dir, program_of(name), words_of(name, {"--help"})).out;
    std::regex const numeric(R"((--[a-z-]+) (?:[0-9.e+]+\.\.[0-9.e+]+|U?INT|FLOAT|NUMBER))");
    for (auto at = std::sregex_iterator(help.begin(), help.end(), numeric); at != std::sregex_iterator();
         ++at) {
      auto const option = (*at)[1].str();
      // They share what reads numbers: all wrong ones are tried once, and one that is none and one beyond any bound for
      // each.
      std::vector<char const*> all_wrong{"nan", "99999999999999999999"};
      if (options++ == 0) all_wrong.insert(all_wrong.end(), {"-1", "1e400", "", "4x", "0x10"});
      for (auto const* const wrong : all_wrong) {
        auto const said = run(dir, program_of(name), words_of(name, {option, wrong}));
        INFO(name << " " << option << " '" << wrong << "': " << said.err);
        CHECK(said.status == 64);
        CHECK_THAT(said.err, Contains(option) && Contains(std::string("'") + wrong + "'"));
        CHECK(said.err.size() < 300);  // no bound of three hundred digits
      }
    }
  }
  CHECK(options > 15);
}

TEST_CASE("every place that starts a thread says what for, and what to raise, when the system has none left",
          "[command]") {
  site s;
  auto const preload = [](int failing) {  // in processes that begin from now on; 0: none
    if (failing == 0) return unsetenv("LD_PRELOAD"), void();
    setenv("FAILING_THREAD", std::to_string(failing).c_str(), 1);
    setenv("LD_PRELOAD", FEW_THREADS, 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
  };
  auto const refused = [&](int status, std::string const& said) {
    CHECK(status == 69);
    CHECK_THAT(said, Contains("rondo: no thread can be started for ") && Contains("ulimit -u"));
  };
  for (auto const* const device : {"cpu", "emulated"}) {
    int failing = 1;
    for (bool ready = false; !ready; ++failing) {
      auto const log = s.dir / "log";
      preload(failing);
      broken_process service(RONDO_SERVE, {"serve", "--device", device, "--config", s.dir / "threads.json"},
                             {}, s.dir / "o", log);
      preload(0);
      int status = -1;
      REQUIRE(eventually([&] {
        ready = text_of(log).find("; ready\n") != std::string::npos;
        return ready || service.has_ended(status);
      }));
      INFO(device << ", thread " << failing << ": " << text_of(log));
      if (!ready) refused(status, text_of(log));
    }
    CHECK(failing > 4);  // teams, the service, the network, ...
  }
  std::vector<std::vector<std::string>> const clients{{"ask", "clicks", "get"}, {"list"}, {"top", "--once"}};
  for (auto const& words : clients) {
    preload(1);
    broken_process client(RONDO_SERVE, words, {}, s.dir / "o", s.dir / "e");
    preload(0);
    int const status = client.wait();
    refused(status, text_of(s.dir / "e"));
  }
}

TEST_CASE("the help, the manual page and the docs have one table of exit statuses", "[command]") {
  folder const dir;
  auto const help = run(dir, RONDO_SERVE, {"--help"}).out;
  auto const manual = text_of(RONDO_SOURCE_DIR "/tools/rondo/share/rondo.1");
  auto const docs = text_of(RONDO_SOURCE_DIR "/docs/service.md");
  for (auto const& row : rondo::exit_statuses) {
    auto const code = std::to_string(static_cast<int>(row.code));
    CHECK_THAT(help, Contains(code + " " + row.meaning + "\n"));
    CHECK_THAT(manual, Contains(".It " + code + "\n" + row.meaning + "\n"));
    CHECK_THAT(docs, Contains("| " + code + " | " + row.meaning + " |\n"));
  }
}
