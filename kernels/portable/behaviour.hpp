// Portable behaviours: actors whose handlers also run on a GPU that has no ring kernel (docs/fallback.md).
//
//   struct add { int amount; };
//   struct get {};
//   struct total { int value; };
//   struct counter {
//     using messages = rondo::messages<add, rondo::ask<get, total>>;
//     using sends = rondo::messages<>;                                     // what it tells other actors
//     template <class Context>
//     RONDO_PORTABLE void on(RONDO_PRIVATE Context& ctx, RONDO_PRIVATE add const& m) { value += m.amount; }
//     template <class Context>
//     RONDO_PORTABLE total on(RONDO_PRIVATE Context& ctx, RONDO_PRIVATE get const&) { return total{value}; }
//     int value = 0;
//   };
//   RONDO_PORTABLE_BEHAVIOUR(counter, run_counter);                        // in its namespace
//
// It is an actor like any other: mailbox, order, priorities, deadlines and supervision are those of its device. Its
// source is portable (kernels/portable/language.hpp), and each handler takes one message at a time. The state has no
// pointers and at most 1,024 bytes. A context has
//
//   actor_id self() const;                             this actor
//   void tell(address<B> to, Message const&, unsigned priority = 128);
//                                                      sends a message of `sends`. Where actors run on threads of the
//                                                      host, one that finds no room waits for it, with up to 1,023
//                                                      others; elsewhere it becomes a dead letter, as one to an actor
//                                                      that is gone does everywhere
//   void reply(Reply const&);                          answers the request, once; nothing if no sender waits. A handler
//                                                      may return its answer instead
//   void fail(errc = errc::handler_failed);            fails the handler; what it has done and sent so far stays
#pragma once

#include "kernels/portable/kernel.hpp"
#include "kernels/portable/pack_layout.hpp"
#if !defined(RONDO_ON_PLAYER)
#include "kernels/base/atomic.hpp"
#endif

namespace rondo {
namespace packing {

// -- lists of messages, without a standard library

template <class A, class B>
struct is_same_type {
  enum { value = 0 };
};
template <class A>
struct is_same_type<A, A> {
  enum { value = 1 };
};

/// The place of a message in a list, from 0; the length of the list: it is not there.
template <class Message, class List>
struct place_in;
template <class Message>
struct place_in<Message, messages<>> {
  enum { value = 0 };
};
template <class Message, class... Rest>
struct place_in<Message, messages<Message, Rest...>> {
  enum { value = 0 };
};
template <class Message, class First, class... Rest>
struct place_in<Message, messages<First, Rest...>> {
  enum { value = 1 + place_in<Message, messages<Rest...>>::value };
};
template <class List>
struct length;
template <class... Entries>
struct length<messages<Entries...>> {
  enum { value = sizeof...(Entries) };
};

struct nothing {};
/// An entry of a list: the message, and its answer.
template <class Entry>
struct entry_of {
  typedef Entry request;
  typedef nothing reply;
};
template <class Request, class Reply>
struct entry_of<ask<Request, Reply>> {
  typedef Request request;
  typedef Reply reply;
};

// -- the context

/// The next place in the list of what was sent.
RONDO_PORTABLE unsigned claim(RONDO_BUFFER unsigned* count) {
#if defined(__OPENCL_CPP_VERSION__)
  return atomic_inc((volatile __global unsigned*)count);
#elif defined(__METAL_VERSION__)
  return atomic_fetch_add_explicit((device atomic_uint*)count, 1u, memory_order_relaxed);
#else
  // Relaxed: the end of the kernel publishes the list.
  return as_atomic(*count).fetch_add(1u, memory_order::relaxed);
#endif
}

/// What has become of a handler.
struct call_end {
  unsigned failure;   // an errc
  unsigned answered;  // 1: it has replied
};

/// The context of a handler that a player runs. `Entry`: what it handles.
template <class Behaviour, class Entry>
class packed_context {
 public:
  RONDO_PORTABLE packed_context(RONDO_BUFFER send_list* sends, unsigned most, actor_id self, unsigned run,
                                unsigned message, unsigned asked)
      : sends_(sends), most_(most), self_(self), run_(run), message_(message), asked_(asked) {
    end_.failure = end_.answered = 0;
  }

