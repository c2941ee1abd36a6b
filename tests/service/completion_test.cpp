// Bash completion of the command: names from a service are offered, never executed.
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/service/programs.hpp"

namespace {

/// What bash puts into COMP_WORDS: words end at spaces, and each run of ':' and '=' is a word, too.
std::string split(std::string const& line) {
  std::regex const part("[:=]+|[^:=]+");
  std::string words;
  std::istringstream in(line);
  for (std::string word; in >> word;)
    for (std::sregex_iterator i(word.begin(), word.end(), part), end; i != end; ++i)
      words += " '" + i->str() + "'";
  return line.ends_with(' ') ? words + " ''" : words;
}

/// The completions of `typed`, for a service whose actor and behaviour have unusual names. Its calls are in the file
/// `asked`.
std::string offered(std::filesystem::path const& folder, std::string const& typed) {
  auto const fake = (folder / "rondo").string();
  {
    std::ofstream out(fake);
    out << "#!/bin/sh\n"
           "echo \"$*\" >asked\n"
           "case $1 in\n"
           "  list) printf 'actor  behaviour\\n%s  x\\nclicks  x\\nnorth:gate:2  x\\n' '$(touch${IFS}ran)' "
           ";;\n"
           "  run)\n"
           "    case $2 in\n"
           "      pagerank) printf 'Options:\\n  --damping 0..1  a part\\n' ;;\n"
           "      *) printf 'Subcommands:\\n  agents    fly\\n  pagerank  rank\\n' ;;\n"
           "    esac ;;\n"
           "  describe) printf '%s\\n  add  8\\n' 'ns::`touch${IFS}ran`' ;;\n"
           "esac\n";
  }
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  auto const line = "./rondo " + typed;
  std::ofstream(folder / "try.sh") << "cd " << folder.string() << "\nsource " << RONDO_SOURCE_DIR
                                   << "/tools/rondo/share/rondo.bash\nCOMP_LINE='" << line
                                   << "'\nCOMP_POINT=${#COMP_LINE}\nCOMP_WORDS=(" << split(line)
                                   << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\ni=mine\n_rondo\n"
                                      "printf '%s\\n' \"${COMPREPLY[@]}\"\n"
                                      "[[ $i == mine ]] || echo \"i is $i\"\n";
  return service_test::run("bash " + (folder / "try.sh").string()).second;
}

}  // namespace

TEST_CASE("completion offers names of actors and messages, and executes nothing in them", "[completion]") {
  rondo_test::scratch_directory const scratch("completion");
  auto const& folder = scratch.directory;
  CHECK(offered(folder, "ask cl") == "clicks\n");
  CHECK(offered(folder, "ask clicks ") == "add\n");
  CHECK(offered(folder, "ask ").find("touch") != std::string::npos);
  CHECK(offered(folder, "launch name ").find("touch") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "ran"));
}

TEST_CASE("completion offers the commands of a command, and their options", "[completion]") {
  rondo_test::scratch_directory const scratch("completion");
  auto const& folder = scratch.directory;
  CHECK(offered(folder, "run pa") == "pagerank\n");
  CHECK(offered(folder, "run ") == "agents\npagerank\n");
  CHECK(offered(folder, "run pagerank --d") == "--damping\n");
}

TEST_CASE("completion knows words that bash splits at colons and equals signs", "[completion]") {
  rondo_test::scratch_directory const scratch("completion");
  auto const& folder = scratch.directory;
  REQUIRE(split("a --at=unix:/x b::c ") == " 'a' '--at' '=' 'unix' ':' '/x' 'b' '::' 'c' ''");
  for (std::string const at : {"--at unix:/run/x", "--at=unix:/run/x", "--at 127.0.0.1:99"}) {
    CHECK(offered(folder, "ask " + at + " cl") == "clicks\n");
    CHECK(service_test::text_of(folder / "asked") == "list " + at + " --timeout 1\n");
    CHECK(offered(folder, at + " ask clicks ") == "add\n");
    CHECK(service_test::text_of(folder / "asked") == "describe " + at + " --timeout 1\n");
  }
  // Bash replaces what follows the last colon.
  CHECK(offered(folder, "ask nor") == "north:gate:2\n");
  CHECK(offered(folder, "ask north:") == "gate:2\n");
  CHECK(offered(folder, "ask north:gate:2") == "2\n");
}
