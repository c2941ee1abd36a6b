// Buffers in a device's memory, shared in place with importers that can open it. The device is a memfd here, in place
// of the memory that CUDA shares between processes.
#include <unistd.h>

#include <cstring>

#include "tests/catch.hpp"
#include "tests/runtime/share_fixture.hpp"

using namespace share_test;

namespace {

constexpr std::uint64_t device_bytes = 1 << 20;
constexpr std::array<std::byte, 16> this_device{std::byte{7}}, another_device{std::byte{8}};

class shared_home final : public rondo::buffer_home {
 public:
  std::byte* base() const noexcept override { return memory_.data(); }
  std::uint64_t bytes() const noexcept override { return device_bytes; }
  std::uint32_t slots() const noexcept override { return 8; }
  errc open(rondo::buffer_ref, std::byte*) noexcept override { return errc::ok; }
  errc close(rondo::buffer_ref) noexcept override { return errc::stopped; }  // its handlers lease nothing
  void collect() noexcept override {}
  bool copy(std::span<rondo::copy_job const> jobs) override {
    for (auto const& job : jobs) std::memcpy(job.to, job.from, job.bytes);
    return true;
  }
  std::pmr::memory_resource& host_memory() noexcept override { return *std::pmr::new_delete_resource(); }
  std::uint64_t host_memory_bytes() const noexcept override { return 0; }
  std::optional<rondo::device_share> share() noexcept override {
    rondo::device_share s;
    s.pool = fd_.get();
    s.identity = this_device;
    return s;
  }
  bool mark_ready() override { return ++marks, !lost; }

  std::uint64_t marks = 0;
  bool lost = false;

 private:
  rondo::owned_fd fd_ = rondo::make_memfd("device", device_bytes);
  rondo::shared_mapping memory_{fd_.get(), device_bytes, true, "device"};
};

struct opened final : rondo::device_view {
  explicit opened(int fd) : memory(fd, device_bytes, false, "device") {}
  std::byte const* base() const noexcept override { return memory.data(); }
  bool wait_ready() noexcept override { return !faulted; }
  bool copy_out(std::byte* to, std::byte const* from, std::uint64_t n) noexcept override {
    return std::memcpy(to, from, n), !faulted;
  }
  rondo::shared_mapping memory;
  static inline bool faulted = false;
};

rondo::device_opener opener_of(std::array<std::byte, 16> device) {
  return {device, [](rondo::device_share const& s) { return std::make_unique<opened>(s.pool); }};
}

struct exporting_device {
  scratch s;
  shared_home home;
  rondo::region_resource region{home.base(), device_bytes};
  rondo::buffer_pool pool{{.cap_bytes = device_bytes,
                           .slots = 8,
                           .where = rondo::place::device,
                           .upstream = &region,
                           .home = &home,
                           .home_number = 1}};
  rondo::memfd_resource memory{1 << 20};
  std::vector<std::string> reports;
  std::mutex mutex;
  rondo::buffer_exporter exporter{
      memory, {.path = s.socket, .device = &home, .report = [this](std::string const& line) {
                 std::lock_guard lock(mutex);
                 reports.push_back(line);
               }}};

  rondo::buffer_ref fill(std::uint64_t tag) {
    auto const ref = pool.acquire(8000).value();
    std::fill_n(reinterpret_cast<std::uint64_t*>(pool.address_of(ref)), 1000, tag);
    return ref;
  }
  std::uint64_t copied_reports() {
    std::lock_guard lock(mutex);
    return static_cast<std::uint64_t>(std::ranges::count_if(
        reports, [](auto const& line) { return line.find("in a device's memory") != std::string::npos; }));
  }
};

}  // namespace

