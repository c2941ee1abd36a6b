// A buffer that one process exports and others read: leases, withdrawal, reuse, and readers that were disconnected.
#include "kernels/base/park.hpp"
#include "runtime/sharing/share_words.hpp"
#include "tests/model/scenarios.hpp"

namespace model {

using namespace rondo;

namespace {

/// One slot, and a row for each importer.
class share_world {
 public:
  share_world(execution& x, std::uint32_t importers)
      : x_(x),
        directory_(x.memory(share::directory::size_of(importers, 1), 64), importers),
        importers_(importers) {
    for (std::uint32_t i = 0; i < importers; ++i) {
      rows_[i] = share::row(x.memory(share::row::size_of(1), 64));
      directory_.give_row(i, 1 + i);
    }
  }
  share::directory const& directory() const noexcept { return directory_; }
  share::row row(std::uint32_t importer) const noexcept { return rows_[importer]; }

  /// Waits as the exporter does: checks again when an importer reports that a lease of a closed slot, or a granted one,
  /// has ended.
  void wait_for_the_last(std::uint32_t granted = 0) {
    for (;;) {
      auto const said = packets_.load(memory_order::acquire);
      bool leased = false;
      for (std::uint32_t i = 0; i < importers_; ++i) leased = leased || rows_[i].leased(0, granted);
      if (!leased) return;
      while (packets_.load(memory_order::acquire) == said) relax();
    }
  }
  /// Leases, calls `read`, and ends the lease.
  template <class Read>
  void lease(std::uint32_t importer, std::uint32_t generation, Read read) {
    if (directory_.try_lease(rows_[importer], 0, generation)) read();
    if (!directory_.end_lease(rows_[importer], 0, generation)) packets_.fetch_add(1, memory_order::release);
  }

  /// Sends the packet of an announcement, and waits for it.
  void announce() { announced_.store(1, memory_order::release); }
  void receive() {
    while (announced_.load(memory_order::acquire) == 0) relax();
  }
  void end_granted(std::uint32_t importer, std::uint32_t generation) {
    directory_.end_granted(rows_[importer], 0, generation);
    packets_.fetch_add(1, memory_order::release);
  }

 private:
  execution& x_;
  share::directory directory_;
  std::uint32_t importers_;
  share::row rows_[2];
  atomic<std::uint32_t>&packets_ = x_.shared<atomic<std::uint32_t>>(),
  &announced_ = x_.shared<atomic<std::uint32_t>>();
};

/// The exporter takes a buffer back and reuses its bytes while importers lease it.
void withdrawal_waits(execution& x, std::uint32_t importers) {
  static constexpr char const* names[] = {"importer 0", "importer 1"};
  share_world w{x, importers};
  auto* const bytes = reinterpret_cast<std::uint64_t*>(x.memory(8, 64));
  x.thread("exporter", [&] {
    for (std::uint32_t generation = 1; generation <= 2; ++generation) {
      *bytes = generation;
      w.directory().open(0, generation, generation, generation);
      w.directory().close(0, generation);
      w.wait_for_the_last();
    }
    *bytes = 3;
  });
  for (std::uint32_t i = 0; i < importers; ++i)
    x.thread(names[i], [&, i] {
      for (std::uint32_t generation = 1; generation <= 2; ++generation)
        w.lease(i, generation, [&] {
          auto const& entry = w.directory().slot(0);
          x.require(*bytes == generation, "a lease shows the bytes of its generation");
          x.require(entry.offset.load(memory_order::relaxed) == generation &&
                        entry.bytes.load(memory_order::relaxed) == generation,
                    "a lease finds its generation's place");
        });
    });
  x.run();
}
void withdrawal_waits_for_one(execution& x) { withdrawal_waits(x, 1); }
void withdrawal_waits_for_two(execution& x) { withdrawal_waits(x, 2); }

/// The exporter withdraws a buffer before the importer has read the announcement. The importer also leases it by
/// itself, or finds it closed.
void granted_leases_count(execution& x) {
  share_world w{x, 1};
  auto* const bytes = reinterpret_cast<std::uint64_t*>(x.memory(8, 64));
  x.thread("exporter", [&] {
    *bytes = 1;
    w.directory().open(0, 1, 0, 8);
    w.announce();
    w.directory().close(0, 1);
    w.wait_for_the_last(1);
    *bytes = 2;
  });
  x.thread("importer", [&] {
    w.receive();
    x.require(w.directory().is_granted(0, 1), "a granted lease names an exported generation");
    w.lease(0, 1, [&] { x.require(*bytes == 1, "a lease shows the bytes of its generation"); });
    x.require(*bytes == 1, "a granted lease shows the bytes of its generation");
    w.end_granted(0, 1);
    x.require(w.row(0).returned().load(memory_order::relaxed) == 1, "its end is counted");
  });
  x.run();
}

/// An importer that continues to read after it was disconnected notices that. The bytes are atomic here; with plain
/// bytes this would be the race that share_words.hpp assumes to be harmless.
void cut_off_readers_notice(execution& x) {
  share_world w{x, 1};
  auto& bytes = x.shared<atomic<std::uint64_t>>();
  bytes.store(1, memory_order::relaxed);
  w.directory().open(0, 1, 0, 8);
  x.thread("exporter", [&] {
    w.directory().close(0, 1);
    w.directory().cut_off(0);
    bytes.store(2, memory_order::relaxed);
  });
  x.thread("importer", [&] {
    w.lease(0, 1, [&] {
      auto const read = bytes.load(memory_order::relaxed);
      if (w.directory().still_counted(0, 1)) x.require(read == 1, "what a valid lease has read was its own");
    });
  });
  x.run();
}

}  // namespace

std::vector<scenario> share_scenarios() {
  return {
      {"share_withdraw", "bytes are used anew only after the last lease's end, of which the exporter hears",
       withdrawal_waits_for_one, bounds{3, 1, 1}, bounds{2, 1, 1}},
      {"share_importers", "the same with two importers", withdrawal_waits_for_two, bounds{2, 1},
       bounds{1, 1}},
      {"share_granted",
       "an announced lease counts until it has ended, although the buffer was withdrawn before",
       granted_leases_count, bounds{3, 1, 1}, bounds{2, 1, 1}},
      {"share_cut", "a reader that was cut off does not take new bytes for its own", cut_off_readers_notice,
       bounds{3, 2, 1}, bounds{3, 2, 1}},
  };
}

}  // namespace model
