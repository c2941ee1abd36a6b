// Credentials: token, certificate and key, read from files.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

namespace rondo::service {

/// The token in `file`, without surrounding white space. Throws config_error if the file cannot be read, is empty, has
/// fewer than 16 characters, or can be read by other users.
std::string read_token(std::filesystem::path const& file);
/// TLS 1.2 or later for a service, with forward secrecy: a stolen key decrypts no recorded connection. Throws
/// config_error with the file's name and OpenSSL's message, or if other users can read the key.
std::unique_ptr<boost::asio::ssl::context> server_tls(std::filesystem::path const& certificate,
                                                      std::filesystem::path const& key);
/// When the certificate that a service presents expires, or the first one of its chain to do so.
std::chrono::sys_seconds expiry_of(boost::asio::ssl::context& service);
/// The same protocols for a client. It trusts the certificate authorities in the file `authorities` or, if that is
/// empty, the system's.
std::unique_ptr<boost::asio::ssl::context> client_tls(std::filesystem::path const& authorities);

}  // namespace rondo::service
