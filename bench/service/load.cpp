// One thread that loads a server over a Unix socket with requests of 64 bytes: puts to a cell of `rondo serve`, or SETs
// to redis-server. Both use the same loop, so only the servers differ.
//
//   bench_service_load --kind rondo --socket PATH --clients 50 --pipeline 16 --requests 1000000
//
// Prints one JSON line: round trips per second, and the latency of each from the write of its batch to its answer.
#include <fmt/format.h>
#include <sys/epoll.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <vector>

#include "bench/harness/measurement.hpp"
#include "bench/service/raw_cell.hpp"

namespace {

using clock_type = std::chrono::steady_clock;
using namespace rondo::bench;

struct options {
  std::string kind = "rondo", socket;
  std::size_t clients = 50, pipeline = 1, requests = 200'000;
};

struct connection {
  int socket = -1;
  std::string batch{};  // the bytes of one round
  std::string in{};
  std::size_t awaited = 0;
  clock_type::time_point began{};
};

/// Takes complete answers from the front; throws if one is an error.
std::size_t take_answers(connection& c, bool redis) {
  std::size_t at = 0, count = 0;
  if (redis) {
    while (c.in.size() - at >= 5) {
      if (c.in.compare(at, 5, "+OK\r\n") != 0) throw std::runtime_error("redis said " + c.in.substr(at, 40));
      at += 5;
      ++count;
    }
  } else {
    while (c.in.size() - at >= 4) {
      std::uint32_t length = 0;
      std::memcpy(&length, c.in.data() + at, 4);
      if (c.in.size() - at < length + 4u) break;
      // Checked as a client would, without a copy: frames consist of whole words.
      alignas(16) std::byte frame[256];
      if (length + 4u > sizeof frame) throw std::runtime_error("an answer is no reply to a put");
      std::memcpy(frame, c.in.data() + at, length + 4u);
      require_done({frame, length + 4u});
      at += length + 4u;
      ++count;
    }
  }
  c.in.erase(0, at);
  return count;
}

void run(options const& o) {
  bool const redis = o.kind == "redis";
  int const poll = ::epoll_create1(0);
  std::vector<connection> all(o.clients);
  for (auto& c : all) {
    c.socket = connect_to(o.socket);
    auto const one = redis
                         ? "*3\r\n$3\r\nSET\r\n$12\r\nkey:00000000\r\n$64\r\n" + std::string(64, 'x') + "\r\n"
                         : open_cell(c.socket);
    for (std::size_t i = 0; i < o.pipeline; ++i) c.batch += one;
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.ptr = &c;
    ::epoll_ctl(poll, EPOLL_CTL_ADD, c.socket, &e);
  }
  std::vector<double> took_us;
  took_us.reserve(o.requests);
  std::size_t begun = 0, done = 0;
  auto const begin = [&](connection& c) {
    c.began = clock_type::now();
    c.awaited = o.pipeline;
    begun += o.pipeline;
    if (::send(c.socket, c.batch.data(), c.batch.size(), 0) != static_cast<ssize_t>(c.batch.size()))
      fail("writing");
  };
  auto const start = clock_type::now();
  for (auto& c : all)
    if (begun < o.requests) begin(c);
  std::vector<epoll_event> events(1024);
  char buffer[16 * 1024];
  while (done < begun) {
    int const n = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), 10'000);
    if (n == 0)
      throw std::runtime_error(fmt::format("no answer for 10 s; {} of {} are missing", begun - done, begun));
    for (int i = 0; i < n; ++i) {
      auto& c = *static_cast<connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      auto const got = ::read(c.socket, buffer, sizeof buffer);
      if (got <= 0) fail("the server hung up");
      c.in.append(buffer, static_cast<std::size_t>(got));
      auto const answers = take_answers(c, redis);
      if (answers == 0) continue;
      auto const us = std::chrono::duration<double, std::micro>(clock_type::now() - c.began).count();
      took_us.insert(took_us.end(), answers, us);
      done += answers;
      c.awaited -= answers;
      if (c.awaited == 0 && begun < o.requests) begin(c);
    }
  }
  auto const seconds = std::chrono::duration<double>(clock_type::now() - start).count();
  summary const took = summarise(std::move(took_us));
  fmt::print(
      "{{\"bench\": \"service\", \"kind\": \"{}\", \"clients\": {}, \"pipeline\": {}, \"requests\": {}, "
      "\"per_second\": {:.0f}, \"p50_us\": {:.1f}, \"p99_us\": {:.1f}, \"p999_us\": {:.1f}, \"max_us\": "
      "{:.1f}}}\n",
      o.kind, o.clients, o.pipeline, done, static_cast<double>(done) / seconds, took.p50, took.p99,
      took.p99_9, took.max);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("Loads a server over a Unix socket");
  app.add_option("--kind", o.kind)->check(CLI::IsMember({"rondo", "redis"}));
  app.add_option("--socket", o.socket)->required();
  app.add_option("--clients", o.clients)->check(CLI::Range(1, 20'000));
  app.add_option("--pipeline", o.pipeline)->check(CLI::Range(1, 100));
  app.add_option("--requests", o.requests)->check(CLI::Range(1, 100'000'000));
  CLI11_PARSE(app, argc, argv);
  try {
    run(o);
  } catch (std::exception const& e) {
    fmt::print(stderr, "bench_service_load: {}\n", e.what());
    return 1;
  }
}
