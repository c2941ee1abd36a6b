// Fuzzes the body of a checkpoint file, without the checksums that detect accidental damage.
#include <cstring>
#include <memory>
#include <stdexcept>

#include "runtime/state/checkpoint_file.hpp"
#include "tests/fuzz/checkpoint_module.hpp"
#include "tests/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static auto const module = rondo_fuzz::checkpoint_module();
  std::vector<std::byte> body(size);
  if (size != 0) std::memcpy(body.data(), data, size);
  try {
    for (auto const& actor : rondo::decode_checkpoint_body(body, module).actors) {
      rondo_fuzz::require(actor.behaviour < module.size(), "an actor has a behaviour of the module");
      rondo_fuzz::require(actor.state_bytes.size() == module[actor.behaviour].state_bytes,
                          "an actor's state has its behaviour's size");
      rondo_fuzz::require(actor.mail.size() <= actor.capacity, "an actor's mail fits its mailbox");
    }
  } catch (std::runtime_error const& e) {
    rondo_fuzz::require(e.what()[0] != '\0', "a refusal says why");
  }
  return 0;
}
