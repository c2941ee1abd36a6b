#import <Metal/Metal.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "runtime/player/opencl_api.hpp"
#include "tests/player/metal_stand_in/stand_in.hpp"
#include "tests/player/metal_stand_in/translate.hpp"

namespace rondo::stand_in {

namespace {

constexpr std::size_t zone_bytes = 4096;  // a page, before and behind a buffer
constexpr unsigned char zone_byte = 0x5E;
constexpr std::size_t most_arguments = 31;
constexpr NSUInteger most_threads = 64, thread_width = 32;

// They stay: a queue that hangs waits for them when the process ends.
std::mutex& mutex = *new std::mutex;  // guards what follows
std::condition_variable& changed = *new std::condition_variable;
std::vector<std::string>& wrong = *new std::vector<std::string>;
std::set<void const*>& live = *new std::set<void const*>;
int completions = 0;
bool has_device = true, has_memory = true, hangs = false;
int good_left = -1;
std::string failure;

void misuse(std::string const& what) {
  std::lock_guard const lock(mutex);
  wrong.push_back(what);
}
void born(void const* object) {
  std::lock_guard const lock(mutex);
  live.insert(object);
}
void dies(void const* object) {
  std::lock_guard const lock(mutex);
  live.erase(object);
}
/// Not a freed object. Null is allowed.
bool lives(id object, char const* what) {
  if (object == nil) return true;
  std::lock_guard const lock(mutex);
  if (live.contains((void const*)object)) return true;
  wrong.push_back(std::string(what) + " was released too early");
  return false;
}

/// pocl's device, context and queue, for all stand-ins of this process.
struct processor {
  processor() : cl(load_opencl()) {
    cl_platform_id platform = nullptr;
    check_opencl(cl.clGetPlatformIDs(1, &platform, nullptr), "a platform");
    check_opencl(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr), "a processor");
    cl_int status = CL_SUCCESS;
    context = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    check_opencl(status, "a context");
    queue = cl.clCreateCommandQueueWithProperties(context, device, nullptr, &status);
    check_opencl(status, "a queue");
  }
  static processor& get() {
    static auto* const one = new processor;  // stays: pocl's threads end with the process
    return *one;
  }
  opencl_api const& cl;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

NSError* error_of(std::string const& text) {
  return
      [NSError errorWithDomain:@"StandInError"
                          code:3
                      userInfo:[NSDictionary dictionaryWithObject:[NSString stringWithUTF8String:text.c_str()]
                                                           forKey:NSLocalizedDescriptionKey]];
}

/// A dispatch, with all that was set when it was encoded. It keeps its objects.
struct argument {
  enum { unset, buffer, bytes } kind = unset;
  id<MTLBuffer> object = nil;
  std::size_t offset = 0;
  std::vector<unsigned char> value{};
};
struct dispatch {
  id pipeline = nil;
  std::vector<argument> arguments;
  std::size_t threads[2] = {}, group[2] = {};
};

}  // namespace

std::vector<std::string> misuses() {
  std::lock_guard const lock(mutex);
  return std::exchange(wrong, {});
}
int live_objects() {
  std::lock_guard const lock(mutex);
  return static_cast<int>(live.size());
}
int completed() {
  std::lock_guard const lock(mutex);
  return completions;
}
void work() {
  std::lock_guard const lock(mutex);
  has_device = has_memory = true, hangs = false, good_left = -1, completions = 0;
  changed.notify_all();
}
void have_no_device() { has_device = false; }
void have_no_memory() { has_memory = false; }
void hang() {
  std::lock_guard const lock(mutex);
  hangs = true;
}
void let_go() {
  std::lock_guard const lock(mutex);
  hangs = false;
  changed.notify_all();
}
void fail_after(int good, std::string const& text) {
  std::lock_guard const lock(mutex);
  good_left = good, failure = text;
}

}  // namespace rondo::stand_in

using namespace rondo::stand_in;

// -- objects

@interface StandInObject : NSObject
@end
@implementation StandInObject
- (id)init {
  self = [super init];
  born((void*)self);
  return self;
}
- (void)dealloc {
  dies((void*)self);
  [super dealloc];
}
@end

