#include "tests/streams/counting_malloc.hpp"

#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

extern "C" {  // of the GNU C library
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace counting {

namespace {

struct range {
  std::uintptr_t first = 0, last = 0;
};
struct stack {
  std::array<void*, 24> frames;
  int depth = 0;
};

std::array<range, 16>
    ours{};  // the address ranges of the code whose calls count; written before counting begins
std::size_t ranges = 0;
std::array<stack, 4> stacks{};
std::atomic<bool> on{false};
std::atomic<std::uint64_t> of_ours{0}, of_libraries{0};
thread_local bool looking = false;  // backtrace may itself allocate

bool is_ours(char const* path) {
  std::string_view const name(path);
  if (name.empty()) return true;  // the executable
  auto const file = name.substr(name.rfind('/') + 1);
  constexpr std::string_view libraries[] = {"libstdc++.so", "libfmt.so", "libc.so", "libgcc_s.so",
                                            "ld-linux"};
  return std::ranges::any_of(libraries, [&](auto library) { return file.starts_with(library); });
}

int add(dl_phdr_info* library, std::size_t, void*) {
  if (!is_ours(library->dlpi_name)) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    auto const& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || ranges == ours.size()) continue;
    auto const first = library->dlpi_addr + part.p_vaddr;
    ours[ranges++] = {first, first + part.p_memsz};
  }
  return 0;
}

void note(void const* caller) {
  if (!on.load(std::memory_order_acquire) || looking) return;
  auto const address = reinterpret_cast<std::uintptr_t>(caller);
  if (std::none_of(ours.begin(), ours.begin() + static_cast<std::ptrdiff_t>(ranges),
                   [&](range const& r) { return r.first <= address && address < r.last; })) {
    of_libraries.fetch_add(1, std::memory_order_relaxed);  // relaxed, here and below: only numbers
    return;
  }
  auto const number = of_ours.fetch_add(1, std::memory_order_relaxed);
  if (number >= stacks.size()) return;
  looking = true;
  auto& s = stacks[number];
  s.depth = backtrace(s.frames.data(), static_cast<int>(s.frames.size()));
  looking = false;
}

}  // namespace

void begin() {
  stack first;
  backtrace(first.frames.data(), 1);  // loads the libraries that it needs
  ranges = 0;
  dl_iterate_phdr(add, nullptr);
  stacks = {};
  of_ours.store(0, std::memory_order_relaxed);
  of_libraries.store(0, std::memory_order_relaxed);
  on.store(true, std::memory_order_release);  // publishes the ranges to the counting threads
}

counts end() {
  on.store(false, std::memory_order_relaxed);
  return {of_ours.load(std::memory_order_relaxed), of_libraries.load(std::memory_order_relaxed)};
}

void print_stacks() {
  for (auto const& s : stacks) {
    if (s.depth == 0) continue;
    constexpr std::string_view title = "allocated by\n";
    static_cast<void>(!write(STDERR_FILENO, title.data(), title.size()));
    backtrace_symbols_fd(s.frames.data(), s.depth, STDERR_FILENO);
  }
}

}  // namespace counting

extern "C" {
void* malloc(std::size_t bytes) {
  counting::note(__builtin_return_address(0));
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  counting::note(__builtin_return_address(0));
  return __libc_calloc(count, bytes);
}
void* realloc(void* block, std::size_t bytes) {
  counting::note(__builtin_return_address(0));
  return __libc_realloc(block, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  counting::note(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  counting::note(__builtin_return_address(0));
  *block = __libc_memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}
}
