#include "runtime/device/cuda/cuda_machine.hpp"

#include <cuda.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "runtime/device/cuda/cuda_machine_state.hpp"
#include "runtime/device/cuda/pinned_cache.hpp"

namespace rondo {

namespace {

/// Sets up the process for kernels that never end, through the environment, the only way. Must be called before the
/// first CUDA call. Returns why that is not possible; empty: it is.
std::string prepare_process() {
  // A kernel that is loaded at its first launch may wait for the ring kernel.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  // Streams share hardware queues, 8 by default, and work behind a ring kernel in its queue would wait for it.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  auto const* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (blocking == nullptr || *blocking == '\0' || std::string_view(blocking) == "0") return {};
  return "CUDA_LAUNCH_BLOCKING is set, which makes each launch wait for its kernel, and a ring kernel never "
         "ends; unset it";
}

void check_eager_loading() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion("cuModuleGetLoadingMode", &entry, 11070, cudaEnableDefault, &found),
        "looking for cuModuleGetLoadingMode");
  CUmoduleLoadingMode mode{};
  if (found == cudaDriverEntryPointSuccess &&
      reinterpret_cast<CUresult (*)(CUmoduleLoadingMode*)>(entry)(&mode) == CUDA_SUCCESS &&
      mode == CU_MODULE_EAGER_LOADING)
    return;
  throw std::runtime_error(
      "CUDA loads kernels lazily in this process, and a kernel that is loaded while the ring kernel runs "
      "could wait for it forever: set CUDA_MODULE_LOADING=EAGER, or create the runtime before the first use "
      "of CUDA");
}

bool is_wsl() {
  std::string version;
  std::getline(std::ifstream("/proc/version") >> std::ws, version);
  return version.find("microsoft") != std::string::npos || version.find("Microsoft") != std::string::npos;
}

}  // namespace

int cuda_machine::count(std::string& why_none) {
  why_none = prepare_process();
  if (!why_none.empty()) return 0;
  int n = 0;
  auto const e = cudaGetDeviceCount(&n);
  if (e == cudaSuccess && n > 0) return n;
  cudaGetLastError();  // clears the error, which is reported here
  why_none = e == cudaErrorInsufficientDriver ? "there is no NVIDIA driver, or it is too old for CUDA 13"
             : e == cudaSuccess               ? "the driver shows no GPU"
                                              : text_of(e);
  return 0;
}

std::byte* cuda_machine::claim_shared(std::size_t bytes) noexcept {
  std::string why;
  if (count(why) == 0) return nullptr;
  try {
    return static_cast<std::byte*>(std::memset(pinned_cache::get().take(bytes), 0, bytes));
  } catch (std::runtime_error const&) {
    return nullptr;
  }
}

cuda_fit cuda_machine::fit(int ordinal, cuda_program const& program, config const& c) {
  check(cudaSetDevice(ordinal),
        gpu_use::of_process().was_reset(ordinal)
            ? "starting CUDA on a GPU that was reset, since a ring kernel of this process has faulted there; "
              "use it from a new process"
            : "starting CUDA on the GPU");
  check_eager_loading();
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, ordinal), "querying the GPU's properties");
  if (gpu.cooperativeLaunch == 0)
    throw std::runtime_error(fmt::format("the GPU {} cannot launch a cooperative grid", gpu.name));
  int timeout = 0;
  check(cudaDeviceGetAttribute(&timeout, cudaDevAttrKernelExecTimeout, ordinal),
        "querying the GPU's watchdog");

  cuda_fit f;
  f.inbox = c.inbox;
  f.lanes = c.lanes != 0 ? c.lanes : warp_size;
  if (f.lanes % warp_size != 0)
    throw config_error(
        fmt::format("{}: on a GPU a team has a multiple of 32 lanes (one warp or a block), not {}",
                    setting_name(c, "lanes"), f.lanes));
  auto const per_block = f.lanes == warp_size ? warp_teams_per_block : 1;
  f.block_threads = per_block * f.lanes;
  cudaFuncAttributes kernel{};
  check(cudaFuncGetAttributes(&kernel, program.run_grid),
        "loading the ring kernel (was the module compiled for this GPU? see CMAKE_CUDA_ARCHITECTURES)");
  if (static_cast<int>(f.block_threads) > kernel.maxThreadsPerBlock)
    throw config_error(
        fmt::format("{}: the ring kernel needs {} registers, so a team can have at most {} lanes",
                    setting_name(c, "lanes"), kernel.numRegs, kernel.maxThreadsPerBlock / 32 * 32));
  int per_multiprocessor = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, program.run_grid,
                                                      static_cast<int>(f.block_threads), 0),
        "querying how many blocks fit");
  auto const free = std::min<int>(static_cast<int>(c.free_multiprocessors), gpu.multiProcessorCount - 1);
  auto const multiprocessors = static_cast<std::uint32_t>(gpu.multiProcessorCount - free);
  auto const most = multiprocessors * static_cast<std::uint32_t>(per_multiprocessor);
  auto const usual =
      std::max(1u, (multiprocessors - 1) * per_block);  // one block on each but the I/O block's
  if (c.teams != 0) {
    f.teams = c.teams;
    f.pinned_teams = c.pinned_teams != 0 ? c.pinned_teams : std::max(1u, c.teams / 4);
  } else {
    f.pinned_teams = c.pinned_teams != 0 ? c.pinned_teams : std::max(1u, usual / 4);
    f.teams = usual > f.pinned_teams ? usual - f.pinned_teams : 1;
  }
  f.blocks = 1 + (f.teams + f.pinned_teams + per_block - 1) / per_block;
  if (f.blocks > most)
    throw config_error(
        fmt::format("{}: {} teams and {} for pinned actors need {} blocks, but only {} fit on {} of the {} "
                    "multiprocessors of {}",
                    setting_name(c, c.teams == 0 && c.pinned_teams != 0 ? "pinned_teams" : "teams"), f.teams,
                    f.pinned_teams, f.blocks, most, multiprocessors, gpu.multiProcessorCount, gpu.name));
  f.must_end = timeout != 0 || is_wsl();
  f.text =
      fmt::format("{}, {} blocks of {} threads on {} of {} multiprocessors{}", gpu.name, f.blocks,
                  f.block_threads, multiprocessors, gpu.multiProcessorCount,
                  timeout != 0 ? "; rounds, because it drives a display, whose watchdog ends long kernels"
                  : f.must_end ? "; rounds, because Windows ends long kernels under WSL"
                               : "");
  return f;
}

