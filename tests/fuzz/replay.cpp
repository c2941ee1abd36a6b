// Runs one fuzz target without libFuzzer: over the files of a folder, then over inputs made from them by ten thousand
// random changes, which are the same in each run.
//
//   fuzz_NAME FOLDER [CHANGED]      fuzz_NAME FILE
//
// An input that aborts the process is left in fuzz-crash.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.hpp"

namespace {

using input = std::vector<std::uint8_t>;
namespace fs = std::filesystem;

constexpr std::size_t max_input_bytes = 16384;

input read(fs::path const& file) {
  std::ifstream in(file, std::ios::binary);
  return input(std::istreambuf_iterator<char>(in), {});
}

std::vector<std::uint8_t> current;

extern "C" void leave_input(int signal) {
  int const file = ::open("fuzz-crash", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0 && ::write(file, current.data(), current.size()) >= 0) ::close(file);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void run(input const& bytes) {
  // A copy of exactly the input's size, so that a sanitizer detects each access beyond its end.
  std::vector<std::uint8_t>(bytes.begin(), bytes.end()).swap(current);
  LLVMFuzzerTestOneInput(current.data(), current.size());
}

class mutator {
 public:
  explicit mutator(std::vector<input> const& seeds) : seeds_(seeds) {}

  input next() {
    input bytes = seeds_[below(seeds_.size())];
    for (auto changes = 1 + below(4); changes != 0; --changes) change(bytes);
    if (bytes.size() > max_input_bytes) bytes.resize(max_input_bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  input::iterator place(input& bytes) {
    return bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size() + 1));
  }

  void change(input& bytes) {
    static constexpr std::uint8_t telling[] = {0,   1,   0x7f, 0x80, 0xff, '"', '\\',
                                               '{', '}', '[',  ']',  '-',  '9', 'e'};
    switch (below(6)) {
      case 0:
        if (!bytes.empty()) bytes[below(bytes.size())] = static_cast<std::uint8_t>(random_());
        return;
      case 1:
        if (!bytes.empty()) bytes[below(bytes.size())] = telling[below(std::size(telling))];
        return;
      case 2:
        bytes.insert(place(bytes), 1 + below(8), telling[below(std::size(telling))]);
        return;
      case 3: {
        auto const from = place(bytes);
        auto const left = static_cast<std::size_t>(bytes.end() - from);
        bytes.erase(from, from + static_cast<std::ptrdiff_t>(below(std::min<std::size_t>(left, 16) + 1)));
        return;
      }
      case 4: {
        auto const& other = seeds_[below(seeds_.size())];
        auto const from = below(other.size());
        auto const count = below(std::min<std::size_t>(other.size() - from, 64) + 1);
        auto const begin = other.begin() + static_cast<std::ptrdiff_t>(from);
        bytes.insert(place(bytes), begin, begin + static_cast<std::ptrdiff_t>(count));
        return;
      }
      default:
        if (below(4) == 0) bytes.resize(below(bytes.size() + 1));
    }
  }

  std::vector<input> const& seeds_;
  std::mt19937_64 random_{20240229};
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return std::fputs("usage: fuzz_NAME FOLDER [CHANGED] | fuzz_NAME FILE\n", stderr), 64;
  for (int const signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS}) std::signal(signal, leave_input);
  fs::path const from = arguments[1];
  if (fs::is_regular_file(from)) return run(read(from)), 0;
  std::vector<fs::path> files;
  for (auto const& entry : fs::directory_iterator(from)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());  // so that the changes are the same in each run
  std::vector<input> seeds;
  for (auto const& file : files) seeds.push_back(read(file));
  if (seeds.empty()) return std::fprintf(stderr, "%s: has no inputs\n", from.c_str()), 66;
  run({});
  for (auto const& seed : seeds) run(seed);
  auto const changed = count < 3 ? 10000 : std::stoul(arguments[2]);
  mutator mutate(seeds);
  for (std::size_t i = 0; i < changed; ++i) run(mutate.next());
  std::printf("%zu inputs, and %zu made of them\n", seeds.size(), static_cast<std::size_t>(changed));
}
