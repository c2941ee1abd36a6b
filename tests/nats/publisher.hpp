// Publishes messages to the durable actor `clicks`, and reads the state of the stream and of the counter.
#pragma once

#include <sys/wait.h>

#include <memory>
#include <string>
#include <thread>

#include "runtime/nats/nats_stream.hpp"
#include "tests/nats/nats_fixture.hpp"
#include "tests/service/service_fixture.hpp"

namespace rondo_test {

using namespace rondo::service;

struct publisher {
  explicit publisher(std::string const& url) : link({.url = url, .reconnect_wait = 20ms}) {
    jsCtx* made = nullptr;
    if (natsConnection_JetStream(&made, link.get().get(), nullptr) != NATS_OK)
      throw std::runtime_error("no JetStream");
    js.reset(made);
  }

  /// Retries until the stream has stored it; the id prevents duplicates.
  void add(std::uint64_t amount, std::string const& id, std::string const& actor = "clicks",
           std::string const& type = "rondo.basics.add") {
    nats_message const m("rondo.demo.durable." + actor, bytes(amount), {.type = type});
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MaxWait = 1000;
    options.MsgId = id.c_str();
    auto const end = std::chrono::steady_clock::now() + patience;
    while (js_PublishMsg(nullptr, js.get(), m.get(), &options, nullptr) != NATS_OK)
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("a message could not be stored");
  }
  /// Messages that are not acknowledged yet; all of them while the server does not answer.
  std::uint64_t stored() {
    jsStreamInfo* raw = nullptr;
    if (js_GetStreamInfo(&raw, js.get(), "rondo_demo", nullptr, nullptr) != NATS_OK) return ~0ull;
    auto const count = raw->State.Msgs;
    jsStreamInfo_Destroy(raw);
    return count;
  }
  /// Waits until all messages are acknowledged.
  bool emptied() {
    auto const end = std::chrono::steady_clock::now() + patience;
    while (stored() != 0) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(2ms);
    }
    return true;
  }
  bool reached(std::uint64_t wanted) {
    auto const end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
      try {
        if (sum() >= wanted) return true;
      } catch (std::runtime_error const&) {  // the service is not connected again yet
      }
      std::this_thread::sleep_for(2ms);
    }
    return false;
  }
  std::uint64_t sum() {
    basics::get const get{};
    auto const reply =
        link.request({"rondo.demo.clicks", bytes(get), {.type = "rondo.basics.get"}}, patience);
    if (reply.headers().status != 0u) throw std::runtime_error(reply.headers().reason);
    return as<basics::total>(reply).value;
  }

  struct destroy {
    void operator()(jsCtx* c) const noexcept { jsCtx_Destroy(c); }
  };
  nats_link link;
  std::unique_ptr<jsCtx, destroy> js{};
};

/// The upper half counts messages, so that a lost message and a duplicate do not cancel out.
inline std::uint64_t amount_of(std::uint64_t number) { return (std::uint64_t{1} << 32) + number; }

inline bool ended_well(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

}  // namespace rondo_test