@interface StandInBuffer : StandInObject <MTLBuffer> {
 @public
  unsigned char* allocated_;
  unsigned char* memory_;  // at a page
  NSUInteger length_;
}
- (void)checkZones;
@end
@implementation StandInBuffer
- (id)initWithLength:(NSUInteger)length {
  self = [super init];
  length_ = length;
  auto& p = processor::get();
  allocated_ = (unsigned char*)p.cl.clSVMAlloc(p.context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER,
                                               length + 3 * zone_bytes, 128);
  auto const page = reinterpret_cast<std::uintptr_t>(allocated_) + zone_bytes - 1;
  memory_ = reinterpret_cast<unsigned char*>(page / zone_bytes * zone_bytes);
  std::memset(memory_, zone_byte, zone_bytes);
  std::memset(memory_ + zone_bytes + length, zone_byte, zone_bytes);
  return self;
}
- (void*)contents {
  return memory_ + zone_bytes;
}
- (NSUInteger)length {
  return length_;
}
- (void)checkZones {
  auto const is_whole = [](unsigned char const* zone) {
    return std::all_of(zone, zone + zone_bytes, [](unsigned char b) { return b == zone_byte; });
  };
  if (!is_whole(memory_) || !is_whole(memory_ + zone_bytes + length_)) misuse("a write beyond a buffer");
}
- (void)dealloc {
  [self checkZones];
  auto& p = processor::get();
  p.cl.clSVMFree(p.context, allocated_);
  [super dealloc];
}
@end

@interface StandInLibrary : StandInObject <MTLLibrary> {
 @public
  translated_text const* text_;
  cl_program program_;
}
@end

@interface StandInFunction : StandInObject <MTLFunction> {
 @public
  StandInLibrary* library_;
  translated_kernel const* kernel_;
}
@end
@implementation StandInFunction
- (NSString*)name {
  return [NSString stringWithUTF8String:kernel_->name.c_str()];
}
- (void)dealloc {
  [library_ release];
  [super dealloc];
}
@end

@implementation StandInLibrary
- (NSArray*)functionNames {
  NSMutableArray* const names = [NSMutableArray array];
  for (auto const& k : text_->kernels) [names addObject:[NSString stringWithUTF8String:k.name.c_str()]];
  return names;
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)name {
  for (auto const& k : text_->kernels)
    if (k.name == [name UTF8String]) {
      StandInFunction* const made = [[StandInFunction alloc] init];
      made->library_ = [self retain];
      made->kernel_ = &k;
      return made;
    }
  return nil;
}
- (void)dealloc {
  processor::get().cl.clReleaseProgram(program_);
  [super dealloc];
}
@end

@interface StandInPipeline : StandInObject <MTLComputePipelineState> {
 @public
  StandInFunction* function_;
  cl_kernel kernel_;
}
@end
@implementation StandInPipeline
- (NSUInteger)maxTotalThreadsPerThreadgroup {
  return most_threads;
}
- (NSUInteger)threadExecutionWidth {
  return thread_width;
}
- (void)dealloc {
  processor::get().cl.clReleaseKernel(kernel_);
  [function_ release];
  [super dealloc];
}
@end

// -- commands

@class StandInQueue;

@interface StandInCommands : StandInObject <MTLCommandBuffer> {
 @public
  std::vector<dispatch> dispatches_;
  std::vector<MTLCommandBufferHandler> handlers_;
  MTLCommandBufferStatus status_;
  NSError* error_;
  StandInQueue* queue_;
  bool is_encoding_, was_committed_;
}
- (void)play;
@end

@interface StandInEncoder : StandInObject <MTLComputeCommandEncoder> {
 @public
  StandInCommands* commands_;
  id pipeline_;
  std::vector<argument> arguments_;
  bool has_ended_;
}
@end

@interface StandInQueue : StandInObject <MTLCommandQueue> {
 @public
  std::thread thread_;
  std::deque<StandInCommands*> waiting_;  // guarded by the mutex
  bool stops_;
}
@end

