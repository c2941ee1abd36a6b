// The decoder of one instruction: its text becomes a record.
#pragma once

#include <unordered_map>

#include "tests/ptx/machine/ptx_forms.hpp"
#include "tests/ptx/machine/ptx_symbols.hpp"
#include "tests/ptx/machine/ptx_text.hpp"

namespace ptx {

/// Of the function that is being read.
struct label_use {
  std::uint32_t instruction;  // or ~0: an element of the last table
  std::uint32_t table, element;
  std::string_view label;
  std::uint32_t line;
};

class decoder {
 public:
  decoder(module& m, token_reader& in, symbols& names) : module_(m), in_(in), names_(names) {}

  /// Reads an instruction up to its semicolon, and appends it to the module's code.
  void read_instruction(std::uint32_t place);
  /// Reads the labels of a .branchtargets.
  void read_branch_targets(std::string_view name);

  std::vector<label_use> uses;  // labels to be resolved

 private:
  operand constant(std::uint64_t value);
  operand literal();
  operand destination(instruction& i, bool with_width);
  operand source();
  void read_operands(form const& f, instruction& i);
  void read_address(instruction& i);
  void read_vector(instruction& i, bool destinations);
  void read_predicates(instruction& i, unsigned first, unsigned second);
  void read_mov(instruction& i, std::string_view type);
  void read_call(instruction& i);
  std::vector<frame_bytes> read_call_params();
  symbol look_up(token const& t);

  module& module_;
  token_reader& in_;
  symbols& names_;
  std::unordered_map<std::uint64_t, operand> constants_;
};

}  // namespace ptx
