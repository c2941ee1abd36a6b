#include "tests/ptx/machine/ptx_module.hpp"

#include <fstream>
#include <sstream>

#include "tests/ptx/machine/ptx_reader.hpp"

namespace ptx {

std::unique_ptr<module> read_module(std::string file, std::string const& text) {
  auto m = std::make_unique<module>();
  m->file = std::move(file);
  reader{*m, text}.read();
  return m;
}

std::unique_ptr<module> read_module_file(std::string const& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw error(path + ": cannot be read");
  return read_module(path.substr(path.rfind('/') + 1), text.str());
}

std::uint32_t module::find_entry(std::string_view part) const {
  std::uint32_t found = ~0u;
  for (std::uint32_t n = 0; n < functions.size(); ++n) {
    auto const& f = functions[n];
    if (!f.entry || f.name.find(part) == std::string::npos) continue;
    if (f.name == part) return n;
    if (found != ~0u) throw error(file + ": several entries contain '" + std::string(part) + "'");
    found = n;
  }
  if (found == ~0u) throw error(file + ": no entry contains '" + std::string(part) + "'");
  return found;
}

variable const& module::find_variable(std::string_view part) const {
  for (auto const& [name, v] : variables)
    if (name.find(part) != std::string::npos) return v;
  throw error(file + ": no variable contains '" + std::string(part) + "'");
}

std::string module::where(instruction const& i) const {
  auto text = file + ":" + std::to_string(i.line);
  if (auto const p = places[i.place]; p.line != 0) {
    auto const name = source_files.find(p.file);
    text += " (" + (name == source_files.end() ? "?" : name->second.substr(name->second.rfind('/') + 1)) +
            ":" + std::to_string(p.line) + ")";
  }
  auto line = i.line <= lines.size() && i.line > 0 ? lines[i.line - 1] : std::string();
  line.erase(0, line.find_first_not_of(" \t"));
  return text + ": '" + line + "'";
}

}  // namespace ptx
