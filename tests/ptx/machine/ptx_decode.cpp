#include "tests/ptx/machine/ptx_decode.hpp"

namespace ptx {

operand decoder::constant(std::uint64_t value) {
  auto const [it, is_new] = constants_.try_emplace(value, ~static_cast<operand>(module_.constants.size()));
  if (is_new) module_.constants.push_back(value);
  return it->second;
}

operand decoder::literal() {
  if (in_.skip("WARP_SZ")) return constant(32);
  return constant(static_cast<std::uint64_t>(in_.integer()));
}

symbol decoder::look_up(token const& t) {
  auto const found = names_.find(t.text);
  if (!found) in_.fail("unknown name '" + std::string(t.text) + "'", t.line);
  return *found;
}

operand decoder::destination(instruction& i, bool with_width) {
  auto const t = in_.next();
  if (t.is("_")) return sink;
  auto const s = look_up(t);
  if (s.kind != symbol_kind::reg)
    in_.fail("expected a register, found '" + std::string(t.text) + "'", t.line);
  if (with_width) i.width = static_cast<std::uint8_t>(s.bytes);
  return static_cast<operand>(s.at);
}

operand decoder::source() {
  auto const& t = in_.peek();
  if (t.kind == token_kind::number || t.is("-") || t.is("WARP_SZ")) return literal();
  auto const s = look_up(in_.next());
  if (s.kind != symbol_kind::reg) in_.fail("expected a register or a constant");
  return static_cast<operand>(s.at);
}

void decoder::read_predicates(instruction& i, unsigned first, unsigned second) {
  i.o[first] = destination(i, first == 0);
  if (in_.skip("|")) i.o[second] = destination(i, false);
}

void decoder::read_vector(instruction& i, bool destinations) {
  auto const one = [&](unsigned n) { i.o[n] = destinations ? destination(i, true) : source(); };
  if (i.elements == 1) return one(0);
  in_.expect("{");
  for (unsigned n = 0; n < i.elements; ++n) {
    if (n != 0) in_.expect(",");
    one(n);
  }
  in_.expect("}");
}

void decoder::read_address(instruction& i) {
  in_.expect("[");
  auto const t = in_.peek();
  bool const in_params = i.space == space::frame;
  if (t.kind == token_kind::number) {
    i.o[4] = literal();
  } else {
    auto const s = look_up(in_.next());
    i.o[4] = constant(0);
    switch (s.kind) {
      case symbol_kind::reg:
        i.o[4] = static_cast<operand>(s.at);
        if (in_params) i.space = space::constant;  // of a kernel's parameter, which are constants
        break;
      case symbol_kind::frame:
        if (!in_params) in_.fail("the address of a parameter in another space", t.line);
        i.offset = static_cast<std::int64_t>(s.at);
        break;
      case symbol_kind::kernel_param:
        if (!in_params) in_.fail("the address of a parameter in another space", t.line);
        i.space = space::kernel_params;
        i.offset = static_cast<std::int64_t>(s.at);
        break;
      case symbol_kind::shared:
      case symbol_kind::memory:
        i.o[4] = constant(s.at);
        break;
      default:
        in_.fail("'" + std::string(t.text) + "' is no address", t.line);
    }
  }
  if (in_.skip("+"))
    i.offset += in_.integer();
  else if (in_.peek().is("-"))
    i.offset += in_.integer();
  in_.expect("]");
}

void decoder::read_operands(form const& f, instruction& i) {
  for (std::size_t n = 0; n < f.operands.size(); n += 2) {
    auto const number = static_cast<unsigned>(f.operands[n + 1] - '0');
    if (n != 0) in_.expect(",");
    switch (f.operands[n]) {
      case 'd':
        i.o[number] = destination(i, number == 0);
        break;
      case 's':
        i.o[number] = source();
        break;
      case 'p':
      case 'x':
        read_predicates(i, number, 5);
        break;
      case 'n':
        if (in_.skip("!")) i.sub |= 4;
        i.o[number] = source();
        break;
      case 'D':
        read_vector(i, true);
        break;
      case 'S':
        read_vector(i, false);
        break;
      case 'A':
        read_address(i);
        break;
      case 'L': {
        auto const t = in_.next();
        uses.push_back({static_cast<std::uint32_t>(module_.code.size()), 0, 0, t.text, t.line});
        break;
      }
      case 'T': {
        auto const t = in_.next();
        auto const s = look_up(t);
        if (s.kind != symbol_kind::table) in_.fail("expected a list of labels", t.line);
        i.target = static_cast<std::uint32_t>(s.at);
        break;
      }
      default:
        in_.fail("the table of forms has an unknown letter");
    }
  }
}

void decoder::read_mov(instruction& i, std::string_view type) {
  bool const predicate = type == "pred";
  std::uint32_t const bytes =
      predicate ? 1 : static_cast<std::uint32_t>(std::stoul(std::string(type.substr(1)))) / 8;
  if (in_.peek().is("{")) {
    i.elements = in_.peek(4).is(",") ? 4 : 2;
    read_vector(i, true);
    in_.expect(",");
    i.run = unpack_handler(bytes / i.elements, i.elements);
    i.o[4] = source();
    return;
  }
  i.o[0] = destination(i, true);
  in_.expect(",");
  if (in_.peek().is("{")) {
    auto const to = i.o[0];
    i.elements = in_.peek(4).is(",") ? 4 : 2;
    read_vector(i, false);
    for (unsigned n = 4; n > 0; --n) i.o[n] = i.o[n - 1];
    i.o[0] = to;
    i.run = pack_handler(bytes / i.elements, i.elements);
    return;
  }
  i.run = mov_handler(bytes, predicate);
  auto const t = in_.peek();
  if (t.kind != token_kind::word || t.is("WARP_SZ")) {
    i.o[1] = literal();
  } else if (auto const s = names_.find(t.text)) {
    in_.next();
    switch (s->kind) {
      case symbol_kind::reg:
        i.o[1] = static_cast<operand>(s->at);
        break;
      case symbol_kind::shared:
      case symbol_kind::memory:
        i.o[1] = constant(s->at);
        break;
      case symbol_kind::function:
        i.o[1] = constant(function_addresses + 16 * s->at);
        break;
      case symbol_kind::local:
        i.run = local_address_handler();
        i.offset = static_cast<std::int64_t>(s->at);
        break;
      case symbol_kind::kernel_param:
        i.run = kernel_param_handler();
        i.offset = static_cast<std::int64_t>(s->at);
        break;
      default:
        in_.fail("the address of '" + std::string(t.text) + "' cannot be taken", t.line);
    }
    if (in_.skip("+")) {
      auto const more = in_.integer();
      i.offset += more;
      if (s->kind == symbol_kind::shared || s->kind == symbol_kind::memory)
        i.o[1] = constant(s->at + static_cast<std::uint64_t>(more));
    }
  } else {
    in_.next();
    i.run = special_handler(t.text, i.sub);
    if (i.run == nullptr) in_.fail("unknown name '" + std::string(t.text) + "'", t.line);
  }
}

std::vector<frame_bytes> decoder::read_call_params() {
  std::vector<frame_bytes> all;
  in_.expect("(");
  while (!in_.skip(")")) {
    auto const t = in_.next();
    auto const s = look_up(t);
    if (s.kind != symbol_kind::frame)
      in_.fail("a call takes and returns variables of the param space, not '" + std::string(t.text) + "'",
               t.line);
    all.push_back({static_cast<std::uint32_t>(s.at), s.bytes});
    in_.skip(",");
  }
  return all;
}

/// call (result), function, (params)[, prototype];
void decoder::read_call(instruction& i) {
  call_site site;
  if (in_.peek().is("(")) {
    site.results = read_call_params();
    in_.expect(",");
  }
  auto const t = in_.next();
  auto const s = look_up(t);
  if (s.kind == symbol_kind::function)
    site.callee = static_cast<std::uint32_t>(s.at);
  else if (s.kind == symbol_kind::reg)
    i.o[1] = static_cast<operand>(s.at);
  else
    in_.fail("expected a function or a register", t.line);
  if (in_.skip(",") && in_.peek().is("(")) {
    site.params = read_call_params();
    in_.skip(",");
  }
  if (!in_.peek().is(";")) in_.name();  // the prototype: the callee's own layout is checked when it is called
  i.run = call_handler();
  i.target = static_cast<std::uint32_t>(module_.calls.size());
  module_.calls.push_back(std::move(site));
}

void decoder::read_branch_targets(std::string_view name) {
  auto const table = static_cast<std::uint32_t>(module_.tables.size());
  module_.tables.emplace_back();
  do {
    auto const t = in_.next();
    uses.push_back({~0u, table, static_cast<std::uint32_t>(module_.tables.back().size()), t.text, t.line});
    module_.tables.back().push_back(0);
  } while (in_.skip(","));
  in_.expect(";");
  names_.add(name, {symbol_kind::table, table});
}

void decoder::read_instruction(std::uint32_t place) {
  instruction i;
  operand guard = no_guard;
  bool negated = false;
  if (in_.skip("@")) {
    negated = in_.skip("!");
    guard = source();
  }
  auto const t = in_.peek();
  auto const mnemonic = in_.name();
  auto const parts = split_dots(mnemonic);
  if (parts[0] == "mov" && parts.size() == 2) {
    read_mov(i, parts[1]);
  } else if (parts[0] == "call") {
    read_call(i);
  } else if (parts[0] == "ret") {
    i.run = return_handler();
  } else {
    auto f = find_form(mnemonic);
    if (parts[0].starts_with("bar") && in_.peek(1).is(",")) f = find_form(std::string(mnemonic) + "/2");
    if (!f) in_.fail("unknown instruction '" + std::string(mnemonic) + "'", t.line);
    i = f->record;
    if (f->operands.find('A') != std::string::npos && i.space == space::frame) i.width = 8;
    read_operands(*f, i);
  }
  i.line = t.line;
  i.place = place;
  i.guard = guard;
  i.guard_negated = negated;
  in_.expect(";");
  if (i.run == nullptr) in_.fail("unknown form of '" + std::string(mnemonic) + "'", t.line);
  module_.code.push_back(i);
}

}  // namespace ptx
