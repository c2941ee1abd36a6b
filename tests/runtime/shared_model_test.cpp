// Random operations on an exporter and its importers, each compared with a plain model of sharing.
#include <memory>
#include <random>

#include "tests/catch.hpp"
#include "tests/runtime/share_fixture.hpp"
#include "tests/seed.hpp"

using namespace share_test;

namespace {

struct model_export {
  rondo::shared_buffer_ref ref;
  rondo::buffer_ref local;
  std::uint64_t tag;
  bool open = true;
};
struct model_lease {
  rondo::shared_lease lease;
  std::size_t of;        // index in exports
  std::size_t importer;  // the importer that leased it
  bool counted = true;   // the connection of the importer still exists
};

class comparison {
 public:
  explicit comparison(std::uint64_t seed)
      : random_(seed), exporter_(memory_, {.path = s_.socket, .slots = slots, .lease_timeout = 10min}) {
    for (auto& i : importers_) i = std::make_unique<rondo::buffer_importer>(s_.socket);
  }

  void step() {
    switch (below(9)) {
      case 0:
      case 1:
        export_one();
        break;
      case 2:
        withdraw();
        break;
      case 3:
      case 4:
      case 5:
        lease();
        break;
      case 6:
      case 7:
        end_lease();
        break;
      default:
        if (below(10) == 0) reconnect();
    }
    compare();
  }
  void finish() {
    leases_.clear();
    for (auto& e : exports_)
      if (e.open) REQUIRE(exporter_.withdraw(e.ref) == errc::ok);
    REQUIRE(eventually([&] { return pool_.statistics().buffers_in_use == 0; }));
  }

 private:
  static constexpr std::uint32_t slots = 5;
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool leased(std::size_t index) const {
    return std::ranges::any_of(leases_, [&](model_lease const& l) { return l.counted && l.of == index; });
  }
  std::size_t taken() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < exports_.size(); ++i) count += exports_[i].open || leased(i);
    return count;
  }
  std::size_t any_export() {  // mostly one of the latest
    auto const back = below(below(4) == 0 ? exports_.size() : std::min<std::size_t>(8, exports_.size()));
    return exports_.size() - 1 - back;
  }

  void export_one() {
    bool const room = taken() < slots;
    auto const tag = ++last_tag_;
    auto b = filled(pool_, tag, 1 + below(600)).value();
    auto const shared = exporter_.export_buffer(pool_, b.ref());
    REQUIRE(shared.has_value() == room);
    if (!room) {
      REQUIRE(shared.error() == errc::slots_exhausted);
      return;
    }
    exports_.push_back({*shared, b.ref(), tag});
  }  // its owner is destroyed; the export keeps it

  void withdraw() {
    if (exports_.empty()) return;
    auto& e = exports_[any_export()];
    REQUIRE(exporter_.withdraw(e.ref) == (e.open ? errc::ok : errc::double_release));
    e.open = false;
  }

  void lease() {
    if (exports_.empty()) return;
    auto const index = any_export();
    auto const& e = exports_[index];
    auto const who = below(importers_.size());
    auto const start = below(e.ref.bytes + 2), length = below(e.ref.bytes + 2);
    auto lease = importers_[who]->lease(e.ref.slice(start, length));
    auto const expected = !e.open                        ? errc::stale_buffer
                          : start + length > e.ref.bytes ? errc::buffer_out_of_bounds
                                                         : errc::ok;
    REQUIRE((lease ? errc::ok : static_cast<errc>(lease.error().value())) == expected);
    if (!lease) return;
    REQUIRE(lease->bytes().size() == length);
    lease = importers_[who]->lease(e.ref);  // the whole buffer, to read words
    leases_.push_back({std::move(*lease), index, who});
  }

  void check(model_lease const& l) {
    bool const same = whole(l.lease, exports_[l.of].tag);
    if (l.lease.valid()) REQUIRE(same);
    if (l.counted) REQUIRE(l.lease.valid());
  }

  void end_lease() {
    if (leases_.empty()) return;
    auto const index = below(leases_.size());
    check(leases_[index]);
    std::swap(leases_[index], leases_.back());
    leases_.pop_back();
  }

  void reconnect() {
    auto const who = below(importers_.size());
    importers_[who] = nullptr;
    importers_[who] = std::make_unique<rondo::buffer_importer>(s_.socket);
    for (auto& l : leases_)
      if (l.importer == who) l.counted = false;
  }

  void compare() {
    auto const expected = taken();
    REQUIRE(eventually([&] { return pool_.statistics().buffers_in_use == expected; }));
    for (auto const& l : leases_)
      if (l.counted) check(l);
    if (!exports_.empty()) {
      auto const index = any_export();
      auto const& e = exports_[index];
      auto const lease = pool_.write(e.local);  // its owner is destroyed
      REQUIRE(lease.status() == errc::stale_buffer);
    }
  }

  std::mt19937_64 random_;
  scratch s_;
  rondo::memfd_resource memory_{1 << 18};
  rondo::buffer_pool pool_{{.cap_bytes = 1 << 18, .upstream = &memory_}};
  rondo::buffer_exporter exporter_;
  std::array<std::unique_ptr<rondo::buffer_importer>, 3> importers_;
  std::vector<model_export> exports_;
  std::vector<model_lease> leases_;
  std::uint64_t last_tag_ = 0;
};

}  // namespace

TEST_CASE("sharing matches its model under random operations", "[share]") {
  auto const seed = rondo_test::seed_of("share_model");
  CAPTURE(seed);
  for (std::uint64_t round = 0; round < 4; ++round) {
    comparison run(seed + round);
    for (int i = 0; i < 1000; ++i) run.step();
    run.finish();
  }
}
