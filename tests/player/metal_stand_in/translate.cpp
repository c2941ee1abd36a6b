#include "tests/player/metal_stand_in/translate.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <stdexcept>

namespace rondo::stand_in {

namespace {

/// What a command prints.
std::string output_of(std::string const& command) {
  std::string all;
  std::unique_ptr<FILE, int (*)(FILE*)> const pipe(::popen(command.c_str(), "r"), ::pclose);
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::array<char, 4096> part{};
  while (auto const n = std::fread(part.data(), 1, part.size(), pipe.get())) all.append(part.data(), n);
  return all;
}

/// A kernel's head in OpenCL's terms, before the function with its body.
std::string opencl_head(std::string const& name, std::string const& parameters, translated_kernel& to) {
  static std::regex const attribute(R"(^\s*(.*?)\s*\b(\w+)\s*\[\[(\w+)(?:\((\d+)\))?\]\]\s*$)");
  static std::map<std::string, std::string> const positions{{"thread_position_in_grid", "get_global_id"},
                                                            {"threads_per_grid", "get_global_size"}};
  std::string declared, defined, passed;
  std::string rest = parameters + ",";
  for (std::size_t comma; (comma = rest.find(',')) != std::string::npos; rest.erase(0, comma + 1)) {
    auto const one = rest.substr(0, comma);
    std::smatch m;
    if (!std::regex_match(one, m, attribute))
      throw std::invalid_argument("a kernel's parameter without an attribute: " + one);
    auto type = m[1].str();
    auto const variable = m[2].str(), what = m[3].str();
    if (what == "buffer") {
      bool const is_pointer = type.starts_with("device ") && type.ends_with("*");
      bool const is_value = type.starts_with("constant ") && type.ends_with("&");
      if (!is_pointer && !is_value)
        throw std::invalid_argument("a buffer of a kernel is a device pointer or a constant reference: " +
                                    one);
      // OpenCL passes the bytes of a struct by value, which here stands for Metal's copy from `constant`.
      if (is_value) type = type.substr(9, type.size() - 10);
      to.indices.push_back(std::stoi(m[4].str()));
      to.values.push_back(is_value);
      defined += (defined.empty() ? "" : ", ") + type + " " + variable;
      passed += (passed.empty() ? "" : ", ") + variable;
    } else if (auto const at = positions.find(what); at != positions.end() && type == "uint2") {
      passed +=
          ", (uint2)(static_cast<uint>(" + at->second + "(0)), static_cast<uint>(" + at->second + "(1)))";
    } else {
      throw std::invalid_argument("an unknown parameter of a kernel: " + one);
    }
    declared += (declared.empty() ? "" : ", ") + type + " " + variable;
  }
  return "inline void " + name + "_in_metal(" + declared + ");\n__kernel void " + name + "(" + defined +
         ") { " + name + "_in_metal(" + passed + "); }\ninline void " + name + "_in_metal(" + declared +
         ") {";
}

/// The namespaces that are open at the end of a text.
std::string namespaces_at(std::string const& text) {
  static std::regex const token(R"(namespace\s+(\w+)\s*\{|[{}])");
  std::vector<std::string> open;
  for (std::sregex_iterator at(text.begin(), text.end(), token), end; at != end; ++at)
    if (at->str() == "}")
      open.pop_back();
    else
      open.push_back((*at)[1].matched ? (*at)[1].str() + "::" : "");
  std::string all;
  for (auto const& o : open) all += o;
  return all;
}

std::string opencl_text(std::string const& metal, std::vector<translated_kernel>& kernels) {
  static std::regex const head(R"(kernel\s+void\s+(\w+)\s*\()");
  static std::regex const prefix(R"(#include <metal_stdlib>\s*using namespace metal;)");
  if (!std::regex_search(metal, prefix))
    throw std::invalid_argument("the text does not include metal_stdlib");
  std::string rest = std::regex_replace(metal, prefix, ""), before, text = R"(
#define device __global
#define constant __constant
#define thread __private
#define threadgroup __local
template <class To, class From> To as_type(From from) { return __builtin_astype(from, To); }
#define atomic_fetch_add_explicit(at, more, order) atomic_add((volatile __global uint*)(at), more)
)";
  for (std::smatch m; std::regex_search(rest, m, head);) {
    auto const begin = static_cast<std::size_t>(m.position(0) + m.length(0));
    std::size_t end = begin;
    for (int depth = 1; depth > 0; ++end) {
      if (end >= rest.size()) throw std::invalid_argument("a kernel's parameters do not end");
      depth += rest[end] == '(' ? 1 : rest[end] == ')' ? -1 : 0;
    }
    auto const body = rest.find('{', end);
    if (body == std::string::npos) throw std::invalid_argument("a kernel without a body");
    before += rest.substr(0, static_cast<std::size_t>(m.position(0)));
    text += rest.substr(0, static_cast<std::size_t>(m.position(0)));
    auto& k = kernels.emplace_back();
    k.plain_name = m[1].str();
    k.name = namespaces_at(before) + k.plain_name;
    text += opencl_head(k.plain_name, rest.substr(begin, end - 1 - begin), k);
    rest.erase(0, body + 1);
    before += "{";
  }
  return text + rest;
}

/// Metal has no generic addresses: each pointer and reference names its address space. Returns the lines of those that
/// do not.
std::string unqualified(std::string const& tree) {
  static std::regex const variable(R"((?:Parm)?VarDecl .* (\w+) '[^']*__generic[^']*')");
  std::string all;
  std::smatch m;
  for (auto at = tree.cbegin(); std::regex_search(at, tree.cend(), m, variable); at = m.suffix().first)
    if (auto const name = m[1].str();
        name != "used")  // the parameter, without a name, of an implicit constructor
      all += "pointer or reference '" + name + "' without an address space\n";
  return all;
}

translated_text translated(std::string const& metal, std::string const& folder, std::size_t number) {
  translated_text to;
  auto const base = folder + "/" + std::to_string(number);
  try {
    std::ofstream(base + ".cl") << opencl_text(metal, to.kernels);
  } catch (std::invalid_argument const& e) {
    to.errors = e.what();
    return to;
  }
  to.bitcode = base + ".bc";
  std::string const clang =
      std::string(RONDO_CLANG) +
      " -x clcpp -cl-std=clc++2021 -target spir64-unknown-unknown -Xclang "
      "-finclude-default-header -Xclang -fdeclare-opencl-builtins -Wno-unknown-attributes ";
  to.errors = output_of(clang + "-emit-llvm -c -O3 -Xclang -disable-llvm-passes " + base + ".cl -o " +
                        to.bitcode + " 2>&1");
  if (to.errors.empty())
    to.errors = unqualified(output_of(clang + "-fsyntax-only -Xclang -ast-dump " + base + ".cl 2>/dev/null"));
  return to;
}

}  // namespace

translated_text const& translate(std::string const& metal) {
  static struct folder {
    folder() {
      char made[] = "/tmp/metal_stand_in_XXXXXX";
      if (::mkdtemp(made) == nullptr) throw std::runtime_error("no folder for the texts of kernels");
      at = made;
    }
    ~folder() { static_cast<void>(std::system(("rm -rf " + at).c_str())); }
    std::string at;
  } const in;
  // For ever: a queue whose kernels hang may still read them when the process ends.
  static auto& known = *new std::map<std::string, translated_text>;
  auto const at = known.find(metal);
  return at != known.end() ? at->second
                           : known.emplace(metal, translated(metal, in.at, known.size())).first->second;
}

}  // namespace rondo::stand_in
