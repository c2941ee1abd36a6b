#include "tests/conformance/harness.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>

#include "runtime/core/make_device.hpp"
#include "runtime/device/emulated/emulated_module.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/observe/telemetry.hpp"
#include "tests/catch.hpp"
#include "tests/conformance/behaviours_next.hpp"
#if defined(RONDO_PTX_TESTBED)
#include <filesystem>

#include "tests/ptx/ptx_machine.hpp"
#endif

RONDO_EMULATED_MODULE(conformance::testbed)
RONDO_EMULATED_MODULE(conformance::testbed_next)

namespace conformance {

namespace {

enum class modes { both, persistent, rounds };

struct kind {
  char const* device;
  std::uint32_t lanes;
  modes in = modes::both;
};

std::vector<variant> variants_of(std::vector<kind> const& kinds) {
  std::vector<variant> all;
  for (auto const& k : kinds)
    for (auto const mode : {rondo::ring_mode::persistent, rondo::ring_mode::rounds}) {
      bool const in_rounds = mode == rondo::ring_mode::rounds;
      if (k.in == (in_rounds ? modes::persistent : modes::rounds)) continue;
      variant v;
      v.settings.device = k.device;
      v.settings.lanes = k.lanes;
      v.settings.teams = 2;
      v.settings.pinned_teams = k.lanes == 1 ? 8 : 5;  // a lane is a thread; 5 are needed
      v.settings.ring_mode = mode;
      v.settings.round_messages = 256;  // short rounds: each test has many of them
      v.settings.handler_limit_ms = 0;  // held handlers are expected here
      v.name = std::string(k.device) + (k.lanes > 1 ? " of " + std::to_string(k.lanes) + " lanes" : "") +
               (in_rounds ? ", rounds" : "");
      all.push_back(v);
    }
  return all;
}

/// Those that have the device RONDO_DEVICE, if it is set.
std::vector<variant> requested(std::vector<variant> all) {
  if (char const* const device = std::getenv("RONDO_DEVICE"))
    std::erase_if(all, [&](variant const& v) { return v.settings.device.find(device) == std::string::npos; });
  return some_of(std::move(all));
}

bool has_gpu() { return rondo::why_no_cuda(testbed::key).empty(); }

}  // namespace

std::vector<variant> some_of(std::vector<variant> all) {
  if (!all.empty()) return all;
  std::printf("skipped: no variant of this test has the device that RONDO_DEVICE names\n");
  std::fflush(nullptr);
  std::_Exit(0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
namespace {
/// Two of them, by the name of the case: with sanitizers each case is slow, and together the cases still use all.
std::vector<variant> two_of(std::vector<variant> all) {
  auto const first = std::hash<std::string>{}(Catch::getResultCapture().getCurrentTestName()) % all.size();
  std::swap(all[0], all[first]);
  std::swap(all[1], all[1 + first % (all.size() - 1)]);
  all.resize(2);
  return all;
}
}  // namespace
#endif

std::vector<variant> variants() {
#if defined(RONDO_PTX_TESTBED)
  if (std::getenv("RONDO_CONFORMANCE_PTX") != nullptr) return variants_of({{"ptx", 32}});
#endif
  std::vector<kind> kinds = {{"cpu", 1}, {"emulated", 1}, {"emulated", 8, modes::persistent}};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  if (std::getenv("RONDO_DEVICE") == nullptr && std::getenv("RONDO_LONG_TESTS") == nullptr)
    return two_of(variants_of(kinds));
#else
  kinds.push_back({"emulated", 32, modes::rounds});  // a lane is a thread, and those are slow with sanitizers
#endif
  if (has_gpu()) kinds.insert(kinds.end(), {{"cuda", 32}, {"cuda", 64}});
  return requested(variants_of(kinds));
}

std::vector<variant> variants_of_several() {
  std::vector<kind> kinds = {{"cpu,cpu", 1}, {"cpu,emulated", 4}, {"emulated,cpu,emulated", 1}};
  if (has_gpu()) kinds.insert(kinds.end(), {{"cpu,cuda:0", 32}, {"cuda:0,cuda:0", 32}});
  return requested(variants_of(kinds));
}

namespace {
start_book& book() {
  static auto& reached = *new in_reach<start_book>;
  static bool const known = (set_start_book(*reached), true);
  (void)known;
  return *reached;
}
}  // namespace

#if defined(RONDO_PTX_TESTBED)
namespace {
/// The PTX of the testbed and of its next version. RONDO_CONFORMANCE_PTX may name the first one, because tools/mutants
/// --ptx plants bugs there and tools/gpu carries it to another machine; the other one may lie beside it.
std::pair<std::string, std::string> testbeds_ptx() {
  std::filesystem::path const named = std::getenv("RONDO_CONFORMANCE_PTX");
  if (named.extension() != ".ptx") return {RONDO_PTX_TESTBED, RONDO_PTX_TESTBED_NEXT};
  auto const next = named.parent_path() / "testbed_next.ptx";
  return {named.string(), exists(next) ? next.string() : RONDO_PTX_TESTBED_NEXT};
}

std::unique_ptr<rondo::runtime> start_ptx(rondo::config settings) {
  auto* const shared = &book();
  auto const [first, next] = testbeds_ptx();
  for (auto const& path : {first, next}) {
    auto const at = rondo::read_shared_module(path).find_variable("device_start_book").address;
    std::memcpy(reinterpret_cast<void*>(at), &shared, sizeof shared);
  }
  auto const reachable = reachable_memory();
  auto const begin = reinterpret_cast<std::uint64_t>(reachable.data());
  // Handlers add to words of this memory, and the host only reads them, which a GPU can do with the host's memory, too.
  std::vector<ptx::memory_range> const ranges{
      {begin, begin + reachable.size(), ptx::memory_kind::device, "in reach"}};
  std::vector<rondo::chosen_device> chosen;
  chosen.push_back(
      rondo::make_ptx_device({{testbed::key, first}, {testbed_next::key, next}}, settings, {{}, ranges}));
  settings.device = "cuda";  // a configuration has no device ptx
  return std::make_unique<rondo::runtime>(rondo::use<testbed>, settings, std::move(chosen));
}
}  // namespace
#endif

std::uint32_t starts() { return book().starts.load(rondo::memory_order::acquire); }
void fail_starts(std::uint32_t count) {
  book().to_fail.store(book().failed.load(rondo::memory_order::acquire) + count,
                       rondo::memory_order::release);
}

std::unique_ptr<rondo::runtime> start(rondo::config const& settings) {
  book();
#if defined(RONDO_PTX_TESTBED)
  if (settings.device == "ptx") return start_ptx(settings);
#endif
  return std::make_unique<rondo::runtime>(rondo::use<testbed>, settings);
}

std::unique_ptr<rondo::runtime> start_beside(rondo::config const& settings,
                                             std::shared_ptr<rondo::kernel_player> player) {
  book();
  std::vector<rondo::chosen_device> chosen;
  chosen.push_back(
      rondo::make_cpu_device(rondo::program_of<testbed>(), settings, "of a test", std::move(player)));
  return std::make_unique<rondo::runtime>(rondo::use<testbed>, settings, std::move(chosen));
}

losable start_losable(rondo::config const& settings) {
  book();
  auto chosen = rondo::make_devices(rondo::program_of<testbed>(), settings);
  auto& device = dynamic_cast<rondo::emulated_device&>(*chosen.back().dev);
  return {std::make_unique<rondo::runtime>(rondo::use<testbed>, settings, std::move(chosen)), device};
}

rondo::telemetry at_rest(rondo::runtime& rt, std::uint64_t still_waiting) {
  rondo::telemetry t;
  if (eventually([&] { return t = rt.snapshot(), t.waiting == still_waiting && t.conserved(); })) return t;
  throw std::runtime_error("not at rest: " + std::to_string(t.waiting) + " messages wait, " +
                           std::to_string(still_waiting) + " should; the counters " +
                           (t.conserved() ? "are conserved" : "are not conserved"));
}

std::vector<std::uint32_t> read_all(rondo::actor_ref<journal> const& j) {
  std::vector<std::uint32_t> values;
  for (;;) {
    auto const p = ask(j, read_from{static_cast<std::uint32_t>(values.size())}).value();
    values.insert(values.end(), p.values, p.values + p.count);
    if (values.size() >= p.total) return values;
  }
}

rondo::actor_report const& report_of(rondo::telemetry const& t, rondo::actor_id id) {
  for (auto const& a : t.actors)
    if (a.now.index == id.index && a.now.generation == id.generation) return a;
  throw std::runtime_error("the actor is not in the snapshot");
}

}  // namespace conformance
