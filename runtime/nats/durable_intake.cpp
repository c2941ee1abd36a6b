#include "runtime/nats/durable_intake.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/system_executor.hpp>
#include <latch>
#include <random>

#include "runtime/checkpoint.hpp"
#include "runtime/nats/nats_target.hpp"
#include "runtime/os/start_thread.hpp"
#include "runtime/text/clean_text.hpp"

namespace rondo::service {
namespace {

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

/// What became of a batch of tells. Shared with those in flight.
struct tell_outcomes {
  explicit tell_outcomes(std::size_t count) : reasons(count), missing(static_cast<std::ptrdiff_t>(count)) {}
  std::vector<errc> reasons;  // in the batch's order
  std::latch missing;
};

}  // namespace

durable_intake::durable_intake(rondo::runtime& rt, nats_link& link, durable_options options,
                               std::function<void(std::string const&)> const& log)
    : rt_(rt),
      link_(link),
      options_(std::move(options)),
      log_(log),
      refusals_(log, "durable messages were refused"),
      losses_(log, "durable messages could not be acknowledged; they are redelivered, and recognised"),
      left_out_(log),
      owner_(owner_name()) {
  try {
    notes_ = decode_notes(options_.notes);
  } catch (std::invalid_argument const& e) {
    throw config_error(fmt::format("{}: {}", options_.checkpoint.string(), e.what()));
  }
}

void durable_intake::start() {
  options_.counters.has_durable.store(true, std::memory_order_relaxed);  // relaxed: a report
  claim();
  open(true);
  options_.counters.durable_ready.store(true, std::memory_order_relaxed);  // relaxed: likewise
  std::lock_guard lock(mutex_);  // checkpoint() asks whether there is a thread
  thread_ = make_process_ptr<std::jthread>(
      start_jthread("durable messages of NATS", [this](std::stop_token const& stop) { run(stop); }));
}

void durable_intake::drain() {
  std::lock_guard lock(mutex_);
  draining_ = true;
  changed_.notify_all();
}

void durable_intake::checkpoint() {
  std::unique_lock lock(mutex_);
  if (thread_ == nullptr) throw std::runtime_error("the service has not started yet; try again");
  auto written = wishes_.emplace_back().get_future();
  changed_.notify_all();
  lock.unlock();
  written.get();
}

/// Makes sure that no other process takes these messages, as far as it can be asked.
void durable_intake::claim() {
  auto const subject = fmt::format("rondo.{}.durable_owner.alive", options_.service);
  auto const until = clock::now() + options_.patience;
  for (bool asked = false; !asked;) try {
      auto const other = link_.request({subject, {}}, 500ms);
      auto const who = other.payload();
      throw nats_error(
          NATS_NOT_PERMITTED,
          fmt::format("the durable messages of '{}' are taken by {}; only one process may take messages that "
                      "its state depends on: stop that one, or give this service another name",
                      options_.service, clean_text({reinterpret_cast<char const*>(who.data()), who.size()})));
    } catch (nats_error const& e) {
      // No answer in time: the process has died, and the server does not know that yet.
      if (e.status != NATS_NO_RESPONDERS && (e.status != NATS_TIMEOUT || clock::now() > until)) throw;
      asked = e.status == NATS_NO_RESPONDERS;
    }
  alive_ = link_.subscribe(subject, "", [this](nats_message const& m) {
    if (!m.reply_to().empty()) link_.reply(m, std::as_bytes(std::span(owner_)));
  });
}

void durable_intake::open(bool take_over) {
  // These belong to the old consumer. What was taken is redelivered, and recognised.
  waiting_.clear();
  taken_.clear();
  stream_.reset();
  stream_ = std::make_unique<nats_stream>(
      link_,
      nats_stream_options{.stream = "rondo_" + options_.service,
                          .subjects = {fmt::format("rondo.{}.durable.*", options_.service)},
                          .durable = "service",
                          .owner = owner_,
                          .take_over = take_over},
      options_.patience);
  meet_stream(stream_->look());
  looked_ = clock::now();
}

/// Makes the set fit the stream: empty if the stream is new, without messages that the stream has lost.
void durable_intake::meet_stream(stream_facts const& facts) {
  auto const before = notes_;
  if (notes_.stream_created_ns != facts.created_ns) {
    if (notes_.stream_created_ns != 0)
      log_(fmt::format("NATS: the stream rondo_{} was created again: its messages are numbered from 1 again",
                       options_.service));
    notes_ = {facts.created_ns, {}};
  }
  if (notes_.taken.largest() > facts.last) {
    log_(fmt::format("NATS: the stream rondo_{} has lost its messages from {} on; they were already handled",
                     options_.service, facts.last + 1));
    notes_.taken.cut_above(facts.last);
  }
  notes_.taken.raise_floor(facts.first - 1);  // the stream cannot deliver what it no longer has
  if (notes_ != before) write();
}

void durable_intake::run(std::stop_token const& stop) {
  for (;;) {
    answer_wishes();
    if (stop.stop_requested()) return;
    try {
      turn();
      if (!another_owns_ && link_.connected()) went_well();
    } catch (nats_error const& e) {
      if (e.status == NATS_NOT_PERMITTED) another_owns_ = true;
      if (e.status == NATS_NOT_FOUND) stream_.reset();  // somebody has removed it, or its consumer
      trouble(e.what());
      wait(500ms);
    } catch (std::exception const& e) {
      trouble(e.what());
      wait(500ms);
    }
  }
}

/// Takes the available messages and makes them durable.
void durable_intake::turn() {
  if (is_draining() || another_owns_) {
    wait(1h);
    return;
  }
  if (!link_.connected() && waiting_.empty()) {
    wait(50ms);
    return;
  }
  bool const is_open = stream_ != nullptr && stream_->is_on_connection();
  if (!is_open || (clock::now() - looked_ > 2s && !is_mine())) open(false);
  refusals_.summarise();
  losses_.summarise();
  if (notes_.taken.ranges() > ranges_limit) meet_stream(stream_->look());
  fetch();
  bool const some = tell();
  if (is_due()) write();
  if (!some && !waiting_.empty()) wait(5ms);
}

void durable_intake::fetch() {
  auto const most =
      options_.batch - static_cast<int>(std::min<std::size_t>(waiting_.size() + taken_.size(),
                                                              static_cast<std::size_t>(options_.batch)));
  if (most == 0) return;
  for (auto& m : stream_->fetch(most, waiting_.empty() ? 100ms : 1ms)) take(std::move(m));
}

void durable_intake::take(stored_message m) {
  auto const sequence = m.sequence();
  auto& to = notes_.taken.contains(sequence) ? taken_ : waiting_;
  nats_counters::add(options_.counters.durable);
  if (m.deliveries() > 1) nats_counters::add(options_.counters.redelivered);
  // The latest delivery counts: the server waits for its acknowledgement.
  to.erase(sequence);
  to.emplace(sequence, std::move(m));
}

/// Tells all waiting messages, and returns once each mailbox has accepted or refused its message. False if none has
/// accepted.
bool durable_intake::tell() {
  std::vector<std::pair<messages::iterator, nats_target>> batch;
  for (auto m = waiting_.begin(); m != waiting_.end();) {
    auto const now = m++;
    auto const name = last_word(now->second.subject());
    if (std::ranges::find(options_.actors, name) == options_.actors.end()) {
      end(now, "this actor is not `durable` in the configuration");
      continue;
    }
    auto found = find_target(rt_, name, now->second);
    if (auto const* const why = std::get_if<nats_refusal>(&found))
      end(now, why->reason);
    else
      batch.emplace_back(now, std::get<nats_target>(std::move(found)));
  }
  if (batch.empty()) return false;
  auto const sent = std::make_shared<tell_outcomes>(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    auto const& [m, target] = batch[i];
    auto const& h = target.headers;
    target.actor.tell(
        target.type, m->second.payload(),
        {.priority = h.priority,
         .deadline = std::chrono::microseconds(h.deadline_us),
         .wait_for_room = false},
        answer_handler(boost::asio::bind_executor(boost::asio::system_executor{}, [sent, i](answer const& a) {
          sent->reasons[i] = a.reason;
          sent->missing.count_down();
        })));
  }
  sent->missing.wait();
  auto const before = taken_.size();
  auto the_end = errc::ok;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (is_the_end(sent->reasons[i])) the_end = sent->reasons[i];
    settle(batch[i].first, sent->reasons[i]);
  }
  if (the_end != errc::ok)
    throw boost::system::system_error(the_end, "durable messages stay in their stream");
  return taken_.size() != before;
}

