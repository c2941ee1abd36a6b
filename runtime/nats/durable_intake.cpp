#include "runtime/nats/durable_intake.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/system_executor.hpp>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "runtime/checkpoint.hpp"
#include "runtime/nats/durable_notes.hpp"
#include "runtime/nats/nats_target.hpp"
#include "runtime/service/json/clean_text.hpp"
#include "runtime/service/tell_outcomes.hpp"

namespace rondo::service {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t ranges_limit = 4096;  // beyond the messages out at once: gaps in the stream

/// Whether the mailbox, or the path to it, is full only at the moment.
bool is_passing(errc reason) {
  return reason == errc::mailbox_full || reason == errc::arena_full || reason == errc::device_busy ||
         reason == errc::ask_limit || reason == errc::out_of_memory;
}
bool is_the_end(errc reason) { return reason == errc::stopped || reason == errc::device_lost; }

/// A name that no other process has.
std::string owner_name() {
  char host[64]{};
  ::gethostname(host, sizeof host - 1);
  std::random_device source;
  return fmt::format("process {} of {}, {:08x}{:08x}", ::getpid(), host, source(), source());
}

}  // namespace

struct durable_intake::state {
  state(rondo::runtime& runtime, nats_link& l, durable_options o, std::function<void(std::string const&)> to)
      : rt(runtime), link(l), options(std::move(o)), log(std::move(to)) {
    try {
      notes = decode_notes(options.notes);
    } catch (std::invalid_argument const& e) {
      throw config_error(fmt::format("{}: {}", options.checkpoint.string(), e.what()));
    }
  }

  rondo::runtime& rt;
  nats_link& link;
  durable_options const options;
  std::function<void(std::string const&)> const log;
  std::string const owner = owner_name();

  // -- used by the thread, and by `start` before it
  std::unique_ptr<nats_stream> stream;
  durable_notes notes;
  std::map<std::uint64_t, stored_message> waiting;  // not in a mailbox yet
  std::map<std::uint64_t, stored_message> taken;    // in the set, and not yet in a checkpoint
  bool another_owns = false;
  nats_subscription alive;     // tells other processes that this one lives
  clock::time_point looked{};  // when the consumer was last checked
  clock::time_point wrote{};   // the last checkpoint
  std::string last_trouble;
  std::shared_ptr<tell_outcomes> const sent =
      std::make_shared<tell_outcomes>();  // shared with tells in flight

  // -- between threads; guarded by the mutex
  std::mutex mutex;
  std::condition_variable changed;
  bool draining = false, ends = false;
  std::uint64_t wanted = 0, written = 0;  // checkpoints, numbered from 1
  std::exception_ptr failure;             // of the last one
  std::thread thread;

  void run();
  void turn();
  void claim();
  void open(bool take_over);
  bool is_mine() {
    looked = clock::now();
    return stream->is_mine();
  }
  void meet_stream(stream_facts const& facts);
  void fetch();
  void take(stored_message m);
  bool tell();
  void settle(std::uint64_t sequence, errc reason);
  void end(std::map<std::uint64_t, stored_message>::iterator m, std::string const& why);
  bool is_due() const;
  void write();
  void trouble(std::string const& text);
  void wait(std::chrono::milliseconds time);
  void answer_wishes();
  bool is_draining() {
    std::lock_guard lock(mutex);
    return draining;
  }
};

/// Makes sure that no other process takes these messages, as far as it can be asked.
void durable_intake::state::claim() {
  auto const subject = fmt::format("rondo.{}.durable_owner.alive", options.service);
  auto const until = clock::now() + options.patience;
  for (bool asked = false; !asked;) try {
      auto const other = link.request({subject, {}}, 500ms);
      auto const who = other.payload();
      throw nats_error(
          NATS_NOT_PERMITTED,
          fmt::format("the durable messages of '{}' are taken by {}; only one process may take messages that "
                      "its state depends on: stop that one, or give this service another name",
                      options.service, clean_text({reinterpret_cast<char const*>(who.data()), who.size()})));
    } catch (nats_error const& e) {
      // No answer in time: the process has died, and the server does not know that yet.
      if (e.status != NATS_NO_RESPONDERS && (e.status != NATS_TIMEOUT || clock::now() > until)) throw;
      asked = e.status == NATS_NO_RESPONDERS;
    }
  alive = link.subscribe(subject, "", [this](nats_message const& m) {
    if (!m.reply_to().empty()) link.reply(m, std::as_bytes(std::span(owner)));
  });
}

