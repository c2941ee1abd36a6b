#include "runtime/player/opencl_player.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "runtime/text/clean_text.hpp"

namespace rondo {

// -- the library

opencl_api const& load_opencl() {
  static opencl_api const loaded = [] {
    void* const library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);  // stays for good
    if (library == nullptr)
      throw std::runtime_error(
          "OpenCL is not installed: there is no libOpenCL.so.1; install ocl-icd-libopencl1 and the driver of "
          "the GPU, "
          "or pocl-opencl-icd for the processor");
    opencl_api api;
    auto const find = [library]<class F>(F& to, char const* name) {
      to = reinterpret_cast<F>(::dlsym(library, name));
      if (to == nullptr)
        throw std::runtime_error(
            fmt::format("libOpenCL.so.1 has no {}: OpenCL 2.0 or later is needed", name));
    };
#define RONDO_FIND(name) find(api.name, #name);
    RONDO_OPENCL_FUNCTIONS(RONDO_FIND)
#undef RONDO_FIND
    return api;
  }();
  return loaded;
}

char const* name_of_opencl(cl_int status) noexcept {
  switch (status) {
    case CL_DEVICE_NOT_FOUND:
      return "CL_DEVICE_NOT_FOUND";
    case CL_DEVICE_NOT_AVAILABLE:
      return "CL_DEVICE_NOT_AVAILABLE";
    case CL_COMPILER_NOT_AVAILABLE:
      return "CL_COMPILER_NOT_AVAILABLE";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
      return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case CL_OUT_OF_RESOURCES:
      return "CL_OUT_OF_RESOURCES";
    case CL_OUT_OF_HOST_MEMORY:
      return "CL_OUT_OF_HOST_MEMORY";
    case CL_BUILD_PROGRAM_FAILURE:
      return "CL_BUILD_PROGRAM_FAILURE";
    case CL_INVALID_BINARY:
      return "CL_INVALID_BINARY";
    case CL_INVALID_KERNEL_NAME:
      return "CL_INVALID_KERNEL_NAME";
    case CL_INVALID_ARG_SIZE:
      return "CL_INVALID_ARG_SIZE";
    case CL_INVALID_KERNEL_ARGS:
      return "CL_INVALID_KERNEL_ARGS";
    default:
      return "an error of OpenCL";
  }
}

namespace {

std::string text_of(cl_int status) { return fmt::format("{} ({})", name_of_opencl(status), status); }

void check(cl_int status, char const* what) {
  if (status != CL_SUCCESS) throw std::runtime_error(fmt::format("OpenCL: {}: {}", what, text_of(status)));
}

template <class Get>
std::string info_text(Get const& get) {
  std::size_t bytes = 0;
  if (get(0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string text(bytes, 0);
  get(bytes, text.data(), nullptr);
  return clean_text(text.c_str());
}

constexpr std::uint32_t most_lanes = 256;  // that share a row on a GPU

/// The kernel whose work-items take whole rows (kernels/portable/kernel.hpp).
std::string of_rows(std::string const& kernel) {
  return kernel.substr(0, kernel.rfind("_kernel")) + "_rows_kernel";
}

}  // namespace

// -- memory

struct opencl_player::shared_memory final : std::pmr::memory_resource {
  shared_memory(opencl_api const& api, cl_context of) : cl(api), context(of) {}

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    auto* const at = cl.clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes,
                                   static_cast<cl_uint>(std::min<std::size_t>(alignment, 128)));
    if (at == nullptr) throw std::bad_alloc();
    return at;
  }
  void do_deallocate(void* block, std::size_t, std::size_t) override { cl.clSVMFree(context, block); }
  bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }

  opencl_api const& cl;
  cl_context context;
};

// -- opening

opencl_player::opencl_player(std::vector<kernel_program const*> const& programs, std::string const& device,
                             opencl_api const& api)
    : cl_(api), context_(nullptr, api.clReleaseContext), queue_(nullptr, api.clReleaseCommandQueue) {
  choose(device);
  cl_int status = CL_SUCCESS;
  context_.reset(cl_.clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status));
  check(status, "a context");
  queue_.reset(cl_.clCreateCommandQueueWithProperties(context_.get(), device_, nullptr, &status));
  check(status, "a queue");
  for (auto const* const p : programs) build(*p);
  memory_ = std::make_unique<shared_memory>(cl_, context_.get());
}

opencl_player::~opencl_player() {
  if (queue_) cl_.clFinish(queue_.get());
}

