#include "runtime/streams/file/stream_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "runtime/base/config_fields.hpp"
#include "runtime/memory/buffer_pool.hpp"
#include "runtime/streams/plan/player_beside.hpp"
#include "runtime/text/clean_text.hpp"
#include "runtime/text/json_reader.hpp"
#include "runtime/text/named_field.hpp"
#include "runtime/text/nearest_name.hpp"
#include "runtime/text/shown_url.hpp"

namespace rondo::streams {

namespace {

constexpr std::uint64_t largest_number = std::uint64_t{1} << 53;  // that JSON's readers agree on

std::vector<std::string> names_of(std::vector<stream_file::stage> const& stages) {
  std::vector<std::string> names;
  for (auto const& s : stages) names.push_back(s.name);
  return names;
}
std::vector<std::string> names_of(std::vector<port_kind> const& ports) {
  std::vector<std::string> names;
  for (auto const& p : ports) names.emplace_back(p.name);
  return names;
}
std::vector<std::string> names_of(stage_catalog const& catalog) {
  std::vector<std::string> names;
  for (auto const* kind : catalog.all()) names.emplace_back(kind->short_name());
  return names;
}
std::string list_of(std::vector<std::string> const& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

/// The position of `given` among the words. Throws config_error.
std::size_t word(json_reader const& from, char const* field, std::string const& given,
                 std::vector<std::string> const& words) {
  auto const found = std::ranges::find(words, given);
  if (found == words.end())
    from.refuse(field, fmt::format("is '{}'; it must be one of {}{}", given, list_of(words),
                                   did_you_mean(given, words)));
  return static_cast<std::size_t>(found - words.begin());
}

/// Throws config_error.
void require_name(json_reader const& from, std::string const& name) {
  if (auto const why = why_no_name(name); !why.empty())
    from.refuse("name", fmt::format("'{}' {}", clean_text(name), why));
}

void set_default_options(stream_file::stage& s) {
  s.options.resize((s.kind->option_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  s.kind->default_options(s.options.data());
}

stream_file::stage read_stage(json_node const& v, std::string const& origin, std::string const& path,
                              stage_catalog const& catalog) {
  stream_file::stage s;
  json_reader from(v, origin, path);
  std::string type;
  from.text("name", s.name);
  from.text("stage", type);
  if (s.name.empty() || s.name.find('.') != std::string::npos)
    from.refuse("name", "is missing, or has a dot in it; connections name the stage by it");
  require_name(from, s.name);
  if (type.empty()) from.refuse("stage", "is missing; it is a type of stages");
  s.kind = catalog.find(type);
  if (s.kind == nullptr)
    from.refuse("stage", fmt::format("there are no stages of the type '{}'; known are {}{}", type,
                                     list_of(names_of(catalog)), did_you_mean(type, names_of(catalog))));
  set_default_options(s);
  from.value("options", [&](json_node const& o, std::string const& where) {
    read_options(*s.kind, o, origin, where, s.options.data());
  });
  from.text("device", s.device);
  from.number("replicas", 1, 64, s.how.replicas);
  from.number("attempts", 1, 1000, s.how.attempts);
  from.number("max_restarts", 0, 65'535, s.how.supervise.max_restarts);
  from.done();
  return s;
}

/// The stages' places in the file.
using places_by_name = std::map<std::string, std::uint32_t, std::less<>>;

/// Finds "stage.port", or "stage" if it has one such port that must be connected.
void find_port(stream_file const& file, places_by_name const& places, json_reader const& from,
               char const* field, std::string const& given, bool is_input, std::uint32_t& stage,
               std::uint32_t& port) {
  auto const* const kind_of_port = is_input ? "input" : "output";
  if (given.empty())
    from.refuse(field, fmt::format("is missing; it is an {}, such as stage.video", kind_of_port));
  auto const dot = given.find('.');
  auto const stage_name = given.substr(0, dot);
  auto const place = places.find(stage_name);
  if (place == places.end())
    from.refuse(field,
                fmt::format("there is no stage '{}'; there are {}{}", stage_name,
                            list_of(names_of(file.stages)), did_you_mean(stage_name, names_of(file.stages))));
  stage = place->second;
  auto const& ports = is_input ? file.stages[stage].kind->inputs : file.stages[stage].kind->outputs;
  if (dot == std::string::npos) {
    auto const required = [](port_kind const& p) { return !p.is_optional; };
    auto const only = std::ranges::find_if(ports, required);
    if (std::ranges::count_if(ports, required) != 1)
      from.refuse(field,
                  fmt::format("name the {} of '{}': {}", kind_of_port, given, list_of(names_of(ports))));
    port = static_cast<std::uint32_t>(only - ports.begin());
    return;
  }
  auto const name = given.substr(dot + 1);
  auto const p = std::ranges::find(ports, name, &port_kind::name);
  if (p == ports.end())
    from.refuse(field, fmt::format("'{}' has no {} '{}'; it has {}{}", stage_name, kind_of_port, name,
                                   list_of(names_of(ports)), did_you_mean(name, names_of(ports))));
  port = static_cast<std::uint32_t>(p - ports.begin());
}

stream_file::connection read_connection(json_node const& v, std::string const& origin,
                                        std::string const& path, stream_file const& file,
                                        places_by_name const& places) {
  stream_file::connection c;
  json_reader from(v, origin, path);
  std::string output, input, how;
  from.text("from", output);
  from.text("to", input);
  from.text("delivery", how);
  from.number("capacity", 1, 65'536, c.how.capacity);
  from.done();
  find_port(file, places, from, "from", output, false, c.from, c.output);
  find_port(file, places, from, "to", input, true, c.to, c.input);
  if (!how.empty()) {
    delivery const all[] = {delivery::lossless, delivery::every, delivery::latest};
    c.how.how = all[word(from, "delivery", how, {"lossless", "every", "latest"})];
  }
  return c;
}

std::string replace_number(std::string text, std::uint32_t number) {
  return with_field(std::move(text), "n", fmt::format("{}", number + 1));
}

/// Replaces {n} in the texts of a stage's options; {{n}} stands for {n} itself.
void number_texts(stage_kind const& kind, void* options, std::uint32_t number) {
  for (auto const& f : options_in(kind, options)) {
    auto const* const to = std::get_if<option_field::text>(&f.at);
    if (to == nullptr || std::strstr(to->at, "{n}") == nullptr) continue;
    auto const text = replace_number(to->at, number);
    if (text.size() >= to->bytes)
      throw graph_error(fmt::format("the option {} becomes '{}', which is longer than {} bytes", f.name,
                                    shown_url(text), to->bytes - 1));
    std::memset(to->at, 0, to->bytes);
    std::memcpy(to->at, text.data(), text.size());
  }
}

/// On a device, or on the GPU that plays kernels beside one: "opencl". Throws graph_error.
void place(stream_file::stage const& s, runtime& rt, stage_options& how) {
  std::vector<std::string> names;
  for (std::uint32_t d = 0; d < rt.device_count(); ++d) {
    auto const* const player = player_beside(rt, d);
    names.push_back(rt.info(d).name);
    if (names.back() == s.device) {
      how.device = d;
      how.kernels = kernel_choice::host;
      return;
    }
    if (player == nullptr) continue;
    names.push_back(player->name());
    if (names.back() != s.device) continue;
    how.device = d;
    how.kernels = kernel_choice::player;
    return;
  }
  throw graph_error(fmt::format("the stage '{}' is to work on '{}', but the runtime has {}{}", s.name,
                                s.device, list_of(names), did_you_mean(s.device, names)));
}

}  // namespace

stream_file parse_stream_file(std::string const& text, std::string const& origin,
                              stage_catalog const& catalog) {
  auto const root = parse_json_file(text, origin);
  stream_file f;
  f.graph.name = "stream";
  json_reader from(root, origin);
  from.text("name", f.graph.name);
  if (f.graph.name.empty()) from.refuse("name", "is empty; leave it out, or name the graph");
  require_name(from, f.graph.name);
  from.real("rate", 0, 1e6, f.graph.rate);
  from.flag("paced", f.graph.paced);
  from.number("ticks", 0, largest_number, f.graph.ticks);
  from.number("window", 1, 1024, f.graph.window);
  double slow_ms = 0;
  from.real("slow_ms", 0, 1e6, slow_ms);
  f.graph.slow = std::chrono::nanoseconds(static_cast<std::int64_t>(slow_ms * 1e6));
  std::string use = "auto";
  from.text("backend", use);
  backend const backends[] = {backend::automatic, backend::cpu,      backend::cpu,   backend::cuda,
                              backend::metal,     backend::emulated, backend::opencl};
  f.graph.use =
      backends[word(from, "backend", use, {"auto", "cpu", "none", "cuda", "metal", "emulated", "opencl"})];
  from.flag("strict", f.graph.strict);
  from.number("repeat", 1, 1024, f.repeat);
  from.object("runtime", [&](json_node const& o, std::string const& path) {
    config_fields::read(f.runtime, o, [&](std::size_t) { return fmt::format("{}: {}", origin, path); });
  });
  places_by_name places;
  from.list("stages", [&](json_node const& v, std::string const& path) {
    auto s = read_stage(v, origin, path, catalog);
    if (!places.try_emplace(s.name, static_cast<std::uint32_t>(f.stages.size())).second)
      throw config_error(fmt::format("{}: {}.name: there is a stage '{}' already", origin, path, s.name));
    f.stages.push_back(std::move(s));
  });
  from.list("connections", [&](json_node const& v, std::string const& path) {
    f.connections.push_back(read_connection(v, origin, path, f, places));
  });
  from.done();
  if (f.stages.empty()) from.refuse("stages", "is missing or empty; a graph has at least one stage");
  return f;
}

stream_file load_stream_file(std::string const& path, stage_catalog const& catalog) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path))
    throw config_error(fmt::format("{}: cannot be read; name an existing JSON file", path));
  return parse_stream_file(std::string(std::istreambuf_iterator<char>(in), {}), path, catalog);
}

std::uint32_t add_stage(stream_file& file, std::string name, stage_kind const& kind) {
  set_default_options(file.stages.emplace_back(stream_file::stage{.name = std::move(name), .kind = &kind}));
  return static_cast<std::uint32_t>(file.stages.size() - 1);
}

void set_option(stream_file& file, std::string const& assignment, std::string const& origin) {
  auto const equals = assignment.find('='), dot = assignment.find('.');
  if (equals == std::string::npos || dot == std::string::npos || dot > equals)
    throw config_error(fmt::format("{}: '{}' must be STAGE.OPTION=VALUE", origin, shown_url(assignment)));
  auto const stage = assignment.substr(0, dot);
  auto const found = std::ranges::find(file.stages, stage, &stream_file::stage::name);
  if (found == file.stages.end())
    throw config_error(fmt::format("{}: there is no stage '{}'; there are {}{}", origin, stage,
                                   list_of(names_of(file.stages)),
                                   did_you_mean(stage, names_of(file.stages))));
  set_option(*found->kind, assignment.substr(dot + 1, equals - dot - 1), assignment.substr(equals + 1),
             fmt::format("{}: {}", origin, stage), found->options.data());
}

graph_options options_of_copy(stream_file const& file, std::uint32_t number, runtime& rt) {
  auto o = file.graph;
  if (file.repeat == 1) return o;
  auto const numbered = replace_number(o.name, number);
  o.name = numbered != o.name ? numbered : fmt::format("{}-{}", o.name, number + 1);
  // All hosts, and one accelerator.
  std::vector<std::uint32_t> accelerators;
  for (std::uint32_t d = 0; d < rt.device_count(); ++d)
    (rt.buffers(d).home() != nullptr ? accelerators : o.devices).push_back(d);
  if (!accelerators.empty()) o.devices.push_back(accelerators[number % accelerators.size()]);
  return o;
}

void add_stages(graph& g, stream_file const& file, std::uint32_t number, runtime& rt) {
  for (auto const& s : file.stages) {
    auto how = s.how;
    if (!s.device.empty()) place(s, rt, how);
    auto options = s.options;
    number_texts(*s.kind, options.data(), number);
    g.add_untyped(*s.kind, replace_number(s.name, number), options.data(), how);
  }
  for (auto const& c : file.connections) g.connect_untyped(&g, c.from, c.output, &g, c.to, c.input, c.how);
}

}  // namespace rondo::streams
