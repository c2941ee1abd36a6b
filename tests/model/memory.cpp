#include "tests/model/memory.hpp"

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <memory>

namespace model {

namespace {
// Not with memcpy, which this program instruments.
std::uint64_t word_at(void const* at, unsigned bytes) noexcept {
  return bytes == 4 ? *static_cast<std::uint32_t const*>(at) : *static_cast<std::uint64_t const*>(at);
}
void set_word(void* at, unsigned bytes, std::uint64_t value) noexcept {
  if (bytes == 4)
    *static_cast<std::uint32_t*>(at) = static_cast<std::uint32_t>(value);
  else
    *static_cast<std::uint64_t*>(at) = value;
}

view const nothing{};  // carried by initial values
}  // namespace

void view::join_seen(view const& other, std::size_t locations) noexcept {
  for (std::size_t i = 0; i < locations; ++i) seen[i] = std::max(seen[i], other.seen[i]);
}

void view::join(view const& other, std::size_t locations) noexcept {
  join_seen(other, locations);
  for (int i = 0; i < max_threads; ++i) clock[i] = std::max(clock[i], other.clock[i]);
}

void memory::begin(choose_store store, choose_lateness lateness, report_error error) {
  choose_ = std::move(store);
  lateness_ = std::move(lateness);
  impossible_ = false;
  error_ = std::move(error);
  by_address_.clear();
  used_locations_ = used_views_ = used_watched_ = 0;
  consistent_ = {};
  stores_ = 0;
  ++execution_;
}

void memory::begin_thread(thread_views& t, int id) const {
  t = {};
  t.id = id;
  t.now.clock[id] = 1;  // earlier accesses are not recorded: the setup happens before everything
}

void memory::watch(void const* first, std::size_t bytes) {
  if (used_watched_ == watched_.size()) watched_.emplace_back();
  auto& w = watched_[used_watched_++];
  w.first = reinterpret_cast<std::uintptr_t>(first);
  w.end = w.first + bytes;
  if (w.granules.size() < bytes / 4 + 2) w.granules.resize(bytes / 4 + 2);
}

location& memory::find(void* at, unsigned bytes) {
  auto const [place, is_new] = by_address_.try_emplace(at, nullptr);
  if (!is_new) return *place->second;
  if (used_locations_ == max_locations) {
    error_("the scenario uses more than " + std::to_string(max_locations) + " atomic locations");
    return *(place->second = &locations_.back());
  }
  if (used_locations_ == locations_.size()) locations_.emplace_back();
  auto& l = locations_[used_locations_];
  l.index = used_locations_++;
  l.writes.clear();
  l.awaited.reset();
  l.writes.push_back({word_at(at, bytes), nullptr});
  return *(place->second = &l);
}

std::size_t memory::number_of(void* at) {
  auto const found = by_address_.find(at);
  return found == by_address_.end() ? max_locations : found->second->index;
}

view& memory::new_view() {
  if (used_views_ == views_.size()) views_.emplace_back();
  return views_[used_views_++];
}

void memory::read(thread_views& t, location& l, std::size_t which, memory_order order) {
  staleness_ = static_cast<std::uint32_t>(l.writes.size() - 1 - which);
  t.now.seen[l.index] = std::max(t.now.seen[l.index], static_cast<std::uint16_t>(which));
  auto const* const carried = l.writes[which].carried;
  if (carried == nullptr) return;
  (acquires(order) ? t.now : t.acquired).join(*carried, used_locations_);
}

void memory::append(thread_views& t, location& l, void* at, unsigned bytes, std::uint64_t value,
                    memory_order order, view const* read_from) {
  view carried = releases(order) ? t.now : t.released;
  if (releases(order)) ++t.now.clock[t.id];
  bool const may_be_late =
      t.late.where == nullptr && (read_from == nullptr || (!acquires(order) && !l.awaited));
  auto const lateness = may_be_late ? lateness_(4) : 0;
  if (lateness != 0) {
    t.late = {&l, at, bytes, value, order, read_from != nullptr, carried, lateness + 1};
    if (read_from != nullptr) l.awaited = l.writes.back().value;
    return;
  }
  if (read_from != nullptr) carried.join(*read_from, used_locations_);  // continues the release sequence
  take_effect(t, l, at, bytes, value, order, carried);
}

void memory::take_effect(thread_views& t, location& l, void* at, unsigned bytes, std::uint64_t value,
                         memory_order order, view const& carried) {
  ++stores_, ++t.stores;
  auto const which = static_cast<std::uint16_t>(l.writes.size());
  t.now.seen[l.index] = which;
  auto& kept = new_view();
  kept = carried;
  kept.seen[l.index] = which;
  l.writes.push_back({value, &kept});
  impossible_ = impossible_ || l.awaited.value_or(value) != value;
  if (order == memory_order::seq_cst) consistent_.seen[l.index] = which;
  set_word(at, bytes, value);
}

void memory::settle(thread_views& t) {
  if (t.late.where == nullptr) return;
  auto& l = *t.late.where;
  t.late.where = nullptr;
  if (t.late.modifies) {
    l.awaited.reset();
    if (auto const* const found = l.writes.back().carried) t.late.carried.join(*found, used_locations_);
  }
  take_effect(t, l, t.late.at, t.late.bytes, t.late.value, t.late.order, t.late.carried);
}

void memory::before_access(thread_views& t, void const* at, memory_order order) {
  if (t.late.where != nullptr && (t.late.at == at || releases(order))) settle(t);
}

void memory::after_access(thread_views& t) {
  if (t.late.where != nullptr && --t.late.accesses_left == 0) settle(t);
}

std::uint64_t memory::load(thread_views& t, void* at, unsigned bytes, memory_order order) {
  before_access(t, at, order);
  auto& l = find(at, bytes);
  std::size_t oldest = t.now.seen[l.index];
  if (order == memory_order::seq_cst) oldest = std::max<std::size_t>(oldest, consistent_.seen[l.index]);
  auto const options = static_cast<std::uint32_t>(l.writes.size() - oldest);
  auto const which = l.writes.size() - 1 - (options > 1 ? choose_(options) : 0);
  read(t, l, which, order);
  auto const value = l.writes[which].value;
  after_access(t);
  return value;
}

void memory::store(thread_views& t, void* at, unsigned bytes, std::uint64_t value, memory_order order) {
  before_access(t, at, order);
  append(t, find(at, bytes), at, bytes, value, order, nullptr);
  after_access(t);
}

std::uint64_t memory::read_modify_write(thread_views& t, void* at, unsigned bytes, memory_order order,
                                        change const& f) {
  before_access(t, at, order);
  auto& l = find(at, bytes);
  auto const newest = l.writes.back();
  read(t, l, l.writes.size() - 1, order);
  append(t, l, at, bytes, f(newest.value), order, newest.carried != nullptr ? newest.carried : &nothing);
  after_access(t);
  return newest.value;
}

bool memory::compare_exchange(thread_views& t, void* at, unsigned bytes, std::uint64_t& expected,
                              std::uint64_t desired, memory_order success, memory_order failure) {
  before_access(t, at, success);
  auto& l = find(at, bytes);
  // It succeeds only on the newest store; it may fail on any other visible store with a different value.
  auto const newest = l.writes.size() - 1;
  bool const can_succeed = l.writes[newest].value == expected;
  std::size_t oldest = t.now.seen[l.index];
  if (failure == memory_order::seq_cst) oldest = std::max<std::size_t>(oldest, consistent_.seen[l.index]);
  std::uint32_t options = 1;
  for (auto i = oldest; i < newest; ++i) options += l.writes[i].value != expected;
  auto pick = options > 1 ? choose_(options) : 0;
  auto which = newest;
  while (pick != 0)
    if (l.writes[--which].value != expected) --pick;
  bool const done = which == newest && can_succeed;
  if (done) {
    auto const* const carried = l.writes[newest].carried;
    read(t, l, newest, success);
    append(t, l, at, bytes, desired, success, carried != nullptr ? carried : &nothing);
  } else {
    read(t, l, which, failure);
    expected = l.writes[which].value;
  }
  after_access(t);
  return done;
}

void memory::fence(thread_views& t, memory_order order) {
  settle(t);
  if (acquires(order)) t.now.join(t.acquired, used_locations_);
  if (order == memory_order::seq_cst) {  // orders visibility, but alone does not create happens-before
    t.now.join_seen(consistent_, used_locations_);
    consistent_.join_seen(t.now, used_locations_);
  }
  if (releases(order)) {
    t.released = t.now;
    ++t.now.clock[t.id];
  }
}

void memory::plain(thread_views& t, void const* at, std::size_t bytes, bool writes, void const* pc) {
  auto const first = reinterpret_cast<std::uintptr_t>(at);
  for (std::size_t n = 0; n < used_watched_; ++n) {
    auto& w = watched_[n];
    if (first < w.first || first + bytes > w.end) continue;
    for (auto g = (first - w.first) / 4; g <= (first + bytes - 1 - w.first) / 4; ++g) {
      auto& s = w.granules[g];
      if (s.execution != execution_) s = {.execution = execution_};
      auto const racing = [&](char const* what, int other, void const* other_pc) {
        error_(std::string("data race: ") + (writes ? "write" : "read") + " at " + source_of(pc) + " and " +
               what + " of thread " + std::to_string(other) + " at " + source_of(other_pc));
      };
      if (s.write_clock > t.now.clock[s.writer]) return racing("write", s.writer, s.write_pc);
      for (int u = 0; writes && u < max_threads; ++u)
        if (s.read_clock[u] > t.now.clock[u]) return racing("read", u, s.read_pc);
      if (writes)
        s.write_clock = t.now.clock[t.id], s.writer = t.id, s.write_pc = pc;
      else
        s.read_clock[t.id] = t.now.clock[t.id], s.read_pc = pc;
    }
    return;
  }
}

std::string source_of(void const* pc) {
  extern char const first_byte asm("__executable_start");
  std::string program(4096, '\0');
  auto const length = readlink("/proc/self/exe", program.data(), program.size());
  if (length < 0) return "?";
  program.resize(static_cast<std::size_t>(length));
  // One byte back: a return address may belong to the next line.
  auto const offset = static_cast<char const*>(pc) - &first_byte - 1;
  char command[4200];
  std::snprintf(command, sizeof command, "addr2line -e '%s' %tx", program.c_str(), offset);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const out{popen(command, "r"), pclose};
  char line[512] = "?";
  if (out == nullptr || std::fgets(line, sizeof line, out.get()) == nullptr) return "?";
  std::string source = line;
  if (auto const end = source.find_first_of(" \n"); end != std::string::npos) source.resize(end);
  return source;
}

}  // namespace model
