// Experiments with the hardware, without Rondo: which way a message crosses the bus fastest, and whether words of 16
// bytes tear on the bus.
//
// The inbox lies in pinned host memory, ordinary or write-combined. Device memory is not tried, because CUDA does not
// map it for the host (gdrcopy does, with its own kernel driver).
#include <cstdint>

#include "bench/gpu/cases.hpp"
#include "bench/gpu/gpu.hpp"
#include "bench/harness/sampling.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace rondo::bench::gpu {
namespace {

// -- words of 16 bytes that are stored and loaded as one

struct alignas(16) word16 {
  std::uint64_t low, high;
};

__device__ word16 load_whole(word16 const* at) {
  word16 w;
  asm volatile("{ .reg .b128 t; ld.relaxed.sys.global.b128 t, [%2]; mov.b128 {%0, %1}, t; }"
               : "=l"(w.low), "=l"(w.high)
               : "l"(at)
               : "memory");
  return w;
}
__device__ void store_whole(word16* at, word16 w) {
  asm volatile("{ .reg .b128 t; mov.b128 t, {%1, %2}; st.relaxed.sys.global.b128 [%0], t; }"
               :
               : "l"(at), "l"(w.low), "l"(w.high)
               : "memory");
}

/// ASSUMES: an aligned SSE access is one access; processors with AVX guarantee that.
word16 load_whole_on_host(word16 const* at) {
  __m128i t;
  asm volatile("movdqa %1, %0" : "=x"(t) : "m"(*reinterpret_cast<__m128i const*>(at)) : "memory");
  word16 w;
  std::memcpy(&w, &t, sizeof w);
  return w;
}
void store_whole_on_host(word16* at, word16 w) {
  __m128i const t = _mm_set_epi64x(static_cast<long long>(w.high), static_cast<long long>(w.low));
  asm volatile("movdqa %1, %0" : "=m"(*reinterpret_cast<__m128i*>(at)) : "x"(t) : "memory");
}

// -- a round trip of a message of 32 bytes

/// Tagged: three words, each of 12 bytes of payload and a tag; when the tag has arrived, so has its word. Released: two
/// words of payload, published by the flag.
enum class ordering { tagged_words, release_flag };

struct alignas(128) letter {
  word16 words[3];
  atomic<std::uint32_t, scope::system> flag;
};

constexpr std::uint32_t whole_warp = ~0u;
constexpr std::uint32_t payload_words = 2, tagged_words = 3;

__host__ __device__ constexpr word16 tagged(std::uint64_t low, std::uint32_t high, std::uint32_t tag) {
  return {low, std::uint64_t{tag} << 32 | high};
}
__host__ __device__ constexpr std::uint32_t tag_of(word16 w) {
  return static_cast<std::uint32_t>(w.high >> 32);
}

/// A warp polls with `Depth` loads in flight, issues a new one when the oldest returns, and answers each payload word
/// plus one. A message with the tag stop_asked ends it.
template <ordering Order, int Depth>
__global__ void answer_letters(letter const* down, letter* up) {
  constexpr bool tags = Order == ordering::tagged_words;
  auto const lane = threadIdx.x;
  auto const* const word = &down->words[lane < tagged_words ? lane : 0];
  auto const look = [&] {
    // Relaxed: the fence below acquires what it publishes. Every lane loads it: one request.
    if constexpr (!tags) return word16{0, std::uint64_t{down->flag.load(memory_order::relaxed)} << 32};
    return load_whole(word);
  };
  word16 under_way[Depth];
#pragma unroll
  for (int i = 0; i < Depth; ++i) {
    under_way[i] = look();
    __nanosleep(1000 / Depth);  // about the time of a round trip, divided among the loads
  }
  dead_man host;
  for (std::uint32_t next = 1;;) {
#pragma unroll
    for (int i = 0; i < Depth; ++i) {
      word16 seen = under_way[i];
      under_way[i] = look();
      if (__any_sync(whole_warp, tag_of(seen) == stop_asked)) return;
      if (!__all_sync(whole_warp, tag_of(seen) == next)) {
        if (__any_sync(whole_warp, host.over())) return;
        continue;
      }
      if constexpr (tags) {
        if (lane < tagged_words)
          store_whole(&up->words[lane],
                      tagged(seen.low + 1, static_cast<std::uint32_t>(seen.high) + 1, next));
      } else {
        cuda::atomic_thread_fence(cuda::std::memory_order_acquire, cuda::thread_scope_system);
        if (lane < payload_words) {
          auto const payload = load_whole(word);
          store_whole(&up->words[lane], {payload.low + 1, payload.high + 1});
        }
        __syncwarp();
        if (lane == 0) up->flag.store(next, memory_order::release);  // publishes the payload of all lanes
      }
      host.alive();
      ++next;
    }
  }
}

/// The host's side of the same round trip.
class correspondent {
 public:
  correspondent(ordering order, bool write_combined)
      : order_(order),
        write_combined_(write_combined),
        down_(1, write_combined ? cudaHostAllocWriteCombined : cudaHostAllocDefault) {}
  ~correspondent() {
    send(stop_asked, 0);
    cudaStreamSynchronize(in_);
  }

  template <int Depth>
  void start() {
    if (order_ == ordering::tagged_words)
      answer_letters<ordering::tagged_words, Depth><<<1, 32, 0, in_>>>(down_.on_device(), up_.on_device());
    else
      answer_letters<ordering::release_flag, Depth><<<1, 32, 0, in_>>>(down_.on_device(), up_.on_device());
    check(cudaGetLastError());
  }

