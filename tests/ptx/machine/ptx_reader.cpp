#include "tests/ptx/machine/ptx_reader.hpp"

#include <cstring>
#include <sstream>

namespace ptx {

namespace {

std::uint32_t align_up(std::uint32_t value, std::uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// The bytes of ".b32" and its like; 0 if `type` is no type.
std::uint32_t bytes_of_type(std::string_view type) {
  if (type == ".pred") return 1;
  if (type.size() < 3 || std::string_view("busf").find(type[1]) == std::string_view::npos) return 0;
  auto const digits = type.substr(2);
  return digits == "8" ? 1 : digits == "16" ? 2 : digits == "32" ? 4 : digits == "64" ? 8 : 0;
}

}  // namespace

reader::reader(module& m, std::string const& text) : module_(m), in_(m.file, text), decoder_(m, in_, names_) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) m.lines.push_back(line);
}

void reader::read() {
  while (in_.peek().kind != token_kind::end) {
    auto const t = in_.next();
    if (t.is(".version"))
      in_.next(), in_.next();  // "9" and ".0"
    else if (t.is(".target"))
      do in_.name();
      while (in_.skip(","));
    else if (t.is(".address_size")) {
      if (in_.integer() != 64) in_.fail("only addresses of 64 bits are known", t.line);
    } else if (t.is(".file"))
      read_file();
    else if (t.is(".section"))
      read_section();
    else if (t.is(".visible") || t.is(".weak") || t.is(".extern") || t.is(".common"))
      continue;
    else if (t.is(".global"))
      read_variable(space::global);
    else if (t.is(".const"))
      read_variable(space::constant);
    else if (t.is(".shared"))
      read_variable(space::shared);
    else if (t.is(".entry"))
      read_function(true);
    else if (t.is(".func"))
      read_function(false);
    else if (t.is(".loc"))
      read_location();
    else if (t.is(".pragma"))
      in_.next(), in_.expect(";");
    else
      in_.fail("unknown directive '" + std::string(t.text) + "'", t.line);
  }
  for (auto const& i : module_.code)
    if (i.target != ~0u && i.run == call_handler()) {
      auto const callee = module_.calls[i.target].callee;
      if (callee != ~0u && module_.functions[callee].first == ~0u)
        in_.fail("calls '" + module_.functions[callee].name + "', which has no body", i.line);
    }
}

/// .file 1 "name"[, time, size]
void reader::read_file() {
  auto const n = static_cast<std::uint32_t>(in_.integer());
  module_.source_files[n] = std::string(in_.next().text);
  while (in_.skip(",")) in_.integer();
}

/// .loc file line column[, function_name label[+n], inlined_at file line column], up to the line's end. What was
/// inlined keeps its own place, and knows that of the call, which the compiler names before.
void reader::read_location() {
  auto const line = in_.peek().line;
  source_place p{static_cast<std::uint32_t>(in_.integer()), static_cast<std::uint32_t>(in_.integer())};
  while (in_.peek().line == line && in_.peek().kind != token_kind::end) {
    if (!in_.next().is("inlined_at")) continue;
    auto const file = in_.integer();
    auto const call = last_places_.find(std::pair(file, in_.integer()));
    if (call != last_places_.end()) p.caller = call->second;
  }
  if (p.line == 0) return;  // the compiler's own code: it belongs to the place before
  if (auto const& last = module_.places.back();
      last.file != p.file || last.line != p.line || last.caller != p.caller)
    module_.places.push_back(p);
  place_ = static_cast<std::uint32_t>(module_.places.size() - 1);
  last_places_[{p.file, p.line}] = place_;
}

/// Debug information: not code.
void reader::read_section() {
  in_.name();
  in_.expect("{");
  while (!in_.skip("}")) {
    if (in_.peek().kind == token_kind::end) in_.fail("a section without an end");
    in_.next();
  }
}

reader::declaration reader::read_declaration() {
  declaration d;
  d.line = in_.peek().line;
  for (;;) {
    auto const word = in_.name();
    if (word == ".align") {
      d.align = static_cast<std::uint32_t>(in_.integer());
    } else if (word == ".ptr" || word == ".global" || word == ".const" || word == ".shared" ||
               word == ".local") {
      continue;  // of an entry's parameter: what it points to
    } else if (auto const bytes = bytes_of_type(word); bytes != 0) {
      d.element = bytes;
      d.align = std::max(d.align, bytes);
      d.predicate = word == ".pred";
    } else if (word[0] != '.') {
      d.name = word;
      break;
    } else {
      in_.fail("unknown part of a declaration: '" + std::string(word) + "'");
    }
  }
  d.bytes = d.element;
  if (in_.skip("<")) {
    d.family = static_cast<std::uint32_t>(in_.integer());
    in_.expect(">");
  }
  while (in_.skip("[")) {
    d.bytes *= in_.peek().is("]") ? 0 : static_cast<std::uint64_t>(in_.integer());
    in_.expect("]");
  }
  return d;
}

