// Bash completion of the command: names from a service are offered, never executed.
#include <fstream>

#include "tests/catch.hpp"
#include "tests/service/programs.hpp"

namespace {

/// The completions of `typed`, for a service whose actor and behaviour have unusual names.
std::string offered(std::filesystem::path const& folder, std::string const& typed) {
  auto const fake = (folder / "rondo").string();
  {
    std::ofstream out(fake);
    out << "#!/bin/sh\n"
           "case $1 in\n"
           "  list) printf 'actor  behaviour\\n%s  x\\nclicks  x\\n' '$(touch${IFS}ran)' ;;\n"
           "  describe) printf '%s\\n  add  8\\n' 'ns::`touch${IFS}ran`' ;;\n"
           "esac\n";
  }
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  std::ofstream(folder / "try.sh") << "cd " << folder.string() << "\nsource " << RONDO_SOURCE_DIR
                                   << "/tools/rondo/share/rondo.bash\nCOMP_WORDS=(./rondo " << typed
                                   << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_rondo\n"
                                      "printf '%s\\n' \"${COMPREPLY[@]}\"\n";
  return service_test::run("bash " + (folder / "try.sh").string()).second;
}

}  // namespace

TEST_CASE("completion offers names of actors and messages, and executes nothing in them", "[completion]") {
  rondo_test::scratch_directory const scratch("completion");
  auto const& folder = scratch.directory;
  CHECK(offered(folder, "ask cl") == "clicks\n");
  CHECK(offered(folder, "ask clicks ''") == "add\n");
  CHECK(offered(folder, "ask ''").find("touch") != std::string::npos);
  CHECK(offered(folder, "launch name ''").find("touch") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "ran"));
}
