#include "runtime/player/metal_player.hpp"

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <new>
#include <stdexcept>
#include <utility>

#include "runtime/player/memory_blocks.hpp"
#include "runtime/text/clean_text.hpp"
#include "runtime/text/to_stderr.hpp"

namespace rondo {

namespace {

constexpr NSUInteger most_lanes = 256;    // that share a row
constexpr NSUInteger most_lists = 1024;   // that the driver has; one more waits for the first of them
constexpr NSUInteger argument_index = 4;  // behind the buffers, as in RONDO_KERNEL

/// A reference to an object, which is released with it. Takes over the one that `new...` and `Create` return.
template <class Object>
class held {
 public:
  held() = default;
  explicit held(Object of) : of_(of) {}
  held(held&& other) noexcept : of_(std::exchange(other.of_, nil)) {}
  held& operator=(held&& other) noexcept {
    std::swap(of_, other.of_);
    return *this;
  }
  ~held() { [of_ release]; }

  Object get() const { return of_; }

 private:
  Object of_ = nil;
};

NSString* ns_string(std::string const& text) { return [NSString stringWithUTF8String:text.c_str()]; }

std::string text_of(NSString* text) {
  return text == nil || [text UTF8String] == nullptr ? std::string() : clean_text([text UTF8String]);
}

std::string text_of(NSError* error) {
  if (error == nil) return "the driver does not say why";
  return text_of([error localizedDescription]) + " (" + text_of([error domain]) + " " +
         std::to_string([error code]) + ")";
}

/// Shared buffers: the same memory for the host and the GPU.
class shared_buffers final : public std::pmr::memory_resource {
 public:
  shared_buffers(id<MTLDevice> device, list_watch const& watch) : device_(device), watch_(watch) {}

  auto find(void const* at) const { return blocks_.find(at); }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    @autoreleasepool {
      held<id<MTLBuffer>> made([device_ newBufferWithLength:std::max<std::size_t>(bytes, 1)
                                                    options:MTLResourceStorageModeShared]);
      void* const at = made.get() == nil ? nullptr : [made.get() contents];
      // ASSUMES: buffers begin at pages, so this is a matter of memory alone.
      if (at == nullptr || reinterpret_cast<std::uintptr_t>(at) % alignment != 0) throw std::bad_alloc();
      blocks_.add(at, std::max<std::size_t>(bytes, 1), made.get());
      [made.get() retain];  // that of blocks_
      return at;
    }
  }
  void do_deallocate(void* at, std::size_t, std::size_t) override {
    id<MTLBuffer> const buffer = blocks_.remove(at);
    if (!watch_.is_stuck()) [buffer release];
  }
  bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }

  id<MTLDevice> const device_;
  list_watch const& watch_;
  memory_blocks<id<MTLBuffer>> blocks_;
};

}  // namespace

struct metal_player::machine {
  void compile(kernel_program const& program);
  id<MTLComputePipelineState> pipeline_of(std::string const& name, std::string& why_none);
  std::string encode(kernel_call const& call, id<MTLComputePipelineState> pipeline,
                     id<MTLComputeCommandEncoder> encoder) const;

  held<id<MTLDevice>> device;
  held<id<MTLCommandQueue>> queue;
  std::vector<held<id<MTLLibrary>>> libraries;
  std::map<std::string, held<id<MTLComputePipelineState>>> pipelines;
  std::unique_ptr<shared_buffers> memory;
};

// -- opening

metal_player::metal_player(std::vector<kernel_program const*> const& programs, std::chrono::nanoseconds limit)
    : machine_(std::make_unique<machine>()) {
  @autoreleasepool {
    // Where there is a GPU, this is nil for a program that is not linked with CoreGraphics.
    machine_->device = held<id<MTLDevice>>(MTLCreateSystemDefaultDevice());
    id<MTLDevice> const device = machine_->device.get();
    if (device == nil) throw std::runtime_error("Metal has no GPU");
    name_ = text_of([device name]);
    machine_->queue = held<id<MTLCommandQueue>>([device newCommandQueueWithMaxCommandBufferCount:most_lists]);
    if (machine_->queue.get() == nil)
      throw std::runtime_error("Metal: " + name_ + " has no queue for commands");
    for (auto const* const p : programs) machine_->compile(*p);
    watch_ = std::make_unique<list_watch>(name_, limit);
    machine_->memory = std::make_unique<shared_buffers>(device, *watch_);
  }
}

metal_player::~metal_player() {
  @autoreleasepool {
    if (watch_->wait()) {
      machine_.reset();
      return;
    }
  }
  static_cast<void>(machine_.release());
  to_stderr("rondo: " + name_ + " still has kernels that did not end; their memory is not freed\n");
}

void metal_player::machine::compile(kernel_program const& program) {
  NSError* error = nil;
  held<id<MTLLibrary>> compiled([device.get() newLibraryWithSource:ns_string(program.metal)
                                                           options:nil
                                                             error:&error]);
  if (compiled.get() == nil)
    throw std::runtime_error("Metal: " + text_of([device.get() name]) + " does not compile the kernels '" +
                             program.name + "': " + text_of(error));
  libraries.push_back(std::move(compiled));
}