void reader::read_variable(enum space where) {
  auto const d = read_declaration();
  auto& used = where == space::constant ? module_.constants_used : module_.globals_used;
  auto const& memory = where == space::constant ? module_.constant_memory : module_.globals;
  variable v{where, 0, d.bytes};
  if (where == space::shared) {
    module_.shared_bytes = align_up(module_.shared_bytes, std::max(d.align, 16u));
    v.address = module_.shared_bytes;
    module_.shared_bytes += static_cast<std::uint32_t>(d.bytes);
    if (in_.peek().is("=")) in_.fail("a shared variable with an initial value", d.line);
  } else {
    used = (used + d.align - 1) / d.align * d.align;
    if (used + d.bytes > memory.size()) in_.fail("too large for the machine's memory of variables", d.line);
    v.address = reinterpret_cast<std::uint64_t>(memory.data()) + used;
    if (in_.skip("=")) read_initialiser(d, memory.data() + used);
    used += std::max<std::uint64_t>(d.bytes, 1);
  }
  module_.variables.emplace(std::string(d.name), v);
  names_.add(d.name, {where == space::shared ? symbol_kind::shared : symbol_kind::memory, v.address,
                      static_cast<std::uint32_t>(d.bytes)});
  in_.expect(";");
}

void reader::read_initialiser(declaration const& d, std::byte* at) {
  if (!in_.skip("{")) return read_element(d, at);
  auto const* const end = at + d.bytes;
  do {
    if (in_.peek().is("{")) in_.fail("an initial value in nested braces");
    if (at == end) in_.fail("more initial values than elements", d.line);
    read_element(d, at);
    at += d.element;
  } while (in_.skip(","));
  in_.expect("}");
}

/// A number; the address of a name, perhaps generic(name), with + n; or one byte of it: 0xFF00(name).
void reader::read_element(declaration const& d, std::byte* at) {
  std::uint64_t value = 0, mask = 0;
  bool negative = in_.skip("-");
  if (in_.peek().kind == token_kind::number) {
    if (!parse_literal(in_.next().text, value)) in_.fail("expected a number", d.line);
    if (in_.peek().is("(")) mask = value;
    if (negative) value = 0 - value;
  }
  if (in_.peek().is("(") || in_.peek().kind == token_kind::word) {
    auto const generic = in_.skip("generic") || mask != 0;
    if (generic) in_.expect("(");
    auto const t = in_.next();
    auto const s = names_.find(t.text);
    if (!s || (s->kind != symbol_kind::memory && s->kind != symbol_kind::function))
      in_.fail("the address of '" + std::string(t.text) + "' is unknown", t.line);
    value = s->kind == symbol_kind::function ? function_addresses + 16 * s->at : s->at;
    if (in_.skip("+")) value += static_cast<std::uint64_t>(in_.integer());
    if (generic) in_.expect(")");
    if (in_.skip("+")) value += static_cast<std::uint64_t>(in_.integer());
    if (mask != 0) value = (value & mask) >> __builtin_ctzll(mask);
  }
  std::memcpy(at, &value, d.element);  // little-endian, like a GPU
}

// -- functions

std::vector<reader::declaration> reader::read_params() {
  std::vector<declaration> all;
  while (!in_.skip(")")) {
    if (!in_.skip(".param")) in_.expect(".reg");
    all.push_back(read_declaration());
    in_.skip(",");
  }
  return all;
}

void reader::read_function(bool entry) {
  std::vector<declaration> params, results;
  auto const line = in_.peek().line;
  if (in_.skip("(")) results = read_params();
  auto const name = in_.name();
  if (in_.skip("(")) params = read_params();
  while (in_.peek().text.starts_with('.')) {  // limits for the compiler
    auto const limit = in_.name();
    if (limit != ".maxntid" && limit != ".reqntid" && limit != ".minnctapersm" && limit != ".maxnreg" &&
        limit != ".noreturn")
      in_.fail("unknown directive '" + std::string(limit) + "'");
    if (limit == ".noreturn") continue;
    do in_.integer();
    while (in_.skip(","));
  }
  auto index = static_cast<std::uint32_t>(module_.functions.size());
  if (auto const known = names_.find(name)) {
    if (known->kind != symbol_kind::function) in_.fail("a name with two meanings", line);
    index = static_cast<std::uint32_t>(known->at);
  } else {
    names_.add(name, {symbol_kind::function, index});
    module_.functions.push_back({});
    module_.functions.back().name = std::string(name);
  }
  module_.functions[index].entry = entry;
  if (in_.skip(";")) return;
  read_body(index, params, results);
}

frame_bytes reader::add_to_frame(declaration const& d) {
  body_.bytes = align_up(body_.bytes, std::max(d.align, 8u));
  frame_bytes const at{body_.bytes, static_cast<std::uint32_t>(d.bytes)};
  body_.bytes += at.bytes;
  return at;
}