cuda_machine::cuda_machine(int ordinal, cuda_program const& program, cuda_fit const& fit)
    : state_(std::make_unique<state>(ordinal)) {
  auto& s = *state_;
  s.program = program;
  s.fit = fit;
  check(cudaSetDevice(ordinal), "selecting the GPU");
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "querying the priorities of streams");
  // Another priority than all other streams: streams of different priorities do not share a hardware queue.
  check(cudaStreamCreateWithPriority(&s.grids, cudaStreamNonBlocking, greatest), "creating a stream");
  check(cudaStreamCreateWithFlags(&s.copies, cudaStreamNonBlocking), "creating a stream");
  check(cudaEventCreateWithFlags(&s.ended, cudaEventDisableTiming), "creating an event");
  cudaMemPool_t pool{};
  auto all = ~std::uint64_t{0};  // kept for the next machine, because freeing memory may also wait for a grid
  check(cudaDeviceGetDefaultMemPool(&pool, ordinal), "looking for the GPU's memory pool");
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all),
        "setting up the GPU's memory pool");
  reserve_stack();
  s.graphs = std::make_unique<cuda_graphs>(
      ordinal, [&s](cudaError_t e, char const* what) { return s.succeeded(e, what); });
  calibrate_clock();
  set_clock();
}

cuda_machine::~cuda_machine() = default;

cuda_machine::state::~state() {
  cudaSetDevice(ordinal);
  graphs.reset();
  using ending = gpu_use::ending;
  auto const to_do = gpu_use::of_process().remove_machine(ordinal, faulted);
  if (to_do == ending::leave) return;
  if (to_do == ending::reset) {
    cudaDeviceReset();
    cudaGetLastError();
    pinned_cache::get().forget();
    forget_inboxes(ordinal);
    return;
  }
  for (auto* p : device) cudaFreeAsync(p, copies);
  if (shared.pool >= 0) ::close(shared.pool);
  if (ready != nullptr) cudaEventDestroy(ready);
  if (shared_pool != nullptr) cudaMemPoolDestroy(shared_pool);  // takes effect once its memory is freed
  for (auto* p : host) pinned_cache::get().give_back(p);
  if (ended != nullptr) cudaEventDestroy(ended);
  if (grids != nullptr) cudaStreamDestroy(grids);
  if (copies != nullptr) cudaStreamDestroy(copies);
}

/// A later kernel with more local memory than any before would wait for all running kernels: reserves enough before.
void cuda_machine::reserve_stack() {
  auto const& s = *state_;
  cudaFuncAttributes kernel{};
  check(cudaFuncGetAttributes(&kernel, s.program.run_grid), "loading the ring kernel");
  auto const bytes = std::max<std::size_t>(4096, kernel.localSizeBytes);
  // A kernel whose local memory must be made larger waits for the whole GPU: what was large enough once stays so. Not
  // an error if the program's context does not allow it any more.
  unsigned flags = 0;
  if (cudaGetDeviceFlags(&flags) != cudaSuccess ||
      cudaSetDeviceFlags(flags | cudaDeviceLmemResizeToMax) != cudaSuccess)
    static_cast<void>(cudaGetLastError());
  gpu_use::of_process().reserve_stack(s.ordinal, bytes, [](std::size_t all) {
    check(cudaDeviceSetLimit(cudaLimitStackSize, all), "setting the stack of teams");
  });
}