void durable_intake::settle(messages::iterator m, errc reason) {
  if (reason == errc::ok) {
    notes_.taken.insert(m->first);
    taken_.insert(waiting_.extract(m));
  } else if (!is_passing(reason) && !is_the_end(reason)) {
    end(m, make_error_code(reason).message());
  }
}

/// Discards a message that cannot be handled. If the server does not learn of that, the message is redelivered, and
/// recognised; if this process is killed now, it is discarded again. Does not throw for network errors: the whole batch
/// must be settled.
void durable_intake::end(messages::iterator m, std::string const& why) {
  refusals_.line(
      fmt::format("NATS: refused message {} for {}: {}", m->first, clean_text(m->second.subject()), why));
  notes_.taken.insert(m->first);
  nats_counters::add(options_.counters.durable_refused);
  try {
    m->second.term();
  } catch (nats_error const& e) {
    losses_.line(fmt::format("NATS: {}", e.what()));
  }
  waiting_.erase(m);
}

/// A checkpoint stops all teams for a moment and waits for the disk, so many messages share one. Publishers do not wait
/// for it: the stream has confirmed their messages.
bool durable_intake::is_due() const {
  if (taken_.empty()) return false;
  return taken_.size() + waiting_.size() >= static_cast<std::size_t>(options_.batch) ||
         clock::now() - wrote_ >= options_.interval;
}

