// A grid of the cost module, laid out as queue_device lays one out, and the host's end of its queue pair as a script in
// virtual time: the real host_queues writes submissions, and events are read where they arrive.
//
// Times. A load over the bus sees the host's memory half a trip after it was issued, but the grid executes it when it
// is issued. So a submission is written half a trip before the time that counts as its own.
//
// Threads: one.
#pragma once

#include <functional>
#include <list>
#include <optional>

#include "kernels/grid/grid.hpp"
#include "runtime/device/queue/arena_image.hpp"
#include "runtime/device/queue/host_queues.hpp"
#include "tests/ptx/cost/virtual_grid.hpp"

namespace ptx_cost {

struct bed_options {
  std::uint32_t teams = 2, pinned_teams = 2;
  std::uint32_t capacity = 32;  // of each mailbox, a power of two
  std::uint32_t actors = 0;     // at least; 0: twice as many as teams
  std::uint64_t seed = 1;
};

/// Something that has happened on the device, and when the host, or an observer of the device's memory, sees it.
struct sighting {
  std::uint64_t ps = 0;
  mark where;
};

class bed {
 public:
  bed(ptx::module const& code, bed_options const& options, costs const& c);

  /// Launches an actor, and waits until it takes messages.
  rondo::actor_id launch(std::uint16_t behaviour, bool pinned);
  template <class State>
  State const& state_of(rondo::actor_id id) const {
    return *reinterpret_cast<State const*>(arena().state(arena().cell(id.index)));
  }

  /// Submits `count` messages with the same header. Returns when the host began. For paths, they are a part of the
  /// message before unless `is_new`.
  std::uint64_t submit(rondo::actor_id to, rondo::message_header header, void const* payloads,
                       std::uint32_t bytes, std::uint32_t count = 1, bool is_new = true);
  template <class Request>
  std::uint64_t ask(rondo::actor_id to, Request const& request) {
    rondo::message_header h;
    h.type = rondo::type_id<Request>;
    h.flags = rondo::flag_wants_reply;
    h.reply_to = {rondo::host_ask_bit | 1, 1};
    return submit(to, h, &request, sizeof request);
  }
  template <class Message>
  std::uint64_t tell(rondo::actor_id to, Message const* messages, std::uint32_t count = 1,
                     bool is_new = true) {
    rondo::message_header h;
    h.type = rondo::type_id<Message>;
    return submit(to, h, messages, sizeof(Message), count, is_new);
  }

  /// Waits for an event of the device, and takes it.
  sighting wait_for_event(rondo::device_event& event);
  /// Waits until the device's memory is so.
  sighting wait_until(std::function<bool()> const& is_so);
  /// Lets time pass, with some of it by chance, so that messages meet the polls of the grid at all times.
  void think();
  /// Lets so much time pass.
  void pass(std::uint64_t ps);

  virtual_grid& grid() noexcept { return *grid_; }

 private:
  std::byte* memory(std::size_t bytes, ptx::memory_kind kind);
  template <class T>
  T* of(std::size_t count, ptx::memory_kind kind) {
    return reinterpret_cast<T*>(memory(count * sizeof(T), kind));
  }
  template <class Item>
  rondo::bus_ring_ref<Item> ring(std::uint32_t slots, rondo::bus_writers* writers);
  rondo::arena_ref arena() const noexcept { return rondo::arena_ref{arena_}; }

  costs costs_;
  ptx::random_source random_;
  std::list<rondo::arena_memory> memory_;
  std::vector<ptx::memory_range> ranges_;
  rondo::arena_image image_;
  std::byte* arena_ = nullptr;
  rondo::team_owners owners_;
  std::list<rondo::bus_writers> writers_;  // of the rings that the host writes
  rondo::grid<> launch_;
  std::optional<rondo::host_queues<>> queues_;
  std::optional<rondo::bus_reader<rondo::device_event>> events_;
  std::optional<virtual_grid> grid_;
  std::uint32_t pool_teams_, capacity_, next_cell_ = 0;
  std::uint64_t message_ = 0;
};

}  // namespace ptx_cost
