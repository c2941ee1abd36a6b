// Fuzzes the body of a graph's checkpoint, without the checksums that detect accidental damage.
#include <cstring>
#include <stdexcept>
#include <vector>

#include "runtime/streams/state/saved_graph.hpp"
#include "tests/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::vector<std::byte> body(size);
  if (size != 0) std::memcpy(body.data(), data, size);
  try {
    auto const g = rondo::streams::decode_saved_graph(body, "input");
    std::size_t held = g.name.size();
    for (auto const& s : g.stages) held += s.name.size() + s.type.size() + s.scratch.size();
    rondo_fuzz::require(g.file == "input", "a graph knows its file");
    // Tables may share parts, each of which the verifier counts: so a small file cannot become a large graph.
    rondo_fuzz::require(held <= 2048 * (size + 1), "what was read is bounded by the file");
  } catch (std::runtime_error const& e) {
    rondo_fuzz::require(e.what()[0] != '\0', "a refusal says why");
  }
  return 0;
}