/// Called only while no message is on its way to a mailbox, so that set and states agree.
void durable_intake::write() {
  left_out_.take(rondo::checkpoint(rt_, options_.checkpoint, encode(notes_)));
  wrote_ = clock::now();
  while (!taken_.empty()) {
    auto const m = taken_.begin();
    try {
      m->second.ack();
      nats_counters::add(options_.counters.acknowledged);
    } catch (nats_error const& e) {
      losses_.line(fmt::format("NATS: {}", e.what()));  // it is redelivered, and recognised
    }
    taken_.erase(m);
  }
}

/// No messages are taken for this reason. Logs it, unless it is known.
void durable_intake::trouble(std::string const& text) {
  options_.counters.durable_ready.store(false, std::memory_order_relaxed);  // relaxed: a report
  {
    std::lock_guard lock(mutex_);
    if (text == std::exchange(why_idle_, text)) return;
  }
  log_("NATS: " + text);
}

void durable_intake::went_well() {
  options_.counters.durable_ready.store(true, std::memory_order_relaxed);  // relaxed: a report
  std::lock_guard lock(mutex_);
  if (std::exchange(why_idle_, {}).empty()) return;
  log_("NATS: durable messages are taken again");
}

std::string durable_intake::why_idle() const {
  std::lock_guard lock(mutex_);
  return why_idle_;
}

/// Sleeps until another thread wants something, at most for `time`.
void durable_intake::wait(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  auto const was_draining = draining_;
  changed_.wait_for(lock, thread_->get_stop_token(), time,
                    [&] { return !wishes_.empty() || draining_ != was_draining; });
}

void durable_intake::answer_wishes() {
  std::vector<std::promise<void>> wishes;
  {
    std::lock_guard lock(mutex_);
    wishes.swap(wishes_);
  }
  if (wishes.empty()) return;
  try {
    write();
  } catch (...) {
    for (auto& w : wishes) w.set_exception(std::current_exception());
    return;
  }
  for (auto& w : wishes) w.set_value();
}

}  // namespace rondo::service
