// How frames pass from a stage to the next one.
#include "kernels/base/park.hpp"
#include "kernels/streams/edge.hpp"
#include "kernels/streams/frame_pool.hpp"
#include "tests/model/scenarios.hpp"

namespace model {

using namespace rondo;

namespace {

struct numbered {
  std::uint32_t number, again;
};

/// The reader gets whole frames, each once and in order, and the last one; what it does not get comes back to the
/// writer.
void latest_is_read(execution& x) {
  constexpr std::uint32_t frames = 5;  // so that a place that was read is written again
  auto& slot = x.shared<streams::latest_slot<numbered>>();
  auto& done = x.shared<atomic<std::uint32_t>>();
  std::uint32_t unread = 0, read = 0;
  x.thread("writer", [&] {
    for (std::uint32_t n = 1; n <= frames; ++n) {
      numbered old{};
      if (slot.offer({n, n}, old)) {
        x.require(old.number == old.again && old.number < n, "an older frame comes back whole");
        ++unread;
      }
    }
    done.store(1, memory_order::release);
  });
  x.thread("reader", [&] {
    std::uint32_t last = 0;
    auto const look = [&] {
      numbered now{};
      if (!slot.take(now)) return;
      x.require(now.number == now.again, "a frame is whole");
      x.require(now.number > last, "it is newer than the last one");
      last = now.number;
      ++read;
    };
    for (int i = 0; i < 3; ++i) look();
    while (done.load(memory_order::acquire) == 0) relax();
    look();
    x.require(last == frames, "the newest frame is there");
  });
  x.run();
  x.require(read + unread == frames, "each frame is read or comes back");
}

/// A stage's mailbox. Only that something comes matters.
class mailbox {
 public:
  explicit mailbox(execution& x) : sent_(x.shared<atomic<std::uint32_t>>()) {}
  void send() { sent_.fetch_add(1, memory_order::release); }
  void wait() {
    while (sent_.load(memory_order::acquire) == seen_) relax();
    seen_ = sent_.load(memory_order::relaxed);
  }

