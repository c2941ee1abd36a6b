// Binary schemas made by hand, including some that flatc would never write although FlatBuffers' verifier accepts them.
#pragma once

#include <flatbuffers/reflection_generated.h>

#include <cstdint>
#include <string>
#include <vector>

namespace schemac_test {

struct field {
  std::string name;
  std::uint16_t offset = 0;
  reflection::BaseType type = reflection::UInt;
  std::int32_t index = -1;
  reflection::BaseType element = reflection::None;
  std::uint16_t length = 0;
};

struct object {
  std::string name;
  std::int32_t bytes = 4;
  std::int32_t align = 4;
  std::vector<field> fields;
  bool is_struct = true;
  bool is_message = true;
};

inline std::string schema_of(std::vector<object> const& objects, bool with_union = false) {
  flatbuffers::FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<reflection::Object>> made;
  for (auto const& o : objects) {
    std::vector<flatbuffers::Offset<reflection::Field>> fields;
    for (auto const& f : o.fields) {
      auto const type = reflection::CreateType(b, f.type, f.element, f.index, f.length);
      fields.push_back(reflection::CreateFieldDirect(b, f.name.c_str(), type, 0, f.offset));
    }
    std::vector<flatbuffers::Offset<reflection::KeyValue>> attributes;
    if (o.is_message) attributes.push_back(reflection::CreateKeyValueDirect(b, "message", "0"));
    made.push_back(reflection::CreateObjectDirect(b, o.name.c_str(), &fields, o.is_struct, o.align, o.bytes,
                                                  &attributes));
  }
  std::vector<flatbuffers::Offset<reflection::Enum>> enums;
  if (with_union) {
    std::vector<flatbuffers::Offset<reflection::EnumVal>> values{reflection::CreateEnumValDirect(b, "NONE")};
    auto const underlying = reflection::CreateType(b, reflection::UType);
    enums.push_back(reflection::CreateEnumDirect(b, "t.either", &values, true, underlying));
  }
  reflection::FinishSchemaBuffer(b, reflection::CreateSchemaDirect(b, &made, &enums));
  return std::string(reinterpret_cast<char const*>(b.GetBufferPointer()), b.GetSize());
}

}  // namespace schemac_test
