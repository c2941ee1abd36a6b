// Fuzzes recordings: an entry without the checksum that detects accidental damage, and a whole file with it.
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "runtime/state/recording_file.hpp"
#include "tests/fuzz/checkpoint_module.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace {

void check(rondo::recorded const& entry, std::size_t behaviours) {
  if (auto const* const m = std::get_if<rondo::recorded_message>(&entry); m != nullptr)
    rondo_fuzz::require(m->body.bytes == rondo::max_payload_bytes, "a recorded message has a whole payload");
  if (auto const* const l = std::get_if<rondo::recorded_launch>(&entry); l != nullptr)
    rondo_fuzz::require(l->behaviour < behaviours && l->capacity != 0 && l->actor.generation != 0,
                        "a recorded actor can be launched");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static auto const module = rondo_fuzz::checkpoint_module();
  std::vector<std::byte> body(size);
  if (size != 0) std::memcpy(body.data(), data, size);
  try {
    check(rondo::decode_recorded(body, module), module.size());
  } catch (std::runtime_error const& e) {
    rondo_fuzz::require(e.what()[0] != '\0', "a refusal says why");
  }
  try {
    std::istringstream file(std::string(reinterpret_cast<char const*>(data), size));
    rondo::recording_reader reader(file, module);
    while (auto const entry = reader.next()) check(*entry, module.size());
  } catch (std::runtime_error const& e) {
    rondo_fuzz::require(e.what()[0] != '\0', "a refusal says why");
  }
  return 0;
}
