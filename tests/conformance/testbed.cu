// The suite's module, compiled for every device of the build.
#include "runtime/device/cuda/cuda_module.hpp"
#include "runtime/graph/stream.hpp"
#include "tests/conformance/behaviours.hpp"

RONDO_CUDA_MODULE(conformance::testbed)

namespace conformance {

void set_start_book(start_book& book) {
  host_start_book = &book;
#if defined(__CUDACC__)
  rondo::gpu::set_constant(device_start_book, &book);  // not needed if there is no GPU
#endif
}

namespace {

struct scale_one {
  scale const* in;
  scaler_field field;
  RONDO_HD void operator()(uint32_t i) const {
    if (i < in->count) field.numbers[i] *= in->factor;
  }
};
struct sum_up {
  scale const* in;
  scaled* out;
  scaler_field field;
  RONDO_HD void operator()(uint32_t) const {
    *out = {0, in->factor, field.replays != nullptr ? ++*field.replays : 0};
    for (uint32_t i = 0; i < field.count; ++i) out->sum += field.numbers[i];
  }
};

struct pass_gate {
  gate* at;
  RONDO_HD void operator()(uint32_t) const { at->pass(); }
};

}  // namespace

void record_scaling(rondo::stream& s, scale const* in, scaled* out, scaler_field field) {
  s.for_each(field.count, scale_one{in, field});
  s.for_each(1, sum_up{in, out, field});
}

void record_gate(rondo::stream& s, gate& at) { s.for_each(1, pass_gate{&at}); }

}  // namespace conformance
