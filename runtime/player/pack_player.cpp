#include "runtime/player/pack_player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/base/clock.hpp"
#include "kernels/base/exceptions.hpp"
#include "kernels/mail/scheduler.hpp"

namespace rondo {

namespace {

constexpr std::uint64_t look_every_ns = 250'000'000;
constexpr std::uint64_t longest_pack_ns = 1'000'000;
constexpr std::uint32_t fewest_messages = 64;  // that a pack may have
constexpr std::uint32_t most_played = 2;       // the GPU has the next one when it is through with the first
// Those that are played, one that ends, and one that each of two teams fills. More would be a longer wait.
constexpr std::uint32_t most_packs = most_played + 3;

}  // namespace

/// Of one pack.
struct pack_player::memory {
  memory(std::pmr::memory_resource& of, pack_room const& room)
      : from(of), parts(room.runs), pack(room, parts.data()) {
    try {
      for (int b = 0; b < 3; ++b) pack.place(b, static_cast<std::byte*>(from.allocate(room.bytes(b), 64)));
    } catch (...) {
      give_back();
      throw;
    }
  }
  ~memory() { give_back(); }
  memory(memory const&) = delete;
  memory& operator=(memory const&) = delete;
  void give_back() {
    for (int b = 0; b < 3; ++b)
      if (pack.buffer(b) != nullptr) from.deallocate(pack.buffer(b), pack.room().bytes(b), 64);
  }

