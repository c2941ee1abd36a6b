#include "runtime/nats/nats_service.hpp"

#include <fmt/format.h>

#include <optional>

#include "runtime/checkpoint.hpp"
#include "runtime/nats/durable_intake.hpp"
#include "runtime/nats/nats_requests.hpp"
#include "runtime/nats/nats_servers.hpp"
#include "runtime/service/left_out_log.hpp"

namespace rondo::service {
namespace {

class nats_service : public bridge {
 public:
  explicit nats_service(bridge_parts parts)
      : parts_(std::move(parts)),
        servers_(parse_nats_servers(parts_.config.nats)),
        troubles_(parts_.log, "errors of the connection to NATS") {
    auto const& c = parts_.config;
    if (c.name.empty() || c.name.find_first_of(".*> \t/\\") != std::string::npos)
      throw config_error(fmt::format(
          "name: '{}' cannot be part of a NATS subject; with `nats` it must not contain dots, blanks, "
          "slashes, * or >",
          c.name));
    durable_options o{.counters = parts_.counters,
                      .service = c.name,
                      .checkpoint = c.checkpoint,
                      .notes = parts_.notes,
                      .patience = c.nats_wait};
    for (auto const& a : c.actors)
      if (a.durable) o.actors.push_back(a.name);
    link_.emplace(link_options());
    if (!o.actors.empty()) durable_.emplace(parts_.rt, *link_, std::move(o), parts_.log);
  }

  ~nats_service() override {
    if (!made_here_) return;  // in a forked child
    requests_.reset();
    durable_.reset();
    if (link_->connected()) try {
        link_->flush(std::chrono::seconds(2));  // the last acknowledgements
      } catch (nats_error const&) {             // what was not acknowledged is redelivered, and recognised
      }
    link_.reset();                                                      // no callback runs after this
    parts_.counters.connected.store(false, std::memory_order_relaxed);  // relaxed: a report
  }

  void start() override {
    auto const& c = parts_.config;
    if (!link_->wait_connected(c.nats_wait))
      throw nats_error(
          NATS_TIMEOUT,
          fmt::format("NATS at '{}': not connected within {} ms: {}; is nats-server running there? Correct "
                      "`nats`, or raise `nats_wait_ms`",
                      servers_.shown, c.nats_wait.count(), link_->obstacle().why));
    if (durable_) durable_->start();
    requests_.emplace(parts_.rt, *link_, c.name, parts_.log, parts_.counters, parts_.tables);
    parts_.log(fmt::format("{} answers rondo.{}.ACTOR at {}", c.name, c.name, servers_.shown));
  }

  std::uint64_t drain(std::chrono::milliseconds most) override {
    if (durable_) durable_->drain();
    auto const left = requests_ ? requests_->drain(most) : 0;
    requests_.reset();
    return left;
  }

  void checkpoint() override {
    if (durable_)
      durable_->checkpoint();
    else
      left_out_.take(rondo::checkpoint(parts_.rt, parts_.config.checkpoint, parts_.notes));
  }

  std::vector<std::string> conditions() const override {
    std::vector<std::string> all;
    if (auto const o = link_->obstacle(); !o.why.empty())
      all.push_back(fmt::format("NATS at {}: {}; it reconnects", servers_.shown, o.why));
    if (auto const why = durable_ ? durable_->why_idle() : std::string(); !why.empty())
      all.push_back(fmt::format("NATS: durable messages wait in their stream: {}", why));
    return all;
  }

 private:
  nats_link_options link_options() {
    nats_link_options o;
    o.url = parts_.config.nats;
    o.name = fmt::format("rondo serve {}", parts_.config.name);
    o.patient = true;
    o.changed = [this](nats_obstacle const& now) {
      auto& c = parts_.counters;
      c.connected.store(now.why.empty(), std::memory_order_relaxed);     // relaxed: a report
      c.login_refused.store(now.is_refusal, std::memory_order_relaxed);  // relaxed: likewise
      parts_.log(now.why.empty() ? fmt::format("connected to NATS at {}", servers_.shown)
                                 : fmt::format("NATS at {}: {}; reconnecting", servers_.shown, now.why));
    };
    o.trouble = [this](std::string const& text) { troubles_.line(text); };
    return o;
  }

  made_here const made_here_{};
  bridge_parts parts_;
  nats_servers servers_;
  throttled_log troubles_;
  left_out_log left_out_{parts_.log};
  std::optional<nats_link> link_;
  std::optional<durable_intake> durable_;
  std::optional<nats_requests> requests_;
};

}  // namespace

std::unique_ptr<bridge> make_nats_service(bridge_parts parts) {
  return std::make_unique<nats_service>(std::move(parts));
}

}  // namespace rondo::service