void opencl_player::choose(std::string const& wanted) {
  std::string known;
  cl_uint count = 0;
  if (cl_.clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) count = 0;  // there is no driver
  std::vector<cl_platform_id> platforms(count);
  if (count != 0) check(cl_.clGetPlatformIDs(count, platforms.data(), nullptr), "the platforms");
  for (auto* const platform : platforms) {
    auto const of =
        info_text([&](auto... to) { return cl_.clGetPlatformInfo(platform, CL_PLATFORM_NAME, to...); });
    if (cl_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(count);
    check(cl_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr), "the devices");
    for (auto* const d : devices) {
      auto const name = info_text([&](auto... to) { return cl_.clGetDeviceInfo(d, CL_DEVICE_NAME, to...); });
      cl_device_type type = 0;
      check(cl_.clGetDeviceInfo(d, CL_DEVICE_TYPE, sizeof type, &type, nullptr), "the type of a device");
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
  cl_device_svm_capabilities shared = 0;
  if (cl_.clGetDeviceInfo(device_, CL_DEVICE_SVM_CAPABILITIES, sizeof shared, &shared, nullptr) !=
          CL_SUCCESS ||
      (shared & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) == 0)
    throw std::runtime_error(fmt::format(
        "OpenCL: {} shares no fine-grained memory with the host, which Rondo needs so far", name_));
}

void opencl_player::build(kernel_program const& program) {
  auto const* bytes = program.spir.data();
  auto const size = program.spir.size();
  cl_int of_binary = CL_SUCCESS, status = CL_SUCCESS;
  auto& made = programs_.emplace_back(
      cl_.clCreateProgramWithBinary(context_.get(), 1, &device_, &size, &bytes, &of_binary, &status),
      cl_.clReleaseProgram);
  check(status != CL_SUCCESS ? status : of_binary, "a program");
  status = cl_.clBuildProgram(made.get(), 1, &device_, "-x spir -spir-std=1.2", nullptr, nullptr);
  if (status == CL_SUCCESS) return;
  auto const log = info_text([&](auto... to) {
    return cl_.clGetProgramBuildInfo(made.get(), device_, CL_PROGRAM_BUILD_LOG, to...);
  });
  throw std::runtime_error(fmt::format("OpenCL: {} does not compile the kernels '{}': {}: {}", name_,
                                       program.name, text_of(status),
                                       log.empty() ? "the driver does not say why" : log));
}

std::string opencl_player::description() const { return "OpenCL, " + name_; }
std::pmr::memory_resource& opencl_player::memory() { return *memory_; }

// -- playing

/// A list that plays.
struct opencl_player::playing {
  opencl_player* by;
  ended done;
};

/// Null: there is none of this name.
cl_kernel opencl_player::kernel_of(std::string const& name) {
  auto const known = kernels_.find(name);
  if (known != kernels_.end()) return known->second.get();
  for (auto const& program : programs_) {
    cl_int status = CL_SUCCESS;
    auto* const made =
        cl_.clCreateKernel(program.get(), (is_processor_ ? of_rows(name) : name).c_str(), &status);
    if (made == nullptr || status != CL_SUCCESS) continue;
    kernels_.emplace(name,
                     handle<cl_kernel, decltype(opencl_api::clReleaseKernel)>(made, cl_.clReleaseKernel));
    return made;
  }
  return nullptr;
}

cl_int opencl_player::enqueue(kernel_call const& c, cl_kernel kernel, cl_event* event) {
  for (cl_uint b = 0; b < std::size(c.buffers.of); ++b)
    if (auto const status = cl_.clSetKernelArgSVMPointer(kernel, b, c.buffers.of[b]); status != CL_SUCCESS)
      return status;
  constexpr cl_uint arguments = std::size(kernel_buffers{}.of);
  if (auto const status = cl_.clSetKernelArg(kernel, arguments, c.argument_bytes, c.arguments);
      status != CL_SUCCESS)
    return status;
  // On a processor a work-item takes a whole row: one pixel each took 13 to 40 times as long.
  std::size_t const size[2] = {is_processor_ ? 1u : std::clamp(c.columns, 1u, most_lanes), c.rows};
  std::size_t const alone[2] = {1, 1};
  return cl_.clEnqueueNDRangeKernel(queue_.get(), kernel, 2, nullptr, size, is_processor_ ? alone : nullptr,
                                    0, nullptr, event);
}

void opencl_player::play(std::vector<kernel_call> calls, ended done) {
  if (is_lost()) return done(errc::device_lost, name_ + " was lost before");
  std::unique_lock lock(mutex_);
  std::vector<cl_kernel> kernels;
  for (auto const& c : calls) {
    if (c.rows == 0) continue;
    kernels.push_back(kernel_of(c.kernel.name));
    if (kernels.back() == nullptr)
      return lock.unlock(),
             done(errc::unknown_message, fmt::format("there is no kernel '{}'", c.kernel.name));
  }
  std::erase_if(calls, [](kernel_call const& c) { return c.rows == 0; });
  if (calls.empty()) return lock.unlock(), done({}, {});
  cl_event last = nullptr;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (auto const status = enqueue(calls[i], kernels[i], i + 1 == calls.size() ? &last : nullptr);
        status != CL_SUCCESS)
      return lock.unlock(), fail(done, status, calls[i].kernel.name);
  auto now = std::make_unique<playing>(playing{this, std::move(done)});
  auto const status = cl_.clSetEventCallback(last, CL_COMPLETE, on_event, now.get());
  if (status == CL_SUCCESS) {
    static_cast<void>(now.release());  // on_event's
    cl_.clFlush(queue_.get());
  }
  cl_.clReleaseEvent(last);
  lock.unlock();
  if (status != CL_SUCCESS) fail(now->done, status, "the end of a list");
}

/// After any failure its queue is in no known state. What plays of the list may still write to its buffers.
void opencl_player::fail(ended const& done, cl_int status, char const* what, bool has_ended) {
  is_lost_.store(true, std::memory_order_relaxed);
  if (!has_ended) cl_.clFinish(queue_.get());
  done(errc::device_lost, fmt::format("{}: {}: {}", name_, what, text_of(status)));
}

void opencl_player::on_event(cl_event, cl_int status, void* data) {
  std::unique_ptr<playing> const now(static_cast<playing*>(data));
  if (status < 0) return now->by->fail(now->done, status, "a list of kernels", true);
  now->by->played_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic
  now->done({}, {});
}

}  // namespace rondo
