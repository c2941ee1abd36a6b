#include "bench/harness/result_line.hpp"

#include <flatbuffers/flexbuffers.h>

namespace rondo::bench {

std::string result_line(bench_case const& work, distance where, collected const& found, unsigned mixed,
                        double ratio_to_anchor, std::string const& anchor, provenance const& from) {
  flexbuffers::Builder out;
  out.Map([&] {
    out.String("case", work.name);
    out.String("peer", work.peer);
    out.Map("parameters", [&] {
      for (auto const& [key, value] : work.parameters) out.String(key.c_str(), value);
    });
    out.String("distance", std::string(to_string(where)));
    out.String("allocator", from.allocator);
    out.UInt("samples", found.samples);
    out.UInt("samples_mixed", mixed);
    out.Double("probe_p50_ns", summarise(found.probe_ns).p50);
    out.String("headline", found.pooled.metrics.front().name);
    if (ratio_to_anchor > 0) {
      out.String("anchor", anchor);
      out.Double("ratio_to_anchor", ratio_to_anchor);
    }
    for (auto const& one : found.pooled.metrics)
      out.Map(one.name.c_str(), [&] {
        summary const s = summarise(one.values);
        out.UInt("samples", s.samples);
        out.Double("min", s.min);
        out.Double("p50", s.p50);
        out.Double("p90", s.p90);
        out.Double("p99", s.p99);
        out.Double("p99_9", s.p99_9);
        out.Double("max", s.max);
      });
    out.Map("machine", [&] {
      out.String("cpu", from.cpu);
      out.UInt("cores", from.cores);
      out.String("kernel", from.kernel);
      out.Double("load_1m", from.load_1m);
    });
    if (!from.device.empty())
      out.Map("device", [&] {
        for (auto const& [key, value] : from.device) out.String(key.c_str(), value);
      });
    out.String("compiler", from.compiler);
    out.String("build_flags", from.build_flags);
    out.String("commit", from.commit);
    out.String("date", from.date);
  });
  out.Finish();
  std::string json;
  flexbuffers::GetRoot(out.GetBuffer()).ToString(true, true, json);
  return json;
}

}  // namespace rondo::bench
