#include "runtime/sharing/shared_lease.hpp"

#include <cstring>
#include <stdexcept>
#include <string>

#include "runtime/sharing/packet_socket.hpp"

namespace rondo {

namespace {

/// Refuses impossible numbers, because everything else is computed from them.
share::welcome const& checked(share::welcome const& w) {
  auto const refuse = [](std::string const& text) { throw std::runtime_error("its welcome " + text); };
  if ((w.transports & share::host_memory) == 0 ||
      (w.transports & ~(share::host_memory | share::device_memory)) != 0)
    refuse("names transports " + std::to_string(w.transports) +
           ", which this build does not support; build both from the same release");
  if (w.slots == 0 || w.slots > share::most_slots) refuse("names " + std::to_string(w.slots) + " slots");
  if (w.rows == 0 || w.rows > share::most_rows || w.row >= w.rows)
    refuse("names row " + std::to_string(w.row) + " of " + std::to_string(w.rows));
  if (w.data_bytes == 0 || w.data_bytes > 1ull << 46)
    refuse("names " + std::to_string(w.data_bytes) + " bytes of data");
  if (w.share == 0 || w.importer == 0 || w.beat_ns == 0) refuse("lacks a share, importer, or beat number");
  return w;
}

shared_mapping mapped(owned_fd const& fd, std::uint64_t bytes, bool writable, std::string const& what) {
  if (!fd) throw std::runtime_error(what + " is missing from the welcome");
  check_memfd(fd.get(), bytes, what);
  return {fd.get(), bytes, writable, what};
}

}  // namespace

import_view::import_view(share::welcome const& w, owned_fd socket, std::span<owned_fd, 4> memory,
                         device_opener const& open_device)
    : share_(checked(w).share),
      importer_(w.importer),
      slots_(w.slots),
      own_row_(w.row),
      socket_(std::move(socket)),
      data_(mapped(memory[0], w.data_bytes, false, "the memory of the buffers")),
      directory_memory_(
          mapped(memory[1], share::directory::size_of(w.rows, w.slots), false, "the directory")),
      row_memory_(mapped(memory[2], share::row::size_of(w.slots), true, "this importer's row")),
      directory_(directory_memory_.data(), w.rows),
      row_(row_memory_.data()) {
  auto const& h = directory_.header();
  if (h.magic != share::magic || h.version != share::version || h.share != w.share || h.slots != w.slots ||
      h.rows != w.rows || h.data_bytes != w.data_bytes)
    throw std::runtime_error("the directory does not match the welcome");
  if ((w.transports & share::device_memory) == 0) return;
  if (!open_device || !memory[3] || w.device_bytes == 0 || w.device_bytes >= share::on_device)
    throw std::runtime_error("the welcome offers device memory that was not requested or is missing");
  // If it cannot be opened, the importer still reads buffers on the host.
  device_ = open_device.open({memory[3].get(), w.device_data, w.device_ready, w.device_identity});
  device_bytes_ = w.device_bytes;
}

import_view::~import_view() {
  if (!made_here_) keep_for_ever(std::move(device_));
}

result<shared_lease> import_view::lease(shared_buffer_ref ref) const {
  if (peer_gone()) return make_error_code(errc::peer_gone);
  // From another exporter, or from an earlier one at this path.
  if (!names_slot(ref)) return make_error_code(errc::stale_buffer);
  if (!directory_.try_lease(row_, ref.slot, ref.generation)) {
    give_back(ref.slot, ref.generation, false);
    return make_error_code(errc::stale_buffer);
  }
  return take(ref, false);
}

result<shared_lease> import_view::granted(shared_buffer_ref ref) const {
  if (!names_slot(ref) || !directory_.is_granted(ref.slot, ref.generation))
    return make_error_code(errc::stale_buffer);
  return take(ref, true);
}

/// Finds the bytes of a slot of which this importer has a lease.
result<shared_lease> import_view::take(shared_buffer_ref ref, bool granted) const {
  auto const& entry = directory_.slot(ref.slot);
  // relaxed: under the lease. An importer that was cut off may see values of two generations, so both are checked.
  auto const offset = entry.offset.load(memory_order::relaxed);
  auto const bytes = entry.bytes.load(memory_order::relaxed);
  bool const there = (offset & share::on_device) != 0;
  auto const start = offset & ~share::on_device, size = there ? device_bytes_ : data_.size();
  auto const refuse = [&](errc why) {
    give_back(ref.slot, ref.generation, granted);
    return make_error_code(why);
  };
  if (there && !device_) return refuse(errc::buffer_elsewhere);
  if (start > size || bytes > size - start || ref.offset > bytes || ref.bytes > bytes - ref.offset)
    return refuse(errc::buffer_out_of_bounds);
  if (there && !device_->wait_ready()) return refuse(errc::device_lost);
  auto const* const first = (there ? device_->base() : data_.data()) + start + ref.offset;
  return shared_lease(shared_from_this(), {first, static_cast<std::size_t>(ref.bytes)}, ref, granted);
}

void import_view::give_back(std::uint32_t slot, std::uint32_t generation, bool granted) const noexcept {
  if (!made_here_) return;
  if (granted)
    directory_.end_granted(row_, slot, generation);
  else if (directory_.end_lease(row_, slot, generation))
    return;
  // If there is no room, the exporter has that many packets left to read, and sweeps after the last one.
  static_cast<void>(send_packet(socket_.get(), share::bytes_of(share::settled{})));
}

bool shared_lease::on_device() const noexcept {
  return view_ && view_->device_ && !bytes_.empty() && bytes_.data() >= view_->device_->base() &&
         bytes_.data() < view_->device_->base() + view_->device_bytes_;
}

errc shared_lease::copy_to(std::byte* to) const noexcept {
  if (!view_) return errc::stale_buffer;
  if (on_device())
    return view_->device_->copy_out(to, bytes_.data(), bytes_.size()) ? errc::ok : errc::device_lost;
  std::memcpy(to, bytes_.data(), bytes_.size());
  return errc::ok;
}

void shared_lease::refuse_alignment(std::size_t wanted) {
  throw std::invalid_argument("shared_lease: the range does not begin at a multiple of " +
                              std::to_string(wanted) + " bytes; copy it with copy_to");
}

bool shared_lease::valid() const noexcept { return view_ && view_->counted(); }

void shared_lease::end() noexcept {
  if (!view_) return;
  view_->give_back(slot_, generation_, granted_);
  view_ = nullptr;
  bytes_ = {};
}

}  // namespace rondo
