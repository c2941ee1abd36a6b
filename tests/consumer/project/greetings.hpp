// A module with messages from a schema.
#pragma once

#include "generated/greetings_messages.hpp"
#include "kernels/actor/module.hpp"

struct greeter {
  using messages = rondo::messages<rondo::ask<greetings::hello, greetings::answer>>;
  RONDO_HD void on(rondo::context& ctx, greetings::hello const& m) {
    ctx.reply(greetings::answer{m.number + 1});
  }
};
RONDO_MODULE(greeters, greeter)
