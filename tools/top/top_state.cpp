#include "tools/top/top_state.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <tuple>

#include "tools/top/text/text_grid.hpp"
#include "tools/top/top_graphs.hpp"

namespace rondo::tools {

namespace {

constexpr std::size_t filter_bytes = 64;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Removes the last UTF-8 character.
void drop_character(std::string& text) {
  while (!text.empty()) {
    bool const starts = (static_cast<unsigned char>(text.back()) & 0xc0) != 0x80;
    text.pop_back();
    if (starts) return;
  }
}

}  // namespace

bool contains(std::string_view text, std::string_view part) {
  return lower(text).find(lower(part)) != std::string::npos;
}

auto top_state::press(char32_t key, top_model const& model, int page) -> request {
  if (typing) return type(key), request::none;
  if (help) return help = false, key == U'q' ? request::quit : request::none;
  static constexpr std::u32string_view order_keys = U"ldten";  // in the order of top_order
  if (auto const chosen = order_keys.find(key); chosen != order_keys.npos)
    order = static_cast<top_order>(chosen);
  constexpr int far = 1 << 30;
  std::pair<char32_t, int> const moves[] = {{U'k', -1},    {key_up, -1},         {U'j', 1},
                                            {key_down, 1}, {key_page_up, -page}, {key_page_down, page},
                                            {U' ', page},  {U'g', -far},         {key_home, -far},
                                            {U'G', far},   {key_end, far}};
  for (auto const& [pressed, by] : moves)
    if (pressed == key) move(by, model);
  switch (key) {
    case U'q':
      return request::quit;
    case U's':
      return request::save;
    case U'p':
      paused = !paused;
      break;
    case U'?':
    case U'h':
      help = true;
      break;
    case U'/':
      typing = true, details = false;
      break;
    case U'o':
      order = static_cast<top_order>((static_cast<int>(order) + 1) % top_orders);
      break;
    case U'\t':
      graphs = !graphs && !model.now().graphs.empty();
      details = false;
      break;
    case key_enter:
      if (graphs) break;
      move(0, model);
      details = chosen_.has_value() && !details;
      break;
    case key_escape:
    case key_backspace:
      if (details)
        details = false;
      else
        filter.clear();
      break;
    default:
      break;
  }
  return request::none;
}

void top_state::type(char32_t key) {
  if (key == key_enter) {
    typing = false;
  } else if (key == key_escape) {
    typing = false;
    filter.clear();
  } else if (key == key_backspace) {
    drop_character(filter);
  } else if (key >= 0x20 && key < key_up && key != 0x7f && filter.size() < filter_bytes) {
    filter += to_utf8(key);
  }
}

void top_state::move(int by, top_model const& model) {
  if (graphs) {
    auto const rows = static_cast<std::int64_t>(graph_rows(model, filter).size());
    graph_row = static_cast<int>(
        std::clamp<std::int64_t>(std::int64_t{graph_row} + by, 0, std::max<std::int64_t>(rows - 1, 0)));
    return;
  }
  auto const all = shown(model);
  auto const at = selected(all);
  if (at < 0) return chosen_.reset();
  auto const last = static_cast<std::int64_t>(all.size()) - 1;
  auto const to = std::clamp<std::int64_t>(std::int64_t{at} + by, 0, last);
  auto const& a = *all[static_cast<std::size_t>(to)]->now;
  chosen_ = name{a.index, a.generation};
}

std::vector<top_actor const*> top_state::shown(top_model const& model) const {
  std::vector<top_actor const*> all;
  for (auto const& a : model.actors())
    if (filter.empty() || contains(a.now->name, filter) || contains(a.now->behaviour, filter))
      all.push_back(&a);
  // What the order shows first, as the largest; actors that agree in it are sorted by name.
  auto const weight = [this](top_actor const& a) -> std::pair<double, double> {
    switch (order) {
      case top_order::load:
        return {a.rate, 0};
      case top_order::depth:
        return {a.now->waiting, 0};
      case top_order::p99:
        return {a.p99_ns, 0};
      case top_order::errors:
        return {a.new_errors, a.errors()};
      case top_order::name:
        break;
    }
    return {};
  };
  std::ranges::stable_sort(all, [&](top_actor const* a, top_actor const* b) {
    return std::tuple(weight(*b), std::string_view(a->now->name), a->now->index) <
           std::tuple(weight(*a), std::string_view(b->now->name), b->now->index);
  });
  return all;
}

int top_state::selected(std::vector<top_actor const*> const& all) const {
  if (all.empty()) return -1;
  auto const found = std::ranges::find_if(all, [this](top_actor const* a) {
    return chosen_ == name{a->now->index, a->now->generation};
  });
  return found == all.end() ? 0 : static_cast<int>(found - all.begin());
}

}  // namespace rondo::tools
