// The configuration of a runtime: files, environment, ranges, and the texts of refusals.
#include "runtime/base/config.hpp"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace {

// A file for one test process, removed with the object.
class json_file {
 public:
  explicit json_file(std::string_view text) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("rondo_config_" + std::to_string(reinterpret_cast<std::uintptr_t>(this)) + "_" +
             std::to_string(std::random_device{}()) + "_" + std::to_string(count++) + ".json");
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~json_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  json_file(json_file const&) = delete;
  json_file& operator=(json_file const&) = delete;
  std::filesystem::path const& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

rondo::config load(std::string_view text) { return rondo::load_config(json_file(text).path()); }

template <class Function>
std::string refusal(Function function) {
  try {
    function();
  } catch (rondo::config_error const& e) {
    return e.what();
  }
  return "accepted";
}

std::string refusal_of(std::string_view text) {
  return refusal([&] { load(text); });
}

rondo::config from(std::vector<char const*> variables, rondo::config base = {}) {
  variables.push_back(nullptr);
  return rondo::config_from_environment(std::move(base), variables.data());
}

std::string refusal_from(char const* variable) {
  return refusal([&] { from({variable}); });
}

bool has(std::string const& text, std::string_view part) {
  INFO(text);
  INFO("lacks: " << part);
  bool const found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("an error names the variable that set a field, or else the field", "[config]") {
  rondo::config c;
  c.lanes = 33;
  c.device = "cuda:1";
  c.polling = true;
  CHECK(rondo::setting_name(c, "lanes") == "lanes");
  std::pair<char const*, char const*> const variables[] = {
      {"RONDO_LANES", "33"}, {"RONDO_DEVICE", "cpu,cuda:1"}, {"RONDO_POLLING", "true"}, {"RONDO_TEAMS", "7"}};
  for (auto const& [name, text] : variables) REQUIRE(::setenv(name, text, 1) == 0);
  auto const lanes = rondo::setting_name(c, "lanes"), device = rondo::setting_name(c, "device"),
             polling = rondo::setting_name(c, "polling"), teams = rondo::setting_name(c, "teams");
  for (auto const& [name, text] : variables) ::unsetenv(name);
  CHECK(lanes == "RONDO_LANES");
  CHECK(device == "RONDO_DEVICE");
  CHECK(polling == "RONDO_POLLING");
  CHECK(teams == "teams");  // the program set another value
}

TEST_CASE("an error of an option of the command line names the option", "[config]") {
  rondo::config c;
  rondo::set_field(c, "device", "cpu,emulated", "--device");
  CHECK(c.device == "cpu,emulated");
  has(refusal([&] { rondo::set_field(c, "device", "abacus", "--device"); }),
      "--device: device: 'abacus' is refused");
}

TEST_CASE("an empty object gives the defaults", "[config]") {
  CHECK(load("{}") == rondo::config{});
  CHECK_NOTHROW(rondo::validate(rondo::config{}));
}

TEST_CASE("a file sets every kind of field and leaves the others", "[config]") {
  auto const got = load(R"({ // comments are fine
    "device": "cuda:3", "teams": 0, "lanes": 32, "ring_mode": "rounds", "log_level": "error", "polling": true,
    "actors": 1000000, "seed": 18446744073709551615, "submission_slots": 2 })");
  rondo::config expected;
  expected.device = "cuda:3";
  expected.lanes = 32;
  expected.ring_mode = rondo::ring_mode::rounds;
  expected.log_level = rondo::log_level::error;
  expected.polling = true;
  expected.actors = 1'000'000;
  expected.seed = 18446744073709551615u;
  expected.submission_slots = 2;
  CHECK(got == expected);
}

TEST_CASE("a file overrides its base, even with zero", "[config]") {
  rondo::config base;
  base.teams = 7;
  base.quota = 9;
  json_file const file(R"({"teams": 0})");
  auto const got = rondo::load_config(file.path(), base);
  CHECK(got.teams == 0);
  CHECK(got.quota == 9);
}

TEST_CASE("each documented device name is accepted, others are not", "[config]") {
  for (std::string const name : {"auto", "cpu", "emulated", "cuda", "cuda:0", "cuda:12", "metal", "opencl",
                                 "opencl:Portable Computing Language", "cpu,cuda:0,cuda:12"}) {
    CHECK(load("{\"device\": \"" + name + "\"}").device == name);
  }
  for (std::string const name :
       {"", "gpu", "cuda:", "cuda:x", "opencl:", "CPU", "cpu ", "metal:0", "cuda:0123", "cpu,", ",cpu",
        "cpu, cuda", "cpu,auto", "auto,cpu", "auto,auto"}) {
    auto const text = refusal_of("{\"device\": \"" + name + "\"}");
    has(text, "device: '" + name + "' is refused");
    has(text,
        "it must be auto alone, or one or several, separated by commas, of cpu, emulated, cuda, cuda:N, "
        "opencl, opencl:NAME, metal");
  }
}

TEST_CASE("the device none is refused with what was probably meant", "[config]") {
  has(refusal_from("RONDO_DEVICE=none"), "RONDO_DEVICE: device: 'none' (for no GPU, choose cpu) is refused");
}

TEST_CASE("a refusal names file, line, field and reason", "[config]") {
  json_file const file("{\n  \"teams\": 2,\n  \"default_capacity\": 0\n}");
  auto const text = refusal([&] { rondo::load_config(file.path()); });
  CHECK(text == file.path().string() +
                    ":3: default_capacity: 0 is refused; it must be a whole number from 1 to 1048576");
}

TEST_CASE("a refusal names the line of the key, not of a comment or of another key", "[config]") {
  has(refusal_of("{\n// \"lanes\": 2\n\"lanes\": 5000}"), ":3: lanes: ");
  has(refusal_of("{\"teams\": 1,\n\n\"teams\": 2}"), ":3: teams: is given twice");
  has(refusal_of("{\n\"te\\u0061ms\": -1}"), ".json: teams: is -1");
}

TEST_CASE("an unknown key is refused with the list of known ones", "[config]") {
  auto const text = refusal_of("{\"teems\": 2}");
  has(text, ":1: teems: unknown field");
  has(text, "teams");
}

TEST_CASE("a value of the wrong type is refused", "[config]") {
  using pair = std::pair<char const*, char const*>;
  auto const [json, reason] =
      GENERATE(pair{R"({"teams": "2"})", "teams: is a string; it must be a whole number"},
               pair{R"({"teams": true})", "teams: is true; it must be a whole number"},
               pair{R"({"teams": 2.5})", "teams: is 2.5; it must be a whole number"},
               pair{R"({"teams": null})", "teams: is null; it must be a whole number"},
               pair{R"({"teams": [2]})", "teams: is a list; it must be a whole number"},
               pair{R"({"teams": {"a": 2}})", "teams: is an object; it must be a whole number"},
               pair{R"({"polling": 1})", "polling: is 1; it must be true or false"},
               pair{R"({"polling": "true"})", "polling: is a string; it must be true or false"},
               pair{R"({"device": 3})", "device: is 3; it must be auto alone, or one or several"},
               pair{R"({"ring_mode": 1})", "ring_mode: is 1; it must be one of persistent, rounds"});
  has(refusal_of(json), reason);
}

TEST_CASE("a value out of range is refused", "[config]") {
  using pair = std::pair<char const*, char const*>;
  auto const [json, reason] = GENERATE(
      pair{R"({"teams": -1})", "teams: is -1; it must be a whole number from 0"},
      pair{R"({"lanes": 1025})", "lanes: 1025 is refused; it must be a whole number from 0 to 1024"},
      pair{R"({"actors": 1000001})",
           "actors: 1000001 is refused; it must be a whole number from 1 to 1000000"},
      pair{R"({"teams": 1, "quota": 5000000000})",
           "quota: 5000000000 is refused; it must be a whole number from 1"},
      pair{R"({"seed": 18446744073709551616})", "seed: is 18446744073709551616; it must be a whole number"},
      pair{R"({"latency_sample_every": 6})", "latency_sample_every: 6 is refused; it must be a power of two"},
      pair{R"({"submission_slots": 0})", "submission_slots: 0 is refused; it must be a power of two from 2"},
      pair{R"({"completion_slots": 1000})", "completion_slots: 1000 is refused"},
      pair{R"({"ring_mode": "for_ever"})",
           "ring_mode: 'for_ever' is refused; it must be one of persistent, rounds"},
      pair{R"({"ring_mode": "1"})", "ring_mode: '1' is refused"},
      pair{R"({"stop_timeout_ms": 0})", "stop_timeout_ms: 0 is refused"});
  has(refusal_of(json), reason);
}

TEST_CASE("text that is not a JSON object is refused with its position", "[config]") {
  has(refusal_of("{\"teams\": 2,\n \"lanes\" }"), ".json: line 2, column ");
  has(refusal_of("{\"teams\": 2,}"), ".json: line 1, column ");
  has(refusal_of("{teams: 2}"), ".json: line 1, column ");
  has(refusal_of("{\"teams\": 2} more"), ".json: line 1, column ");
  has(refusal_of(""), "empty");
  has(refusal_of("[1]"), "must be a JSON object");
  has(refusal_of(std::string_view("{}\0{", 4)), "line 1, column 3: unexpected text after the JSON value");
}

TEST_CASE("a field given twice is refused by name", "[config]") {
  has(refusal_of(R"({"teams": 1, "teams": 2})"), "teams: is given twice");
}

TEST_CASE("a file that cannot be read is refused by name", "[config]") {
  auto const missing = std::filesystem::temp_directory_path() / "rondo_no_such_folder" / "rondo.json";
  has(refusal([&] { rondo::load_config(missing); }), missing.string() + ": cannot be read");
  auto const folder = std::filesystem::temp_directory_path();
  has(refusal([&] { rondo::load_config(folder); }), folder.string() + ": cannot be read");
}

TEST_CASE("the environment overrides fields of every kind", "[config]") {
  auto const got = from({"HOME=/root", "RONDO_DEVICE=emulated", "RONDO_TEAMS=2", "RONDO_RING_MODE=rounds",
                         "RONDO_POLLING=true", "RONDO_SEED=18446744073709551615", "RONDO_LANES="});
  rondo::config expected;
  expected.device = "emulated";
  expected.teams = 2;
  expected.ring_mode = rondo::ring_mode::rounds;
  expected.polling = true;
  expected.seed = 18446744073709551615u;
  CHECK(got == expected);
}

TEST_CASE("a variable overrides the file of RONDO_CONFIG, which overrides the base", "[config]") {
  json_file const file(R"({"teams": 3, "lanes": 8})");
  auto const name = "RONDO_CONFIG=" + file.path().string();
  rondo::config base;
  base.lanes = 1;
  base.quota = 5;
  auto const got = from({"RONDO_TEAMS=4", name.c_str()}, base);
  CHECK(got.teams == 4);
  CHECK(got.lanes == 8);
  CHECK(got.quota == 5);
}

TEST_CASE("a bad variable is refused by name", "[config]") {
  has(refusal_from("RONDO_TEAMS=many"), "environment: RONDO_TEAMS: teams: 'many' is refused");
  has(refusal_from("RONDO_TEAMS=-1"), "RONDO_TEAMS: teams: '-1' is refused");
  has(refusal_from("RONDO_TEAMS=2 "), "RONDO_TEAMS: teams: '2 ' is refused");
  has(refusal_from("RONDO_SEED=18446744073709551616"), "RONDO_SEED: seed: '18446744073709551616' is refused");
  has(refusal_from("RONDO_DEFAULT_CAPACITY=0"),
      "default_capacity: 0 is refused; it must be a whole number from 1");
  has(refusal_from("RONDO_POLLING=yes"), "polling: 'yes' is refused; it must be true or false");
  has(refusal_from("RONDO_DEVICE=gpu"), "device: 'gpu' is refused");
  has(refusal_from("RONDO_CONFIG=/no/such/rondo.json"), "/no/such/rondo.json: cannot be read");
}

TEST_CASE("an unknown RONDO_ variable is refused", "[config]") {
  auto const text = refusal_from("RONDO_TEEMS=2");
  has(text, "environment: RONDO_TEEMS: unknown variable");
  has(text, "RONDO_CONFIG");
  has(refusal_from("RONDO_teams=2"), "RONDO_teams: unknown variable");
  CHECK(from({"RONDO=1", "RONDOX_TEAMS=x"}) == rondo::config{});
}

TEST_CASE("validate refuses an invalid struct", "[config]") {
  rondo::config settings;
  settings.default_capacity = 0;
  has(refusal([&] { rondo::validate(settings); }), "configuration: default_capacity: 0 is refused");
  settings = {};
  settings.ring_mode = static_cast<rondo::ring_mode>(9);
  has(refusal([&] { rondo::validate(settings); }), "ring_mode: 'value 9' is refused");
  settings = {};
  settings.log_level = static_cast<rondo::log_level>(6);
  has(refusal([&] { rondo::validate(settings); }),
      "log_level: 'value 6' is refused; it must be one of trace, debug, info, warning, error, off");
  settings = {};
  settings.device = "abacus";
  has(refusal([&] { rondo::validate(settings); }), "device: 'abacus' is refused");
}

TEST_CASE("the description names each field with its variable, range and default", "[config]") {
  auto const text = rondo::describe_config_fields();
  has(text,
      "free_multiprocessors (RONDO_FREE_MULTIPROCESSORS)\n    multiprocessors of a GPU left free for "
      "other kernels\n    a whole number from 0 to 1024; default 2");
  has(text, "ring_mode (RONDO_RING_MODE)");
  has(text, "one of persistent, rounds; default persistent");
  has(text, "default 1073741824");
  has(text, "true or false; default false");
}

// Regression: std::regex, which once matched the texts, recurses for each character; this crashed the process.
TEST_CASE("texts and numbers of a hundred thousand characters are refused like short ones", "[config]") {
  std::string devices = "cpu";
  while (devices.size() < 100'000) devices += ",cpu";
  auto const long_text = refusal_of("{\"device\": \"" + devices + "\"}");
  CHECK(long_text.find("device: 'cpu,cpu,") != std::string::npos);
  CHECK(long_text.find(
            "...' is refused; it must be auto alone, or one or several, separated by commas, of cpu,") !=
        std::string::npos);
  CHECK(refusal_from(("RONDO_DEVICE=" + devices).c_str()).find("is refused") != std::string::npos);
  auto const long_number = refusal_of("{\"spin_us\": 1, \"teams\" : " + std::string(100'000, '9') + " }");
  CHECK(long_number.find("teams: is 99999") != std::string::npos);
  CHECK(long_number.size() < 1000);
}

TEST_CASE("a configuration may be given as text, with a name for error messages", "[config]") {
  CHECK(rondo::parse_config(R"({"teams": 3})", "somewhere").teams == 3);
  CHECK(refusal([] { rondo::parse_config("{\n\"teams\": -1}", "somewhere"); }).find("somewhere:2: teams: ") ==
        0);
}
