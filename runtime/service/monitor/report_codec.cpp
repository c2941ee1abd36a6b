// Reports as bytes and as JSON, and what their histograms say.
#include <flatbuffers/idl.h>

#include <stdexcept>

#include "generated/telemetry_bfbs_generated.h"
#include "runtime/service/monitor/report.hpp"

namespace rondo::service {

std::vector<std::uint8_t> encode(report const& r) {
  flatbuffers::FlatBufferBuilder to(4096);
  to.Finish(reports::Createreport(to, &r));
  return {to.GetBufferPointer(), to.GetBufferPointer() + to.GetSize()};
}

report decode(std::span<std::uint8_t const> bytes) {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 16, 4'000'000);
  if (!verifier.VerifyBuffer<reports::report>(nullptr))
    throw std::runtime_error("these bytes are no report; are service and client of the same version?");
  report r;
  flatbuffers::GetRoot<reports::report>(bytes.data())->UnPackTo(&r);
  // What was not sent is empty, so that nobody who reads a report has to ask.
  if (!r.live) r.live = std::make_unique<reports::totalsT>();
  if (!r.retired) r.retired = std::make_unique<reports::totalsT>();
  for (auto& d : r.devices)
    if (!d->transfers) d->transfers = std::make_unique<reports::copiesT>();
  return r;
}

std::string to_json(report const& r) {
  flatbuffers::IDLOptions options;
  options.strict_json = true;
  options.output_default_scalars_in_json = true;
  options.indent_step = 1;
  flatbuffers::Parser parser(options);
  if (!parser.Deserialize(reports::reportBinarySchema::data(), reports::reportBinarySchema::size()))
    throw std::logic_error("the schema of reports is damaged");
  std::string text;
  if (!flatbuffers::GenerateText(parser, encode(r).data(), &text))
    throw std::runtime_error("the report holds text that is not UTF-8");
  return text;
}

double latency_at(std::span<std::uint32_t const> counts, std::span<std::uint64_t const> floors, double q) {
  std::uint64_t samples = 0;
  for (auto const c : counts) samples += c;
  if (samples == 0 || floors.size() < counts.size()) return 0;
  double const wanted = q * static_cast<double>(samples);
  double seen = 0;
  for (std::size_t b = 0; b < counts.size(); ++b) {
    double const count = counts[b];
    if (count != 0 && seen + count >= wanted) {
      auto const low = static_cast<double>(floors[b]);
      // The last bucket has no end: its floor is all that is known.
      auto const high = b + 1 < floors.size() ? static_cast<double>(floors[b + 1]) : low;
      return low + (high - low) * (wanted - seen) / count;
    }
    seen += count;
  }
  return static_cast<double>(floors[counts.size() - 1]);
}

}  // namespace rondo::service
