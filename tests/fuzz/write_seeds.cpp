// Writes the binary part of tests/fuzz/corpus, from which fuzzing starts. Run it again after a change of a format:
//
//   build/dev/tests/fuzz/fuzz_seeds tests/fuzz/corpus
//
// The JSON files there are written by hand.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>

#include "actors/streams/network/wire.hpp"
#include "generated/basics_schema.hpp"
#include "generated/golden_schema.hpp"
#include "runtime/sharing/share_packets.hpp"
#include "runtime/state/checkpoint_file.hpp"
#include "runtime/state/recording_file.hpp"
#include "runtime/streams/state/saved_graph.hpp"
#include "tests/fuzz/checkpoint_module.hpp"
#include "wire_objects/wire_generated.h"

namespace {

namespace fs = std::filesystem;
namespace wire = rondo::wire;

void write(fs::path const& file, std::string const& bytes) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// A frame with the given request or response.
template <class Native>
std::string frame(Native const& root) {
  flatbuffers::FlatBufferBuilder b;
  b.FinishSizePrefixed(Native::TableType::Pack(b, &root));
  return {reinterpret_cast<char const*>(b.GetBufferPointer()), b.GetSize()};
}

template <class Body>
std::string request(Body body) {
  wire::requestT root;
  root.id = 7;
  root.body.Set(std::move(body));
  return frame(root);
}

template <class Body>
std::string response(Body body) {
  wire::responseT root;
  root.id = 7;
  root.body.Set(std::move(body));
  return frame(root);
}

void write_wire(fs::path const& folder) {
  // The first byte determines how the stream is split.
  std::string const whole = "\x3f", bytewise(1, '\0');
  wire::helloT hello;
  hello.version = 1;
  hello.session = 42;
  hello.token = "secret";
  hello.program = "rondo";
  wire::sendT send;
  send.actor = std::make_unique<wire::actor_name>(3, 1);
  send.name = "clicks";
  send.type = 99;
  send.wants_reply = true;
  send.deadline_us = 1000;
  send.key = 5;
  send.payload = {1, 2, 3, 4, 5, 6, 7, 8};
  wire::launchT launch;
  launch.name = "clicks";
  launch.behaviour = "rondo::basics::counter";
  write(folder / "session", whole + request(hello) + request(launch) + request(send));
  write(folder / "bytewise", bytewise + request(send) + request(wire::listT{}));
  wire::controlT control;
  control.name = "clicks";
  write(folder / "control",
        whole + request(control) + request(wire::inspectT{}) + request(wire::describeT{}));

  wire::outcomeT outcome;
  outcome.status = 4;
  outcome.reason = "mailbox_full";
  outcome.payload = {1, 2, 3};
  wire::foundT found;
  found.actor = std::make_unique<wire::actor_name>(3, 1);
  found.behaviour = "counter";
  write(folder / "answers", whole + response(wire::welcomeT{}) + response(outcome) + response(found));
  wire::inspectionT inspection;
  inspection.line = std::make_unique<wire::actor_lineT>();
  inspection.line->name = "clicks";
  inspection.depths.resize(2);
  write(folder / "inspection", whole + response(std::move(inspection)));
  wire::descriptionT description;
  description.behaviours.push_back(std::make_unique<wire::behaviour_lineT>());
  description.behaviours[0]->name = "counter";
  description.behaviours[0]->messages.push_back(std::make_unique<wire::message_lineT>());
  description.schemas.push_back(std::make_unique<wire::blobT>());
  description.schemas[0]->bytes = {1, 2, 3};
  write(folder / "description", whole + response(std::move(description)));
  wire::trace_reportT trace;
  trace.hops.push_back(std::make_unique<wire::trace_hopT>());
  trace.hops[0]->name = "clicks";
  trace.devices.push_back("cpu");
  write(folder / "trace", whole + request(wire::tracesT{}) + response(std::move(trace)));
}

std::string body_of(rondo::checkpoint_image const& image) {
  return text_of(encode_checkpoint_body(image, rondo_fuzz::checkpoint_module()));
}

void write_checkpoints(fs::path const& folder) {
  rondo::checkpoint_image image;
  image.written_us = 1'700'000'000'000'000;
  write(folder / "empty", body_of(image));
  auto const module = rondo_fuzz::checkpoint_module();
  for (std::uint16_t b = 0; b < 2; ++b) {
    rondo::saved_actor actor;
    actor.id = {b, 1};
    actor.name = "actor" + std::to_string(b);
    actor.behaviour = b;
    actor.capacity = 32;
    actor.state_bytes.resize(module[b].state_bytes);
    rondo::saved_message mail;
    mail.body.header.type = module[b].messages[0].id;
    mail.body.bytes = module[b].messages[0].bytes;
    actor.mail.assign(2, mail);
    actor.arriving.assign(b, mail);
    image.actors.push_back(actor);
  }
  write(folder / "two_actors", body_of(image));
  auto& leader = image.actors.front();
  leader.name.clear();
  leader.mail.clear();
  leader.followers.totals.resize(3);
  leader.followers.states.resize(3 * leader.state_bytes.size());
  leader.followers.latencies.assign(1, {.follower = 2, .bucket = 7, .count = 1});
  image.actors.resize(1);
  write(folder / "a_population", body_of(image));
}

std::string bytes_of(fs::path const& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_recordings(fs::path const& folder) {
  auto const module = rondo_fuzz::checkpoint_module();
  rondo::recorded_message message{.actor = {0, 1}, .body = {}, .team = 1, .digest = 7};
  message.body.header.type = module[0].messages[0].id;
  message.body.bytes = rondo::max_payload_bytes;
  std::memset(message.body.payload, 5, rondo::max_payload_bytes);
  rondo::recorded_launch const launch{.actor = {0, 1}, .name = "clicks", .capacity = 32};
  std::vector<std::pair<char const*, rondo::recorded>> const entries{
      {"launch", launch}, {"message", message}, {"gone", rondo::recorded_end{{0, 1}}}};
  fs::create_directories(folder);
  auto const file = folder / "whole";
  fs::remove(file);
  {
    rondo::recorder writer(file, [](std::string const& why) { throw std::runtime_error(why); });
    writer.begin({}, module);
    writer.flush();
    // The body of each entry alone, too: the bytes added to the file, without the frame's 12 bytes.
    for (auto const& [name, entry] : entries) {
      auto const before = bytes_of(file).size();
      writer.append(entry);
      writer.flush();
      write(folder / name, bytes_of(file).substr(before + 12));
    }
    writer.close();
  }
}

/// Steps of tls_fuzz.cpp.
template <class T>
std::string bytes_in(T const& t) {
  return {reinterpret_cast<char const*>(&t), sizeof t};
}

void write_packets(fs::path const& folder) {
  namespace streams = rondo::streams;
  namespace share = rondo::share;
  streams::reader_hello hello{};
  hello.terms = streams::wire_terms::from({"rondo::video::image", "640x480 i420", 460'800, 12});
  write(folder / "reader", bytes_in(hello));
  streams::writer_hello answer{};
  answer.terms = hello.terms;
  streams::write_text(answer.reason, sizeof answer.reason, "another type of frames");
  write(folder / "writer", bytes_in(answer));
  write(folder / "importer", bytes_in(share::hello{}));
  write(folder / "exporter", bytes_in(share::welcome{}));
  write(folder / "refusal", bytes_in(share::refusal{}));
  write(folder / "announcement", bytes_in(share::announcement{}));
  write(folder / "settled", bytes_in(share::settled{}));
}

void write_saved_graphs(fs::path const& folder) {
  auto const file = fs::temp_directory_path() / "rondo-seed-graph";
  std::vector<std::byte> const scratch(24, std::byte{7});
  rondo::streams::write_saved_graph(file,
                                    {.file = {},
                                     .name = "studio",
                                     .next_tick = 250,
                                     .stages = {{"pattern", "rondo::video::test_pattern", 0, 250, 0, {}},
                                                {"soft", "rondo::video::blur", 1, 249, 3, scratch}}});
  write(folder / "two_stages", bytes_of(file).substr(40));  // runtime/state/checked_file.hpp
  fs::remove(file);
}

void write_tls(fs::path const& folder) {
  auto const row = [](std::initializer_list<std::uint8_t> steps) {
    return std::string(steps.begin(), steps.end());
  };
  write(folder / "handshake_and_text", row({0, 0, 0, 0, 4, 40, 0, 0, 6, 9, 7, 1, 5, 0}));
  write(folder / "half_a_record", row({3, 9, 0x16, 3, 1, 2, 0, 'A', 'A', 'A', 'A', 5, 0, 7, 1}));
  write(folder / "in_parts", row({1, 5, 1, 200, 1, 255, 1, 255, 1, 255, 4, 200, 1, 7, 1, 255}));
  write(folder / "changed", row({0, 0, 0, 0, 4, 3, 2, 17, 4, 3, 0, 0}));
  write(folder / "key_updates", row({0, 0, 0, 0, 4, 3, 8, 100, 0, 0, 4, 3, 8, 255, 1, 50, 0, 0, 5, 0}));
  write(folder / "gone", row({0, 0, 4, 1, 7, 0, 5, 0, 6, 1}));
}

/// What scene_fuzz.cpp draws: items in and around a small picture, and some that are nowhere.
void write_scenes(fs::path const& folder) {
  auto const lists = [](std::uint8_t what, std::uint32_t floats_before, std::uint32_t floats) {
    std::string all{static_cast<char>(what), 90, 60};
    if (what % 5 == 2) all += {3, 80, 2, 20};  // of the links
    all += {100, 0};                           // the list has as many items as there are
    std::uint32_t random = 7;
    auto const next = [&random] { return random = random * 1664525 + 1013904223; };
    float const nowhere[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                             -1e30F, 1e6F, 0};
    for (std::uint32_t item = 0; item < 60; ++item) {
      for (std::uint32_t i = 0; i < floats_before; ++i) all += bytes_in(item + i);
      for (std::uint32_t i = 0; i < floats; ++i)
        all += bytes_in(next() >> 28 == 0 ? nowhere[(next() >> 16) % 5] : static_cast<float>(next() >> 24));
    }
    for (int i = 0; i < 64; ++i) all += static_cast<char>(next() >> 24);  // options
    return all;
  };
  write(folder / "boxes", lists(0, 1, 4));
  write(folder / "particles", lists(1, 1, 4));
  write(folder / "links", lists(2, 1, 4));
  write(folder / "lines", lists(3, 2, 4));
  write(folder / "curves", lists(8, 2, 4));
  write(folder / "sparks", lists(13, 2, 4));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::fputs("usage: fuzz_seeds FOLDER\n", stderr), 64;
  fs::path const corpus = arguments[1];
  write_wire(corpus / "wire");
  write_checkpoints(corpus / "checkpoint");
  write_recordings(corpus / "recording");
  write_tls(corpus / "tls");
  write_packets(corpus / "packets");
  write_saved_graphs(corpus / "saved_graph");
  write_scenes(corpus / "scene");
  write(corpus / "binary_schema" / "basics", text_of(rondo::generated::basics_schema()));
  write(corpus / "binary_schema" / "golden", text_of(rondo::generated::golden_schema()));
}
