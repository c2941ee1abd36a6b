// Captured actors: their handler is a graph; otherwise they behave like any other actor.
#include "runtime/capture_graph.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/core/make_device.hpp"
#include "runtime/graph/stream.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "runtime/memory/unified_buffer.hpp"
#include "tests/conformance/harness.hpp"
#include "tests/conformance/scaler.hpp"

using namespace conformance;
using Catch::Matchers::Contains;

namespace {

/// A runtime with a device `cpu`, and the device for which graphs are recorded.
struct place_of_work {
  std::string devices;
  std::uint32_t host, device;
};
std::ostream& operator<<(std::ostream& out, place_of_work const& p) {
  return out << "graphs of device " << p.device << " in " << p.devices;
}
std::vector<place_of_work> places() {
  std::vector<place_of_work> all{
      {"cpu", 0, 0}, {"cpu,emulated", 0, 0}, {"cpu,emulated", 0, 1}, {"emulated,cpu", 1, 0}};
  if (rondo::why_no_cuda(testbed::key).empty()) all.push_back({"cpu,cuda:0", 0, 1});
  if (char const* const device = std::getenv("RONDO_DEVICE"))
    std::erase_if(all, [&](place_of_work const& p) { return p.devices.find(device) == std::string::npos; });
  return all;
}
std::unique_ptr<rondo::runtime> start_at(place_of_work const& p) {
  auto settings = variants().front().settings;
  settings.device = p.devices;
  settings.lanes = 0;
  return start(settings);
}

/// Ten ones on a device, and the graph that scales them.
class field_on {
 public:
  field_on(rondo::runtime& rt, place_of_work const& p)
      : numbers_(rt.memory(p.device), {10}), replays_(rt.memory(p.device), {1}) {
    std::ranges::fill(numbers_.overwrite().value(), 1u);
    replays_.overwrite().value()[0] = 0;
    auto const at = [&](rondo::unified_buffer<std::uint32_t>& data) {
      return reinterpret_cast<std::uint32_t*>(rt.buffers(p.device).address_of(data.device().value()));
    };
    field_ = {at(numbers_), 10, at(replays_)};
  }
  auto work() const {
    return [field = field_](rondo::stream& s, scale const* in, scaled* out) {
      record_scaling(s, in, out, field);
    };
  }

 private:
  rondo::unified_buffer<std::uint32_t> numbers_, replays_;
  scaler_field field_{};
};

}  // namespace

TEST_CASE("a captured actor answers by its graph, with the data of its device", "[captured]") {
  auto const p = GENERATE(from_range(places()));
  INFO(p);
  auto const rt = start_at(p);
  field_on const field(*rt, p);
  rondo::capture_graph<scaler>(*rt, "scaler", p.device, field.work());
  auto const actor = rt->launch<scaler>("scaler", {.device = p.host});
  auto const first = ask(actor, scale{3, 10}).value();
  CHECK(first.sum == 30);
  CHECK(first.replays == 1);
  auto const second = ask(actor, scale{5, 4}).value();
  CHECK(second.sum == 4 * 15 + 6 * 3);
  CHECK(second.factor == 5);
  CHECK(second.replays == 2);
  REQUIRE_FALSE(tell(actor, scale{1, 10}));  // nobody waits for this answer
  CHECK(ask(actor, scale{1, 10}).value().replays == 4);
  auto const t = at_rest(*rt);
  CHECK(report_of(t, actor.id()).now.totals.handled == 4);
  CHECK(report_of(t, actor.id()).now.totals.failures == 0);
}

