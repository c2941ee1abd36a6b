// The operations of a simulated run that send something, and their dispatch from a host thread.
#include <fmt/format.h>

#include <boost/asio/bind_cancellation_slot.hpp>

#include "runtime/lifecycle.hpp"
#include "runtime/observe/telemetry.hpp"
#include "tests/simulation/stage.hpp"

namespace simulation {

using namespace std::chrono_literals;
using rondo::errc;
using rondo::error_code;

namespace {

std::chrono::nanoseconds timeout_of(operation const& o) {
  return o.deadline_us == 0 ? rondo::no_timeout : std::chrono::microseconds(o.deadline_us);
}

}  // namespace

void stage::send(operation const& o, place to, kind k) {
  auto const how = k == kind::tell ? manner::told : k == kind::awaited ? manner::awaited : manner::patient;
  parcel const m{{book_.write(to.life, o.thread, how, o), &o}};
  rondo::tell_options const options{.priority = o.priority,
                                    .deadline = std::chrono::microseconds(o.deadline_us),
                                    .wait_for_room = k == kind::patient};
  if (k == kind::tell) {
    auto const ec = to.ref.try_tell(m, options);
    book_.sent(m.number);
    return book_.told(m.number, static_cast<errc>(ec.value()));
  }
  if (k == kind::awaited) {
    auto const ec = to.ref.tell(m, options, rondo::block);
    book_.sent(m.number);
    return book_.told(m.number, static_cast<errc>(ec.value()));
  }
  ++pending_;
  to.ref.tell(m, options, [this, number = m.number](error_code ec) {
    --pending_;
    book_.told(number, static_cast<errc>(ec.value()));
  });
  book_.sent(m.number);
}

void stage::send_batch(operation const& o) {
  auto const to = places_[o.place];
  auto plain = o;
  plain.fails = 0;
  std::vector<item> items;
  for (std::uint32_t i = 0; i < o.count; ++i)
    items.push_back({{book_.write(to.life, o.thread, manner::told, plain, o.count), &o}});
  auto const ec =
      to.ref.try_tell(std::span<item const>(items),
                      {.priority = o.priority, .deadline = std::chrono::microseconds(o.deadline_us)});
  for (auto const& i : items) {
    book_.sent(i.number);
    book_.told(i.number, static_cast<errc>(ec.value()));
  }
}

template <class Message, class Ref>
void stage::ask(operation const& o, Ref ref, std::uint32_t life, Message m,
                std::shared_ptr<boost::asio::cancellation_signal> signal) {
  m.number = book_.write(life, o.thread, manner::asked, o);
  m.of = &o;
  ++pending_;
  auto handler = [this, number = m.number, signal](error_code ec, answered a) {
    --pending_;
    if (!ec && a.value == 7 && a.number != number)
      world::get().fail("G1: an ask got the answer of another one");
    book_.told(number, static_cast<errc>(ec.value()));
  };
  rondo::ask_options const options{.timeout = timeout_of(o), .priority = o.priority};
  if (signal)
    ref.ask(m, options, boost::asio::bind_cancellation_slot(signal->slot(), std::move(handler)));
  else
    ref.ask(m, options, std::move(handler));
  book_.sent(m.number);
}

void stage::ask_blocking(operation const& given) {
  auto const to = places_[given.place];
  auto o = given;
  if (o.deadline_us == 0) o.deadline_us = 20'000;  // the actor may be asleep
  question const m{{book_.write(to.life, o.thread, manner::asked, o), &given}};
  auto const begun = world::get().now_ns();
  auto const jumped = world::get().jumped_ns();
  auto const a = to.ref.ask(m, {.timeout = timeout_of(o), .priority = o.priority}, rondo::block);
  book_.sent(m.number);
  auto const late = std::chrono::nanoseconds(undisturbed_since(begun, jumped)) - timeout_of(o) -
                    std::chrono::microseconds(plan_.faults.stall_us);
  if (late > 1s) world::get().fail(fmt::format("G12: an ask ended {} ms after its deadline", late / 1ms));
  if (a && a->number != m.number) world::get().fail("G1: an ask got the answer of another one");
  book_.told(m.number, a ? errc::ok : static_cast<errc>(a.error().value()));
}

template <class Hold>
void stage::hold(operation const& o, Hold hold) {
  if (device_ == nullptr) return;
  hold(true);
  std::this_thread::sleep_for(std::chrono::microseconds(o.pause_us));
  hold(false);
}

void stage::perform(operation const& o) {
  world::get().note("operation " + to_text(o));
  place const p = places_[o.place],
              other = places_[o.other];  // other threads may replace the actor in the meantime
  bool const has_actor = p.life != nobody;
  if (!has_actor && o.what <= action::repeat) return;  // all earlier actions are messages to it
  count(std::string("operation ") + name_of(o.what));
  switch (o.what) {
    case action::tell:
      return send(o, p, kind::tell);
    case action::tell_awaited:
      return send(o, p, kind::awaited);
    case action::tell_patient:
      return send(o, p, kind::patient);
    case action::tell_batch:
      return send_batch(o);
    case action::ask:
      return ask(o, p.ref, p.life, question{});
    case action::ask_blocking:
      return ask_blocking(o);
    case action::ask_cancelled: {
      auto const signal = std::make_shared<boost::asio::cancellation_signal>();
      ask(o, p.ref, p.life, question{}, signal);
      if (o.pause_us % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(o.pause_us));
      return signal->emit(boost::asio::cancellation_type::terminal);
    }
    case action::spread:
      return ask(o, p.ref, p.life, spread{});
    case action::sing:
      if (choir_life_ != nobody) ask(o, choir_, choir_life_, verse{});
      return;
    case action::forward:
      if (other.life == nobody) return;
      {
        errand const m{{book_.write(p.life, o.thread, manner::told, o), &o}, other.ref.id(), other.life};
        auto const ec = p.ref.try_tell(m, {.priority = o.priority});
        return book_.told(m.number, static_cast<errc>(ec.value()));
      }
    case action::consult: {
      if (other.life == nobody) return;
      consultation c{};
      c.to = other.ref.id();
      c.to_life = other.life;
      return ask(o, p.ref, p.life, c);
    }
    case action::remind: {
      reminder const m{{book_.write(p.life, o.thread, manner::told, o), &o}};
      auto const ec = p.ref.try_tell(m, {.priority = o.priority});
      return book_.told(m.number, static_cast<errc>(ec.value()));
    }
    case action::launch:
      return launch(o.place);
    case action::drain:
      return terminate(o, rondo::termination::drain);
    case action::discard:
      return terminate(o, rondo::termination::discard);
    case action::deactivate:
      return set_active(p, false);
    case action::activate:
      return set_active(p, true);
    case action::inspect:
      if (has_actor)
        rondo::inspect(p.ref, [this, index = p.life](error_code ec, rondo::inspection const& i) {
          std::uint32_t waiting = 0;
          for (auto const& d : i.depths) waiting += d.messages;
          if (!ec && waiting > book_.lives[index].how.capacity)
            world::get().fail("G5: a mailbox holds more than it can");
        });
      return;
    case action::repeat: {
      book_.lives[p.life].has_answers = true;
      auto const timer = rt_->every(std::chrono::microseconds(100 + o.pause_us / 8), p.ref, tick{});
      return std::this_thread::sleep_for(std::chrono::microseconds(o.pause_us));
    }
    case action::snapshot:
      return void(rt_->snapshot());
    case action::tell_predecessor:
      if (p.before != nobody) {
        place const past{p.ref_before, p.before, nobody, {}};
        send(o, past, kind::awaited);
      }
      return;
    case action::checkpoint:
      return checkpoint();
    case action::hold_down:
      return hold(o, [&](bool held) { device_->hold_submissions(held); });
    case action::hold_up:
      return hold(o, [&](bool held) { device_->hold_completions(held); });
    case action::rest:
      return std::this_thread::sleep_for(std::chrono::microseconds(o.pause_us));
    case action::lose:
      if (device_ != nullptr) book_.ended = true, device_->lose();
      return;
    case action::stop:
      return stop();
    case action::count:
      return;
  }
}

}  // namespace simulation
