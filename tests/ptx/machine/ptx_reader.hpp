// The reader of a PTX file: its directives, functions and variables.
#pragma once

#include "tests/ptx/machine/ptx_decode.hpp"

namespace ptx {

class reader {
 public:
  reader(module& m, std::string const& text);
  void read();

 private:
  struct declaration {  // ".param .align 8 .b8 name[16]"
    std::string_view name;
    std::uint32_t align = 1, element = 1;
    std::uint64_t bytes = 0;
    std::uint32_t family = 0;  // name<family>
    bool predicate = false;
    std::uint32_t line = 0;
  };

  void read_file();
  void read_location();
  void read_section();
  declaration read_declaration();
  void read_variable(enum space where);
  void read_initialiser(declaration const& d, std::byte* at);
  void read_element(declaration const& d, std::byte* at);
  void read_function(bool entry);
  std::vector<declaration> read_params();
  void read_body(std::uint32_t index, std::vector<declaration> const& params,
                 std::vector<declaration> const& results);
  void read_statement();
  void read_label(std::string_view name);
  void open_scope();
  void close_scope();
  frame_bytes add_to_frame(declaration const& d);

  struct body_scope {
    std::map<std::string, std::uint32_t, std::less<>> labels;
    std::size_t first_use;
  };
  /// The state of the function that is being read. Bytes of a frame are counted from 0 until its registers are known.
  struct body_state {
    std::uint32_t registers = 1;  // 0 is the sink
    std::uint32_t bytes = 0, local = 0;
    std::vector<body_scope> scopes;
  };

  module& module_;
  token_reader in_;
  symbols names_;
  decoder decoder_;
  body_state body_;
  std::uint32_t place_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> last_places_;  // by file and line
};

}  // namespace ptx
