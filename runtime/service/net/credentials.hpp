// Credentials: token, certificate and key, read from files.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <filesystem>
#include <memory>
#include <string>

namespace rondo::service {

/// The word in `file`, without the white space around it. Throws config_error: unreadable, empty, under 16 characters, or
/// others may read it.
std::string read_token(std::filesystem::path const& file);
/// TLS 1.2 and later for a service. Throws config_error naming the file and what OpenSSL says of it, or that others may read
/// the key.
std::unique_ptr<boost::asio::ssl::context> server_tls(std::filesystem::path const& certificate,
                                                      std::filesystem::path const& key);
/// The same for a client that trusts those who signed `authorities`, or, where it is empty, whom the system trusts.
std::unique_ptr<boost::asio::ssl::context> client_tls(std::filesystem::path const& authorities);

}  // namespace rondo::service
