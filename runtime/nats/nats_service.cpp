#include "runtime/nats/nats_service.hpp"

#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "runtime/checkpoint.hpp"
#include "runtime/nats/durable_intake.hpp"
#include "runtime/nats/nats_requests.hpp"

namespace rondo::service {
namespace {

/// The URL without user and password.
std::string shown(std::string const& url) {
  auto const at = url.rfind('@');
  auto const slashes = url.find("//");
  return at == std::string::npos || slashes == std::string::npos
             ? url
             : url.substr(0, slashes + 2) + url.substr(at + 1);
}

class nats_service : public bridge {
 public:
  explicit nats_service(bridge_parts parts) : parts_(std::move(parts)) {
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
    requests_.reset();
    durable_.reset();
    if (link_->connected()) try {
        link_->flush(std::chrono::seconds(2));  // the last acknowledgements
      } catch (nats_error const&) {             // what was not acknowledged is redelivered, and recognised
      }
    link_.reset();  // `again` is not called after this
    note_connection(false);
  }

  void start() override {
    auto const& c = parts_.config;
    if (!link_->wait_connected(c.nats_wait))
      throw nats_error(
          NATS_TIMEOUT,
          fmt::format("NATS at '{}' did not answer within {} ms; is nats-server running there? Set `nats` to "
                      "nats://HOST:PORT, or raise `nats_wait_ms`",
                      shown(c.nats), c.nats_wait.count()));
    {
      std::lock_guard lock(connection_mutex_);  // changes are reported after this look
      parts_.counters.connected.store(link_->connected(), std::memory_order_relaxed);  // relaxed: a report
    }
    if (durable_) durable_->start();
    requests_.emplace(parts_.rt, *link_, c.name, parts_.log, parts_.counters);
    parts_.log(fmt::format("{} answers rondo.{}.ACTOR at {}", c.name, c.name, shown(c.nats)));
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
      rondo::checkpoint(parts_.rt, parts_.config.checkpoint, parts_.notes);
  }

 private:
  void note_connection(bool is_there) {
    std::lock_guard lock(connection_mutex_);
    parts_.counters.connected.store(is_there, std::memory_order_relaxed);  // relaxed: a report
  }

  nats_link_options link_options() {
    nats_link_options o;
    o.url = parts_.config.nats;
    o.name = fmt::format("rondo serve {}", parts_.config.name);
    o.patient = true;
    auto const where = shown(o.url);
    o.lost = [this, where] {
      note_connection(false);
      parts_.log(fmt::format("lost the connection to NATS at {}; reconnecting", where));
    };
    o.again = [this, where] {
      note_connection(true);
      parts_.log(fmt::format("connected to NATS at {}", where));
    };
    o.trouble = [log = parts_.log](std::string const& text) { log(text); };
    return o;
  }

  bridge_parts parts_;
  std::mutex connection_mutex_;
  std::optional<nats_link> link_;
  std::optional<durable_intake> durable_;
  std::optional<nats_requests> requests_;
};

}  // namespace

std::unique_ptr<bridge> make_nats_service(bridge_parts parts) {
  return std::make_unique<nats_service>(std::move(parts));
}

}  // namespace rondo::service
