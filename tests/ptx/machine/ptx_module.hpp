// A PTX module, decoded once: its functions as records that a warp executes, and its variables in memory of this
// process.
//
// Threads: read-only after reading, apart from the memory of its variables, which the executed program reads and
// writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/memory/arena_memory.hpp"
#include "tests/ptx/machine/ptx_error.hpp"

namespace ptx {

class warp;
struct instruction;

/// What a warp does after an instruction: goes on with the next one; goes on at the place that its handler has set; or
/// chooses again which lanes run.
enum class flow : std::uint8_t { next, jumped, choose };
/// Executes an instruction for some lanes.
using handler = flow (*)(warp&, instruction const&, std::uint32_t lanes);

/// Not negative: a register of the function's frame. Negative: the constant ~operand of the module.
using operand = std::int32_t;
inline constexpr operand sink = 0;  // a register that nobody reads
inline constexpr operand no_guard = INT32_MAX;

enum class space : std::uint8_t { generic, global, shared, local, constant, frame, kernel_params };
enum class order : std::uint8_t { weak, relaxed, acquire, release, acq_rel, sc };
enum class scope : std::uint8_t { cta, gpu, sys };

struct instruction {
  handler run = nullptr;
  operand o[6] = {};         // by number, as the form says; memory: data in 0 to 3, the address in 4
  operand guard = no_guard;  // executed by the lanes where this predicate holds
  bool guard_negated = false;
  std::uint8_t sub = 0;    // what else the handler needs to know
  std::uint8_t width = 8;  // bytes of the destination's register
  std::uint8_t bytes = 0;  // of an element in memory
  std::uint8_t elements = 1;
  enum space space = space::generic;
  enum order order = order::weak;
  enum scope scope = scope::gpu;
  std::uint32_t target = 0;  // an instruction, call or table
  std::int64_t offset = 0;   // of an address
  std::uint32_t line = 0;    // of the PTX file
  std::uint32_t place = 0;   // an index of module::places
};

/// A variable in the byte area of a frame: a parameter of a function or of one of its calls.
struct frame_bytes {
  std::uint32_t offset = 0, bytes = 0;
};

struct function {
  std::string name;
  bool entry = false;
  std::uint32_t first = ~0u;  // its first instruction; ~0: only declared
  std::uint32_t slots = 0;    // of a frame: registers, then bytes
  std::uint32_t local_bytes = 0;
  std::vector<frame_bytes> params, results;  // of an entry: in the kernel's parameters
  std::uint32_t param_bytes = 0;
};

struct call_site {
  std::uint32_t callee = ~0u;  // ~0: the function whose address is in o[1]
  std::vector<frame_bytes> params, results;
};

struct source_place {
  std::uint32_t file = 0, line = 0;
  std::uint32_t caller = 0;  // an index of module::places: where it was inlined; 0: it was not
};

struct variable {
  enum space space;
  std::uint64_t address = 0;  // of shared memory: in its window
  std::uint64_t bytes = 0;
};

struct module {
  std::string file;
  std::vector<instruction> code;
  std::vector<std::uint64_t> constants;
  std::vector<function> functions;
  std::vector<call_site> calls;
  std::vector<std::vector<std::uint32_t>> tables;  // targets of brx.idx
  std::map<std::string, variable, std::less<>> variables;
  std::uint32_t shared_bytes = 0;
  std::vector<source_place> places{1};
  std::map<std::uint32_t, std::string> source_files;
  std::vector<std::string> lines;  // of the PTX, for errors

  rondo::arena_memory globals{64 << 20}, constant_memory{1 << 20};
  std::uint64_t globals_used = 0, constants_used = 0;

  /// Throws ptx::error if there is none, or several contain `part`.
  std::uint32_t find_entry(std::string_view part) const;
  variable const& find_variable(std::string_view part) const;
  /// "file.ptx:12 (source.hpp:34): 'add.s32 ...'".
  std::string where(instruction const& i) const;
};

inline constexpr std::uint64_t function_addresses =
    0xf00d'0000'0000'0000;  // that of function n is 16 * n more

/// Reads a module. Throws ptx::error, with file, line and text, at the first thing it does not know.
std::unique_ptr<module> read_module(std::string file, std::string const& text);
std::unique_ptr<module> read_module_file(std::string const& path);

}  // namespace ptx
