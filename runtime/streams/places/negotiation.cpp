#include "runtime/streams/places/negotiation.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <optional>

namespace rondo::streams {

namespace {

constexpr std::int64_t unbounded = std::int64_t{1} << 62;

/// A network of capacities, and its maximum flow, which is the cost of the cheapest cut.
class flow_network {
  using traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  using vertex_properties =
      boost::property<boost::vertex_color_t, boost::default_color_type,
                      boost::property<boost::vertex_distance_t, long,
                                      boost::property<boost::vertex_predecessor_t, traits::edge_descriptor>>>;
  using edge_properties =
      boost::property<boost::edge_capacity_t, std::int64_t,
                      boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                      boost::property<boost::edge_reverse_t, traits::edge_descriptor>>>;
  using network =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, vertex_properties, edge_properties>;

 public:
  using node = traits::vertex_descriptor;

  node add() { return boost::add_vertex(network_); }
  /// Cut if `from` is on the source's side and `to` on the sink's.
  void connect(node from, node to, std::int64_t capacity) {
    if (capacity == 0) return;
    auto const there = boost::add_edge(from, to, network_).first;
    auto const back = boost::add_edge(to, from, network_).first;
    boost::put(boost::edge_capacity, network_, there, capacity);
    boost::put(boost::edge_capacity, network_, back, 0);
    boost::put(boost::edge_reverse, network_, there, back);
    boost::put(boost::edge_reverse, network_, back, there);
  }
  void find_flow(node source, node sink) { boost::boykov_kolmogorov_max_flow(network_, source, sink); }

  /// After find_flow: calls f(node) for all that must be on the source's side if `from` is, and so on; with `upwards`,
  /// for all that must be on the sink's side if `from` is. `is_known(node)`: nothing new is behind it.
  template <class Known, class F>
  void for_each_tied(node from, bool upwards, Known const& is_known, F const& f) const {
    std::vector<node> left{from};
    while (!left.empty()) {
      auto const at = left.back();
      left.pop_back();
      if (is_known(at)) continue;
      f(at);
      for (auto [e, end] = boost::out_edges(at, network_); e != end; ++e) {
        auto const way = upwards ? boost::get(boost::edge_reverse, network_, *e) : *e;
        if (boost::get(boost::edge_residual_capacity, network_, way) > 0)
          left.push_back(boost::target(*e, network_));
      }
    }
  }
  std::size_t size() const { return boost::num_vertices(network_); }

 private:
  network network_;
};

class negotiation {
 public:
  negotiation(std::span<negotiating_stage const> stages, std::span<negotiating_output const> outputs,
              std::uint32_t places)
      : stages_(stages), outputs_(outputs), places_(places) {}

  /// The best that is found from a start where as many stages as can are in `start`.
  std::vector<place_number> find_from(place_number start) {
    chosen_.clear();
    for (auto const& s : stages_) chosen_.push_back(find(s, start) ? start : s.places.front().where);
    for (bool improved = true; improved;) {
      improved = false;
      for (place_number a = 0; a < places_; ++a)
        for (place_number b = a + 1; b < places_; ++b) improved = improve(a, b) || improved;
    }
    return chosen_;
  }

  /// Costs and preferences, for comparing two choices.
  std::vector<std::uint64_t> rank(std::vector<place_number> const& chosen) const {
    std::vector<std::uint64_t> r{cost_of(stages_, outputs_, places_, chosen).ns};
    for (std::size_t i = 0; i < stages_.size(); ++i)
      r.push_back(static_cast<std::uint64_t>(find(stages_[i], chosen[i]) - stages_[i].places.data()));
    return r;
  }

 private:
  static stage_place const* find(negotiating_stage const& s, place_number where) {
    auto const at = std::ranges::find(s.places, where, &stage_place::where);
    return at == s.places.end() ? nullptr : &*at;
  }