  std::uint64_t ask(std::uint64_t number) {
    auto const tag = static_cast<std::uint32_t>(number + 1);
    send(tag, number);
    auto const& up = *up_;
    auto const count = order_ == ordering::tagged_words ? tagged_words : payload_words;
    if (order_ == ordering::release_flag)
      while (up.flag.load(memory_order::acquire) != tag) {
      }
    for (std::uint32_t i = 0; i < count; ++i) {
      auto w = load_whole_on_host(&up.words[i]);
      while (order_ == ordering::tagged_words && tag_of(w) != tag) w = load_whole_on_host(&up.words[i]);
      check_equal("a word of the answer", number + i + 1, w.low);
      check_equal("the rest of it", static_cast<std::uint32_t>(number) + 1,
                  static_cast<std::uint32_t>(w.high));
    }
    return number + 1;
  }

 private:
  void send(std::uint32_t tag, std::uint64_t number) {
    auto& down = *down_;
    auto const half = static_cast<std::uint32_t>(number);
    if (order_ == ordering::tagged_words) {
      for (std::uint32_t i = 0; i < tagged_words; ++i)
        store_whole_on_host(&down.words[i], tagged(number + i, half, tag));
    } else {
      for (std::uint32_t i = 0; i < payload_words; ++i)
        store_whole_on_host(&down.words[i], {number + i, half});
      if (write_combined_) _mm_sfence();            // write-combined stores are not ordered among themselves
      down.flag.store(tag, memory_order::release);  // publishes the payload
    }
    if (write_combined_) _mm_sfence();  // flushes them
  }

  ordering order_;
  bool write_combined_;
  stream in_;
  pinned<letter> down_, up_;
};

template <int Depth>
void append_round_trips(case_list& cases) {
  for (bool const write_combined : {false, true})
    for (auto const order : {ordering::tagged_words, ordering::release_flag})
      cases.push_back({"experiment_round_trip",
                       order == ordering::tagged_words ? "tagged words" : "release flag",
                       {{"inbox", write_combined ? "write-combined" : "pinned"},
                        {"loads_under_way", std::to_string(Depth)}},
                       [=](sample_budget const& budget) {
                         correspondent host(order, write_combined);
                         host.start<Depth>();
                         return round_trips(budget, [&](std::uint64_t number) { return host.ask(number); });
                       }});
}

// -- torn words

/// Both halves of a word that was stored as one are equal.
__host__ __device__ constexpr word16 consistent(std::uint64_t low) {
  return {low, low * 0x9e37'79b9'7f4a'7c15ull};
}
__host__ __device__ constexpr bool is_torn(word16 w) { return w.high != consistent(w.low).high; }

struct tally {
  std::uint64_t looks, changes, torn;
  __host__ __device__ void note(word16 w, std::uint64_t& last) {
    ++looks;
    changes += w.low != last;
    torn += is_torn(w);
    last = w.low;
  }
};
constexpr std::uint32_t watched_words = 256;  // one thread for each

__global__ void watch_words(word16 const* words, flags* at, tally* found) {
  tally mine{};
  dead_man host;
  for (std::uint64_t last = 0; !host.over();) {
    mine.note(load_whole(&words[threadIdx.x]), last);
    // Relaxed: a request.
    if ((mine.looks & 63) == 0 && at->asked.load(memory_order::relaxed) == stop_asked) break;
  }
  found[threadIdx.x] = mine;
}
__global__ void write_words(word16* words, flags* at) {
  dead_man host;
  for (std::uint64_t n = 1; !host.over(); ++n) {
    store_whole(&words[threadIdx.x], consistent(n));
    if ((n & 63) == 0 && at->asked.load(memory_order::relaxed) == stop_asked) break;  // relaxed: a request
  }
}

measurement look_for_torn_words(sample_budget const& budget, bool host_writes) {
  stream const in;
  pinned<word16> const words(watched_words);
  pinned<flags> const shared;
  pinned<tally> const found(watched_words);
  std::uint64_t seen_last[watched_words] = {};
  if (host_writes)
    watch_words<<<1, watched_words, 0, in>>>(words.on_device(), shared.on_device(), found.on_device());
  else
    write_words<<<1, watched_words, 0, in>>>(words.on_device(), shared.on_device());
  check(cudaGetLastError());
  stopwatch const watch;
  for (std::uint64_t n = 1; watch.stop().wall_ns < static_cast<double>(budget.time.count()); ++n)
    for (std::uint32_t i = 0; i < watched_words; ++i) {
      if (host_writes)
        store_whole_on_host(&words[i], consistent(n));
      else
        found[i].note(load_whole_on_host(&words[i]), seen_last[i]);
    }
  shared->asked.store(stop_asked, memory_order::relaxed);  // relaxed: a request
  in.wait();
  tally all{};
  for (std::uint32_t i = 0; i < watched_words; ++i) {
    all.looks += found[i].looks;
    all.changes += found[i].changes;
    all.torn += found[i].torn;
  }
  if (all.changes == 0) throw std::runtime_error("no word was seen to change: nothing was tested");
  measurement m;
  m["torn_words"] = {static_cast<double>(all.torn)};
  m["words_looked_at"] = {static_cast<double>(all.looks)};
  m["words_seen_to_change"] = {static_cast<double>(all.changes)};
  return m;
}

}  // namespace

case_list experiment_cases() {
  case_list cases;
  append_round_trips<1>(cases);
  append_round_trips<4>(cases);
  for (bool const host_writes : {true, false})
    cases.push_back({"experiment_torn_words",
                     host_writes ? "host writes" : "gpu writes",
                     {},
                     [=](sample_budget const& b) { return look_for_torn_words(b, host_writes); }});
  return cases;
}

}  // namespace rondo::bench::gpu

#else

namespace rondo::bench::gpu {
case_list experiment_cases() { return {}; }  // the experiments store words of 16 bytes with SSE
}  // namespace rondo::bench::gpu

#endif
