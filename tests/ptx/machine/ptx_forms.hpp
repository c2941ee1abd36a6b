// The forms of instructions that the machine knows: for each mnemonic with its modifiers, its operands and its handler.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tests/ptx/machine/ptx_module.hpp"

namespace ptx {

/// `operands` lists them in the order of the text, each as a letter and its number in instruction::o:
///   d  a register to write               s  a register or constant to read
///   p  a predicate to write; "p|q" writes q to o[5]      n  a predicate to read, which may be negated (bit 2 of `sub`)
///   x  a register to write; "x|p" writes the predicate p to o[5]
///   D  a register or vector to write     S  a register, constant or vector to read; from o[0]
///   A  an address, in o[4] and `offset`
///   L  a label, in `target`              T  a table of labels, in `target`
struct form {
  std::string operands;
  instruction record;
};
using form_table = std::unordered_map<std::string, form>;

/// The form of `mnemonic`; empty if the machine does not know it.
std::optional<form> find_form(std::string_view mnemonic);

void add_integer_forms(form_table&);     // arithmetic, logic and bits of integers
void add_comparison_forms(form_table&);  // setp, selp, logic of predicates
void add_float_forms(form_table&);
void add_conversion_forms(form_table&);
void add_lane_forms(form_table&);  // what lanes do together: shuffles, votes, barriers
void add_flow_forms(form_table&);  // branches, calls, ends, pauses
/// Loads, stores, atomics, fences, and address conversions: they have too many modifiers for a table.
std::optional<form> memory_form(std::string_view mnemonic);

// -- of instructions with operands of their own, which the decoder reads

handler mov_handler(std::uint32_t bytes, bool predicate);
handler pack_handler(std::uint32_t element_bytes, std::uint32_t elements);    // elements in o[1] to o[4]
handler unpack_handler(std::uint32_t element_bytes, std::uint32_t elements);  // from o[4]
/// Null: unknown. Reads a special register such as %tid.x; `sub` is set to its component.
handler special_handler(std::string_view name, std::uint8_t& sub);
handler local_address_handler();  // o[0] = the frame's local memory + offset
handler kernel_param_handler();   // o[0] = the kernel's parameters + offset
handler call_handler();           // target: a call_site
handler return_handler();

}  // namespace ptx
