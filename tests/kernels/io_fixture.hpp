// A ring of submissions and what its reader works on, for the tests of both readers.
#pragma once

#include "kernels/grid/direct_inbox.hpp"
#include "tests/kernels/bus_ring_fixture.hpp"

namespace rondo_test {

/// An arena, a submission ring and an I/O team whose completions are kept in a vector.
struct io_fixture {
  explicit io_fixture(std::uint32_t slots = 16, std::uint64_t start = 0, std::uint32_t ring_slots = 8)
      : arena({.actors = 4, .rings = 4, .ring_slots = ring_slots, .teams = 1}), down(slots, start) {}

  host_port host() {
    return {this,
            [](void* self, device_event const& r) { static_cast<io_fixture*>(self)->events.push_back(r); },
            {}};
  }
  io_team<taker_module> team() { return {arena.ref(), down.ref(), orders, host(), rondo::team{0}, window}; }
  bool submit(submission_kind kind, actor_id to, void const* payload, std::uint32_t bytes,
              std::uint32_t stride, std::uint32_t count, actor_id ack, message_header header) {
    std::uint64_t ticket = 0;
    auto const fill = [&](std::uint32_t i, submission& s) {
      s = {};
      s.kind = kind;
      s.how = how;
      s.epoch = epoch;
      s.count = count - i;
      s.to = to;
      s.ack = ack;
      s.body.header = header;
      s.body.bytes = bytes;
      std::memcpy(s.body.payload, static_cast<std::byte const*>(payload) + i * stride, bytes);
    };
    return down.ref().try_push(kind == submission_kind::post ? count : 1, fill, ticket) ==
           push_outcome::pushed;
  }
  bool post(actor_id to, std::vector<note> const& notes, actor_id ack = {},
            message_header header = note_header()) {
    return submit(submission_kind::post, to, notes.data(), sizeof(note), sizeof(note),
                  static_cast<std::uint32_t>(notes.size()), ack, header);
  }
  bool launch(launch_spec const& spec, actor_id ack = {}) {
    return submit(submission_kind::launch, spec.id, &spec, sizeof spec, 0, 1, ack, {});
  }
  bool signal(actor_id to, std::uint32_t control_bits, actor_id ack = {}) {
    return submit(submission_kind::signal, to, "", 0, 0, control_bits, ack, {});
  }
  bool order(submission_kind kind, actor_id ack = {}) {
    buffer_order const o{};
    return submit(kind, {}, &o, sizeof o, 0, 1, ack, {});
  }
  std::vector<std::uint32_t> take_all(actor_id id) {
    scheduler owner{arena.ref()};
    std::uint32_t index = 0;
    std::vector<std::uint32_t> numbers;
    while (owner.next(index)) {
      REQUIRE(index == id.index);
      owned_mail mail{owner, id};
      note n{};
      while (mail.try_take(n)) numbers.push_back(n.number);
      actor_totals totals = arena.ref().owner_of(index).totals.own();
      owner.release(index, totals);
    }
    return numbers;
  }

  /// The mail of one of several actors, which stays claimed.
  std::vector<std::uint32_t> take_from(actor_id id) {
    scheduler owner{arena.ref()};
    std::vector<std::uint32_t> numbers;
    if (!owner.claim(id.index, actor_word::queued_mask)) return numbers;
    owned_mail mail{owner, id};
    for (note n{}; mail.try_take(n);) numbers.push_back(n.number);
    return numbers;
  }

  // Of the next posts.
  post_order how = post_order::apart;
  mail_epoch epoch{};

  test_arena arena;
  test_ring<submission> down;
  io_window window;
  atomic<std::uint64_t> orders{0};
  std::vector<device_event> events;
};

inline constexpr actor_id some_ack{host_ask_bit | 7, 3};

}  // namespace rondo_test