std::string metal_player::description() const { return "Metal, " + name_; }
std::pmr::memory_resource& metal_player::memory() { return *machine_->memory; }

// -- playing

/// Nil: there is none of this name, or the driver refuses it.
id<MTLComputePipelineState> metal_player::machine::pipeline_of(std::string const& name,
                                                               std::string& why_none) {
  auto const known = pipelines.find(name);
  if (known != pipelines.end()) return known->second.get();
  why_none = "there is no kernel '" + name + "'";
  for (auto const& library : libraries)
    for (NSString* each in [library.get() functionNames]) {
      // A kernel is in a namespace, which a driver may put before its name.
      auto const full = text_of(each);
      if (full != name && !full.ends_with("::" + name)) continue;
      NSError* error = nil;
      held<id<MTLFunction>> const function([library.get() newFunctionWithName:each]);
      if (function.get() == nil) continue;
      held<id<MTLComputePipelineState>> made([device.get() newComputePipelineStateWithFunction:function.get()
                                                                                         error:&error]);
      if (made.get() == nil) {
        why_none = "the kernel '" + name + "' does not compile: " + text_of(error);
        continue;
      }
      return pipelines.emplace(name, std::move(made)).first->second.get();
    }
  return nil;
}

bool metal_player::knows(kernel_entry const& kernel) {
  @autoreleasepool {
    std::lock_guard const lock(mutex_);
    std::string why;
    return machine_->pipeline_of(kernel.name, why) != nil;
  }
}

/// Returns what has failed, if anything.
std::string metal_player::machine::encode(kernel_call const& call, id<MTLComputePipelineState> pipeline,
                                          id<MTLComputeCommandEncoder> encoder) const {
  [encoder setComputePipelineState:pipeline];
  for (NSUInteger b = 0; b < argument_index; ++b) {
    auto const place = memory->find(call.buffers.of[b]);
    if (!place && call.buffers.of[b] != nullptr)
      return std::string(call.kernel.name) + ": a buffer is not in the player's memory";
    [encoder setBuffer:place ? place->object : nil offset:place ? place->offset : 0 atIndex:b];
  }
  [encoder setBytes:call.arguments length:call.argument_bytes atIndex:argument_index];
  // Whole groups, which every GPU has: how many lanes share a row is free, and those that have no column do nothing.
  auto const width = std::max<NSUInteger>([pipeline threadExecutionWidth], 1);
  auto const columns = std::clamp<NSUInteger>(call.columns, 1, most_lanes);
  auto const lanes =
      std::min((columns + width - 1) / width * width, [pipeline maxTotalThreadsPerThreadgroup]);
  [encoder dispatchThreadgroups:MTLSizeMake(1, call.rows, 1) threadsPerThreadgroup:MTLSizeMake(lanes, 1, 1)];
  return {};
}

void metal_player::play(std::vector<kernel_call> calls, ended done) {
  if (is_lost()) return done(errc::device_lost, name_ + " was lost before");
  @autoreleasepool {
    std::unique_lock lock(mutex_);
    std::erase_if(calls, [](kernel_call const& c) { return c.rows == 0; });
    std::vector<id<MTLComputePipelineState>> pipelines;
    for (auto const& c : calls) {
      std::string why;
      pipelines.push_back(machine_->pipeline_of(c.kernel.name, why));
      if (pipelines.back() == nil) return lock.unlock(), done(errc::unknown_message, why);
    }
    if (calls.empty()) {
      auto nothing = watch_->begin(std::move(done));
      return lock.unlock(), list_watch::end(std::move(nothing));
    }
    id<MTLCommandBuffer> const commands = [machine_->queue.get() commandBuffer];
    id<MTLComputeCommandEncoder> const encoder = [commands computeCommandEncoder];
    std::string failure = encoder == nil ? "the driver takes no commands" : "";
    for (std::size_t i = 0; i < calls.size() && failure.empty(); ++i)
      failure = machine_->encode(calls[i], pipelines[i], encoder);
    [encoder endEncoding];
    auto now = watch_->begin(std::move(done), failure);
    if (!failure.empty()) return lock.unlock(), list_watch::end(std::move(now));  // nothing is committed
    // The block owns the list: it is called once, also for commands that fail, such as those that the system's own
    // watchdog ends.
    auto* const list = now.release();
    [commands addCompletedHandler:^(id<MTLCommandBuffer> ended) {
      std::unique_ptr<list_watch::list> mine(list);
      if ([ended status] == MTLCommandBufferStatusCompleted) return list_watch::end(std::move(mine));
      list_watch::end(std::move(mine), errc::device_lost, "a list of kernels: " + text_of([ended error]));
    }];
    [commands commit];
  }
}

}  // namespace rondo
