#include "actors/workloads/readings.hpp"

#include <algorithm>
#include <cmath>

#include "tests/catch.hpp"

using namespace rondo::workloads;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

std::vector<float> values_of(sensor_readings const& r, std::uint32_t sensor) {
  auto const all = r.of(sensor);
  return {all.begin(), all.end()};
}
using floats = std::vector<float>;

}  // namespace

TEST_CASE("a CSV file is read by sensor, in the order of its lines", "[workloads]") {
  auto const r = parse_readings("# kitchen\r\na,1\r\nb , -2.5\n\n\"a\",3e2\nb,4", "x");
  REQUIRE(r.sensors() == 2);
  CHECK(r.names == std::vector<std::string>{"a", "b"});
  CHECK(values_of(r, 0) == floats{1, 300});
  CHECK(values_of(r, 1) == floats{-2.5, 4});
}

TEST_CASE("a first line may name the columns, and the separator is found", "[workloads]") {
  auto const r = parse_readings(
      "\xef\xbb\xbftime;Value;note;SENSOR\n09:00;21.5;\"a; b\";hall\n09:01;22;;\"3;4\"\n", "x");
  REQUIRE(r.sensors() == 2);
  CHECK(r.names == std::vector<std::string>{"hall", "3;4"});
  CHECK(values_of(r, 0) == floats{21.5});
  CHECK(values_of(r, 1) == floats{22});
  CHECK(values_of(parse_readings("a\t1\na\t2", "x"), 0) == floats{1, 2});
}

TEST_CASE("readings that cannot be read are refused with their line, and what is wrong", "[workloads]") {
  std::pair<std::string, std::string> const refused[] = {
      {"", "x: there is no reading in it"},
      {"# nothing\nsensor,value\n", "x: there is no reading in it"},
      {"a,1\nb\n", "x:2: 'b' has 1 fields, not 2"},
      {"a,1\nb,2,3\n", "x:2: 'b,2,3' has 3 fields, not 2"},
      {"hello\n", "x:1: 'hello' is not 'sensor,value'"},
      {"id,temperature\na,1\n",
       "x:1: 'temperature' is not a value: a finite number, such as 21.5; a line that names"},
      {"sensor,degrees\na,1\n", "x:1: there is no column 'value'"},
      {"name,value\na,1\n", "x:1: there is no column 'sensor'"},
      {"a,1\na,nan\n", "x:2: 'nan' is not a value: a finite number"},
      {"a,inf\n", "x:1: 'inf' is not a value"},
      {"a,1e39\n", "x:1: '1e39' is not a value"},
      {"a,1e999\n", "x:1: '1e999' is not a value"},
      {"a,1.5x\n", "x:1: '1.5x' is not a value"},
      {"a,\n", "x:1: '' is not a value"},
      {"a;21,5\n", "x:1: '21,5' is not a value"},
      {",1\n", "x:1: the name of a sensor has 1 to 100 bytes, not 0"},
      {std::string(101, 'a') + ",1\n", "x:1: the name of a sensor has 1 to 100 bytes, not 101"},
      {"a\x1b[31m,1\n", "x:1: 'a?[31m' is not a name"},
      {"a\"b,1\n", "x:1: 'a\"b' is not a name"},
      {"\"a,1\n", "x:1: a quotation mark is not closed"},
      {"\"a\"b,1\n", "x:1: a quotation mark within a field"},
      {"a,1\n" + std::string(1001, ',') + "\n", "x:2: more than 1000 columns"},
      {"a,1\n" + std::string(100, 'b') + "\n", "x:2: '" + std::string(40, 'b') + "...' has 1 fields"},
  };
  for (auto const& [text, why] : refused) {
    INFO(text);
    CHECK_THROWS_WITH(parse_readings(text, "x"), StartsWith(why));
  }
}

TEST_CASE("random readings are the same for the same seed, scatter by 1, and have planted ones",
          "[workloads]") {
  random_readings const shape{20, 5000, 7};
  auto const r = generate_readings(shape);
  REQUIRE(r.sensors() == 20);
  CHECK(r.values == generate_readings(shape).values);
  CHECK(r.values != generate_readings({20, 5000, 8}).values);
  std::size_t planted = 0, far = 0;
  for (std::uint32_t s = 0; s < 20; ++s) {
    auto const all = r.of(s);
    REQUIRE(all.size() == 5000);
    double sum = 0, squares = 0, usual = 0;
    for (std::uint32_t n = 0; n < 5000; ++n)
      if (!is_planted(shape, s, n)) sum += all[n], ++usual;
    for (std::uint32_t n = 0; n < 5000; ++n) {
      auto const off = all[n] - sum / usual;
      if (is_planted(shape, s, n))
        ++planted, far += std::abs(off) > 4;
      else
        squares += off * off;
    }
    // By 1, and by the drift, which takes any value from -0.5 to 0.5.
    CHECK(squares / usual == Approx(1 + 1. / 12).margin(0.1));
  }
  CHECK(planted == Approx(100).margin(40));
  CHECK(far == planted);
}

TEST_CASE("the shape of random readings is read from text", "[workloads]") {
  auto const r = parse_random_readings("readings=4,sensors=20");
  CHECK((r.sensors == 20 && r.readings == 4 && r.seed == 1));
  CHECK(parse_random_readings("seed=7").seed == 7);
  CHECK_THROWS_WITH(parse_random_readings("size=20"),
                    Contains("'size' is none of sensors, readings and seed"));
  CHECK_THROWS_WITH(parse_random_readings("sensors=0"),
                    Contains("sensors is a whole number from 1 to 500000"));
  CHECK_THROWS_WITH(parse_random_readings("sensors"), Contains("sensors is a whole number"));
  CHECK_THROWS_WITH(parse_random_readings("seed=-1"), Contains("seed is a whole number"));
  CHECK_THROWS_WITH(parse_random_readings("readings=2x"), Contains("readings is a whole number"));
  CHECK_THROWS_WITH(parse_random_readings("readings=99999999999"), Contains("readings is a whole number"));
  CHECK_THROWS_WITH(parse_random_readings("sensors=500000,readings=1000000000"), Contains("more than"));
}
