// Measures how much a well-behaved client is affected by clients that misbehave: the latency of its puts of 64 bytes,
// one at a time, alone and next to them.
//
//   bench_service_beside --socket PATH --rounds 9 --asks 20000
//
// Each round takes samples alone, next to the first kind, alone, next to the second kind, and so on. The ratio compares
// a sample with the one before it, which was taken alone, so that other load on the machine affects both equally.
// Prints a JSON line for each kind with the medians over the rounds; --samples shows each sample.
//
// The misbehaving clients share one thread that sleeps between its turns, so that they load the service more than the
// machine. They write prebuilt bytes and ignore the responses.
//
// The well-behaved client requests a real-time priority, which needs root. On kernels without preemption it still waits
// for the system calls of others. Give it three idle cores; with two cores, the wall time also contains such waits.
#include <fmt/format.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bench/harness/measurement.hpp"
#include "bench/service/raw_cell.hpp"

using namespace rondo::bench;

namespace {

using clock_type = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct options {
  std::string socket;
  std::size_t rounds = 9, asks = 20'000;
  bool samples = false;
};

/// A non-blocking socket.
class loose_end {
 public:
  explicit loose_end(std::string const& path) : socket_(connect_to(path)) {}
  loose_end(loose_end&& o) noexcept : socket_(std::exchange(o.socket_, -1)) {}
  loose_end& operator=(loose_end&& o) noexcept {
    std::swap(socket_, o.socket_);
    return *this;
  }
  ~loose_end() {
    if (socket_ >= 0) ::close(socket_);
  }
  int get() const noexcept { return socket_; }
  /// Whether all bytes were taken.
  bool send(std::string const& bytes) const {
    errno = EAGAIN;  // if only a part was taken
    return ::send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }

 private:
  int socket_;
};

/// Clients that misbehave. `turn` is called repeatedly, with a pause in between; `done` counts their actions.
class nuisance {
 public:
  virtual ~nuisance() = default;
  virtual void turn() = 0;
  std::uint64_t done = 0;
};

/// Keeps the service's receive buffer full of requests, and takes the answers. Writes in small parts, because some
/// systems do not preempt a thread before its call has returned.
class flood final : public nuisance {
 public:
  explicit flood(std::string const& path) : end_(path) {
    auto const put = open_cell(end_.get());
    if (!end_.send(put)) fail("writing");
    answer_bytes_ = read_frame(end_.get()).size();
    for (int i = 0; i < 8; ++i) puts_ += put;
  }
  void turn() override {
    for (ssize_t n = 0; (n = ::recv(end_.get(), answers_.data(), answers_.size(), MSG_DONTWAIT)) > 0;)
      bytes_ += static_cast<std::size_t>(n);
    done = bytes_ / answer_bytes_;
    // A part of a batch may have been taken: the rest is sent first.
    for (ssize_t n = 0; (n = ::send(end_.get(), puts_.data() + at_, puts_.size() - at_, MSG_DONTWAIT)) > 0;)
      at_ = (at_ + static_cast<std::size_t>(n)) % puts_.size();
  }

 private:
  loose_end end_;
  std::string puts_;
  std::size_t at_ = 0, bytes_ = 0, answer_bytes_ = 0;
  std::vector<char> answers_ = std::vector<char>(4 * 1024);
};

/// Clients that send requests and do not read until they are dropped. In each turn there is also a new client that says
/// nothing, one that announces too large a frame, and one that sends invalid bytes.
class rabble final : public nuisance {
 public:
  explicit rabble(std::string path) : path_(std::move(path)) {
    loose_end const first(path_);
    auto const put = open_cell(first.get());
    for (int i = 0; i < 64; ++i) puts_ += put;
    oversized_ = hello_frame() + "\xff\xff\xff\x7f";
    malformed_ = hello_frame() + put;
    for (auto i = hello_frame().size() + 4; i < malformed_.size(); ++i) malformed_[i] ^= 0x5a;
  }
  void turn() override {
    while (slow_.size() < 8) slow_.emplace_back(path_).send(hello_frame());
    // After a partly taken batch the next bytes are invalid, but by then the service no longer reads.
    std::erase_if(slow_, [&](loose_end& s) {
      while (s.send(puts_)) continue;
      return errno != EAGAIN;
    });
    keep(silent_, 256);
    keep(others_, 64).send(oversized_);
    keep(others_, 64).send(malformed_);
    done += 3;
  }

 private:
  loose_end& keep(std::deque<loose_end>& of, std::size_t most) {
    if (of.size() == most) of.pop_front();
    return of.emplace_back(path_);
  }