TEST_CASE("a graph is recorded again between two messages", "[captured]") {
  auto const p = GENERATE(from_range(places()));
  INFO(p);
  auto const rt = start_at(p);
  field_on const one(*rt, p), other(*rt, p);
  auto const actor = rt->launch<scaler>("scaler", {.device = p.host});
  rondo::capture_graph<scaler>(*rt, "scaler", p.device, one.work());
  CHECK(ask(actor, scale{2, 10}).value().sum == 20);
  rondo::capture_graph<scaler>(*rt, "scaler", p.device, other.work());  // the same steps, on another field
  CHECK(ask(actor, scale{3, 10}).value().sum == 30);
  CHECK_THROWS_WITH(
      rondo::capture_graph<scaler>(*rt, "scaler", p.device,
                                   [](auto&&...) { throw std::runtime_error("no such kernel"); }),
      Contains("no such kernel"));
  CHECK(ask(actor, scale{1, 10}).value().replays == 2);  // the earlier recording is still used
  rondo::capture_graph<scaler>(*rt, "scaler", p.device, [](rondo::stream& s, scale const*, scaled* out) {
    s.fill(reinterpret_cast<std::byte*>(out), 1, sizeof *out);
  });
  CHECK(ask(actor, scale{1, 10}).value().replays == 0x0101'0101);
}

TEST_CASE("without a graph a captured actor fails with the reason", "[captured][G9]") {
  auto const p = GENERATE(from_range(places()));
  INFO(p);
  auto const rt = start_at(p);
  listener<std::string> reports;
  auto const subscribed = rt->on_failure_report(reports.handler());
  auto const actor = rt->launch<scaler>("scaler", {.device = p.host, .supervise = {.poison_after = 1}});
  auto const answer = ask(actor, scale{2, 10});
  REQUIRE_FALSE(answer);
  CHECK(answer.error() == errc::no_graph);
  CHECK_THAT(answer.error().message(), Contains("rondo::capture_graph"));
  REQUIRE(reports.wait_for(1));
  CHECK_THAT(reports.all().front(), Contains("'scaler'"));
  field_on const field(*rt, p);
  rondo::capture_graph<scaler>(*rt, "scaler", p.device, field.work());
  CHECK(ask(actor, scale{2, 10}).value().sum == 20);
}

TEST_CASE("a captured actor lives on a cpu device", "[captured]") {
  auto const rt = start_at({"emulated,cpu", 1, 0});
  CHECK_THROWS_WITH(rt->launch<scaler>("scaler"), Contains("'scaler'") && Contains("cpu device"));
  CHECK_NOTHROW(rt->launch<scaler>("scaler", {.device = 1}));
}

TEST_CASE("priorities, deadlines and termination hold for a captured actor", "[captured][G3][G8][G12]") {
  auto const p = GENERATE(from_range(places()));
  INFO(p);
  in_reach<gate> const reached;
  auto const rt = start_at(p);
  gate_keeper const keeper{*reached};
  listener<rondo::dead_letter> dead;
  auto const subscribed = rt->on_dead_letter(dead.handler());
  std::mutex mutex;
  std::vector<std::uint32_t> order;
  rondo::unified_buffer<scaled> answer(rt->memory(p.device), {1});
  auto* const at_gate = &*reached;
  rondo::capture_graph<scaler>(*rt, "scaler", p.device,
                               [&, at_gate](rondo::stream& s, scale const* in, scaled* out) {
                                 record_scaling(s, in, out, {nullptr, 0, nullptr});
                                 auto* const seen = answer.overwrite().value().begin();
                                 s.copy_to_host(reinterpret_cast<std::byte*>(seen),
                                                reinterpret_cast<std::byte const*>(out), sizeof *out);
                                 s.call([&mutex, &order, seen, at_gate] {
                                   at_gate->pass();
                                   std::lock_guard lock(mutex);
                                   order.push_back(seen->factor);
                                 });
                               });
  auto const actor = rt->launch<scaler>("scaler", {.device = p.host});
  REQUIRE_FALSE(tell(actor, scale{1, 0}));
  REQUIRE(eventually([&] { return (*reached).entered.load(rondo::memory_order::acquire) == 1; }));
  REQUIRE_FALSE(tell(actor, scale{2, 0}, {.priority = 10}));
  REQUIRE_FALSE(tell(actor, scale{3, 0}, {.priority = 200}));
  REQUIRE_FALSE(tell(actor, scale{4, 0}, {.priority = 255, .deadline = 1us}));
  REQUIRE_FALSE(tell(actor, scale{5, 0}, {.priority = 100}));
  std::this_thread::sleep_for(1ms);  // longer than the deadline
  keeper.open();
  REQUIRE_FALSE(terminate(actor, rondo::termination::drain));
  CHECK(order == std::vector<std::uint32_t>{1, 3, 5, 2});
  REQUIRE(dead.wait_for(1));
  CHECK(dead.all().front().reason == errc::timed_out);
  CHECK(at_rest(*rt).retired.handled == 4);
}

TEST_CASE("graphs of two actors run concurrently", "[captured]") {
  auto const p = GENERATE(from_range(places()));
  INFO(p);
  in_reach<gate> const reached;
  gate& at = *reached;
  auto const rt = start_at(p);
  gate_keeper const keeper{at};
  for (auto const* name : {"one", "other"})
    rondo::capture_graph<scaler>(*rt, name, p.device, [&](rondo::stream& s, scale const* in, scaled* out) {
      record_scaling(s, in, out, {nullptr, 0, nullptr});
      record_gate(s, at);
    });
  auto const one = rt->launch<scaler>("one", {.device = p.host});
  auto const other = rt->launch<scaler>("other", {.device = p.host});
  pending<scaled> first, second;
  one.ask(scale{7, 0}, rondo::ask_options{}, first.handler());
  other.ask(scale{8, 0}, rondo::ask_options{}, second.handler());
  CHECK(eventually([&] { return at.entered.load(rondo::memory_order::acquire) == 2; }));
  keeper.open();
  CHECK_FALSE(first.wait());
  CHECK_FALSE(second.wait());
  CHECK(first.reply->factor == 7);
  CHECK(second.reply->factor == 8);
}

TEST_CASE("a captured actor and its mail are restored from a checkpoint", "[captured][G9]") {
  auto const p = GENERATE(from_range(places()));
  INFO(p);
  scratch_file const file;
  {
    auto const rt = start_at(p);
    auto const actor = rt->launch<scaler>("scaler", {.device = p.host, .active = false});
    for (std::uint32_t i = 0; i < 3; ++i) REQUIRE_FALSE(tell(actor, scale{2, 10}));
    rondo::checkpoint(*rt, file.path);
  }
  auto const rt = start_at(p);
  field_on const field(*rt, p);
  rondo::capture_graph<scaler>(*rt, "scaler", p.device, field.work());  // before its mail is handled
  rondo::restore(*rt, file.path);
  auto const actor = rt->find<scaler>("scaler").value();
  REQUIRE_FALSE(activate(actor));
  CHECK(ask(actor, scale{1, 10}).value().sum == 80);
}

TEST_CASE("a captured actor is not restored onto a device that cannot replay graphs", "[captured][G9]") {
  scratch_file const file;
  {
    auto const rt = start_at({"cpu,emulated", 0, 0});
    rt->launch<scaler>("scaler");
    rondo::checkpoint(*rt, file.path);
  }
  auto const rt = start_at({"emulated,cpu", 1, 0});
  CHECK_THROWS_WITH(rondo::restore(*rt, file.path), Contains("'scaler'") && Contains("not a cpu device"));
  CHECK_THROWS_WITH(rondo::capture_graph<scaler>(*rt, "scaler", 7, [](auto&&...) {}),
                    Contains("'scaler'") && Contains("device 7"));
}

TEST_CASE("the loss of its device ends the work that a captured actor has begun", "[captured][G9]") {
  auto settings = variants().front().settings;
  settings.device = "cpu,emulated";
  auto lost = start_losable(settings);
  auto& rt = *lost.rt;
  field_on field(rt, {"", 0, 1});
  rondo::capture_graph<scaler>(rt, "scaler", 1, [&](rondo::stream& s, scale const* in, scaled* out) {
    s.call([&] { lost.device.lose(); });
    field.work()(s, in, out);
  });
  auto const actor = rt.launch<scaler>("scaler", {.supervise = {.poison_after = 1}});
  auto const answer = ask(actor, scale{2, 10});
  REQUIRE_FALSE(answer);
  CHECK(answer.error() == errc::device_lost);
}
