// Creation of a `cuda` device; only in builds with the CUDA toolkit.
#include <fmt/format.h>

#include <charconv>

#include "runtime/core/make_device.hpp"
#include "runtime/device/cuda/cuda_machine.hpp"

namespace rondo {

namespace {

int ordinal_of(std::string const& name) {
  int n = 0;
  if (auto const colon = name.find(':'); colon != std::string::npos)
    std::from_chars(name.data() + colon + 1, name.data() + name.size(), n);
  return n;
}

}  // namespace

std::string why_no_cuda(std::uint64_t module_key) {
  if (find_cuda_program(module_key) == nullptr) return no_cuda_program;
  std::string why;
  cuda_machine::count(why);
  return why;
}

chosen_device make_cuda_device(config const& c, std::uint64_t module_key, std::uint32_t place) {
  auto const refuse = [&](std::string const& why) -> std::runtime_error {
    return std::runtime_error(
        fmt::format("{} is not available: {}; or choose the device cpu or auto", named_device(c), why));
  };
  auto const* const program = find_cuda_program(module_key);
  if (program == nullptr) throw refuse(no_cuda_program);
  std::string why;
  int const gpus = cuda_machine::count(why), ordinal = ordinal_of(c.device);
  if (gpus == 0) throw refuse(why);
  if (ordinal >= gpus) throw refuse(fmt::format("there are {} GPUs, counted from 0", gpus));
  try {
    auto const fit = cuda_machine::fit(ordinal, *program, c);
    auto settings = c;
    settings.teams = fit.teams;
    settings.pinned_teams = fit.pinned_teams;
    if (fit.must_end) settings.ring_mode = ring_mode::rounds;
    auto in_arena = settings;
    in_arena.polling = true;  // a GPU's teams never park
    return {std::make_unique<cuda_device>(shape_for(in_arena, fit.teams, fit.pinned_teams, place),
                                          queue_options_for(settings), ordinal, *program, fit),
            c.device == "auto" ? "chosen by auto: there is a GPU, and the module was compiled for it"
                               : "requested by the configuration"};
  } catch (config_error const&) {
    throw;
  } catch (std::runtime_error const& e) {
    throw refuse(e.what());
  }
}

}  // namespace rondo
