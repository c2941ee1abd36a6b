// Translates a text in Metal's language to C++ for OpenCL, as far as RONDO_KERNEL and portable code use the language.
#pragma once

#include <string>
#include <vector>

namespace rondo::stand_in {

struct translated_kernel {
  std::string name;          // with its namespaces
  std::string plain_name;    // without, which OpenCL knows it by
  std::vector<int> indices;  // of Metal's arguments, in the order of OpenCL's
  std::vector<bool> values;  // arguments that are passed as bytes
};

struct translated_text {
  std::string bitcode;  // a file, which clang has written
  std::vector<translated_kernel> kernels;
  std::string errors;  // of the compiler; empty: it has compiled
};

/// Compiles it, once for each text.
translated_text const& translate(std::string const& metal);

}  // namespace rondo::stand_in