void durable_intake::state::open(bool take_over) {
  // These belong to the old consumer. What was taken is redelivered, and recognised.
  waiting.clear();
  taken.clear();
  stream.reset();
  stream = std::make_unique<nats_stream>(
      link,
      nats_stream_options{.stream = "rondo_" + options.service,
                          .subjects = {fmt::format("rondo.{}.durable.*", options.service)},
                          .durable = "service",
                          .owner = owner,
                          .take_over = take_over},
      options.patience);
  meet_stream(stream->look());
  looked = clock::now();
}

/// Makes the set fit the stream: empty if the stream is new, without messages that the stream has lost.
void durable_intake::state::meet_stream(stream_facts const& facts) {
  auto const before = notes;
  if (notes.stream_created_ns != facts.created_ns) {
    if (notes.stream_created_ns != 0)
      log(fmt::format("NATS: the stream rondo_{} was created again: its messages are numbered from 1 again",
                      options.service));
    notes = {facts.created_ns, {}};
  }
  if (notes.taken.largest() > facts.last) {
    log(fmt::format("NATS: the stream rondo_{} has lost its messages from {} on; they were already handled",
                    options.service, facts.last + 1));
    notes.taken.cut_above(facts.last);
  }
  notes.taken.raise_floor(facts.first - 1);  // the stream cannot deliver what it no longer has
  if (notes != before) write();
}

void durable_intake::state::run() {
  for (;;) {
    answer_wishes();
    {
      std::lock_guard lock(mutex);
      if (ends) return;
    }
    try {
      turn();
      last_trouble.clear();
    } catch (nats_error const& e) {
      trouble(e.what());
      if (e.status == NATS_NOT_PERMITTED) another_owns = true;
      wait(500ms);
    } catch (std::exception const& e) {
      trouble(e.what());
      wait(500ms);
    }
  }
}

/// Takes the available messages and makes them durable.
void durable_intake::state::turn() {
  if (is_draining() || another_owns) {
    wait(1h);
    return;
  }
  if (!link.connected() && waiting.empty()) {
    wait(50ms);
    return;
  }
  if (stream == nullptr || (clock::now() - looked > 2s && !is_mine())) open(false);
  if (notes.taken.ranges() > ranges_limit) meet_stream(stream->look());
  fetch();
  bool const some = tell();
  if (is_due()) write();
  if (!some && !waiting.empty()) wait(5ms);
}

void durable_intake::state::fetch() {
  auto const most =
      options.batch - static_cast<int>(std::min<std::size_t>(waiting.size() + taken.size(),
                                                             static_cast<std::size_t>(options.batch)));
  if (most == 0) return;
  for (auto& m : stream->fetch(most, waiting.empty() ? 100ms : 1ms)) take(std::move(m));
}

void durable_intake::state::take(stored_message m) {
  auto const sequence = m.sequence();
  auto& to = notes.taken.contains(sequence) ? taken : waiting;
  nats_counters::add(options.counters.durable);
  if (m.deliveries() > 1) nats_counters::add(options.counters.redelivered);
  // The latest delivery counts: the server waits for its acknowledgement.
  to.erase(sequence);
  to.emplace(sequence, std::move(m));
}

/// Tells all waiting messages, and returns once each mailbox has accepted or refused its message. False if none has
/// accepted.
bool durable_intake::state::tell() {
  struct told {
    std::uint64_t sequence;
    nats_target target;
    std::span<std::byte const> payload;
  };
  std::vector<told> batch;
  for (auto m = waiting.begin(); m != waiting.end();) {
    auto const now = m++;
    auto const name = last_word(now->second.subject());
    if (std::ranges::find(options.actors, name) == options.actors.end()) {
      end(now, "this actor is not `durable` in the configuration");
      continue;
    }
    auto found = find_target(rt, name, now->second);
    if (auto const* const why = std::get_if<nats_refusal>(&found))
      end(now, why->reason);
    else
      batch.push_back({now->first, std::get<nats_target>(std::move(found)), now->second.payload()});
  }
  if (batch.empty()) return false;
  sent->expect(batch.size());
  for (auto const& [sequence, target, payload] : batch) {
    auto const& h = target.headers;
    target.actor.tell(target.type, payload,
                      {.priority = h.priority,
                       .deadline = std::chrono::microseconds(h.deadline_us),
                       .wait_for_room = false},
                      answer_handler(boost::asio::bind_executor(
                          boost::asio::system_executor{},
                          [to = sent, number = sequence](answer const& a) { to->put(number, a.reason); })));
  }
  auto const before = taken.size();
  auto the_end = errc::ok;
  for (auto const& [sequence, reason] : sent->wait()) {
    if (is_the_end(reason)) the_end = reason;
    settle(sequence, reason);
  }
  if (the_end != errc::ok)
    throw boost::system::system_error(the_end, "durable messages stay in their stream");
  return taken.size() != before;
}

