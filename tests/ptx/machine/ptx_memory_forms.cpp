// Loads, stores, atomics, fences, and address conversions.
#include <algorithm>
#include <cstring>

#include "tests/ptx/machine/ptx_lanes.hpp"
#include "tests/ptx/machine/ptx_text.hpp"

namespace ptx {

namespace {

std::byte* frame_of(warp& w, std::uint32_t lane) { return reinterpret_cast<std::byte*>(w.regs[lane]); }

flow load(warp& w, instruction const& i, std::uint32_t lanes) {
  bool const direct = i.space == space::frame || i.space == space::kernel_params;
  bool const watched = w.grid().watcher != nullptr;
  if (watched) w.where.fill(went::nowhere);
  bool const may_be_late = !direct && !watched && w.chooses_late(i);  // as one, as a warp's load is
  for_each_lane(lanes, [&](std::uint32_t lane) {
    auto address = w.get(lane, i.o[4]) + static_cast<std::uint64_t>(i.offset);
    std::uint64_t values[4] = {};
    std::uint32_t late = 0;
    if (direct) {
      auto const* const from = (i.space == space::frame ? frame_of(w, lane) : w.grid().params) + i.offset;
      for (std::uint32_t n = 0; n < i.elements; ++n) std::memcpy(&values[n], from + n * i.bytes, i.bytes);
      w.where[lane] = i.space == space::frame ? went::nowhere : went::constant;
    } else {
      w.check_aligned(i, lane, address, std::uint32_t{i.bytes} * i.elements);
      for (std::uint32_t n = 0; n < i.elements; ++n)
        if (may_be_late && w.puts_off(i, lane, address + n * i.bytes, n))
          late |= 1u << n;
        else
          values[n] = w.load(i, lane, address + n * i.bytes);
      w.addresses[lane] = address;
    }
    for (std::uint32_t n = 0; n < i.elements; ++n)
      if ((late >> n & 1) == 0) w.set(lane, i.o[n], widened(i, values[n]));
  });
  if (watched && !direct) w.report(i, access_kind::load);
  return flow::next;
}

/// A weak load whose value nobody takes.
flow prefetch(warp& w, instruction const& i, std::uint32_t lanes) {
  bool const watched = w.grid().watcher != nullptr;
  if (watched) w.where.fill(went::nowhere);
  for_each_lane(lanes, [&](std::uint32_t lane) {
    auto const address = w.get(lane, i.o[4]) + static_cast<std::uint64_t>(i.offset);
    w.addresses[lane] = address / i.bytes * i.bytes;
    w.load(i, lane, w.addresses[lane]);
  });
  if (watched) w.report(i, access_kind::load);
  return flow::next;
}

/// The elements of a vector are stores of their own, in no order.
flow store(warp& w, instruction const& i, std::uint32_t lanes) {
  bool const watched = w.grid().watcher != nullptr;
  if (watched) w.where.fill(went::nowhere);
  auto const mask = ~0ull >> (64 - 8 * i.bytes);
  for_each_lane(lanes, [&](std::uint32_t lane) {
    if (i.space == space::frame) {
      for (std::uint32_t n = 0; n < i.elements; ++n) {
        auto const value = w.get(lane, i.o[n]);
        std::memcpy(frame_of(w, lane) + i.offset + n * i.bytes, &value, i.bytes);
      }
      return;
    }
    auto const address = w.get(lane, i.o[4]) + static_cast<std::uint64_t>(i.offset);
    w.check_aligned(i, lane, address, std::uint32_t{i.bytes} * i.elements);
    for (std::uint32_t n = 0; n < i.elements; ++n)
      w.store(i, lane, address + n * i.bytes, w.get(lane, i.o[n]) & mask);
    w.addresses[lane] = address;
  });
  if (watched && i.space != space::frame) w.report(i, access_kind::store);
  return flow::next;
}

/// o[0] = the old value; o[1] and o[2]: the operands.
template <class T, class Op>
flow atomic(warp& w, instruction const& i, std::uint32_t lanes) {
  using word = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  bool const watched = w.grid().watcher != nullptr;
  if (watched) w.where.fill(went::nowhere);
  for_each_lane(lanes, [&](std::uint32_t lane) {
    auto const address = w.get(lane, i.o[4]) + static_cast<std::uint64_t>(i.offset);
    auto const b = as<T>(w.get(lane, i.o[1])), c = as<T>(w.get(lane, i.o[2]));
    auto const old = w.change(i, lane, address, [&](std::byte* at) {
      auto* const p = reinterpret_cast<word*>(at);
      auto found = __atomic_load_n(p, __ATOMIC_SEQ_CST);
      word wanted;
      do wanted = static_cast<word>(bits_of(Op{}(as<T>(found), b, c)));
      while (!__atomic_compare_exchange_n(p, &found, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
      return std::uint64_t{found};
    });
    w.set(lane, i.o[0], old);
  });
  if (watched) w.report(i, access_kind::atomic);
  return flow::next;
}

template <class T, class Op>
handler atomic_of(Op) {
  return &atomic<T, Op>;
}

template <class T>
handler atomic_handler(std::string_view op) {
  if (op == "add") return atomic_of<T>([](T a, T b, T) { return static_cast<T>(a + b); });
  if (op == "exch") return atomic_of<T>([](T, T b, T) { return b; });
  if constexpr (std::is_integral_v<T>) {
    if (op == "cas") return atomic_of<T>([](T a, T b, T c) { return a == b ? c : a; });
    if (op == "min") return atomic_of<T>([](T a, T b, T) { return std::min(a, b); });
    if (op == "max") return atomic_of<T>([](T a, T b, T) { return std::max(a, b); });
    if (op == "and") return atomic_of<T>([](T a, T b, T) { return static_cast<T>(a & b); });
    if (op == "or") return atomic_of<T>([](T a, T b, T) { return static_cast<T>(a | b); });
    if (op == "xor") return atomic_of<T>([](T a, T b, T) { return static_cast<T>(a ^ b); });
    if (op == "inc") return atomic_of<T>([](T a, T b, T) { return static_cast<T>(a >= b ? 0 : a + 1); });
    if (op == "dec")
      return atomic_of<T>([](T a, T b, T) { return static_cast<T>(a == 0 || a > b ? b : a - 1); });
  }
  return nullptr;
}

handler atomic_handler(std::string_view op, std::string_view type) {
  if (type == "b16" && op == "cas") return atomic_handler<std::uint16_t>(op);
  if (type == "u32" || type == "b32") return atomic_handler<std::uint32_t>(op);
  if (type == "u64" || type == "b64") return atomic_handler<std::uint64_t>(op);
  if (type == "s32") return atomic_handler<std::int32_t>(op);
  if (type == "s64") return atomic_handler<std::int64_t>(op);
  if (type == "f32") return atomic_handler<float>(op);
  if (type == "f64") return atomic_handler<double>(op);
  return nullptr;
}

/// A fence is a release of all that its lane has done, an acquire of all that it has read, or both.
flow fence(warp& w, instruction const& i, std::uint32_t lanes) {
  for_each_lane(lanes, [&](std::uint32_t lane) {
    w.finish_loads(lane);
    if (i.order != order::acquire) w.publish(lane, i.scope);
    if (i.order != order::release) w.acquire(lane);
  });
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (w.grid().watcher != nullptr) w.grid().watcher->fences(w, i, lanes);
  return flow::next;
}

flow keep_address(warp& w, instruction const& i, std::uint32_t lanes) {
  for_each_lane(lanes, [&](std::uint32_t lane) { w.set(lane, i.o[0], w.get(lane, i.o[1])); });
  return flow::next;
}

/// Addresses of shared memory count from its beginning. `sub` 1: from generic to shared.
flow shift_address(warp& w, instruction const& i, std::uint32_t lanes) {
  auto const base = reinterpret_cast<std::uint64_t>(w.sm().shared());
  for_each_lane(lanes, [&](std::uint32_t lane) {
    w.set(lane, i.o[0], i.sub == 1 ? w.get(lane, i.o[1]) - base : w.get(lane, i.o[1]) + base);
  });
  return flow::next;
}

std::optional<enum space> space_named(std::string_view part) {
  if (part == "global") return space::global;
  if (part == "shared" || part == "shared::cta") return space::shared;
  if (part == "local") return space::local;
  if (part == "const") return space::constant;
  if (part == "param" || part == "param::func" || part == "param::entry")
    return space::frame;  // or the kernel's, as the name says
  return std::nullopt;
}

std::optional<enum scope> scope_named(std::string_view part) {
  if (part == "cta") return scope::cta;
  if (part == "gpu" || part == "cluster" || part == "gl") return scope::gpu;
  if (part == "sys") return scope::sys;
  return std::nullopt;
}

std::optional<enum order> order_named(std::string_view part) {
  if (part == "weak") return order::weak;
  if (part == "relaxed") return order::relaxed;
  if (part == "acquire") return order::acquire;
  if (part == "release") return order::release;
  if (part == "acq_rel") return order::acq_rel;
  if (part == "sc") return order::sc;
  return std::nullopt;
}

bool is_cache_hint(std::string_view part) {
  for (std::string_view const hint : {"ca", "cg", "cs", "lu", "cv", "nc", "wb", "wt"})
    if (part == hint) return true;
  return part.starts_with("L1::") || part.starts_with("L2::");
}

/// ld and st: order, scope, space, hints, vector, type.
std::optional<form> access_form(std::vector<std::string_view> const& parts) {
  form f;
  auto& r = f.record;
  bool const loads = parts[0] == "ld";
  for (std::size_t n = 1; n + 1 < parts.size(); ++n) {
    auto const part = parts[n];
    if (auto const o = order_named(part))
      r.order = *o;
    else if (auto const s = scope_named(part))
      r.scope = *s;
    else if (auto const where = space_named(part))
      r.space = *where;
    else if (part == "volatile" || part == "mmio")
      r.order = order::relaxed, r.scope = scope::sys;
    else if (part == "v2")
      r.elements = 2;
    else if (part == "v4")
      r.elements = 4;
    else if (!is_cache_hint(part))
      return std::nullopt;
  }
  auto const type = parts.back();
  auto const bits = type.size() < 2 || std::string_view("busf").find(type[0]) == std::string_view::npos
                        ? ""
                        : type.substr(1);
  r.bytes = bits == "8" ? 1 : bits == "16" ? 2 : bits == "32" ? 4 : bits == "64" ? 8 : 0;
  if (r.bytes == 0) return std::nullopt;
  r.sub = loads && type[0] == 's' ? 1 : 0;
  r.run = loads ? &load : &store;
  f.operands = loads ? "D0A4" : "A4S0";
  return f;
}

std::optional<form> prefetch_form(std::vector<std::string_view> const& parts) {
  form f;
  f.record.run = &prefetch;
  f.record.bytes = 4;
  for (std::size_t n = 1; n < parts.size(); ++n)
    if (auto const where = space_named(parts[n]))
      f.record.space = *where;
    else if (parts[n] != "L1" && parts[n] != "L2")
      return std::nullopt;
  f.operands = "A4";
  return f;
}

/// atom and red.
std::optional<form> atomic_form(std::vector<std::string_view> const& parts) {
  form f;
  auto& r = f.record;
  r.order = order::relaxed;
  std::string_view op;
  for (std::size_t n = 1; n + 1 < parts.size(); ++n) {
    if (auto const o = order_named(parts[n]))
      r.order = *o;
    else if (auto const s = scope_named(parts[n]))
      r.scope = *s;
    else if (auto const where = space_named(parts[n]))
      r.space = *where;
    else if (op.empty())
      op = parts[n];
    else
      return std::nullopt;
  }
  auto const type = parts.back();
  r.run = atomic_handler(op, type);
  if (r.run == nullptr) return std::nullopt;
  r.bytes = type.ends_with("16") ? 2 : type.ends_with("32") ? 4 : 8;
  f.operands = parts[0] == "red" ? "A4s1" : op == "cas" ? "d0A4s1s2" : "d0A4s1";
  return f;
}

std::optional<form> fence_form(std::vector<std::string_view> const& parts) {
  form f;
  auto& r = f.record;
  r.run = &fence;
  r.order = order::sc;
  if (parts.size() < 2) return std::nullopt;
  for (std::size_t n = 1; n < parts.size(); ++n) {
    if (auto const s = scope_named(parts[n]))
      r.scope = *s;
    else if (auto const o = order_named(parts[n]); o && *o >= order::acquire)
      r.order = *o;
    else
      return std::nullopt;
  }
  return f;
}

/// cvta.shared.u64, cvta.to.shared.u64
std::optional<form> address_form(std::vector<std::string_view> const& parts) {
  form f;
  bool const to = parts.size() == 4 && parts[1] == "to";
  if ((parts.size() != 3 && !to) || parts.back() != "u64") return std::nullopt;
  auto const where = space_named(parts[parts.size() - 2]);
  if (!where) return std::nullopt;
  f.operands = "d0s1";
  f.record.run = *where == space::shared ? &shift_address : &keep_address;
  f.record.sub = to ? 1 : 0;
  return f;
}

}  // namespace

std::optional<form> memory_form(std::string_view mnemonic) {
  auto const parts = split_dots(mnemonic);
  if (parts[0] == "ld" || parts[0] == "st") return access_form(parts);
  if (parts[0] == "prefetch") return prefetch_form(parts);
  if (parts[0] == "atom" || parts[0] == "red") return atomic_form(parts);
  if (parts[0] == "fence" || parts[0] == "membar") return fence_form(parts);
  if (parts[0] == "cvta") return address_form(parts);
  return std::nullopt;
}

std::optional<form> find_form(std::string_view mnemonic) {
  static form_table const all = [] {
    form_table t;
    add_integer_forms(t);
    add_comparison_forms(t);
    add_float_forms(t);
    add_conversion_forms(t);
    add_lane_forms(t);
    add_flow_forms(t);
    return t;
  }();
  if (auto const it = all.find(std::string(mnemonic)); it != all.end()) return it->second;
  return memory_form(mnemonic);
}

}  // namespace ptx
