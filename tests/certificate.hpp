// A self-signed certificate for services that tests talk to by TLS.
#pragma once

#include <filesystem>
#include <string>

namespace rondo_test {

/// Writes a new self-signed certificate for `name` and its key. Throws std::runtime_error.
void write_certificate(std::filesystem::path const& certificate, std::filesystem::path const& key,
                       std::string const& name);

}  // namespace rondo_test
