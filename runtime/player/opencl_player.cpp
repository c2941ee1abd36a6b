#include "runtime/player/opencl_player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include "runtime/player/opencl_memory.hpp"
#include "runtime/text/clean_text.hpp"
#include "runtime/text/to_stderr.hpp"

namespace rondo {

namespace {

std::string info_text(auto const& get) {
  std::size_t bytes = 0;
  if (get(0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string text(bytes, 0);
  get(bytes, text.data(), nullptr);
  return clean_text(text.c_str());
}

constexpr std::uint32_t most_lanes = 256;  // that share a row on a GPU

template <class Object, class Release>
using handle = std::unique_ptr<std::remove_pointer_t<Object>, Release>;

/// The kernel whose work-items take whole rows (kernels/portable/kernel.hpp).
std::string of_rows(std::string const& kernel) {
  return kernel.substr(0, kernel.rfind("_kernel")) + "_rows_kernel";
}

}  // namespace

struct opencl_player::machine {
  explicit machine(opencl_api const& api)
      : context(nullptr, api.clReleaseContext), queue(nullptr, api.clReleaseCommandQueue) {}

  handle<cl_context, decltype(opencl_api::clReleaseContext)> context;
  handle<cl_command_queue, decltype(opencl_api::clReleaseCommandQueue)> queue;
  std::vector<handle<cl_program, decltype(opencl_api::clReleaseProgram)>> programs;
  std::map<std::string, handle<cl_kernel, decltype(opencl_api::clReleaseKernel)>> kernels;
  std::unique_ptr<opencl_memory> memory;
};

// -- opening

opencl_player::opencl_player(std::vector<kernel_program const*> const& programs, std::string const& device,
                             opencl_api const& api, std::chrono::nanoseconds limit)
    : cl_(api), machine_(std::make_unique<machine>(api)) {
  choose(device);
  cl_int status = CL_SUCCESS;
  machine_->context.reset(cl_.clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status));
  check_opencl(status, "a context");
  auto* const context = machine_->context.get();
  machine_->queue.reset(cl_.clCreateCommandQueueWithProperties(context, device_, nullptr, &status));
  check_opencl(status, "a queue");
  for (auto const* const p : programs) build(*p);
  watch_ = std::make_unique<list_watch>(name_, limit);
  machine_->memory = has_shared_memory_ ? make_shared_virtual_memory(cl_, context, *watch_)
                                        : make_mapped_memory(cl_, context, machine_->queue.get(), *watch_);
}

opencl_player::~opencl_player() {
  if (watch_->wait()) return;
  static_cast<void>(machine_.release());  // a driver that hangs may hang in each of its functions
  to_stderr(fmt::format("rondo: {} still has kernels that did not end; their memory is not freed\n", name_));
}

void opencl_player::choose(std::string const& wanted) {
  std::string known;
  cl_uint count = 0;
  if (cl_.clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) count = 0;  // there is no driver
  std::vector<cl_platform_id> platforms(count);
  if (count != 0) check_opencl(cl_.clGetPlatformIDs(count, platforms.data(), nullptr), "the platforms");
  for (auto* const platform : platforms) {
    auto const of =
        info_text([&](auto... to) { return cl_.clGetPlatformInfo(platform, CL_PLATFORM_NAME, to...); });
    if (cl_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(count);
    check_opencl(cl_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr),
                 "the devices");
    for (auto* const d : devices) {
      auto const name = info_text([&](auto... to) { return cl_.clGetDeviceInfo(d, CL_DEVICE_NAME, to...); });
      cl_device_type type = 0;
      check_opencl(cl_.clGetDeviceInfo(d, CL_DEVICE_TYPE, sizeof type, &type, nullptr),
                   "the type of a device");
      auto const whole = fmt::format("{}: {}", of, name);
      bool const fits =
          wanted.empty() ? (type & CL_DEVICE_TYPE_GPU) != 0 : whole.find(wanted) != std::string::npos;
      if (fits && device_ == nullptr)
        device_ = d, name_ = whole, is_processor_ = (type & CL_DEVICE_TYPE_CPU) != 0;
      known += fmt::format("{}'{}'", known.empty() ? "" : ", ", whole);
    }
  }
  if (device_ == nullptr)
    throw std::runtime_error(fmt::format(
        "OpenCL has {}; there are {}",
        wanted.empty() ? "no GPU" : fmt::format("no device '{}'", clean_text(wanted)),
        known.empty() ? "no devices: install the driver of the GPU, or pocl-opencl-icd for the processor"
                      : known));
  auto const of_device = [this](cl_device_info what) {
    return info_text([&](auto... to) { return cl_.clGetDeviceInfo(device_, what, to...); });
  };
  cl_device_svm_capabilities shared = 0;
  has_shared_memory_ = cl_.clGetDeviceInfo(device_, CL_DEVICE_SVM_CAPABILITIES, sizeof shared, &shared,
                                           nullptr) == CL_SUCCESS &&
                       (shared & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
  takes_spir_ = of_device(CL_DEVICE_EXTENSIONS).find("cl_khr_spir") != std::string::npos;
  takes_spirv_ = of_device(CL_DEVICE_IL_VERSION).find("SPIR-V") != std::string::npos;
}

void opencl_player::build(kernel_program const& program) {
  bool const as_spirv = !takes_spir_ && takes_spirv_ && !program.spirv.empty();
  if (!as_spirv && !takes_spir_)
    throw std::runtime_error(fmt::format(
        "OpenCL: {} takes {}; the kernels '{}' are {}", name_,
        takes_spirv_ ? "SPIR-V, but no LLVM bitcode (cl_khr_spir)" : "neither LLVM bitcode nor SPIR-V",
        program.name,
        program.spirv.empty() ? "LLVM bitcode, as there was no llvm-spirv when they were built"
                              : "in these two forms"));
  auto const* bytes = program.spir.data();
  auto const size = program.spir.size();
  auto* const context = machine_->context.get();
  cl_int of_binary = CL_SUCCESS, status = CL_SUCCESS;
  auto& made = machine_->programs.emplace_back(
      as_spirv ? cl_.clCreateProgramWithIL(context, program.spirv.data(), program.spirv.size(), &status)
               : cl_.clCreateProgramWithBinary(context, 1, &device_, &size, &bytes, &of_binary, &status),
      cl_.clReleaseProgram);
  check_opencl(status != CL_SUCCESS ? status : of_binary, "a program");
  status =
      cl_.clBuildProgram(made.get(), 1, &device_, as_spirv ? "" : "-x spir -spir-std=1.2", nullptr, nullptr);
  if (status == CL_SUCCESS) return;
  auto const log = info_text([&](auto... to) {
    return cl_.clGetProgramBuildInfo(made.get(), device_, CL_PROGRAM_BUILD_LOG, to...);
  });
  throw std::runtime_error(fmt::format("OpenCL: {} does not compile the kernels '{}': {}: {}", name_,
                                       program.name, text_of_opencl(status),
                                       log.empty() ? "the driver does not say why" : log));
}

std::string opencl_player::description() const { return "OpenCL, " + name_; }
std::pmr::memory_resource& opencl_player::memory() { return *machine_->memory; }

// -- playing

/// Null: there is none of this name.
cl_kernel opencl_player::kernel_of(std::string const& name) {
  auto const known = machine_->kernels.find(name);
  if (known != machine_->kernels.end()) return known->second.get();
  for (auto const& program : machine_->programs) {
    cl_int status = CL_SUCCESS;
    auto* const made =
        cl_.clCreateKernel(program.get(), (is_processor_ ? of_rows(name) : name).c_str(), &status);
    if (made == nullptr || status != CL_SUCCESS) continue;
    machine_->kernels.emplace(
        name, handle<cl_kernel, decltype(opencl_api::clReleaseKernel)>(made, cl_.clReleaseKernel));
    return made;
  }
  return nullptr;
}

bool opencl_player::knows(kernel_entry const& kernel) {
  std::lock_guard const lock(mutex_);
  return kernel_of(kernel.name) != nullptr;
}

cl_int opencl_player::enqueue(kernel_call const& c, cl_kernel kernel, cl_event* event) {
  constexpr cl_uint buffers = std::size(kernel_buffers{}.of);
  cl_ulong offsets[buffers] = {};
  for (cl_uint b = 0; b < buffers; ++b)
    if (auto const status = machine_->memory->set_argument(kernel, b, c.buffers.of[b], offsets[b]);
        status != CL_SUCCESS)
      return status;
  auto status = cl_.clSetKernelArg(kernel, buffers, sizeof offsets, offsets);
  if (status == CL_SUCCESS) status = cl_.clSetKernelArg(kernel, buffers + 1, c.argument_bytes, c.arguments);
  if (status != CL_SUCCESS) return status;
  // On a processor a work-item takes a whole row: one pixel each took 13 to 40 times as long.
  std::size_t const size[2] = {is_processor_ ? 1u : std::clamp(c.columns, 1u, most_lanes), c.rows};
  std::size_t const alone[2] = {1, 1};
  return cl_.clEnqueueNDRangeKernel(machine_->queue.get(), kernel, 2, nullptr, size,
                                    is_processor_ ? alone : nullptr, 0, nullptr, event);
}

/// A whole list. `last` is the event of the last command that the driver has taken. Returns what has failed, if
/// anything.
std::string opencl_player::enqueue(std::vector<kernel_call> const& calls,
                                   std::vector<cl_kernel> const& kernels, cl_event& last) {
  auto* const queue = machine_->queue.get();
  auto const failed = [](char const* what, cl_int status) {
    return fmt::format("{}: {}", what, text_of_opencl(status));
  };
  std::string failure;
  if (auto const status = machine_->memory->lend(queue, calls); status != CL_SUCCESS)
    failure = failed("memory for a list", status);
  for (std::size_t i = 0; i < calls.size() && failure.empty(); ++i) {
    cl_event event = nullptr;
    auto const status = enqueue(calls[i], kernels[i], &event);
    if (status != CL_SUCCESS) {
      failure = failed(calls[i].kernel.name, status);
    } else {
      if (last != nullptr) cl_.clReleaseEvent(last);
      last = event;
    }
  }
  auto const status = machine_->memory->take_back(queue, calls, last);
  if (failure.empty() && status != CL_SUCCESS) failure = failed("memory of a list", status);
  return failure;
}

void opencl_player::play(std::vector<kernel_call> calls, ended done) {
  if (is_lost()) return done(errc::device_lost, name_ + " was lost before");
  std::unique_lock lock(mutex_);
  std::erase_if(calls, [](kernel_call const& c) { return c.rows == 0; });
  std::vector<cl_kernel> kernels;
  for (auto const& c : calls) {
    kernels.push_back(kernel_of(c.kernel.name));
    if (kernels.back() == nullptr)
      return lock.unlock(),
             done(errc::unknown_message, fmt::format("there is no kernel '{}'", c.kernel.name));
  }
  if (calls.empty()) {
    auto nothing = watch_->begin(std::move(done));
    return lock.unlock(), list_watch::end(std::move(nothing));
  }
  cl_event last = nullptr;
  auto failure = enqueue(calls, kernels, last);
  auto now = watch_->begin(std::move(done), std::move(failure));
  cl_int status = CL_SUCCESS;
  if (last != nullptr) {  // also if it has failed: the kernels before may still write to its buffers
    status = cl_.clSetEventCallback(last, CL_COMPLETE, on_event, now.get());
    if (status == CL_SUCCESS) static_cast<void>(now.release());  // on_event's
    cl_.clFlush(machine_->queue.get());
    cl_.clReleaseEvent(last);
  }
  lock.unlock();
  if (!now) return;
  if (last != nullptr) cl_.clFinish(machine_->queue.get());
  list_watch::end(std::move(now), errc::device_lost,
                  fmt::format("the end of a list: {}", text_of_opencl(status)));
}

void opencl_player::on_event(cl_event, cl_int status, void* data) {
  std::unique_ptr<list_watch::list> now(static_cast<list_watch::list*>(data));
  if (status == CL_COMPLETE) return list_watch::end(std::move(now));
  list_watch::end(std::move(now), errc::device_lost,
                  fmt::format("a list of kernels: {}", text_of_opencl(status)));
}

}  // namespace rondo
