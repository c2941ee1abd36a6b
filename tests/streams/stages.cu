// The stages of the tests as PTX, for the device `ptx`.
#include "runtime/device/cuda/cuda_module.hpp"
#include "tests/streams/pictures.hpp"

RONDO_CUDA_MODULE(stream_test::all_stages)
