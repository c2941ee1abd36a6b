// Behaviours that ask their host for timers, answers within a time limit, and children, and that watch each other; and
// supervisors.
#pragma once

#include "actors/supervision/supervisor.hpp"
#include "kernels/actor/module.hpp"
#include "tests/conformance/in_reach.hpp"

namespace conformance {

enum class errand : std::uint32_t {
  timer,
  cancel,
  ask,
  watch,
  unwatch,
  link,
  unlink,
  launch,
  restart,
  end,
  fail
};

/// What a relative is to do with `who`; `key`: of a timer, or a correlation.
struct go {
  errand what;
  rondo::actor_id who{};
  std::uint32_t key = 0;
  std::uint64_t us = 0;
  bool repeats = false;
};
struct tick {
  std::uint32_t key;
};
struct read_news {};
/// What a relative has heard so far, and the last of each.
struct heard {
  std::uint32_t ticks, last_tick, answers, rejections, ends, launches, failures;
  std::uint32_t correlation;  // of the last answer, rejection, or launch
  std::uint32_t rejected_for, ended_for, launched_for, failed_for;  // rondo::errc
  rondo::actor_id ended, child;
};
struct question {
  bool answered;
};
struct reply_to_question {
  std::uint32_t value;
};
struct read_value {};
struct value {
  std::uint32_t start, calls, starts;
};
/// Fails its actor as often as `times` says; null: always.
struct break_down {
  word* times = nullptr;
};

/// Answers questions, or never does. Its state begins with its argument.
struct brittle {
  struct arguments {
    std::uint32_t start = 7;
  };
  using messages =
      rondo::messages<rondo::ask<question, reply_to_question>, rondo::ask<read_value, value>, break_down>;
  value now{};

  RONDO_HD void on_start(rondo::context&, arguments const& a) { now.start = a.start; }
  RONDO_HD void on(rondo::context& ctx, question const& m) {
    auto const token = ctx.defer();
    if (m.answered) ctx.reply_to(token, reply_to_question{now.start});
  }
  RONDO_HD value on(rondo::context&, read_value const&) { return ++now.calls, now; }
  RONDO_HD void on(rondo::context& ctx, break_down const& m) {
    if (m.times == nullptr) return ctx.fail();
    auto const left = m.times->load(rondo::memory_order::relaxed);
    if (left == 0) return;
    m.times->store(left - 1, rondo::memory_order::relaxed);
    ctx.fail();
  }
};

struct relative {
  using messages = rondo::messages<go, tick, rondo::ask<read_news, heard>, reply_to_question, rondo::rejected,
                                   rondo::ended, rondo::launched, rondo::child_failed>;
  heard news{};

  RONDO_HD void on(rondo::context& ctx, go const& m) {
    rondo::address<brittle> const who{m.who};
    switch (m.what) {
      case errand::timer:
        return ctx.set_timer(m.key, m.us, ctx.self_as<relative>(), tick{m.key}, {.repeats = m.repeats});
      case errand::cancel:
        return ctx.cancel_timer(m.key);
      case errand::ask:
        return ctx.ask_within(m.us, who, question{m.repeats}, m.key);
      case errand::watch:
        return ctx.watch(m.who);
      case errand::unwatch:
        return ctx.unwatch(m.who);
      case errand::link:
        return ctx.link(m.who);
      case errand::unlink:
        return ctx.unlink(m.who);
      case errand::launch:
        if (m.repeats)  // as a child whose failures it decides on
          return ctx.launch<brittle>(m.key, {.supervise = {.rule = rondo::on_failure::escalate}}, {m.key});
        return ctx.launch<brittle>(m.key);
      case errand::restart:
        return ctx.restart(m.who);
      case errand::end:
        return ctx.terminate(m.who);
      case errand::fail:
        return ctx.fail();
    }
  }
  RONDO_HD void on(rondo::context&, tick const& m) { ++news.ticks, news.last_tick = m.key; }
  RONDO_HD heard on(rondo::context&, read_news const&) { return news; }
  RONDO_HD void on(rondo::context& ctx, reply_to_question const&) {
    ++news.answers, news.correlation = ctx.header().correlation;
  }
  RONDO_HD void on(rondo::context& ctx, rondo::rejected const& m) {
    ++news.rejections, news.correlation = ctx.header().correlation;
    news.rejected_for = static_cast<std::uint32_t>(m.reason);
  }
  RONDO_HD void on(rondo::context&, rondo::ended const& m) {
    ++news.ends, news.ended = m.who, news.ended_for = static_cast<std::uint32_t>(m.reason);
  }
  RONDO_HD void on(rondo::context& ctx, rondo::launched const& m) {
    ++news.launches, news.child = m.who, news.correlation = ctx.header().correlation;
    news.launched_for = static_cast<std::uint32_t>(m.reason);
  }
  RONDO_HD void on(rondo::context&, rondo::child_failed const& m) {
    ++news.failures, news.child = m.who, news.failed_for = static_cast<std::uint32_t>(m.reason);
  }
};

struct one_office : rondo::supervisor<rondo::one_for_one<2, 600'000>, brittle, brittle, brittle> {};
struct all_office : rondo::supervisor<rondo::one_for_all<2, 600'000>, brittle, brittle, brittle> {};
struct rest_office : rondo::supervisor<rondo::rest_for_one<2, 600'000>, brittle, brittle, brittle> {};

}  // namespace conformance
