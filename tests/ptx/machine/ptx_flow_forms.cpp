// Branches, calls, ends, pauses, and moves.
#include "tests/ptx/machine/ptx_lanes.hpp"

namespace ptx {

namespace {

flow branch(warp& w, instruction const& i, std::uint32_t lanes) { return w.jump(lanes, i.target); }

flow branch_by_index(warp& w, instruction const& i, std::uint32_t lanes) {
  auto const& table = w.grid().code->tables[i.target];
  std::array<std::uint32_t, warp_lanes> targets{};
  for_each_lane(lanes, [&](std::uint32_t lane) {
    auto const n = static_cast<std::uint32_t>(w.get(lane, i.o[0]));
    if (n >= table.size()) w.fail(i, lane, "a branch beyond its list of labels");
    targets[lane] = table[n];
  });
  return w.jump_each(lanes, targets);
}

flow call(warp& w, instruction const& i, std::uint32_t lanes) { return w.call(i, lanes); }
flow give_back(warp& w, instruction const& i, std::uint32_t lanes) { return w.ret(lanes, i); }
flow leave(warp& w, instruction const& i, std::uint32_t lanes) { return w.exit(lanes, i); }
flow pause(warp& w, instruction const& i, std::uint32_t lanes) { return w.sleep(lanes, i); }
flow trap(warp& w, instruction const& i, std::uint32_t lanes) {
  w.fail(i, static_cast<std::uint32_t>(std::countr_zero(lanes)), "traps");
}

template <class T>
flow move(warp& w, instruction const& i, std::uint32_t lanes) {
  for_each_lane(lanes, [&](std::uint32_t lane) { w.set(lane, i.o[0], bits_of(as<T>(w.get(lane, i.o[1])))); });
  return flow::next;
}

template <std::uint32_t Bits, std::uint32_t Elements>
flow pack(warp& w, instruction const& i, std::uint32_t lanes) {
  for_each_lane(lanes, [&](std::uint32_t lane) {
    std::uint64_t all = 0;
    for (std::uint32_t n = 0; n < Elements; ++n)
      all |= (w.get(lane, i.o[n + 1]) & ((std::uint64_t{1} << Bits) - 1)) << n * Bits;
    w.set(lane, i.o[0], all);
  });
  return flow::next;
}

template <std::uint32_t Bits, std::uint32_t Elements>
flow unpack(warp& w, instruction const& i, std::uint32_t lanes) {
  for_each_lane(lanes, [&](std::uint32_t lane) {
    auto const all = w.get(lane, i.o[4]);
    for (std::uint32_t n = 0; n < Elements; ++n)
      w.set(lane, i.o[n], all >> n * Bits & ((std::uint64_t{1} << Bits) - 1));
  });
  return flow::next;
}

flow local_address(warp& w, instruction const& i, std::uint32_t lanes) {
  for_each_lane(lanes, [&](std::uint32_t lane) {
    w.set(lane, i.o[0],
          reinterpret_cast<std::uint64_t>(w.locals[lane]) + static_cast<std::uint64_t>(i.offset));
  });
  return flow::next;
}

flow param_address(warp& w, instruction const& i, std::uint32_t lanes) {
  for_each_lane(lanes, [&](std::uint32_t lane) {
    w.set(lane, i.o[0],
          reinterpret_cast<std::uint64_t>(w.grid().params) + static_cast<std::uint64_t>(i.offset));
  });
  return flow::next;
}

// -- special registers; `sub`: the component

template <class Read>
flow special(warp& w, instruction const& i, std::uint32_t lanes) {
  for_each_lane(lanes, [&](std::uint32_t lane) { w.set(lane, i.o[0], Read{}(w, lane, i.sub)); });
  return flow::next;
}

template <class Read>
handler special_of(Read) {
  return &special<Read>;
}

}  // namespace

handler mov_handler(std::uint32_t bytes, bool predicate) {
  return predicate    ? &move<bool>
         : bytes == 2 ? &move<std::uint16_t>
         : bytes == 4 ? &move<std::uint32_t>
         : bytes == 8 ? &move<std::uint64_t>
                      : nullptr;
}

handler pack_handler(std::uint32_t bytes, std::uint32_t elements) {
  if (elements == 2)
    return bytes == 1 ? &pack<8, 2> : bytes == 2 ? &pack<16, 2> : bytes == 4 ? &pack<32, 2> : nullptr;
  return bytes == 1 ? &pack<8, 4> : bytes == 2 ? &pack<16, 4> : nullptr;
}
handler unpack_handler(std::uint32_t bytes, std::uint32_t elements) {
  if (elements == 2)
    return bytes == 1 ? &unpack<8, 2> : bytes == 2 ? &unpack<16, 2> : bytes == 4 ? &unpack<32, 2> : nullptr;
  return bytes == 1 ? &unpack<8, 4> : bytes == 2 ? &unpack<16, 4> : nullptr;
}

handler local_address_handler() { return &local_address; }
handler kernel_param_handler() { return &param_address; }
handler call_handler() { return &call; }
handler return_handler() { return &give_back; }

handler special_handler(std::string_view name, std::uint8_t& sub) {
  using u64 = std::uint64_t;
  using u32 = std::uint32_t;
  if (name.size() > 2 && name[name.size() - 2] == '.') {
    auto const letter = name.back();
    if (letter < 'x' || letter > 'z') return nullptr;
    sub = static_cast<std::uint8_t>(letter - 'x');
    name.remove_suffix(2);
    // Grids and blocks have one dimension.
    if (name == "%tid")
      return special_of(
          [](warp& w, u32 lane, int c) -> u64 { return c == 0 ? w.index() * warp_lanes + lane : 0; });
    if (name == "%ntid")
      return special_of([](warp& w, u32, int c) -> u64 { return c == 0 ? w.grid().threads : 1; });
    if (name == "%ctaid")
      return special_of([](warp& w, u32, int c) -> u64 { return c == 0 ? w.block() : 0; });
    if (name == "%nctaid")
      return special_of([](warp& w, u32, int c) -> u64 { return c == 0 ? w.grid().blocks : 1; });
    return nullptr;
  }
  if (name == "%laneid") return special_of([](warp&, u32 lane, int) -> u64 { return lane; });
  if (name == "%warpid") return special_of([](warp& w, u32, int) -> u64 { return w.index(); });
  if (name == "%nwarpid")
    return special_of([](warp& w, u32, int) -> u64 { return (w.grid().threads + 31) / warp_lanes; });
  if (name == "%smid") return special_of([](warp& w, u32, int) -> u64 { return w.block(); });
  if (name == "%nsmid") return special_of([](warp& w, u32, int) -> u64 { return w.grid().blocks; });
  if (name == "%gridid") return special_of([](warp&, u32, int) -> u64 { return 1; });
  if (name == "%lanemask_eq") return special_of([](warp&, u32 lane, int) -> u64 { return 1u << lane; });
  if (name == "%lanemask_lt") return special_of([](warp&, u32 lane, int) -> u64 { return (1u << lane) - 1; });
  if (name == "%lanemask_le") return special_of([](warp&, u32 lane, int) -> u64 { return (2u << lane) - 1; });
  if (name == "%lanemask_gt")
    return special_of([](warp&, u32 lane, int) -> u64 { return ~((2u << lane) - 1); });
  if (name == "%lanemask_ge")
    return special_of([](warp&, u32 lane, int) -> u64 { return ~((1u << lane) - 1); });
  // Lanes that read the time together read the same.
  if (name == "%globaltimer")
    return special_of([](warp& w, u32, int) -> u64 { return w.grid().clock->now_ns(); });
  if (name == "%globaltimer_lo")
    return special_of([](warp& w, u32, int) -> u64 { return static_cast<u32>(w.grid().clock->now_ns()); });
  if (name == "%clock64")
    return special_of([](warp& w, u32, int) -> u64 { return w.grid().clock->cycles(w); });
  if (name == "%clock")
    return special_of([](warp& w, u32, int) -> u64 { return static_cast<u32>(w.grid().clock->cycles(w)); });
  return nullptr;
}

void add_flow_forms(form_table& all) {
  add_own(all, "bra", "L0", &branch);
  add_own(all, "bra.uni", "L0", &branch);
  add_own(all, "brx.idx", "s0T0", &branch_by_index);
  add_own(all, "brx.idx.uni", "s0T0", &branch_by_index);
  add_own(all, "exit", "", &leave);
  add_own(all, "trap", "", &trap);
  add_own(all, "nanosleep.u32", "s0", &pause);
}

}  // namespace ptx