  /// Redistributes the stages that are in a or b. True if the choice has become better.
  bool improve(place_number a, place_number b) {
    auto const before = chosen_;
    std::vector<std::optional<place_number>> fixed(stages_.size());
    for (std::size_t i = 0; i < stages_.size(); ++i)
      if (before[i] != a && before[i] != b) fixed[i] = before[i];
    flow_network net;
    auto const nodes = make_network(net, a, b, fixed);
    net.find_flow(source, sink);
    // A cut is as cheap as can be if no way with capacity left leads from the source's side to the sink's. So each
    // stage that is still free goes where it prefers, and takes along those that are tied to it.
    enum class side : std::uint8_t { free, in_a, in_b };
    std::vector<side> sides(net.size(), side::free);
    auto const tie = [&](flow_network::node from, side to) {
      net.for_each_tied(
          from, to == side::in_b, [&](auto node) { return sides[node] != side::free; },
          [&](auto node) { sides[node] = to; });
    };
    tie(source, side::in_a);
    tie(sink, side::in_b);
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (fixed[i]) continue;
      auto const* const in_a = find(stages_[i], a);
      auto const* const in_b = find(stages_[i], b);
      bool const prefers_a = in_b == nullptr || (in_a != nullptr && in_a < in_b);
      tie(nodes[i], prefers_a ? side::in_a : side::in_b);
      chosen_[i] = sides[nodes[i]] == side::in_a ? a : b;
    }
    if (rank(chosen_) < rank(before)) return true;
    chosen_ = before;
    return false;
  }

  static constexpr flow_network::node source = 0, sink = 1;

  /// The network whose cuts cost what depends on stages in a and b. On the source's side of a cut they are in a, on the
  /// other in b. Stages that are fixed are elsewhere. Returns the nodes of the stages.
  std::vector<flow_network::node> make_network(flow_network& net, place_number a, place_number b,
                                               std::vector<std::optional<place_number>> const& fixed) const {
    net.add(), net.add();
    std::vector<flow_network::node> nodes;
    auto const cost = [](stage_place const* p) {
      return p != nullptr ? static_cast<std::int64_t>(p->ns) : unbounded;
    };
    auto const is_in_pair = [&](std::uint32_t stage) { return !fixed[stage]; };
    for (std::uint32_t i = 0; i < stages_.size(); ++i) {
      nodes.push_back(net.add());
      if (!is_in_pair(i)) continue;
      net.connect(nodes[i], sink, cost(find(stages_[i], a)));
      net.connect(source, nodes[i], cost(find(stages_[i], b)));
    }
    for (auto const& o : outputs_) {
      auto const copy = [&](place_number from, place_number to) {
        return static_cast<std::int64_t>(o.ns[std::size_t{from} * places_ + to]);
      };
      // A copy to a or to b, if any reader is there: an own node, which a reader there pulls to its side.
      auto const reader_in_b = net.add(), reader_in_a = net.add();
      std::vector<bool> elsewhere(places_);
      for (auto const reader : o.to) {
        if (!is_in_pair(reader)) {
          elsewhere[*fixed[reader]] = true;
          continue;
        }
        net.connect(reader_in_b, nodes[reader], unbounded);
        net.connect(nodes[reader], reader_in_a, unbounded);
      }
      if (!is_in_pair(o.from)) {
        net.connect(source, reader_in_b, copy(*fixed[o.from], b));
        net.connect(reader_in_a, sink, copy(*fixed[o.from], a));
        continue;
      }
      net.connect(nodes[o.from], reader_in_b, copy(a, b));
      net.connect(reader_in_a, nodes[o.from], copy(b, a));
      for (place_number p = 0; p < places_; ++p) {
        if (!elsewhere[p]) continue;
        net.connect(nodes[o.from], sink, copy(a, p));
        net.connect(source, nodes[o.from], copy(b, p));
      }
    }
    return nodes;
  }

  std::span<negotiating_stage const> stages_;
  std::span<negotiating_output const> outputs_;
  std::uint32_t places_;
  std::vector<place_number> chosen_;
};

}  // namespace

negotiated cost_of(std::span<negotiating_stage const> stages, std::span<negotiating_output const> outputs,
                   std::uint32_t places, std::vector<place_number> chosen) {
  negotiated n{.places = std::move(chosen)};
  for (std::size_t i = 0; i < stages.size(); ++i)
    for (auto const& p : stages[i].places)
      if (p.where == n.places[i]) n.ns += p.ns;
  for (auto const& o : outputs) {
    std::vector<bool> there(places);
    there[n.places[o.from]] = true;
    for (auto const reader : o.to) {
      auto const to = n.places[reader];
      if (there[to]) continue;
      there[to] = true;
      n.ns += o.ns[std::size_t{n.places[o.from]} * places + to];
      ++n.copies;
    }
  }
  return n;
}

negotiated negotiate(std::span<negotiating_stage const> stages, std::span<negotiating_output const> outputs,
                     std::uint32_t places) {
  negotiation n(stages, outputs, places);
  auto best = n.find_from(0);
  for (place_number start = 1; start < places; ++start)
    if (auto other = n.find_from(start); n.rank(other) < n.rank(best)) best = std::move(other);
  return cost_of(stages, outputs, places, std::move(best));
}

}  // namespace rondo::streams