@implementation StandInEncoder
- (id)initFor:(StandInCommands*)commands {
  self = [super init];
  commands_ = [commands retain];
  arguments_.resize(most_arguments);
  return self;
}
- (bool)mayEncode:(char const*)what {
  if (has_ended_) misuse(std::string(what) + " after endEncoding");
  return !has_ended_;
}
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
  if ([self mayEncode:"setComputePipelineState"] && lives(state, "a pipeline")) pipeline_ = state;
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  if (![self mayEncode:"setBuffer"] || !lives(buffer, "a buffer")) return;
  if (index >= most_arguments) return misuse("setBuffer at an index that there is not");
  if (buffer != nil && offset >= [buffer length]) return misuse("setBuffer with an offset beyond its length");
  arguments_[index] = argument{argument::buffer, buffer, offset, {}};
}
- (void)setBytes:(void const*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
  if (![self mayEncode:"setBytes"]) return;
  if (index >= most_arguments || length == 0 || length > 4096)
    return misuse("setBytes with a wrong size or index");
  auto const* const from = static_cast<unsigned char const*>(bytes);
  arguments_[index] = argument{argument::bytes, nil, 0, {from, from + length}};
}
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads {
  if (![self mayEncode:"dispatchThreadgroups"]) return;
  if (pipeline_ == nil) return misuse("dispatchThreadgroups before setComputePipelineState");
  if (threads.width * threads.height * threads.depth > most_threads)
    return misuse("too many threads in a group");
  if (groups.width * groups.height * groups.depth * threads.width * threads.height * threads.depth == 0)
    return misuse("a dispatch of nothing");
  dispatch d;
  d.pipeline = [pipeline_ retain];
  d.arguments = arguments_;
  for (auto const& a : d.arguments) [a.object retain];
  d.threads[0] = groups.width * threads.width, d.threads[1] = groups.height * threads.height;
  d.group[0] = threads.width, d.group[1] = threads.height;
  commands_->dispatches_.push_back(std::move(d));
}
- (void)endEncoding {
  if (![self mayEncode:"endEncoding"]) return;
  has_ended_ = true;
  commands_->is_encoding_ = false;
}
- (void)dealloc {
  if (!has_ended_) misuse("an encoder without endEncoding");
  [commands_ release];
  [super dealloc];
}
@end

@implementation StandInCommands
- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  if (is_encoding_ || was_committed_) misuse("an encoder for commands that have one, or were committed");
  is_encoding_ = true;
  return [[[StandInEncoder alloc] initFor:self] autorelease];
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)block {
  if (was_committed_) return misuse("addCompletedHandler after commit");
  handlers_.push_back(Block_copy(block));
}
- (void)commit {
  if (is_encoding_) return misuse("commit before endEncoding");
  if (was_committed_) return misuse("commit twice");
  was_committed_ = true;
  status_ = MTLCommandBufferStatusCommitted;
  std::lock_guard const lock(rondo::stand_in::mutex);
  queue_->waiting_.push_back([self retain]);
  changed.notify_all();
}
- (MTLCommandBufferStatus)status {
  return status_;
}
- (NSError*)error {
  return error_;
}
- (std::string)playDispatch:(dispatch const&)d {
  auto& p = processor::get();
  if (!lives(d.pipeline, "a pipeline")) return "a pipeline is gone";
  auto* const pipeline = (StandInPipeline*)d.pipeline;
  auto const& signature = *pipeline->function_->kernel_;
  for (cl_uint i = 0; i < signature.indices.size(); ++i) {
    auto const& a = d.arguments[static_cast<std::size_t>(signature.indices[i])];
    cl_int status = CL_SUCCESS;
    if (signature.values[i]) {
      if (a.kind != argument::bytes) return misuse("a kernel without the bytes of its argument"), "";
      status = p.cl.clSetKernelArg(pipeline->kernel_, i, a.value.size(), a.value.data());
    } else {
      if (a.kind != argument::buffer) return misuse("a kernel without a buffer that it has"), "";
      auto* const at = a.object == nil ? nullptr : static_cast<char*>([a.object contents]) + a.offset;
      status = p.cl.clSetKernelArgSVMPointer(pipeline->kernel_, i, at);
    }
    if (status != CL_SUCCESS) return misuse("an argument: " + rondo::text_of_opencl(status)), "";
  }
  auto status = p.cl.clEnqueueNDRangeKernel(p.queue, pipeline->kernel_, 2, nullptr, d.threads, d.group, 0,
                                            nullptr, nullptr);
  if (status == CL_SUCCESS) status = p.cl.clFinish(p.queue);
  for (auto const& a : d.arguments) [(StandInBuffer*)a.object checkZones];
  return status == CL_SUCCESS ? "" : rondo::text_of_opencl(status);
}
- (void)play {
  std::string why;
  {
    std::lock_guard const lock(rondo::stand_in::mutex);
    if (good_left == 0) why = failure;
    if (good_left > 0) --good_left;
  }
  for (auto const& d : dispatches_)
    if (why.empty()) why = [self playDispatch:d];
  status_ = why.empty() ? MTLCommandBufferStatusCompleted : MTLCommandBufferStatusError;
  if (!why.empty()) error_ = [error_of(why) retain];
  for (auto const& h : handlers_) h(self);
  std::lock_guard const lock(rondo::stand_in::mutex);
  ++completions;
}
- (void)dealloc {
  for (auto const& d : dispatches_) {
    for (auto const& a : d.arguments) [a.object release];
    [d.pipeline release];
  }
  for (auto const& h : handlers_) Block_release(h);
  [error_ release];
  [queue_ release];
  [super dealloc];
}
@end

