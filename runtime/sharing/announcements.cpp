// The exporter's announcements: what each importer gets, what waits for it, and what it holds.
#include <boost/asio/post.hpp>
#include <utility>

#include "runtime/sharing/exporter_state.hpp"

namespace rondo {

bool buffer_exporter::state::put(connection& c, share::announcement const& a) {
  if (c.how == delivery::latest) {
    for (; !c.unsent.empty(); c.unsent.pop_front()) {
      table.take_back(*c.row, c.unsent.front().ref.slot);
      ++c.replaced, ++counts.replaced;
    }
  } else if (!has_room(c)) {
    ++c.dropped, ++counts.dropped;
    return false;
  }
  table.grant(*c.row, a.ref.slot);
  c.unsent.push_back(a);
  ++counts.announced;
  send_unsent(c);
  return true;
}

/// If the system refuses a packet for now, the importer's next one, or the next tick, tries again.
void buffer_exporter::state::send_unsent(connection& c) {
  while (!c.unsent.empty() && c.sent - table.returned(*c.row) < c.capacity) {
    if (send_packet(c.fd(), share::bytes_of(c.unsent.front())) != packet_io::done) return;
    ++c.sent;
    c.unsent.pop_front();
  }
}

result<std::uint32_t> buffer_exporter::announce(shared_buffer_ref ref, std::uint64_t tag,
                                                announcement_note const& note) {
  auto& s = *state_;
  auto const lock = std::lock_guard(s.mutex);
  if (!s.table.is_open(ref)) return make_error_code(errc::stale_buffer);
  for (auto const& [number, c] : s.connections)
    if (c->welcomed && c->how == delivery::lossless && !s.has_room(*c)) return make_error_code(errc::no_room);
  std::uint32_t reached = 0;
  for (auto const& [number, c] : s.connections)
    if (c->welcomed) reached += s.put(*c, {.ref = ref, .tag = tag, .note = note});
  return reached;
}

errc buffer_exporter::announce_to(std::uint64_t importer, shared_buffer_ref ref, std::uint64_t tag,
                                  announcement_note const& note) {
  auto& s = *state_;
  auto const lock = std::lock_guard(s.mutex);
  auto const found = s.connections.find(importer);
  if (found == s.connections.end() || !found->second->welcomed) return errc::peer_gone;
  if (!s.table.is_open(ref)) return errc::stale_buffer;
  auto& c = *found->second;
  if (c.how == delivery::lossless && !s.has_room(c)) return errc::no_room;
  return s.put(c, {.ref = ref, .tag = tag, .note = note}) ? errc::ok : errc::no_room;
}

std::vector<importer_holding> buffer_exporter::importers() const {
  auto& s = *state_;
  std::vector<importer_holding> all;
  auto const lock = std::lock_guard(s.mutex);
  for (auto const& [number, c] : s.connections) {
    if (!c->welcomed || !c->row) continue;
    auto const kept = s.table.kept_by(*c->row);
    all.push_back({.importer = number,
                   .process = c->who.pid,
                   .leases = s.table.leases(*c->row),
                   .kept = kept.slots,
                   .kept_bytes = kept.bytes,
                   .kept_for = kept.since_first,
                   .how = c->how,
                   .unreturned = s.unreturned(*c),
                   .dropped = c->dropped,
                   .replaced = c->replaced});
  }
  return all;
}

errc buffer_exporter::evict(std::uint64_t importer) {
  auto& s = *state_;
  auto const lock = std::lock_guard(s.mutex);
  auto const found = s.connections.find(importer);
  if (found == s.connections.end() || !found->second->welcomed) return errc::peer_gone;
  auto const c = found->second;
  ++s.counts.cut_off;
  s.table.drop(*std::exchange(c->row, std::nullopt));
  s.connections.erase(found);
  s.note_freed();
  boost::asio::post(s.io, [&s, c] {  // only the thread uses the socket
    auto const held = std::lock_guard(s.mutex);
    s.forget(*c);
  });
  return errc::ok;
}

}  // namespace rondo
