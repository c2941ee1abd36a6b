// docs/memory.md, "Sharing between processes".
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <numeric>
#include <string>

#include "runtime/runtime.hpp"
#include "runtime/sharing/buffer_exporter.hpp"
#include "runtime/sharing/buffer_importer.hpp"
#include "tests/consumer/actors/check.hpp"

using namespace std::chrono_literals;

struct nothing {};
struct idle {
  using messages = rondo::messages<nothing>;
  RONDO_HD void on(rondo::context&, nothing const&) {}
};
RONDO_MODULE(frames, idle)

void export_to_one(std::filesystem::path const& path, auto ready) {
  std::promise<void> joined;
  auto const on_joined = [&](std::uint64_t) { joined.set_value(); };
  rondo::runtime rt{rondo::use<frames>, {.device = "cpu", .share_buffers = true}};
  rondo::buffer_exporter exporter{*rt.shared_memory(), {.path = path, .joined = on_joined}};
  rondo::buffer frame = rt.buffers().acquire_buffer(1000 * sizeof(float)).value();
  std::ranges::fill(frame.span<float>(), 0.5f);
  auto const shared = exporter.export_buffer(rt.buffers(), frame.ref()).value();  // refuses writers from now on
  ready();
  joined.get_future().wait();
  check(exporter.announce(shared, 7).value() == 1);  // a lease and a number, to one importer
  check(exporter.withdraw(shared) == rondo::errc::ok);
  check_soon([&] { return exporter.statistics().departed == 1; });
  check(exporter.statistics().copies == 0);
}

float import_once(std::filesystem::path const& path) {
  rondo::buffer_importer importer{path};
  rondo::announced_buffer const news = importer.receive(1min).value();  // or co_await importer.async_receive()
  auto const all = news.lease.as<float>();
  float const sum = std::accumulate(all.begin(), all.end(), 0.0f);
  check(news.lease.valid());  // only now is the sum known to be right
  check(news.tag == 7);
  return sum;
}

int main() {
  char folder[] = "/tmp/sharing.XXXXXX";
  int ready[2];
  check(::mkdtemp(folder) != nullptr && ::pipe(ready) == 0);
  auto const path = std::filesystem::path(folder) / "frames";
  if (auto const importer = ::fork(); importer == 0) {  // before there are threads
    char go;
    check(::read(ready[0], &go, 1) == 1);
    std::exit(import_once(path) == 500.0f ? 0 : 1);
  } else {
    export_to_one(path, [&] { check(::write(ready[1], "", 1) == 1); });
    int status = 1;
    check(::waitpid(importer, &status, 0) == importer && status == 0);
  }
  std::filesystem::remove_all(folder);
}
