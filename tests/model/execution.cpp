#include "tests/model/execution.hpp"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <sstream>

namespace model {

namespace {
/// Turns that every thread may spend in spin loops while nobody stores anything. Loops that end by count or by time
/// need fewer.
constexpr std::uint32_t patience = 256;
/// Steps that a thread may take in a row while others are ready: some loops wait for another thread without a hint.
constexpr std::uint32_t fair_share = 300;
}  // namespace

execution::execution(session& s, strategy& choices) : session_(s), choices_(choices), threads_(1) {
  threads_[0].name = "set-up";
  s.memory.begin(
      [this](std::uint32_t n) {
        return self().in_vain != 0 && !has_news(self()) ? 0 : choices_.choose_store(n);
      },
      [this](std::uint32_t n) { return choices_.choose_lateness(n); },
      [this](std::string const& what) { fail(what); });
  s.memory.begin_thread(threads_[0].views, 0);
}

execution::~execution() {
  current_ = nullptr;
  for (std::size_t i = 1; i < threads_.size(); ++i)
    if (threads_[i].begun && threads_[i].state != state::ended)
      new boost::context::fiber(
          std::move(session_.fibers[i]));  // abandoned: unwinding would pass noexcept functions
  for (auto const& [block, alignment] : blocks_) ::operator delete(block, alignment);
  session_.steps += steps_;
}

std::byte* execution::memory(std::size_t bytes, std::size_t alignment) {
  auto const align = std::align_val_t{alignment};
  auto* const block = static_cast<std::byte*>(::operator new(bytes, align));
  blocks_.emplace_back(block, align);
  std::memset(block, 0, bytes);
  session_.memory.watch(block, bytes);
  return block;
}

void execution::thread(char const* name, std::function<void()> body) {
  if (threads_.size() == max_threads) throw std::logic_error("a scenario may have 7 threads");
  auto& t = threads_.emplace_back();
  t.name = name;
  t.body = std::move(body);
  session_.memory.begin_thread(t.views, static_cast<int>(threads_.size()) - 1);
}

void execution::run() {
  current_ = this;
  threads_[0].state = state::ended;
  pass_on();
  current_ = nullptr;
  running_ = 0;
  if (session_.memory.is_impossible()) throw impossible{};
  if (!failure_.empty()) throw failed(failure_);
}

void execution::require(bool holds, char const* what) {
  if (holds) return;
  if (current_ == nullptr) throw failed(what);
  fail(what);
}

void execution::note(std::string const& text) {
  if (session_.trace != nullptr) session_.trace->push_back(std::string(self().name) + ": " + text);
}

// -- accesses

memory_order execution::weakened(memory_order order, char const* kind, std::source_location const& where,
                                 order_of part) {
  if (session_.uses != nullptr) {
    auto const [use, is_new] = session_.uses->try_emplace(site_of(where, part));
    // An access may choose its order; the strongest possible one counts. (The enumerators are in this order.)
    if (is_new || order > use->second.order) use->second = {order, where.function_name(), kind};
  }
  auto const* const w = session_.weaken;
  bool const hit = w != nullptr && w->site.line == where.line() && w->site.column == where.column() &&
                   w->site.part == part && site_of(where, part) == w->site;
  return hit && order > w->to ? w->to : order;
}

std::uint64_t execution::load(void* at, unsigned bytes, memory_order order,
                              std::source_location const& where) {
  point();
  auto const used = weakened(order, "load", where, order_of::success);
  auto const value = session_.memory.load(self().views, at, bytes, used);
  say("load", at, used, value, where);
  return value;
}

void execution::store(void* at, unsigned bytes, std::uint64_t value, memory_order order,
                      std::source_location const& where) {
  point();
  auto const used = weakened(order, "store", where, order_of::success);
  session_.memory.store(self().views, at, bytes, value, used);
  say("store", at, used, value, where);
}

std::uint64_t execution::read_modify_write(char const* kind, void* at, unsigned bytes, memory_order order,
                                           memory::change const& f, std::source_location const& where) {
  point();
  auto const used = weakened(order, kind, where, order_of::success);
  auto const value = session_.memory.read_modify_write(self().views, at, bytes, used, f);
  say(kind, at, used, value, where);
  return value;
}

bool execution::compare_exchange(void* at, unsigned bytes, std::uint64_t& expected, std::uint64_t desired,
                                 memory_order success, memory_order failure,
                                 std::source_location const& where) {
  point();
  auto const on_success = weakened(success, "compare_exchange", where, order_of::success);
  auto const on_failure = weakened(failure, "compare_exchange", where, order_of::failure);
  bool const done =
      session_.memory.compare_exchange(self().views, at, bytes, expected, desired, on_success, on_failure);
  say(done ? "exchanged to" : "exchange fails on", at, done ? on_success : on_failure,
      done ? desired : expected, where);
  return done;
}

void execution::fence(memory_order order, std::source_location const& where) {
  point();
  auto const used = weakened(order, "fence", where, order_of::success);
  session_.memory.fence(self().views, used);
  say("fence", nullptr, used, 0, where);
}

// -- waiting

void execution::spin() {
  if (!choices_.spins(running_) && !time_passes_) return point();
  auto& t = self();
  t.in_vain = has_news(t) ? 0 : t.in_vain + 1;
  t.others_stores = session_.memory.stores() - t.views.stores;
  t.state = state::spinning;
  pass_on();
  t.state = state::ready;
}

void execution::wait(void* at, std::uint32_t seen, std::uint64_t limit_ns) {
  point();
  auto& t = self();
  session_.memory.settle(t.views);
  if (*static_cast<std::uint32_t const*>(at) != seen) return;  // the system also compares memory
  if (session_.trace != nullptr) note("sleeps");
  t.waits_for = at;
  t.limit_ns = limit_ns;
  t.state = state::waiting;
  pass_on();
}

void execution::wake(void* at, int count) {
  point();
  session_.memory.settle(self().views);
  for (auto& t : threads_)
    if (count > 0 && t.state == state::waiting && t.waits_for == at) {
      t.state = state::ready;
      --count;
      if (session_.trace != nullptr) note(std::string("wakes ") + t.name);
    }
}

// -- scheduling

void execution::point() {
  if (session_.memory.is_impossible()) fail("");
  if (++steps_ > session_.step_limit)
    fail("no end after " + std::to_string(steps_) + " steps\n" + where_all_stand());
  options_.clear();
  for (std::size_t i = 0, n = threads_.size(); i < n; ++i) {
    auto const other = (running_ + i) % n;
    auto const& t = threads_[other];
    if (t.state == state::ready || (t.state == state::spinning && has_news(t))) options_.push_back(other);
  }
  if (options_.size() < 2) return;
  if (++in_a_row_ > fair_share) {
    choices_.tires(running_);
    std::rotate(options_.begin(), options_.begin() + 1, options_.end());
  }
  auto const next = options_[choices_.choose_thread(options_)];
  if (next != running_) go_to(next);
}

void execution::pass_on() {
  session_.memory.settle(self().views);
  options_.clear();
  std::size_t const n = threads_.size();
  for (std::size_t i = 1; i <= n; ++i) {
    auto const& t = threads_[(running_ + i) % n];
    if (t.state == state::ready || (t.state == state::spinning && has_news(t)))
      options_.push_back((running_ + i) % n);
  }
  if (options_.empty() && time_passes_) end_shortest_wait();
  bool patient = false, all_ended = true;
  for (std::size_t i = 1; i <= n; ++i) {  // threads that spin and have nothing new to see come last
    auto const& t = threads_[(running_ + i) % n];
    all_ended = all_ended && t.state == state::ended;
    if (t.state != state::spinning || has_news(t)) continue;
    options_.push_back((running_ + i) % n);
    patient = patient || t.in_vain < patience;
  }
  if (options_.empty() && all_ended) return running_ == 0 ? void() : go_to(0);
  if (options_.empty()) fail("every thread sleeps: a wake-up was lost\n" + where_all_stand());
  auto const& first = threads_[options_[0]];
  if (first.state == state::spinning && !has_news(first) && !patient)
    fail("every thread spins or sleeps, and nothing changes\n" + where_all_stand());
  auto const next = options_.size() == 1 ? options_[0] : options_[choices_.choose_thread(options_)];
  if (next != running_) go_to(next);
}

/// Collects the ready threads in options_.
void execution::end_shortest_wait() {
  std::size_t first = 0;
  std::uint64_t limit_ns = 1'000'000'000;
  for (std::size_t i = 1; i < threads_.size(); ++i)
    if (threads_[i].state == state::waiting && threads_[i].limit_ns < limit_ns)
      first = i, limit_ns = threads_[i].limit_ns;
  if (first == 0) return;
  now_ns_ += limit_ns;
  threads_[first].state = state::ready;
  options_.push_back(first);
  if (session_.trace != nullptr)
    session_.trace->push_back(std::string(threads_[first].name) + ": has waited for long enough");
}

void execution::go_to(std::size_t thread) {
  left_ = running_;
  running_ = thread;
  in_a_row_ = 0;
  auto& to = session_.fibers[thread];
  if (!to) begin_fiber(thread);
  if (thread != 0) threads_[thread].begun = true;
  auto from = std::move(to).resume();
  // Another thread resumed this one, perhaps an execution later.
  auto& x = *current_;
  x.session_.fibers[x.left_] = std::move(from);
}

void execution::begin_fiber(std::size_t thread) {
  session_.fibers[thread] = boost::context::fiber([](boost::context::fiber&& from) {
    current_->session_.fibers[current_->left_] = std::move(from);
    for (;;) {
      auto& x = *current_;
      x.self().body();
      x.self().state = state::ended;
      x.pass_on();
    }
    return boost::context::fiber{};
  });
}

void execution::fail(std::string const& what) {
  bool const happened = !session_.memory.is_impossible();
  if (happened) failure_ = what;
  if (running_ == 0) {
    if (!happened) throw impossible{};
    throw failed(what);
  }
  go_to(0);
  std::abort();  // a thread of a failed execution is never resumed
}

std::string execution::where_all_stand() const {
  std::ostringstream out;
  for (std::size_t i = 1; i < threads_.size(); ++i) {
    auto const& t = threads_[i];
    out << "  " << t.name
        << (t.state == state::ended      ? " has ended"
            : t.state == state::waiting  ? " sleeps"
            : t.state == state::spinning ? " spins"
                                         : " could go on")
        << '\n';
  }
  return out.str();
}

void execution::say(char const* kind, void* at, memory_order order, std::uint64_t value,
                    std::source_location const& where) {
  if (session_.trace == nullptr) return;
  std::ostringstream out;
  out << std::setw(5) << steps_ << "  " << std::left << std::setw(12) << self().name << std::setw(18) << kind
      << std::setw(8) << name_of(order);
  if (at != nullptr) {
    out << " at " << std::setw(4) << session_.memory.number_of(at) << " 0x" << std::hex << value << std::dec;
    if (auto const stale = session_.memory.last_staleness(); stale != 0 && std::strcmp(kind, "load") == 0)
      out << " (" << stale << " newer)";
  }
  out << "  " << short_name(where);
  session_.trace->push_back(out.str());
}

// -- sites

/// Relative to the project's root, even where a compiler cache made the path relative to the build directory.
static std::string file_of(std::source_location const& where) {
  std::string_view name = where.file_name();
  while (name.starts_with("../")) name.remove_prefix(3);
  return std::string(name);
}

order_site site_of(std::source_location const& where, order_of part) {
  return {file_of(where), where.line(), where.column(), part};
}

std::string short_name(std::source_location const& where) {
  return file_of(where) + ":" + std::to_string(where.line());
}

char const* name_of(memory_order order) noexcept {
  switch (order) {
    case memory_order::relaxed:
      return "relaxed";
    case memory_order::acquire:
      return "acquire";
    case memory_order::release:
      return "release";
    case memory_order::acq_rel:
      return "acq_rel";
    case memory_order::seq_cst:
      return "seq_cst";
    default:
      return "consume";
  }
}

}  // namespace model