  std::pmr::memory_resource& from;
  std::vector<mail_pack::part> parts;
  mail_pack pack;
};

pack_player::pack_player(std::vector<packed_behaviour const*> portable, std::shared_ptr<kernel_player> player,
                         portable_place place, arena_ref arena, std::uint32_t teams, pack_room const& room)
    : player_(std::move(player)), place_(place), arena_(arena), teams_(std::max(1u, teams)), room_(room) {
  set_program(std::move(portable));
}

pack_player::~pack_player() = default;

void pack_player::serve(obstacles const& lines, std::function<void(std::string const&)> report) {
  lines_ = &lines;
  report_ = std::move(report);
  say_what_is_missing();
}

void pack_player::set_program(std::vector<packed_behaviour const*> portable) {
  bool const is_used = player_ && place_ != portable_place::host;
  bool can_pack = false;
  std::vector<std::unique_ptr<costs>> next;
  for (auto const* const what : portable) {
    auto& c = *next.emplace_back(std::make_unique<costs>());
    c.what = what;
    c.most_messages.store(4096, std::memory_order_relaxed);
    c.is_missing = is_used && what != nullptr && !player_->knows(*what->kernel);
    can_pack = can_pack || (is_used && what != nullptr && !c.is_missing);
  }
  costs_ = std::move(next);
  if (can_pack && memory_.empty()) make_packs();
  say_what_is_missing();
}

void pack_player::make_packs() try {
  std::vector<std::unique_ptr<memory>> made;
  for (auto n = std::min(most_packs, most_played + 1 + teams_); n != 0; --n)
    made.push_back(std::make_unique<memory>(player_->memory(), room_));
  memory_ = std::move(made);
  for (auto const& m : memory_) m->pack.next = std::exchange(free_, &m->pack);
} catch (std::bad_alloc const&) {
  has_no_memory_ = true;
}

void pack_player::say_what_is_missing() noexcept {
  if (has_no_memory_)
    say(fmt::format("{} has no memory for packs: the handlers of portable behaviours run on the host",
                    player_->description()));
  for (auto const& c : costs_)
    if (c->is_missing)
      say(fmt::format("the program has no kernel '{}' for {}: the handlers of its behaviour run on the host",
                      c->what->kernel->name, player_->description()));
}

std::vector<portable_report> pack_player::reports(
    std::function<std::string(std::uint32_t)> const& name_of) const {
  std::vector<portable_report> all;
  for (std::uint32_t b = 0; b < costs_.size() && player_ != nullptr; ++b) {
    auto const& c = *costs_[b];
    if (c.what == nullptr) continue;
    auto const relaxed = std::memory_order_relaxed;
    all.push_back({.behaviour = name_of(b),
                   .on_gpu = c.on_gpu.load(relaxed),
                   .on_host = c.on_host.load(relaxed),
                   .packs = c.packs.load(relaxed),
                   .gpu_ns = c.gpu_ns.load(relaxed),
                   .host_ns = c.host_ns.load(relaxed),
                   .is_packed = is_cheaper_on_gpu(c),
                   .why = why(c)});
  }
  return all;
}

std::string pack_player::why(costs const& c) const {
  if (place_ == portable_place::host) return "forced: portable is 'host'";
  if (is_lost_.load(std::memory_order_relaxed)) return "the GPU was lost";
  if (has_no_memory_) return "the GPU has no memory for packs";
  if (c.is_missing) return fmt::format("the program has no kernel '{}' for the GPU", c.what->kernel->name);
  auto const gpu_ns = c.gpu_ns.load(std::memory_order_relaxed);
  auto const host_ns = c.host_ns.load(std::memory_order_relaxed);
  auto const cost = [](double ns) {
    return ns == 0 ? "not measured yet" : fmt::format("{:.3g} ns a message", ns);
  };
  return fmt::format("{}{} on the GPU, {} on {} team{}",
                     place_ == portable_place::gpu ? "forced: portable is 'gpu'; " : "", cost(gpu_ns),
                     cost(host_ns == 0 ? 0 : host_ns / teams_), teams_, teams_ == 1 ? "" : "s");
}

bool pack_player::line_waits(actor_id to) const noexcept {
  return lines_ != nullptr && lines_->any() && lines_->may_have_line(to.index);
}

// -- the choice

void pack_player::learn(std::atomic<double>& ns, double now) noexcept {
  auto const before = ns.load(std::memory_order_relaxed);
  // One that was interrupted counts as four times as slow, at most.
  auto const counted = before == 0 ? now : std::min(now, 4 * before);
  ns.store(before == 0 ? now : before + (counted - before) / 4, std::memory_order_relaxed);
}

bool pack_player::can_pack(costs const& c) const noexcept {
  return !memory_.empty() && c.what != nullptr && !c.is_missing && !is_lost_.load(std::memory_order_relaxed);
}

bool pack_player::is_cheaper_on_gpu(costs const& c) const noexcept {
  if (!can_pack(c) || place_ != portable_place::cheaper) return can_pack(c);
  auto const gpu_ns = c.gpu_ns.load(std::memory_order_relaxed);
  auto const host_ns = c.host_ns.load(std::memory_order_relaxed);
  // Teams work side by side.
  return gpu_ns == 0 || (host_ns != 0 && gpu_ns < host_ns / teams_);
}

std::uint32_t pack_player::packs(std::uint16_t behaviour) noexcept {
  auto& c = *costs_[behaviour];
  if (!can_pack(c)) return 0;
  bool is_packed = is_cheaper_on_gpu(c);
  if (place_ == portable_place::cheaper && c.gpu_ns.load(std::memory_order_relaxed) != 0 &&
      c.host_ns.load(std::memory_order_relaxed) != 0 &&
      now_ns() >= c.looks_at_ns.load(std::memory_order_relaxed))
    is_packed = !is_packed;
  return is_packed ? c.most_messages.load(std::memory_order_relaxed) : 0;
}

void pack_player::note_on_host(std::uint16_t behaviour, std::uint32_t messages, std::uint64_t ns) noexcept {
  auto& c = *costs_[behaviour];
  c.on_host.fetch_add(messages, std::memory_order_relaxed);
  bool const was_look = is_cheaper_on_gpu(c);
  learn(c.host_ns, static_cast<double>(ns) / messages);
  if (was_look) c.looks_at_ns.store(now_ns() + look_every_ns, std::memory_order_relaxed);
}

// -- packs

mail_pack* pack_player::open() noexcept {
  std::lock_guard const lock(mutex_);
  if (waiting_ != nullptr) return std::exchange(waiting_, waiting_->next);
  auto* const p = free_;
  if (p == nullptr) return nullptr;
  free_ = p->next;
  in_play_.fetch_add(1, memory_order::relaxed);  // relaxed: this thread calls end_packs after
  p->clear();
  return p;
}

void pack_player::play(mail_pack& p) noexcept {
  {
    std::lock_guard const lock(mutex_);
    if (played_ >= most_played && !p.is_full()) {
      auto** at = &waiting_;
      while (*at != nullptr && (*at)->opened_ns <= p.opened_ns) at = &(*at)->next;
      p.next = std::exchange(*at, &p);
      return;
    }
    ++played_;
  }
  begin(p);
}

void pack_player::begin(mail_pack& p) noexcept try {
  kernel_calls list;
  p.played_ns = now_ns();
  for (std::uint32_t b = 0; b < costs_.size(); ++b) {
    if (costs_[b]->what == nullptr || !p.has(b)) continue;
    auto const& what = *costs_[b]->what;
    list.add(portable_kernel<pack_work>{*what.kernel},
             {b, what.state_bytes, p.runs(), static_cast<unsigned>(p.room().states_at()),
              static_cast<unsigned>(p.room().payloads_at()), p.room().sends},
             {p.buffer(0), p.buffer(1), p.buffer(2)}, (p.runs() + runs_in_a_row - 1) / runs_in_a_row,
             runs_in_a_row);
  }
  player_->play(std::move(list.all),
                [this, &p](error_code why, std::string const& text) { end(p, why, text); });
} catch (std::exception const& e) {
  end(p, errc::out_of_memory, e.what());
}

/// On a thread of the player.
void pack_player::end(mail_pack& p, error_code why, std::string const& text) noexcept {
  if (why) {
    p.failure = static_cast<errc>(why.value());
    if (p.failure == errc::device_lost && !is_lost_.exchange(true, std::memory_order_relaxed))
      say(fmt::format("the handlers of portable behaviours run on the host from now on: {}", text));
  } else {
    check(p);
  }
  p.next = nullptr;
  std::lock_guard const lock(mutex_);  // until the last use of this object: a team may end the pack, and all
  auto const now = now_ns();
  p.busy_ns = now - std::max(p.played_ns, last_end_ns_);  // before that, another one was played
  last_end_ns_ = now;
  --played_;
  (last_ended_ != nullptr ? last_ended_->next : first_ended_) = &p;
  last_ended_ = &p;
  ended_.fetch_add(1, memory_order::relaxed);  // relaxed: as below
  scheduler{arena_}.wake();
}

/// What kernels have written is checked. What they only read is not: a handler that writes there breaks all rules.
void pack_player::check(mail_pack& p) noexcept {
  auto const sent = p.sends().count;
  auto const most = p.room().sends;
  if (sent > most) {  // the room is for all behaviours
    p.failure = errc::batch_too_large;
    auto const fewer = std::max(fewest_messages, p.messages() / 2);
    for (auto& c : costs_)
      c->most_messages.store(std::min(c->most_messages.load(std::memory_order_relaxed), fewer),
                             std::memory_order_relaxed);
    return;
  }
  bool sound = p.sends().misfit == 0;
  for (std::uint32_t i = 0; sound && i < p.runs(); ++i) {
    auto const& r = p.run(i);
    sound = r.handled <= r.count && (r.handled == r.count || r.failure != 0);
  }
  for (std::uint32_t i = 0; sound && i < sent; ++i) {
    auto const& s = p.send(i);
    sound = s.run < p.runs() && s.message - p.run(s.run).first < p.run(s.run).count &&
            s.bytes <= max_payload_bytes && s.priority < 256 &&
            s.entry <= costs_[p.run(s.run).behaviour]->what->sends.size();
  }
  if (sound) return;
  p.failure = errc::device_lost;
  if (!is_lost_.exchange(true, std::memory_order_relaxed))
    say(fmt::format("the handlers of portable behaviours run on the host from now on: {} wrote {}",
                    player_->description(),
                    p.sends().misfit != 0 ? "that a behaviour's state has another size there than here"
                                          : "what no handler can have done"));
}

mail_pack* pack_player::take_ended() noexcept {
  std::unique_lock lock(mutex_);
  auto* const p = first_ended_;
  if (p == nullptr) return nullptr;
  p->taken_ns = now_ns();
  first_ended_ = p->next;
  if (first_ended_ == nullptr) last_ended_ = nullptr;
  ended_.fetch_sub(1, memory_order::relaxed);  // relaxed: the mutex publishes the pack
  auto* next = waiting_;
  if (next != nullptr && played_ < most_played) {
    waiting_ = next->next;
    ++played_;
  } else {
    next = nullptr;
  }
  lock.unlock();
  if (next != nullptr) begin(*next);
  // Before a reply is out, whose receiver may look.
  for (std::uint32_t i = 0; p->failure == errc::ok && i < p->runs(); ++i)
    costs_[p->run(i).behaviour]->on_gpu.fetch_add(p->run(i).handled, std::memory_order_relaxed);
  return p;
}

/// Of a pack that has ended by now. Each of its messages counts alike, whatever its behaviour.
void pack_player::learn_from(mail_pack const& p, costs& c, std::uint64_t now) noexcept {
  // The first one may have waited for the driver's compiler.
  if (c.packs.fetch_add(1, std::memory_order_relaxed) == 0) return;
  bool const was_look = !is_cheaper_on_gpu(c) || c.host_ns.load(std::memory_order_relaxed) == 0;
  learn(c.gpu_ns, static_cast<double>(p.busy_ns + (now - p.taken_ns)) / p.messages());
  if (was_look) c.looks_at_ns.store(now + look_every_ns, std::memory_order_relaxed);
  auto const most = c.most_messages.load(std::memory_order_relaxed);
  if (p.busy_ns > longest_pack_ns)
    c.most_messages.store(std::max(fewest_messages, p.messages() / 2), std::memory_order_relaxed);
  else if (p.messages() >= most && p.busy_ns <= longest_pack_ns / 2)
    c.most_messages.store(std::min(2 * most, p.room().messages), std::memory_order_relaxed);
}

void pack_player::close(mail_pack& p) noexcept {
  auto const now = now_ns();
  bool const was_played = !p.empty() && p.failure == errc::ok;
  for (std::uint32_t b = 0; was_played && b < costs_.size(); ++b)
    if (p.has(b)) learn_from(p, *costs_[b], now);
  p.clear();
  std::lock_guard const lock(mutex_);
  p.next = free_;
  free_ = &p;
  in_play_.fetch_sub(1, memory_order::relaxed);  // relaxed: a count
}

void pack_player::say(std::string const& line) noexcept {
  if (report_) call_caught([&] { report_(line); }, [](char const*) {});
}

}  // namespace rondo