  std::string path_, puts_, oversized_, malformed_;
  std::deque<loose_end> slow_, silent_, others_;
};

/// The client must wait only for the service, not for the other clients' thread. Where the system does not allow this,
/// it waits for both.
void go_first(bool first) {
  sched_param const how{.sched_priority = first ? 1 : 0};
  ::sched_setscheduler(0, first ? SCHED_FIFO : SCHED_OTHER, &how);
}

struct sample {
  summary took_us;
  double nuisances_per_second = 0;
};

/// Measures the puts of one client, while `beside` takes its turns.
sample measure(options const& o, nuisance* beside, std::chrono::microseconds rest) {
  std::atomic<bool> over{false};
  std::thread other;
  auto const before = beside != nullptr ? beside->done : 0;
  auto const began = clock_type::now();
  if (beside != nullptr)
    other = std::thread([&] {
      go_first(false);
      while (!over) beside->turn(), std::this_thread::sleep_for(rest);
    });
  std::vector<double> took_us;
  {
    loose_end const good(o.socket);
    auto const put = open_cell(good.get());
    took_us.reserve(o.asks);
    go_first(true);
    for (std::size_t i = 0; i < o.asks + o.asks / 10; ++i) {
      auto const start = clock_type::now();
      if (!good.send(put)) fail("writing");
      alignas(16) std::byte answer[256];
      auto const n = ::recv(good.get(), answer, sizeof answer, 0);
      auto const took = clock_type::now() - start;
      if (n <= 0) fail("reading");
      require_done({answer, static_cast<std::size_t>(n)});
      if (i >= o.asks / 10)  // before that, the other clients are not yet at full load
        took_us.push_back(std::chrono::duration<double, std::micro>(took).count());
    }
    go_first(false);
  }
  over = true;
  if (other.joinable()) other.join();
  auto const seconds = std::chrono::duration<double>(clock_type::now() - began).count();
  auto const done = beside != nullptr ? static_cast<double>(beside->done - before) : 0;
  return {summarise(std::move(took_us)), done / seconds};
}

void run(options const& o) {
  struct kind {
    char const* name;
    std::chrono::microseconds rest;  // between turns
    std::unique_ptr<nuisance> (*make)(std::string const&);
    std::vector<sample> alone{}, beside{};
  };
  kind kinds[] = {
      {"flood", 200us,
       [](std::string const& p) -> std::unique_ptr<nuisance> { return std::make_unique<flood>(p); }},
      {"rabble", 1000us,
       [](std::string const& p) -> std::unique_ptr<nuisance> { return std::make_unique<rabble>(p); }},
  };
  for (std::size_t round = 0; round < o.rounds; ++round)
    for (auto& k : kinds) {
      k.alone.push_back(measure(o, nullptr, {}));
      auto const them = k.make(o.socket);
      k.beside.push_back(measure(o, them.get(), k.rest));
      if (o.samples) {
        auto const &a = k.alone.back(), &b = k.beside.back();
        fmt::print(stderr, "{} {}: p50 {:.1f} beside {:.1f}, p99 {:.1f} beside {:.1f} us; {:.0f}/s\n", k.name,
                   round, a.took_us.p50, b.took_us.p50, a.took_us.p99, b.took_us.p99, b.nuisances_per_second);
      }
    }
  for (auto const& k : kinds) {
    // Over the rounds: of a figure of the samples alone and beside the others.
    auto const over_rounds = [&](auto figure) {
      std::vector<double> values;
      for (std::size_t i = 0; i < o.rounds; ++i) values.push_back(figure(k.alone[i], k.beside[i]));
      return summarise(std::move(values));
    };
    auto const p50_ratio =
        over_rounds([](sample const& a, sample const& b) { return b.took_us.p50 / a.took_us.p50; });
    auto const p99_ratio =
        over_rounds([](sample const& a, sample const& b) { return b.took_us.p99 / a.took_us.p99; });
    fmt::print(
        "{{\"bench\": \"service_beside\", \"kind\": \"{}\", \"rounds\": {}, \"asks\": {}, \"alone_p50_us\": "
        "{:.1f}, "
        "\"beside_p50_us\": {:.1f}, \"p50_ratio\": {:.2f}, \"alone_p99_us\": {:.1f}, \"beside_p99_us\": "
        "{:.1f}, "
        "\"p99_ratio\": {:.2f}, \"p99_ratio_least\": {:.2f}, \"p99_ratio_most\": {:.2f}, "
        "\"nuisances_per_second\": "
        "{:.0f}}}\n",
        k.name, o.rounds, o.asks,
        over_rounds([](sample const& a, sample const&) { return a.took_us.p50; }).p50,
        over_rounds([](sample const&, sample const& b) { return b.took_us.p50; }).p50, p50_ratio.p50,
        over_rounds([](sample const& a, sample const&) { return a.took_us.p99; }).p50,
        over_rounds([](sample const&, sample const& b) { return b.took_us.p99; }).p50, p99_ratio.p50,
        p99_ratio.min, p99_ratio.max,
        over_rounds([](sample const&, sample const& b) { return b.nuisances_per_second; }).p50);
  }
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("Measures a client of a service beside others that misbehave");
  app.add_option("--socket", o.socket)->required();
  app.add_option("--rounds", o.rounds)->check(CLI::Range(1, 1000));
  app.add_option("--asks", o.asks)->check(CLI::Range(100, 100'000'000));
  app.add_flag("--samples", o.samples, "show each round");
  CLI11_PARSE(app, argc, argv);
  try {
    run(o);
  } catch (std::exception const& e) {
    fmt::print(stderr, "bench_service_beside: {}\n", e.what());
    return 1;
  }
}
