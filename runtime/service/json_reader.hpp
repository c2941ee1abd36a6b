// Reads the fields of a JSON object one by one, and says of each what is wrong with it: a layer over Boost.JSON for what
// people write by hand.
//
// Errors are config_error: `origin: path: what was found; what would do`.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "runtime/config.hpp"

namespace rondo::service {

class json_reader {
 public:
  /// `path` is where `value` stands in the text: "" for all of it. Throws when it is no object.
  json_reader(boost::json::value const& value, std::string origin, std::string path = {});

  /// Each takes the field of that name, if it is there, and leaves `to` alone if it is not.
  void text(char const* name, std::string& to);
  void flag(char const* name, bool& to);
  void number(char const* name, std::uint64_t min, std::uint64_t max, std::uint64_t& to);
  template <class Number>
  void number(char const* name, std::uint64_t min, std::uint64_t max, Number& to) {
    std::uint64_t read = min;
    if (find(name) == nullptr) return;
    number(name, min, max, read);
    to = static_cast<Number>(read);
  }
  /// Gets each element of a list, with its path.
  void list(char const* name, std::function<void(boost::json::value const&, std::string const&)> const& use);
  void object(char const* name,
              std::function<void(boost::json::object const&, std::string const&)> const& use);

  /// Throws when there is a field that nobody asked for.
  void done() const;
  [[noreturn]] void refuse(std::string_view field, std::string_view why) const;

 private:
  boost::json::value const* find(char const* name);
  std::string path_of(std::string_view field) const;

  boost::json::object const* object_ = nullptr;
  std::string origin_, path_;
  std::set<std::string, std::less<>> known_;
};

/// Parses JSON with // comments. Throws config_error with the line; also for a field that an object has twice.
boost::json::value parse_json(std::string const& text, std::string const& origin);

}  // namespace rondo::service
