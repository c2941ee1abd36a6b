#include "runtime/graph/actor_graphs.hpp"

#include <boost/system/system_error.hpp>
#include <cstring>

#include "runtime/os/profiler_range.hpp"

namespace rondo {

namespace {

/// The reply is aligned for any type.
std::uint64_t reply_offset(std::uint32_t request_bytes) { return align_up(request_bytes, 64); }

buffer claim(buffer_pool& from, std::uint64_t bytes) {
  auto claimed = from.acquire_buffer(bytes);
  if (!claimed) throw boost::system::system_error(claimed.error(), "capturing a graph");
  return std::move(*claimed);
}

}  // namespace

void actor_graphs::capture(capture_request const& what, graph_engine& engine, memory_pair const& memory) {
  std::shared_ptr<captured> r;
  {
    std::lock_guard lock(mutex_);
    auto& named = by_name_[what.actor];
    if (!named) named = std::make_shared<captured>();
    r = named;
  }
  std::lock_guard busy(r->busy);
  bool const same_place = r->steps != nullptr && r->engine == &engine &&
                          r->request_bytes == what.request_bytes && r->reply_bytes == what.reply_bytes;
  captured anew;
  auto& to = same_place ? *r : anew;
  if (!same_place) {
    auto const bytes = reply_offset(what.request_bytes) + what.reply_bytes;
    anew.engine = &engine;
    anew.request_bytes = what.request_bytes;
    anew.reply_bytes = what.reply_bytes;
    anew.here = claim(memory.pinned != nullptr ? *memory.pinned : *memory.host, bytes);
    if (!memory.is_one()) anew.there = claim(*memory.device, bytes);
    anew.steps = engine.make_graph();
  }
  auto* const here = to.here.span().data();
  auto* const there = memory.is_one() ? here : memory.device->address_of(to.there.ref());
  auto const reply_at = reply_offset(what.request_bytes);
  to.steps->capture([&](stream& s) {
    if (!memory.is_one()) s.copy_to_device(there, here, what.request_bytes);
    what.work(s, there, there + reply_at);
    if (!memory.is_one()) s.copy_to_host(here + reply_at, there + reply_at, what.reply_bytes);
  });
  if (same_place) return;
  r->engine = anew.engine;
  r->steps = std::move(anew.steps);  // before the blocks of the old graph are released
  r->here = std::move(anew.here);
  r->there = std::move(anew.there);
  r->request_bytes = what.request_bytes;
  r->reply_bytes = what.reply_bytes;
}

std::shared_ptr<actor_graphs::captured> actor_graphs::find(actor_id actor) {
  {
    std::shared_lock lock(mutex_);
    auto const known = by_actor_.find(actor.index);
    if (known != by_actor_.end() && known->second.generation == actor.generation) return known->second.graph;
  }
  auto const name = names_(actor);
  std::lock_guard lock(mutex_);
  auto const named = by_name_.find(name);
  if (named == by_name_.end()) return nullptr;
  by_actor_[actor.index] = {actor.generation, named->second};
  return named->second;
}

errc actor_graphs::replay(actor_id actor, void const* request, std::uint32_t request_bytes, void* reply,
                          std::uint32_t reply_bytes) {
  auto const r = find(actor);
  if (!r) return errc::no_graph;
  std::lock_guard busy(r->busy);
  if (!r->steps) return errc::no_graph;  // its first capture failed or is in progress
  if (r->request_bytes != request_bytes || r->reply_bytes != reply_bytes) return errc::payload_too_large;
  auto* const here = r->here.span().data();
  std::memcpy(here, request, request_bytes);
  [[maybe_unused]] profiler_range const range("graph");
  if (!r->steps->replay()) return errc::device_lost;
  std::memcpy(reply, here + reply_offset(request_bytes), reply_bytes);
  return errc::ok;
}

}  // namespace rondo
