// What it costs to list all actors, page by page.
#include "runtime/core/make_device.hpp"
#include "tests/catch.hpp"
#include "tests/service/basics_fixture.hpp"
#include "tests/service/guest_client.hpp"
#include "tests/service/service_fixture.hpp"

using namespace rondo_test;

namespace {

/// Counts the cells whose counters are read.
class counting_device final : public rondo::device {
 public:
  counting_device(std::unique_ptr<rondo::device> of, std::uint64_t& cells)
      : of_(std::move(of)), cells_(cells) {}

  void read_actors(std::uint32_t first, std::uint32_t count,
                   std::vector<rondo::actor_snapshot>& out) override {
    cells_ += count;
    of_->read_actors(first, count, out);
  }

  rondo::device_info info() const override { return of_->info(); }
  rondo::arena_shape const& shape() const override { return of_->shape(); }
  rondo::buffer_home* home() noexcept override { return of_->home(); }
  rondo::graph_engine& captures() noexcept override { return of_->captures(); }
  void start(rondo::event_sink sink, rondo::buffer_table_ref host_buffers, rondo::graph_player* player,
             rondo::own_threads const* threads) override {
    of_->start(std::move(sink), host_buffers, player, threads);
  }
  rondo::stop_report stop(std::chrono::nanoseconds limit) override { return of_->stop(limit); }
  rondo::route mail() noexcept override { return of_->mail(); }
  rondo::errc signal(rondo::actor_id to, std::uint32_t control) override { return of_->signal(to, control); }
  rondo::errc launch(rondo::launch_spec spec, rondo::launch_arguments const& with) override {
    return of_->launch(spec, with);
  }
  std::unique_ptr<rondo::guest> make_guest() override { return of_->make_guest(); }
  bool lost() const noexcept override { return of_->lost(); }
  void read_teams(std::vector<rondo::team_snapshot>& out) override { of_->read_teams(out); }
  bool at_safepoint(std::chrono::nanoseconds limit, rondo::arena_access access,
                    std::function<void(rondo::arena_ref const&)> const& use) override {
    return of_->at_safepoint(limit, access, use);
  }
  bool upgrade(std::chrono::nanoseconds limit, rondo::program const& next, std::uint64_t heap_end,
               std::function<void(rondo::arena_ref const&)> const& use) override {
    return of_->upgrade(limit, next, heap_end, use);
  }

 private:
  std::unique_ptr<rondo::device> of_;
  std::uint64_t& cells_;
};

}  // namespace

TEST_CASE("a list by pages looks at each actor about once, however many there are", "[service][limits]") {
  scratch_directory const folder("list");
  for (std::uint32_t const actors : {1'000u, 20'000u}) {
    rondo::service::service_config c;
    c.listen = {{true, (folder.directory / "socket").string(), 0}};
    c.runtime.device = "cpu";
    c.runtime.teams = 1;
    c.runtime.actors = actors;
    std::uint64_t cells = 0;
    auto chosen = rondo::make_devices(rondo::program_of<basics::basics_module>(), c.runtime);
    chosen.front().dev = std::make_unique<counting_device>(std::move(chosen.front().dev), cells);
    rondo::runtime rt(rondo::use<basics::basics_module>, c.runtime, std::move(chosen));
    rt.launch_many<basics::counter>(actors, {.capacity = 1});
    rondo::service::service s(rt, c, {});
    s.start();
    guest_client who(s.listens_at().front());
    cells = 0;
    std::uint64_t listed = 0;
    std::uint32_t from = 0;
    do {
      REQUIRE(who.request(2, [&](auto& b) { return wire::Createlist(b, from); }));
      auto const* const page = who.receive()->body_as_actors();
      REQUIRE(page != nullptr);
      listed += page->all()->size();
      from = page->next();
    } while (from != 0);
    CHECK(listed == actors);
    CAPTURE(actors, cells);
    CHECK(cells <= 2 * std::uint64_t{actors});
  }
}
