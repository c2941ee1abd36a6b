// The keys of `rondo top`.
#include "tools/top/top_state.hpp"

#include "tests/service/basics_fixture.hpp"
#include "tests/service/report_samples.hpp"
#include "tools/top/top_graphs.hpp"

using namespace rondo::tools;
using service_test::sample_actor;
using service_test::sample_report;
using service_test::with_graph;

namespace {

/// Four actors; by load they are c, b, a, d.
top_model four() {
  top_model model;
  auto first = sample_report();
  first.actors.clear();
  for (std::uint32_t i = 0; i < 4; ++i)
    first.actors.push_back(sample_actor(std::string(1, static_cast<char>('a' + i)), i));
  auto next = first;
  next.clock_ns += 1'000'000'000;
  std::uint64_t const handled[] = {10, 20, 30, 0};
  std::uint32_t const waiting[] = {5, 9, 1, 2};
  for (std::size_t i = 0; i < 4; ++i) {
    next.actors[i]->handled += handled[i];
    next.actors[i]->waiting = waiting[i];
  }
  next.actors[3]->failures = 2;
  next.actors[0]->dead = 1;
  next.actors[1]->latency_counts[30] += 5;
  next.actors[3]->behaviour = "shop::Basket";
  model.add(std::move(first));
  model.add(std::move(next));
  return model;
}

std::string names(top_state const& state, top_model const& model) {
  std::string text;
  for (auto const* a : state.shown(model)) text += a->now->name;
  return text;
}

std::string chosen(top_state const& state, top_model const& model) {
  auto const all = state.shown(model);
  auto const at = state.selected(all);
  return at < 0 ? "" : all[static_cast<std::size_t>(at)]->now->name;
}

void type(top_state& state, top_model const& model, std::string const& text) {
  for (char const c : text) state.press(static_cast<char32_t>(c), model, 10);
}

}  // namespace

TEST_CASE("each order has its key, and o cycles through all of them", "[top]") {
  auto const model = four();
  top_state state;
  CHECK(names(state, model) == "cbad");
  type(state, model, "d");
  CHECK(names(state, model) == "badc");
  type(state, model, "t");
  CHECK(names(state, model)[0] == 'b');
  type(state, model, "e");
  CHECK(names(state, model) == "dabc");
  type(state, model, "n");
  CHECK(names(state, model) == "abcd");
  type(state, model, "o");
  CHECK(names(state, model) == "cbad");
  type(state, model, "l");
  CHECK(state.order == top_order::load);
}

TEST_CASE("the selected actor stays selected when the order changes", "[top]") {
  auto const model = four();
  top_state state;
  CHECK(chosen(state, model) == "c");
  state.press(key_down, model, 10);
  CHECK(chosen(state, model) == "b");
  type(state, model, "n");
  CHECK(chosen(state, model) == "b");
  state.press(key_end, model, 10);
  CHECK(chosen(state, model) == "d");
  state.press(key_down, model, 10);
  CHECK(chosen(state, model) == "d");
  state.press(key_page_up, model, 2);
  CHECK(chosen(state, model) == "b");
  state.press(key_home, model, 10);
  CHECK(chosen(state, model) == "a");
}

TEST_CASE("the filter is typed, kept with Enter and dropped with Esc", "[top]") {
  auto const model = four();
  top_state state;
  type(state, model, "/baqx");
  CHECK(state.typing);
  CHECK(names(state, model).empty());
  state.press(key_backspace, model, 10);
  state.press(key_backspace, model, 10);
  CHECK(names(state, model) == "d");  // its behaviour, in any case
  state.press(key_enter, model, 10);
  CHECK_FALSE(state.typing);
  CHECK(state.filter == "ba");
  state.press(key_escape, model, 10);
  CHECK(state.filter.empty());
  CHECK(names(state, model).size() == 4);
  type(state, model, "/");
  state.press(U'é', model, 10);
  CHECK(state.filter == "é");
  state.press(key_backspace, model, 10);
  CHECK(state.filter.empty());
}

TEST_CASE("Enter shows one actor, Esc all of them again", "[top]") {
  auto const model = four();
  top_state state;
  state.press(key_enter, model, 10);
  CHECK(state.details);
  CHECK(chosen(state, model) == "c");
  state.press(key_escape, model, 10);
  CHECK_FALSE(state.details);
  top_model const nothing;
  top_state other;
  other.press(key_enter, nothing, 10);
  CHECK_FALSE(other.details);
}

TEST_CASE("q quits, s saves, p pauses, and any key closes the help", "[top]") {
  auto const model = four();
  top_state state;
  CHECK(state.press(U'q', model, 10) == top_state::request::quit);
  CHECK(state.press(U's', model, 10) == top_state::request::save);
  CHECK(state.press(U'p', model, 10) == top_state::request::none);
  CHECK(state.paused);
  state.press(U'?', model, 10);
  CHECK(state.help);
  state.press(U'n', model, 10);
  CHECK_FALSE(state.help);
  CHECK(state.order == top_order::load);  // the help page consumed that key
}

TEST_CASE("Tab changes between actors and graphs, which have their own selection and share the filter",
          "[top]") {
  top_model model;
  model.add(with_graph(sample_report()));
  top_state state;
  state.press(key_down, model, 10);
  auto const actor = chosen(state, model);
  state.press(U'\t', model, 10);
  CHECK(state.graphs);
  state.press(key_end, model, 10);
  CHECK(state.graph_row == 6);  // a title, five stages, a transfer
  state.press(key_page_up, model, 4);
  CHECK(state.graph_row == 2);
  state.press(key_enter, model, 10);
  CHECK_FALSE(state.details);
  type(state, model, "/BLUR");
  state.press(key_enter, model, 10);
  CHECK(graph_rows(model, state.filter).size() == 2);
  state.press(key_end, model, 10);
  CHECK(state.graph_row == 1);
  state.press(key_escape, model, 10);
  state.press(U'\t', model, 10);
  CHECK_FALSE(state.graphs);
  CHECK(chosen(state, model) == actor);
}

TEST_CASE("without graphs Tab does nothing, and leaves the view of graphs that are gone", "[top]") {
  top_model model;
  model.add(sample_report());
  top_state state;
  state.press(U'\t', model, 10);
  CHECK_FALSE(state.graphs);
  state.graphs = true;
  state.press(key_down, model, 10);
  CHECK(state.graph_row == 0);
  state.press(U'\t', model, 10);
  CHECK_FALSE(state.graphs);
}