void reader::read_body(std::uint32_t index, std::vector<declaration> const& params,
                       std::vector<declaration> const& results) {
  auto& f = module_.functions[index];
  auto const first = static_cast<std::uint32_t>(module_.code.size());
  auto const first_call = module_.calls.size();
  body_ = {};
  f.first = first;
  in_.expect("{");
  open_scope();
  for (auto const& d : params) {
    auto const at = add_to_frame(d);
    f.params.push_back(at);
    names_.add(d.name, {f.entry ? symbol_kind::kernel_param : symbol_kind::frame, at.offset, at.bytes});
  }
  if (f.entry) f.param_bytes = body_.bytes;
  for (auto const& d : results) {
    auto const at = add_to_frame(d);
    f.results.push_back(at);
    names_.add(d.name, {symbol_kind::frame, at.offset, at.bytes});
  }
  while (!body_.scopes.empty()) read_statement();
  // Registers come first in a frame, so bytes begin behind them.
  auto const base = body_.registers * 8;
  f.slots = body_.registers + align_up(body_.bytes, 8) / 8;
  f.local_bytes = align_up(body_.local, 16);
  auto const move = [base](std::vector<frame_bytes>& all) {
    for (auto& one : all) one.offset += base;
  };
  if (!f.entry) move(f.params);
  move(f.results);
  for (auto c = first_call; c < module_.calls.size(); ++c)
    move(module_.calls[c].params), move(module_.calls[c].results);
  for (auto i = first; i < module_.code.size(); ++i)
    if (module_.code[i].space == space::frame) module_.code[i].offset += base;
  // A function whose last block does not return would run into the next one.
  instruction end;
  end.run = return_handler();
  end.line = in_.peek().line;
  end.place = place_;
  module_.code.push_back(end);
}

void reader::open_scope() {
  names_.open();
  body_.scopes.push_back({{}, decoder_.uses.size()});
}

/// Resolves the labels of the scope; uses of others are left to the scopes around it.
void reader::close_scope() {
  auto const scope = std::move(body_.scopes.back());
  body_.scopes.pop_back();
  names_.close();
  auto& uses = decoder_.uses;
  for (auto n = scope.first_use; n < uses.size();) {
    auto const label = scope.labels.find(uses[n].label);
    if (label == scope.labels.end()) {
      if (body_.scopes.empty()) in_.fail("unknown label '" + std::string(uses[n].label) + "'", uses[n].line);
      ++n;
      continue;
    }
    if (uses[n].instruction != ~0u)
      module_.code[uses[n].instruction].target = label->second;
    else
      module_.tables[uses[n].table][uses[n].element] = label->second;
    uses.erase(uses.begin() + static_cast<long>(n));
  }
}

void reader::read_label(std::string_view name) {
  if (in_.skip(".branchtargets")) return decoder_.read_branch_targets(name);
  if (in_.skip(".callprototype")) {
    while (!in_.skip(";")) in_.next();
    return names_.add(name, {symbol_kind::table});
  }
  auto const here = static_cast<std::uint32_t>(module_.code.size());
  if (!body_.scopes.back().labels.emplace(std::string(name), here).second)
    in_.fail("the label '" + std::string(name) + "' occurs twice");
}

void reader::read_statement() {
  auto const t = in_.peek();
  if (t.is("{")) return in_.next(), open_scope();
  if (t.is("}")) return in_.next(), close_scope();
  if (t.is(";")) return void(in_.next());
  if (t.kind == token_kind::word && in_.peek(1).is(":")) {
    in_.next(), in_.next();
    return read_label(t.text);
  }
  if (t.kind != token_kind::word || t.text[0] != '.') return decoder_.read_instruction(place_);
  in_.next();
  if (t.is(".loc")) return read_location();
  if (t.is(".pragma")) return in_.next(), in_.expect(";");
  if (t.is(".global")) return read_variable(space::global);
  if (t.is(".const")) return read_variable(space::constant);
  if (t.is(".shared")) return read_variable(space::shared);
  if (t.is(".reg")) {
    do {
      auto const d = read_declaration();
      symbol const first{symbol_kind::reg, body_.registers, d.element, d.predicate};
      if (d.family != 0)
        names_.add_family(d.name, first, d.family);
      else
        names_.add(d.name, first);
      body_.registers += std::max(d.family, 1u);
    } while (in_.skip(","));
  } else if (t.is(".param")) {
    auto const d = read_declaration();
    auto const at = add_to_frame(d);
    names_.add(d.name, {symbol_kind::frame, at.offset, at.bytes});
  } else if (t.is(".local")) {
    auto const d = read_declaration();
    body_.local = align_up(body_.local, std::max(d.align, 16u));
    names_.add(d.name, {symbol_kind::local, body_.local, static_cast<std::uint32_t>(d.bytes)});
    body_.local += static_cast<std::uint32_t>(d.bytes);
  } else {
    in_.fail("unknown directive '" + std::string(t.text) + "'", t.line);
  }
  in_.expect(";");
}

}  // namespace ptx
