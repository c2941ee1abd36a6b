#include "tests/simulation/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace simulation {

namespace {

struct likelihood {
  action what;
  std::uint32_t of_1000;
};
/// The likelihood of actions per thousand; the rest are tells.
constexpr likelihood usual[] = {{action::tell_awaited, 70}, {action::tell_patient, 80},
                                {action::tell_batch, 60},   {action::ask, 120},
                                {action::ask_blocking, 60}, {action::ask_cancelled, 40},
                                {action::spread, 40},       {action::sing, 30},
                                {action::forward, 50},      {action::consult, 40},
                                {action::remind, 20},       {action::repeat, 8},
                                {action::launch, 40},       {action::drain, 25},
                                {action::discard, 25},      {action::deactivate, 40},
                                {action::activate, 50},     {action::inspect, 20},
                                {action::snapshot, 15},     {action::tell_predecessor, 15},
                                {action::rest, 20}};

action draw_action(random_numbers& r) {
  auto left = r.below(1000);
  for (auto const& l : usual) {
    if (left < l.of_1000) return l.what;
    left -= l.of_1000;
  }
  return action::tell;
}

std::uint8_t draw_priority(random_numbers& r) {
  static constexpr std::uint8_t usual_ones[] = {128, 128, 128, 128, 255, 0, 129, 200};
  return r.chance(1, 6) ? static_cast<std::uint8_t>(r.below(256)) : r.one_of(usual_ones);
}

operation draw_operation(random_numbers& r, plan const& p) {
  static constexpr std::uint32_t deadlines[] = {0, 0, 0, 20, 200, 3000, 50'000};
  operation o;
  o.what = draw_action(r);
  o.thread = static_cast<std::uint8_t>(r.below(p.threads));
  o.place = static_cast<std::uint8_t>(r.below(p.places.size()));
  o.other = static_cast<std::uint8_t>(r.below(p.places.size()));
  o.priority = draw_priority(r);
  o.fails = r.chance(1, 10) ? static_cast<std::uint8_t>(1 + r.below(4)) : 0;
  o.count = 2 + r.below(r.chance(1, 4) ? 20 : 5);
  o.work = r.chance(1, 3) ? r.below(30) : 0;
  o.deadline_us = r.one_of(deadlines);
  if (o.what == action::consult && o.deadline_us == 0) o.deadline_us = 5000;  // the other actor may be asleep
  o.pause_us = r.below(r.chance(1, 4) ? 2000 : 50);
  return o;
}

void draw_settings(random_numbers& r, plan& p) {
  static constexpr std::uint32_t lanes[] = {1, 1, 1, 1, 8, 32}, slots[] = {4, 16, 64, 1024};
  static constexpr std::uint32_t spins[] = {0, 1, 10, 50}, delays[] = {0, 0, 1, 5, 50};
  auto& c = p.settings;
  c.device = r.chance(2, 3) ? "emulated" : "cpu";
  c.teams = 1 + r.below(3);
  c.lanes = p.emulated() ? r.one_of(lanes) : 1;
  c.pinned_teams = p.emulated() ? 2 : 0;  // all of them have their threads from the start
  c.ring_mode = r.chance(1, 3) ? rondo::ring_mode::rounds : rondo::ring_mode::persistent;
  c.round_messages = 1 + r.below(40);
  c.round_ms = 1 + r.below(20);
  c.actors = 8 + r.below(24);
  c.mail_blocks = r.chance(1, 2) ? 0 : 2 + r.below(c.actors);
  c.default_capacity = 2 + r.below(32);
  c.asks = r.chance(1, 10) ? 4 : 256;
  c.state_bytes = 1 << 20;
  c.submission_slots = r.one_of(slots);
  c.completion_slots = r.one_of(slots);
  c.quota = 1 + r.below(r.chance(1, 2) ? 8 : 64);
  c.starvation_limit = r.chance(1, 5) ? 1 + r.below(8) : 1'000'000;
  c.spin_us = r.one_of(spins);
  c.polling = r.chance(1, 12);
  if (c.polling && c.mail_blocks != 0) c.mail_blocks += p.emulated() ? 2 : 16;  // fewer are refused
  c.latency_sample_every = 1u << r.below(5);
  c.handler_limit_ms = r.chance(1, 4) ? 1 + r.below(50) : 0;
  c.seed = r.next() | 1;
  c.visibility_delay_us = p.emulated() ? r.one_of(delays) : 0;
}

void draw_schedule(random_numbers& r, plan& p) {
  static constexpr std::uint32_t every[] = {1, 3, 10, 40, 150}, steps[] = {10, 50, 200};
  auto& s = p.order;
  s.seed = r.next();
  s.how = r.chance(1, 2) ? schedule::policy::priorities : schedule::policy::walk;
  s.every = r.one_of(every);
  s.changes = r.below(12);
  s.change_range = 2000u << r.below(6);
  s.step_ns = r.one_of(steps);
  if (r.chance(1, 3)) s.spurious = 2 + r.below(20);
  if (r.chance(1, 5)) s.skew_ppm = static_cast<std::int32_t>(r.below(2000)) - 1000;
  if (r.chance(1, 5)) s.jump_every = 2000u << r.below(5), s.jump_ns = 1'000ull << r.below(20);
  if (r.chance(1, 4)) s.stall_every = 500u << r.below(5), s.stall_ns = 1'000ull << r.below(15);
}

void draw_faults(random_numbers& r, plan& p) {
  if (!p.emulated()) return;
  if (r.chance(1, 8)) p.faults.lose_after_messages = 1 + r.below(60);
  if (r.chance(1, 6)) p.faults.fail_handler = 1 + r.below(40);
  if (r.chance(1, 6)) p.faults.stall_handler = 1 + r.below(40), p.faults.stall_us = 1u << r.below(16);
}

/// Operations that happen once, somewhere in the program.
void add_events(random_numbers& r, plan& p) {
  struct event {
    action what;
    std::uint32_t of_100;
    bool emulated_only;
  };
  for (auto const& e :
       {event{action::checkpoint, 12, false}, event{action::hold_down, 15, true},
        event{action::hold_up, 15, true}, event{action::lose, 8, true}, event{action::stop, 8, false}}) {
    if (!r.chance(e.of_100, 100) || (e.emulated_only && !p.emulated())) continue;
    auto o = draw_operation(r, p);
    o.what = e.what;
    p.operations.insert(p.operations.begin() + r.below(p.operations.size() + 1), o);
  }
}

}  // namespace

plan draw_plan(std::uint64_t seed) {
  plan p;
  p.seed = seed;
  random_numbers r(random_numbers::mix(seed + 1));
  draw_settings(r, p);
  draw_schedule(r, p);
  draw_faults(r, p);
  p.threads = 1 + r.below(3);
  p.places.resize(1 + r.below(5));
  for (auto& place : p.places) {
    place.capacity = 1 + r.below(r.chance(1, 3) ? 40 : 6);
    place.pinned = r.chance(1, 6);
    place.starts_active = r.chance(4, 5);
    place.poison_after = static_cast<std::uint8_t>(1 + r.below(3));
    place.rule = r.chance(1, 6) ? 1 : r.chance(1, 20) ? 2 : 0;
    if (r.chance(1, 5)) place.max_restarts = static_cast<std::uint16_t>(r.below(3));
  }
  for (auto n = 10 + r.below(r.chance(1, 4) ? 150 : 60); n != 0; --n)
    p.operations.push_back(draw_operation(r, p));
  add_events(r, p);
  p.restarts = r.chance(1, 5);
  p.leaves_at_once = r.chance(1, 4);
  for (std::uint32_t i = 0; i < p.operations.size(); ++i) p.operations[i].number = i;
  return p;
}

// -- faults by name

namespace {

bool is_fault(action a) {
  return a == action::hold_down || a == action::hold_up || a == action::lose || a == action::stop;
}

struct named_fault {
  char const* name;
  bool (*there)(plan const&);
  void (*leave_out)(plan&);
};
constexpr named_fault named_faults[] = {
    {"delay", [](plan const& p) { return p.settings.visibility_delay_us != 0; },
     [](plan& p) { p.settings.visibility_delay_us = 0; }},
    {"loss", [](plan const& p) { return p.faults.lose_after_messages != 0; },
     [](plan& p) { p.faults.lose_after_messages = 0; }},
    {"failure", [](plan const& p) { return p.faults.fail_handler != 0; },
     [](plan& p) { p.faults.fail_handler = 0; }},
    {"slow-handler", [](plan const& p) { return p.faults.stall_handler != 0; },
     [](plan& p) { p.faults.stall_handler = 0; }},
    {"spurious", [](plan const& p) { return p.order.spurious != 0; }, [](plan& p) { p.order.spurious = 0; }},
    {"skew", [](plan const& p) { return p.order.skew_ppm != 0; }, [](plan& p) { p.order.skew_ppm = 0; }},
    {"jump", [](plan const& p) { return p.order.jump_every != 0; }, [](plan& p) { p.order.jump_every = 0; }},
    {"stall", [](plan const& p) { return p.order.stall_every != 0; },
     [](plan& p) { p.order.stall_every = 0; }}};

}  // namespace

std::vector<std::string> faults_of(plan const& p) {
  std::vector<std::string> names;
  for (auto const& f : named_faults)
    if (f.there(p)) names.emplace_back(f.name);
  for (auto const& o : p.operations)
    if (is_fault(o.what)) names.emplace_back(name_of(o.what));
  return names;
}

void leave_out(plan& p, std::string const& fault) {
  for (auto const& f : named_faults)
    if (fault == f.name) f.leave_out(p);
  std::erase_if(p.operations,
                [&](operation const& o) { return is_fault(o.what) && fault == name_of(o.what); });
}

// -- texts

char const* name_of(action a) noexcept {
  static constexpr char const* names[] = {"tell",          "tell_awaited", "tell_patient",
                                          "tell_batch",    "ask",          "ask_blocking",
                                          "ask_cancelled", "spread",       "sing",
                                          "forward",       "consult",      "remind",
                                          "repeat",        "launch",       "drain",
                                          "discard",       "deactivate",   "activate",
                                          "inspect",       "snapshot",     "tell_predecessor",
                                          "checkpoint",    "hold_down",    "hold_up",
                                          "rest",          "lose",         "stop"};
  static_assert(std::size(names) == static_cast<std::size_t>(action::count));
  return names[static_cast<std::size_t>(a)];
}

std::string to_text(operation const& o) {
  auto text = fmt::format("{} {} to place {}", o.number, name_of(o.what), o.place);
  if (o.priority != 128) text += fmt::format(", priority {}", o.priority);
  if (o.fails != 0) text += fmt::format(", fails {} times", o.fails);
  if (o.deadline_us != 0) text += fmt::format(", within {} us", o.deadline_us);
  return text;
}

std::string to_text(plan const& p) {
  auto const& c = p.settings;
  auto text = fmt::format(
      "seed {}: {} with {} teams of {} lanes, {}, {} actors, {} mail blocks, {} down, {} up, quota {}, "
      "starvation {}, "
      "spin {} us{}\n",
      p.seed, c.device, c.teams, c.lanes, c.ring_mode == rondo::ring_mode::rounds ? "rounds" : "persistent",
      c.actors, c.mail_blocks, c.submission_slots, c.completion_slots, c.quota, c.starvation_limit, c.spin_us,
      c.polling ? ", polling" : "");
  text += p.order.how == schedule::policy::walk
              ? fmt::format("schedule: another thread about every {} points", p.order.every)
              : fmt::format("schedule: priorities, {} changes in {} points", p.order.changes,
                            p.order.change_range);
  text += fmt::format(", {} ns a point; faults:", p.order.step_ns);
  auto const faults = faults_of(p);
  for (auto const& f : faults) text += ' ' + f;
  if (faults.empty()) text += " none";
  for (std::size_t i = 0; i < p.places.size(); ++i) {
    auto const& place = p.places[i];
    text += fmt::format("\nplace {}: {} messages{}{}, {} attempts, rule {}", i, place.capacity,
                        place.pinned ? ", pinned" : "", place.starts_active ? "" : ", asleep at first",
                        place.poison_after, place.rule);
  }
  return text + '\n';
}

}  // namespace simulation