  RONDO_PORTABLE actor_id self() const { return self_; }
  template <class Target, class Message>
  RONDO_PORTABLE void tell(address<Target> to, RONDO_PRIVATE Message const& m, unsigned priority = 128) {
    typedef typename Behaviour::sends list;
    static_assert(int(place_in<Message, list>::value) < int(length<list>::value),
                  "a portable behaviour lists in `sends` what it tells");
    send(m, 1u + place_in<Message, list>::value, to.id, priority);
  }
  template <class Reply>
  RONDO_PORTABLE void reply(RONDO_PRIVATE Reply const& answer) {
    static_assert(is_same_type<Reply, typename entry_of<Entry>::reply>::value,
                  "the answer is what rondo::ask<Message, Reply> declares for the message");
    if (asked_ == 0 || end_.answered != 0) return;
    end_.answered = 1;
    send(answer, 0, self_, 128);
  }
  RONDO_PORTABLE void fail(errc reason = errc::handler_failed) {
    end_.failure = static_cast<unsigned>(reason);
  }

  // -- for the runtime
  RONDO_PORTABLE call_end end() const { return end_; }

 private:
  template <class Message>
  RONDO_PORTABLE void send(RONDO_PRIVATE Message const& m, unsigned entry, actor_id to, unsigned priority) {
    static_assert(sizeof(Message) <= 96, "a message holds at most 96 bytes");
    unsigned const place = claim(&sends_->count);
    if (place >= most_) return;  // the host sees it in the count
    RONDO_BUFFER packed_send* const s =
        reinterpret_cast<RONDO_BUFFER packed_send*>(reinterpret_cast<RONDO_BUFFER unsigned char*>(sends_) +
                                                    sizeof(send_list)) +
        place;
    s->run = run_;
    s->message = message_;
    s->entry = entry;
    s->priority = priority;
    s->to = to;
    s->bytes = sizeof(Message);
    *reinterpret_cast<RONDO_BUFFER Message*>(s->payload) = m;
  }

