// Runs flatc and the built rondo-schemac as a user would, in a folder that is removed with the object.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <stdexcept>
#include <string>

namespace schemac_test {

inline std::filesystem::path const schemas = RONDO_TEST_SCHEMAS;

struct outcome {
  int exit_code = -1;
  std::string complaint;  ///< the text on stderr
};

inline std::string read_text(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

class workbench {
 public:
  workbench() {
    std::random_device random;
    folder_ = std::filesystem::temp_directory_path() /
              ("rondo_schemac_" + std::to_string(random()) + "_" + std::to_string(random()));
    std::filesystem::create_directory(folder_);
  }
  ~workbench() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  workbench(workbench const&) = delete;
  workbench& operator=(workbench const&) = delete;

  std::filesystem::path path(std::string const& name) const { return folder_ / name; }

  void write(std::string const& name, std::span<char const> bytes) const {
    std::ofstream out(path(name), std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  /// Creates `stem`.bfbs from a schema; throws if flatc refuses it.
  void flatc(std::filesystem::path const& schema) const {
    auto const done = run(std::string(RONDO_FLATC) + " --binary --schema --bfbs-comments -o '" +
                          folder_.string() + "' '" + schema.string() + "'");
    if (done.exit_code != 0) throw std::runtime_error("flatc: " + done.complaint);
  }

  /// Runs rondo-schemac with these options.
  outcome schemac(std::string const& options) const { return run(RONDO_SCHEMAC " " + options); }

  /// Runs rondo-schemac on `stem`.bfbs; the header is `stem`.hpp.
  outcome compile(std::string const& stem, std::string const& more = {}) const {
    return schemac("--schema '" + path(stem + ".bfbs").string() + "' --output '" +
                   path(stem + ".hpp").string() + "' " + more);
  }

 private:
  outcome run(std::string const& command) const {
    auto const log = path("complaint.txt");
    int const status = std::system((command + " >'" + log.string() + "' 2>&1").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(log)};
  }

  std::filesystem::path folder_;
};

}  // namespace schemac_test