/// Compares the clocks of host and GPU, with a kernel that answers queries: the fastest answer is the most precise.
void cuda_machine::set_clock() {
  auto& s = *state_;
  auto* meeting = reinterpret_cast<cuda_meeting*>(pinned_memory(sizeof(cuda_meeting)));
  void* args[] = {&meeting};
  check(cudaLaunchKernel(s.program.meet_host, 1, 1, args, 0, s.copies), "launching a kernel");
  std::uint64_t best_ns = ~0ull, offset_ns = 0;
  for (std::uint32_t n = 1; n <= 200; ++n) {
    auto const asked_ns = now_ns();
    meeting->asked.store(n, memory_order::release);
    while (meeting->told.load(memory_order::acquire) != n) {
      if (now_ns() - asked_ns > 10'000'000'000) check(cudaErrorTimeout, "waiting for the first kernel");
      relax();
    }
    auto const told_ns = now_ns();
    if (told_ns - asked_ns >= best_ns) continue;
    best_ns = told_ns - asked_ns;
    offset_ns = asked_ns + best_ns / 2 - meeting->timer_ns;
  }
  meeting->asked.store(~0u, memory_order::release);
  check(cudaStreamSynchronize(s.copies), "running the first kernel");
  if (meeting->key != s.program.key)
    throw std::runtime_error(
        "the host and GPU compilers spell the names of this module's types differently: its behaviours "
        "and messages must not be in an anonymous namespace");
  check(static_cast<cudaError_t>(s.program.set_clock(offset_ns, s.copies)), "setting the clock");
  check(cudaStreamSynchronize(s.copies), "setting the clock");  // grids are launched on another stream
}

// -- another module

cuda_program cuda_machine::code_of(program const& next) const {
  auto const& s = *state_;
  auto const* const code = find_cuda_program(next.key);
  if (code == nullptr) throw std::runtime_error(no_cuda_program);
  int per_multiprocessor = 0, multiprocessors = 0;
  check(cudaSetDevice(s.ordinal), "selecting the GPU");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, code->run_grid,
                                                      static_cast<int>(s.fit.block_threads), 0),
        "querying how many blocks of the new module fit");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, s.ordinal),
        "querying the number of multiprocessors");
  if (static_cast<std::uint32_t>(per_multiprocessor * multiprocessors) < s.fit.blocks)
    throw std::runtime_error(
        fmt::format("the new module's grid needs {} blocks of {} threads, but only {} fit", s.fit.blocks,
                    s.fit.block_threads, per_multiprocessor * multiprocessors));
  return *code;
}

void cuda_machine::set_code(cuda_program const& code) {
  auto& s = *state_;
  s.program = code;
  try {
    cudaSetDevice(s.ordinal);
    reserve_stack();
    set_clock();
  } catch (std::exception const& e) {  // the next launch reports it
    std::lock_guard lock(s.mutex);
    s.faulted = true;
    s.fault = e.what();
  }
}

// -- launches

void cuda_machine::launch(grid<bus> const& g) {
  auto& s = *state_;
  if (auto const why = fault(); !why.empty()) throw std::runtime_error("CUDA: " + why);
  cudaSetDevice(s.ordinal);
  s.runs_for_ever = g.round.messages == 0 && g.round.ns == 0;
  if (s.runs_for_ever)
    gpu_use::of_process().begin_grid(s.ordinal);
  else
    s.step = std::chrono::microseconds(20);
  auto* const stop = &reinterpret_cast<arena_header*>(g.arena)->stop;  // its address, in the device's memory
  grid<bus> launched = g;
  if (s.inbox.device != nullptr)
    launched.queues.down.slots = reinterpret_cast<bus_slot<submission>*>(s.inbox.device);
  auto lanes = s.fit.lanes;
  void* args[] = {&launched, &lanes};
  bool const began =
      s.succeeded(cudaMemsetAsync(g.state, 0, sizeof *g.state, s.grids), "clearing the grid's state") &&
      s.succeeded(cudaMemsetAsync(stop, 0, sizeof(std::uint32_t), s.grids), "clearing the stop word") &&
      s.succeeded(cudaLaunchCooperativeKernel(s.program.run_grid, s.fit.blocks, s.fit.block_threads, args, 0,
                                              s.grids),
                  "launching the ring kernel") &&
      s.succeeded(cudaEventRecord(s.ended, s.grids), "launching the ring kernel");
  if (began) return;
  s.note_end();
  throw std::runtime_error("CUDA: " + fault());
}

grid_end cuda_machine::wait() {
  auto& s = *state_;
  cudaSetDevice(s.ordinal);
  for (;;) {
    auto const e = cudaEventQuery(s.ended);
    if (e != cudaErrorNotReady) {
      s.note_end();
      return s.succeeded(e, "the ring kernel") ? grid_end::over : grid_end::faulted;
    }
    cudaGetLastError();  // "not ready" is not an error
    std::this_thread::sleep_for(s.step);
  }
}

// -- for human readers

std::string cuda_machine::name() const { return fmt::format("cuda:{}", state_->ordinal); }

std::string cuda_machine::description(std::uint32_t teams, std::uint32_t pinned) const {
  return fmt::format("{} teams of {} lanes and {} for pinned actors; {}; {}", teams, state_->fit.lanes,
                     pinned, state_->fit.text, state_->inbox.where);
}

std::string cuda_machine::fault() const {
  std::lock_guard lock(state_->mutex);
  return state_->fault;
}

}  // namespace rondo