 private:
  atomic<std::uint32_t>& sent_;
  std::uint32_t seen_ = 0;
};

/// A writer and a reader that work as stages do: each looks when it is woken.
void frames_pass(execution& x, streams::delivery how, std::uint32_t capacity, std::uint32_t frames) {
  auto* const places = reinterpret_cast<streams::frame*>(x.memory(capacity * sizeof(streams::frame), 64));
  auto& e = x.shared<streams::edge>(how, places, capacity);
  auto* const data = reinterpret_cast<std::uint64_t*>(x.memory(frames * sizeof(std::uint64_t), 64));
  mailbox to_writer(x), to_reader(x);
  std::uint32_t came_back = 0, read = 0;
  x.thread("writer", [&] {
    for (std::uint32_t n = 0; n < frames; ++n) {
      data[n] = n;
      while (how == streams::delivery::lossless && !e.has_room())
        if (e.wait_for_room()) to_writer.wait();
      streams::frame older{};
      auto const outcome = e.put({.data = reinterpret_cast<std::byte*>(&data[n]), .number = n}, older);
      came_back += outcome != streams::edge::outcome::passed;
      if (outcome != streams::edge::outcome::refused && e.wants_reader()) to_reader.send();
    }
    e.end();
    if (e.wants_reader()) to_reader.send();
  });
  x.thread("reader", [&] {
    std::uint64_t next = 0;
    for (;; to_reader.wait()) {
      e.reader_looks();
      for (;;) {
        bool const over = e.ended();
        bool writer_waits = false;
        streams::frame f{};
        if (!e.take(f, writer_waits)) {
          if (!over) break;
          bool const newest = how == streams::delivery::every || next == frames;
          return x.require(newest, "the last frame has come");
        }
        if (writer_waits) to_writer.send();
        x.require(f.number >= next, "frames come in order");
        x.require(*reinterpret_cast<std::uint64_t*>(f.data) == f.number, "with their data");
        next = f.number + 1;
        ++read;
      }
    }
  });
  x.run();
  x.require(read + came_back == frames, "each frame is read, or comes back");
  x.require(how != streams::delivery::lossless || came_back == 0, "none is lost");
}
void frames_pass_lossless(execution& x) { frames_pass(x, streams::delivery::lossless, 1, 3); }
void frames_pass_every(execution& x) { frames_pass(x, streams::delivery::every, 2, 4); }
void frames_pass_latest(execution& x) { frames_pass(x, streams::delivery::latest, 1, 4); }

/// A free block, for which the owner waits.
std::uint32_t take_block(streams::frame_pool& pool, mailbox& to_owner) {
  auto b = pool.take();
  for (; b == streams::frame_pool::none; b = pool.take())
    if (pool.wait_for_block()) to_owner.wait();
  return b;
}

/// The owner of a pool with one block writes it for two readers, who give it back, again and again.
void blocks_come_back(execution& x) {
  constexpr std::uint32_t times = 3;
  auto* const block = reinterpret_cast<streams::frame_block*>(x.memory(sizeof(streams::frame_block), 64));
  block->data = x.memory(sizeof(std::uint32_t), 64);
  auto& pool = x.shared<streams::frame_pool>(block, 1u, sizeof(std::uint32_t));
  auto* const published = &x.shared<atomic<std::uint32_t>>();
  mailbox to_owner(x);
  x.thread("owner", [&] {
    for (std::uint32_t n = 1; n <= times; ++n) {
      auto const b = take_block(pool, to_owner);
      *reinterpret_cast<std::uint32_t*>(pool.data(b)) = n;
      pool.add_uses(b, 1);
      published->store(n, memory_order::release);
    }
  });
  for (auto const* const name : {"reader", "another reader"})
    x.thread(name, [&] {
      for (std::uint32_t n = 1; n <= times; ++n) {
        while (published->load(memory_order::acquire) < n) relax();
        x.require(*reinterpret_cast<std::uint32_t*>(pool.data(0)) == n, "it stays while it is used");
        if (pool.end_use(0)) to_owner.send();
      }
    });
  x.run();
  x.require(pool.take() == 0, "it has come back");
}

/// Of two readers, one keeps the block and, once it is alone, writes it.
void block_is_edited(execution& x) {
  auto* const block = reinterpret_cast<streams::frame_block*>(x.memory(sizeof(streams::frame_block), 64));
  block->data = x.memory(sizeof(std::uint32_t), 64);
  auto& pool = x.shared<streams::frame_pool>(block, 1u, sizeof(std::uint32_t));
  auto* const value = reinterpret_cast<std::uint32_t*>(block->data);
  static_cast<void>(pool.take());
  pool.add_uses(0, 1);
  *value = 7;
  x.thread("reader", [&] {
    x.require(*value == 7, "nobody writes what another one reads");
    static_cast<void>(pool.end_use(0));
  });
  x.thread("editor", [&] {
    if (pool.is_only_use(0)) *value = 8;
    static_cast<void>(pool.end_use(0));
  });
  x.run();
}

/// A pool with one block passes data of somebody else to two readers, and the lender writes them again as soon as they
/// are back.
void lent_data_go_back(execution& x) {
  constexpr std::uint32_t times = 2;
  auto* const block = reinterpret_cast<streams::frame_block*>(x.memory(sizeof(streams::frame_block), 64));
  auto& pool = x.shared<streams::frame_pool>(block, 1u, sizeof(std::uint32_t));
  struct lending : lender {
    std::uint32_t* value;
    std::uint32_t times;
  };
  lending from{{[](lender& self, std::uint32_t) noexcept {
                 auto& mine = static_cast<lending&>(self);
                 ++*mine.value;
                 ++mine.times;
               }},
               reinterpret_cast<std::uint32_t*>(x.memory(sizeof(std::uint32_t), 64)),
               0};
  pool.from = &from;
  *from.value = 1;
  auto* const published = &x.shared<atomic<std::uint32_t>>();
  mailbox to_owner(x);
  x.thread("owner", [&] {
    for (std::uint32_t n = 1; n <= times; ++n) {
      auto const b = take_block(pool, to_owner);
      x.require(*from.value == n, "the lender has them before the block is free");
      pool.lend(b, reinterpret_cast<std::byte*>(from.value));
      pool.add_uses(b, 1);
      published->store(n, memory_order::release);
    }
  });
  for (auto const* const name : {"reader", "another reader"})
    x.thread(name, [&] {
      for (std::uint32_t n = 1; n <= times; ++n) {
        while (published->load(memory_order::acquire) < n) relax();
        x.require(*reinterpret_cast<std::uint32_t*>(pool.data(0)) == n, "they stay while they are used");
        x.require(!pool.is_only_use(0), "nobody writes them here");
        if (pool.end_use(0)) to_owner.send();
      }
    });
  x.run();
  x.require(from.times == times, "they go back once for each use");
}

}  // namespace

std::vector<scenario> stream_scenarios() {
  return {
      {"latest", "a reader gets the newest frame whole, and the writer gets the others back", latest_is_read},
      {"edge_lossless", "a full queue holds the writer, and each wakes the other", frames_pass_lossless},
      {"edge_every", "a full queue refuses frames, and the others arrive", frames_pass_every},
      {"edge_latest", "the reader is woken for the newest frame, and sees the end", frames_pass_latest},
      {"frame_pool", "a block comes back when its last reader has done with it, and wakes its owner",
       blocks_come_back},
      {"frame_lent",
       "data of somebody else go back when their last reader has done with them, before the block is free",
       lent_data_go_back},
      {"frame_edit", "a block is written by its only user", block_is_edited},
  };
}

}  // namespace model