@implementation StandInQueue
- (id)init {
  self = [super init];
  thread_ = std::thread([self] { [self run]; });
  return self;
}
- (void)run {
  std::unique_lock lock(rondo::stand_in::mutex);
  for (;;) {
    changed.wait(lock, [self] { return stops_ || (!hangs && !waiting_.empty()); });
    if (stops_) return;
    auto* const now = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    @autoreleasepool {
      [now play];
      [now autorelease];
    }
    lock.lock();
  }
}
- (id<MTLCommandBuffer>)commandBuffer {
  StandInCommands* const made = [[[StandInCommands alloc] init] autorelease];
  made->queue_ = [self retain];
  return made;
}
- (void)dealloc {
  {
    std::lock_guard const lock(rondo::stand_in::mutex);
    stops_ = true;
    changed.notify_all();
  }
  // Commands keep their queue, so the last of them may free it on its own thread.
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
  [super dealloc];
}
@end

// -- the device

@interface StandInDevice : StandInObject <MTLDevice>
@end
@implementation StandInDevice
- (NSString*)name {
  return @"stand-in on pocl";
}
- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)count {
  if (count == 0) misuse("a queue for no commands");
  return [[StandInQueue alloc] init];
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  if (length == 0 || options != MTLResourceStorageModeShared) misuse("a buffer of no length, or not shared");
  return has_memory ? [[StandInBuffer alloc] initWithLength:length] : nil;
}
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source
                               options:(MTLCompileOptions*)options
                                 error:(NSError**)error {
  std::string metal = [source UTF8String];
  // A text with a planted fault, in place of that of the test's kernels.
  if (auto const* const other = std::getenv("RONDO_STAND_IN_TEXT");
      other != nullptr && metal.find("mix_kernel") != std::string::npos) {
    std::ifstream file(other);
    metal.assign(std::istreambuf_iterator<char>(file), {});
  }
  auto const& text = translate(metal);
  auto why = text.errors;
  auto& p = processor::get();
  cl_program program = nullptr;
  if (why.empty()) {
    std::ifstream file(text.bitcode, std::ios::binary);
    std::vector<unsigned char> const bytes{std::istreambuf_iterator<char>(file), {}};
    auto const* at = bytes.data();
    auto const size = bytes.size();
    cl_int of_binary = CL_SUCCESS, status = CL_SUCCESS;
    program = p.cl.clCreateProgramWithBinary(p.context, 1, &p.device, &size, &at, &of_binary, &status);
    if (status == CL_SUCCESS)
      status = p.cl.clBuildProgram(program, 1, &p.device, "-x spir -spir-std=1.2", nullptr, nullptr);
    if (status != CL_SUCCESS) why = rondo::text_of_opencl(status);
  }
  if (!why.empty()) {
    *error = error_of(why);
    return nil;
  }
  StandInLibrary* const made = [[StandInLibrary alloc] init];
  made->text_ = &text;
  made->program_ = program;
  return made;
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                             error:(NSError**)error {
  auto* const of = (StandInFunction*)function;
  cl_int status = CL_SUCCESS;
  auto* const kernel =
      processor::get().cl.clCreateKernel(of->library_->program_, of->kernel_->plain_name.c_str(), &status);
  if (status != CL_SUCCESS) {
    *error = error_of(rondo::text_of_opencl(status));
    return nil;
  }
  StandInPipeline* const made = [[StandInPipeline alloc] init];
  made->function_ = [of retain];
  made->kernel_ = kernel;
  return made;
}
@end

id<MTLDevice> MTLCreateSystemDefaultDevice(void) { return has_device ? [[StandInDevice alloc] init] : nil; }
