// G6: what a handler logs reaches the program, with the actor's name, from every device.
#include <algorithm>
#include <cstring>

#include "tests/conformance/harness.hpp"

using namespace conformance;

namespace {

rondo::log_level constexpr all_levels[] = {rondo::log_level::trace, rondo::log_level::debug,
                                           rondo::log_level::info, rondo::log_level::warning,
                                           rondo::log_level::error};

say text_of(char const* text, rondo::log_level level = rondo::log_level::info) {
  say m{level, {}};
  std::strncpy(m.text, text, sizeof m.text);
  return m;
}

/// A runtime of this variant, and what its handlers log.
struct logged {
  logged(variant const& v, rondo::log_level level) : rt(start(with(v.settings, level))) {}
  static rondo::config with(rondo::config settings, rondo::log_level level) {
    settings.log_level = level;
    return settings;
  }
  std::unique_ptr<rondo::runtime> rt;
  listener<rondo::log_line> lines;
  rondo::subscription subscription = rt->on_log(lines.handler());

  /// The texts, once there are so many.
  std::vector<std::string> texts(std::size_t count) const {
    if (!lines.wait_for(count)) throw std::runtime_error("too few lines were logged in time");
    std::vector<std::string> found;
    for (auto const& line : lines.all()) found.push_back(line.text);
    return found;
  }
};

}  // namespace

TEST_CASE("a logged line has its time, level, actor, behaviour and device", "[log][G6]") {
  auto const v = GENERATE(from_range(variants()));
  bool const pinned = GENERATE(false, true);
  INFO(v.name << (pinned ? ", pinned" : ""));
  logged l(v, rondo::log_level::trace);
  auto const before = std::chrono::system_clock::now();
  auto const actor = l.rt->launch<logger>("writer", {.pinned = pinned});
  for (auto const level : all_levels) REQUIRE_FALSE(tell(actor, text_of("a line", level)));
  CHECK(l.texts(6) == std::vector<std::string>{"started", "a line", "a line", "a line", "a line", "a line"});
  auto const lines = l.lines.all();
  CHECK(lines[0].level == rondo::log_level::debug);
  for (std::size_t i = 1; i < lines.size(); ++i) CHECK(lines[i].level == all_levels[i - 1]);
  for (auto const& line : lines) {
    CHECK(line.actor == actor.id());
    CHECK(line.actor_name == "writer");
    CHECK(line.behaviour == rondo::type_name<logger>);
    CHECK(line.device == 0);
    CHECK(line.dropped == 0);
    CHECK(line.time > before - 1min);  // the two clocks are read one after the other
    CHECK(line.time < std::chrono::system_clock::now() + 1min);
  }
  CHECK(to_text(lines.back()) == "[error] " + std::string(rondo::type_name<logger>) + " 'writer': a line");
}

TEST_CASE("numbers take the places that the text leaves for them", "[log][G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  logged l(v, rondo::log_level::info);
  auto const actor = l.rt->launch<logger>("writer");
  REQUIRE_FALSE(tell(actor, say_numbers{~0ull, -7, 0.1, 0.1f}));
  REQUIRE_FALSE(tell(actor, say_flags{true, 9}));
  REQUIRE_FALSE(tell(actor, text_of("{} stays")));
  std::string const longest(87, 'x');
  REQUIRE_FALSE(tell(actor, text_of(longest.c_str())));
  CHECK(l.texts(5) == std::vector<std::string>{"18446744073709551615, -7, 0.1 and 0.1", "true 1{}", "few 9",
                                               "{} stays", longest});
}

TEST_CASE("lines below the level of the configuration are not sent", "[log][G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  {
    logged l(v, rondo::log_level::warning);
    auto const actor = l.rt->launch<logger>("writer");
    for (auto const level : all_levels) REQUIRE_FALSE(tell(actor, text_of(name_of(level), level)));
    CHECK(l.texts(2) == std::vector<std::string>{"warning", "error"});
  }
  logged l(v, rondo::log_level::off);
  auto const actor = l.rt->launch<logger>("writer");
  REQUIRE_FALSE(tell(actor, text_of("nothing", rondo::log_level::error)));
  REQUIRE(ask(actor, is_said{}));
  l.rt->stop();
  CHECK(l.lines.count() == 0);
}

TEST_CASE("batches and tiles log, and all lanes of a team log once", "[log][G6]") {
  auto const v = GENERATE(from_range(variants()));
  INFO(v.name);
  logged l(v, rondo::log_level::info);
  auto const actor = l.rt->launch<logger>("writer");
  for (std::uint32_t i = 0; i < 3; ++i) REQUIRE_FALSE(tell(actor, say_batch{i}));
  CHECK(l.texts(3) == std::vector<std::string>{"batch 0", "batch 1", "batch 2"});
  REQUIRE_FALSE(tell(actor, say_wide{4}));
  auto texts = l.texts(8);
  CHECK(texts.back() == "all");
  std::sort(texts.begin() + 3, texts.end());
  CHECK(std::vector<std::string>(texts.begin() + 3, texts.end()) ==
        std::vector<std::string>{"all", "tile 0", "tile 1", "tile 2", "tile 3"});
  auto const together = l.rt->launch<loggers_together>("together");
  REQUIRE(ask(together, is_said{}));
  REQUIRE(ask(together, is_said{}));
  CHECK(l.texts(10).size() == 10);
  CHECK(l.lines.all().back().actor_name == "together");
}