  RONDO_BUFFER send_list* sends_;
  unsigned most_;
  actor_id self_;
  unsigned run_, message_, asked_;
  call_end end_;
};

// -- dispatch

/// Calls a handler that returns its answer, or nothing.
template <class Answer>
struct answering {
  template <class Behaviour, class Context, class Message>
  RONDO_PORTABLE static void call(RONDO_PRIVATE Behaviour& own, RONDO_PRIVATE Context& ctx,
                                  RONDO_PRIVATE Message const& m) {
    Answer const answer = own.on(ctx, m);
    if (ctx.end().failure == 0) ctx.reply(answer);
  }
};
template <>
struct answering<void> {
  template <class Behaviour, class Context, class Message>
  RONDO_PORTABLE static void call(RONDO_PRIVATE Behaviour& own, RONDO_PRIVATE Context& ctx,
                                  RONDO_PRIVATE Message const& m) {
    own.on(ctx, m);
  }
};
template <class T>
RONDO_PRIVATE T& some();  // for decltype

/// What is known where a message is handled.
struct handling {
  RONDO_BUFFER send_list* sends;
  unsigned most_sends;
  actor_id self;
  unsigned run, message, asked;
};

template <class Behaviour, class List>
struct dispatch;
template <class Behaviour>
struct dispatch<Behaviour, messages<>> {
  RONDO_PORTABLE static call_end call(RONDO_PRIVATE Behaviour&, unsigned, RONDO_BUFFER unsigned char*,
                                      handling) {
    call_end none;
    none.failure = none.answered = 0;
    return none;  // the host packs only what is in the list
  }
};
template <class Behaviour, class First, class... Rest>
struct dispatch<Behaviour, messages<First, Rest...>> {
  RONDO_PORTABLE static call_end call(RONDO_PRIVATE Behaviour& own, unsigned entry,
                                      RONDO_BUFFER unsigned char* payload, handling h) {
    if (entry != 0) return dispatch<Behaviour, messages<Rest...>>::call(own, entry - 1, payload, h);
    typedef typename entry_of<First>::request message;
    typedef packed_context<Behaviour, First> context;
    message const m = *reinterpret_cast<RONDO_BUFFER message const*>(payload);
    context ctx(h.sends, h.most_sends, h.self, h.run, h.message, h.asked);
    typedef decltype(some<Behaviour>().on(some<context>(), m)) answer;
    answering<answer>::call(own, ctx, m);
    return ctx.end();
  }
};

/// One actor's messages, in order, until one fails.
template <class Behaviour>
RONDO_PORTABLE void handle_run(RONDO_BUFFER unsigned char* b0, RONDO_BUFFER unsigned char* b1,
                               RONDO_BUFFER unsigned char* b2, pack_work a, unsigned run) {
  RONDO_BUFFER packed_run* const r = reinterpret_cast<RONDO_BUFFER packed_run*>(b0) + run;
  if (r->behaviour != a.behaviour) return;
  handling h;
  h.sends = reinterpret_cast<RONDO_BUFFER send_list*>(b2);
  h.most_sends = a.most_sends;
  h.self = r->self;
  h.run = run;
  if (sizeof(Behaviour) != a.state_bytes) {
    h.sends->misfit = 1;
    return;
  }
  RONDO_BUFFER Behaviour* const state =
      reinterpret_cast<RONDO_BUFFER Behaviour*>(b0 + a.states_at + r->state_at);
  Behaviour own = *state;
  unsigned failure = 0, n = 0;
  for (unsigned const count = r->count; n < count; ++n) {
    RONDO_BUFFER packed_message* const m = reinterpret_cast<RONDO_BUFFER packed_message*>(b1) + r->first + n;
    h.message = r->first + n;
    h.asked = m->asked;
    call_end const end =
        dispatch<Behaviour, typename Behaviour::messages>::call(own, m->entry, b1 + a.payloads_at + m->at, h);
    m->answered = end.answered;
    failure = end.failure;
    if (failure != 0) break;
  }
  *state = own;
  r->handled = n;
  r->failure = failure;
}

/// The kernel: a row of runs.
template <class Behaviour>
RONDO_PORTABLE void handle_runs(RONDO_BUFFER unsigned char* b0, RONDO_BUFFER unsigned char* b1,
                                RONDO_BUFFER unsigned char* b2, pack_work a, work_item at) {
  static_assert(sizeof(Behaviour) <= 1024, "the state of a portable behaviour has at most 1,024 bytes");
  unsigned const begin = static_cast<unsigned>(at.row) * runs_in_a_row;
  unsigned const left = a.runs - begin;
  unsigned const end = begin + (left < runs_in_a_row ? left : static_cast<unsigned>(runs_in_a_row));
  for (unsigned run = begin + static_cast<unsigned>(at.lane); run < end;
       run += static_cast<unsigned>(at.lanes))
    handle_run<Behaviour>(b0, b1, b2, a, run);
}

}  // namespace packing
}  // namespace rondo

/// Makes a portable behaviour, and the kernel `name` for players, which rondo_add_kernels compiles with the source that
/// has it (docs/fallback.md). In the behaviour's namespace.
#define RONDO_PORTABLE_BEHAVIOUR(behaviour, name)                                          \
  RONDO_PORTABLE void name(RONDO_BUFFER unsigned char* b0, RONDO_BUFFER unsigned char* b1, \
                           RONDO_BUFFER unsigned char* b2, RONDO_BUFFER unsigned char*,    \
                           ::rondo::pack_work a, ::rondo::work_item at) {                  \
    ::rondo::packing::handle_runs<behaviour>(b0, b1, b2, a, at);                           \
  }                                                                                        \
  RONDO_KERNEL(name, ::rondo::pack_work)                                                   \
  RONDO_NOTE_PORTABLE(behaviour, name)

// -- for the runtime

#if defined(RONDO_ON_PLAYER)
#define RONDO_NOTE_PORTABLE(behaviour, name) static_assert(true, "")
#else
#define RONDO_NOTE_PORTABLE(behaviour, name)                                                          \
  ;                                                                                                   \
  constexpr ::rondo::kernel_entry const* rondo_kernel_of(behaviour const*) { return &name##_kernel; } \
  static_assert(true, "")
#endif