void durable_intake::state::settle(std::uint64_t sequence, errc reason) {
  auto const m = waiting.find(sequence);
  if (reason == errc::ok) {
    notes.taken.insert(sequence);
    taken.insert(waiting.extract(m));
  } else if (!is_passing(reason) && !is_the_end(reason)) {
    end(m, make_error_code(reason).message());
  }
}

/// Discards a message that cannot be handled. If the server does not learn of that, the message is redelivered, and
/// recognised; if this process is killed now, it is discarded again. Does not throw for network errors: the whole batch
/// must be settled.
void durable_intake::state::end(std::map<std::uint64_t, stored_message>::iterator m, std::string const& why) {
  log(fmt::format("NATS: refused message {} for {}: {}", m->first, clean_text(m->second.subject()), why));
  notes.taken.insert(m->first);
  nats_counters::add(options.counters.durable_refused);
  try {
    m->second.term();
  } catch (nats_error const& e) {
    trouble(e.what());
  }
  waiting.erase(m);
}

/// A checkpoint stops all teams for a moment and waits for the disk, so many messages share one. Publishers do not wait for
/// it: the stream has confirmed their messages.
bool durable_intake::state::is_due() const {
  if (taken.empty()) return false;
  return taken.size() + waiting.size() >= static_cast<std::size_t>(options.batch) ||
         clock::now() - wrote >= options.interval;
}

/// Called only while no message is on its way to a mailbox, so that set and states agree.
void durable_intake::state::write() {
  rondo::checkpoint(rt, options.checkpoint, encode(notes));
  wrote = clock::now();
  while (!taken.empty()) {
    auto const m = taken.begin();
    try {
      m->second.ack();
      nats_counters::add(options.counters.acknowledged);
    } catch (nats_error const& e) {
      trouble(e.what());  // it is redelivered, and recognised
    }
    taken.erase(m);
  }
}

/// Logs an error, unless it is the same as the last one.
void durable_intake::state::trouble(std::string const& text) {
  if (text != std::exchange(last_trouble, text)) log("NATS: " + text);
}

/// Sleeps until another thread wants something, at most for `time`.
void durable_intake::state::wait(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex);
  auto const was_draining = draining;
  changed.wait_for(lock, time, [&] { return ends || wanted != written || draining != was_draining; });
}

void durable_intake::state::answer_wishes() {
  std::uint64_t number = 0;
  {
    std::lock_guard lock(mutex);
    if (wanted == written) return;
    number = wanted;
  }
  std::exception_ptr why;
  try {
    write();
  } catch (...) {
    why = std::current_exception();
  }
  std::lock_guard lock(mutex);
  written = number;
  failure = why;
  changed.notify_all();
}

durable_intake::durable_intake(rondo::runtime& rt, nats_link& link, durable_options options,
                               std::function<void(std::string const&)> log)
    : state_(std::make_unique<state>(rt, link, std::move(options), std::move(log))) {}

durable_intake::~durable_intake() {
  if (!state_->thread.joinable()) return;
  {
    std::lock_guard lock(state_->mutex);
    state_->ends = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

void durable_intake::start() {
  state_->claim();
  state_->open(true);
  std::lock_guard lock(state_->mutex);  // checkpoint() asks whether there is a thread
  state_->thread = std::thread([s = state_.get()] { s->run(); });
}

void durable_intake::drain() {
  std::lock_guard lock(state_->mutex);
  state_->draining = true;
  state_->changed.notify_all();
}

void durable_intake::checkpoint() {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  if (!s.thread.joinable()) throw std::runtime_error("the service has not started yet; try again");
  auto const mine = ++s.wanted;
  s.changed.notify_all();
  s.changed.wait(lock, [&] { return s.written >= mine; });
  if (s.failure) std::rethrow_exception(s.failure);
}

}  // namespace rondo::service
