// The names that PTX code sees: a stack of scopes, each a pair of braces.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ptx/machine/ptx_module.hpp"

namespace ptx {

enum class symbol_kind : std::uint8_t { reg, frame, kernel_param, local, shared, memory, function, table };

struct symbol {
  symbol_kind kind;
  std::uint64_t at = 0;     // register, offset, address, or index
  std::uint32_t bytes = 0;  // of a register or variable
  bool predicate = false;
};

class symbols {
 public:
  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  void add(std::string_view name, symbol s) { scopes_.back().names.insert_or_assign(std::string(name), s); }
  /// Registers name0 to name<count - 1>.
  void add_family(std::string_view name, symbol first, std::uint32_t count) {
    scopes_.back().families.insert_or_assign(std::string(name), std::pair{first, count});
  }
  std::optional<symbol> find(std::string_view name) const {
    auto const digits = name.find_last_not_of("0123456789") + 1;
    for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s) {
      if (auto const it = s->names.find(name); it != s->names.end()) return it->second;
      auto const family = s->families.find(name.substr(0, digits));
      if (family == s->families.end() || digits == name.size()) continue;
      auto const n = std::stoul(std::string(name.substr(digits)));
      if (n >= family->second.second) continue;
      auto one = family->second.first;
      one.at += n;
      return one;
    }
    return std::nullopt;
  }

 private:
  struct names_of_scope {
    std::map<std::string, symbol, std::less<>> names;
    std::map<std::string, std::pair<symbol, std::uint32_t>, std::less<>> families;
  };
  std::vector<names_of_scope> scopes_{1};
};

}  // namespace ptx