TEST_CASE("a device's buffer is read in place by importers that can open the device", "[share]") {
  exporting_device e;
  rondo::buffer_importer importer(e.s.socket, {.open_device = opener_of(this_device)});
  auto const ref = e.fill(42);
  auto const shared = e.exporter.export_buffer(e.pool, ref).value();
  CHECK(e.home.marks == 1);
  auto lease = importer.lease(shared).value();
  CHECK(lease.on_device());
  CHECK(whole(lease, 42));
  CHECK(lease.bytes().size() == 8000);
  CHECK(importer.lease(shared.slice(16, 80)).value().bytes().data() == lease.bytes().data() + 16);
  CHECK(importer.lease({shared.share, shared.slot, shared.generation, 0, 8001}).error() ==
        errc::buffer_out_of_bounds);
  CHECK(e.exporter.statistics().copies == 0);
  std::vector<std::uint64_t> here(1000);
  CHECK(lease.copy_to(reinterpret_cast<std::byte*>(here.data())) == errc::ok);
  CHECK(here == std::vector<std::uint64_t>(1000, 42));

  REQUIRE(e.pool.release(ref) == errc::ok);  // the block stays while an importer may read it
  CHECK(e.pool.statistics().buffers_in_use == 1);
  REQUIRE(e.exporter.withdraw(shared) == errc::ok);
  CHECK(importer.lease(shared).error() == errc::stale_buffer);
  CHECK(whole(lease, 42));
  CHECK(lease.valid());
  CHECK(e.pool.statistics().buffers_in_use == 1);
  lease.end();
  CHECK(eventually([&] { return e.pool.statistics().buffers_in_use == 0; }));
}

TEST_CASE("one importer that cannot open the device makes all exports copies, which is reported once",
          "[share]") {
  auto const kind = GENERATE(0, 1, 2);
  exporting_device e;
  rondo::buffer_importer able(e.s.socket, {.open_device = opener_of(this_device)});
  auto const before = e.exporter.export_buffer(e.pool, e.fill(1)).value();
  auto const none = kind == 0   ? rondo::device_opener{}
                    : kind == 1 ? opener_of(another_device)
                                : rondo::device_opener{this_device, [](auto const&) { return nullptr; }};
  rondo::buffer_importer unable(e.s.socket, {.open_device = none});
  CHECK(whole(able.lease(before).value(), 1));
  CHECK(unable.lease(before).error() == errc::buffer_elsewhere);
  if (kind == 2) return;  // it claimed that it could
  for (std::uint64_t tag = 2; tag < 5; ++tag) {
    auto const ref = e.fill(tag);
    auto const shared = e.exporter.export_buffer(e.pool, ref).value();
    for (auto const* importer : {&able, &unable}) {
      auto const lease = importer->lease(shared).value();
      CHECK_FALSE(lease.on_device());
      CHECK(whole(lease, tag));
    }
    REQUIRE(e.pool.release(ref) == errc::ok);
  }
  CHECK(e.exporter.statistics().copies == 3);
  CHECK(e.copied_reports() == 1);
}

TEST_CASE("a handle beyond a device's buffer is refused, whether exports are copies or not", "[share]") {
  exporting_device e;
  rondo::buffer_importer able(e.s.socket, {.open_device = opener_of(this_device)});
  std::optional<rondo::buffer_importer> unable;
  if (GENERATE(false, true)) unable.emplace(e.s.socket);
  auto const ref = e.fill(1), neighbour = e.fill(2);
  auto beyond = ref;
  beyond.bytes += 8000;
  CHECK(e.exporter.export_buffer(e.pool, beyond).error() == errc::buffer_out_of_bounds);
  beyond.bytes = 8;
  beyond.offset = 16'000;
  CHECK(e.exporter.export_buffer(e.pool, beyond).error() == errc::buffer_out_of_bounds);
  for (auto const& one : {ref, neighbour}) {
    CHECK(e.exporter.export_buffer(e.pool, one).has_value());
    REQUIRE(e.pool.release(one) == errc::ok);
  }
}

TEST_CASE("a device that faults is an error for the exporter and for the reader", "[share]") {
  exporting_device e;
  rondo::buffer_importer importer(e.s.socket, {.open_device = opener_of(this_device)});
  auto const ref = e.fill(3);
  auto const shared = e.exporter.export_buffer(e.pool, ref).value();
  opened::faulted = true;
  CHECK(importer.lease(shared).error() == errc::device_lost);
  opened::faulted = false;
  CHECK(importer.lease(shared).has_value());
  e.home.lost = true;
  CHECK(e.exporter.export_buffer(e.pool, ref).error() == errc::device_lost);
}
