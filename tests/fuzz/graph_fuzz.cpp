// Fuzzes files of graphs: whatever is accepted is a graph whose table has each of its links; everything else is a
// input_error.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "actors/workloads/link_graph.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace {

using namespace rondo::workloads;

/// In memory of exactly the size that it asks for.
void use(link_graph const& graph) {
  for (auto const& l : graph.links)
    rondo_fuzz::require(l.from < graph.vertices && l.to < graph.vertices, "links are between vertices");
  if (graph.vertices > 100'000) return;  // it would only take long
  auto const parts = graph.vertices < 7 ? 1u : 7u;
  auto const bytes = table_bytes(graph, parts);
  struct free_it {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{alignof(link_table)}); }
  };
  std::unique_ptr<std::byte, free_it> const memory(
      static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignof(link_table)})));
  write_table(graph, parts, {memory.get(), bytes});
  auto const& table = *reinterpret_cast<link_table const*>(memory.get());
  std::uint64_t begin = 0;
  for (std::uint32_t v = 0; v < graph.vertices; ++v) begin += table.degrees()[v];
  rondo_fuzz::require(begin == graph.links.size(), "each link begins somewhere");
  rondo_fuzz::require(table.offsets()[graph.vertices] == graph.links.size(), "each link ends somewhere");
  rondo_fuzz::require(table.firsts()[parts] == graph.vertices, "each vertex is in a part");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text(reinterpret_cast<char const*>(data), size);
  try {
    use(parse_graph(text, "fuzz.txt"));
  } catch (input_error const& e) {
    rondo_fuzz::require(e.what()[0] != '\0', "a refusal says why");
  }
  try {
    static_cast<void>(parse_rmat(text));
  } catch (input_error const&) {
  }
  return 0;
}
