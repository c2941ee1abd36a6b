#include "runtime/service/net/credentials.hpp"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>

#include "runtime/base/config.hpp"
#include "runtime/base/errc.hpp"
#include "runtime/net/trusted_path.hpp"

namespace rondo::service {

namespace ssl = boost::asio::ssl;

namespace {

void require(error_code const& ec, std::filesystem::path const& file, char const* what) {
  if (ec) throw config_error(fmt::format("{}: {}: {}", file.string(), what, ec.message()));
}

std::unique_ptr<ssl::context> modern(ssl::context::method method) {
  auto context = std::make_unique<ssl::context>(method);
  auto* const c = context->native_handle();
  SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
  // Of TLS 1.2 only what TLS 1.3 kept: an exchange of temporary keys, and authenticated ciphers.
  if (SSL_CTX_set_cipher_list(c, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1)
    throw std::runtime_error("TLS: this OpenSSL has none of the ciphers ECDHE+AESGCM and ECDHE+CHACHA20");
  SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION);
  return context;
}

/// Throws config_error if other users can read the file, or if it is not a regular file.
void require_private(std::filesystem::path const& file, char const* what_it_holds) {
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode))
    throw config_error(fmt::format("{}: cannot be read; it must hold {}", file.string(), what_it_holds));
  if ((about.st_mode & 077) != 0)
    throw config_error(fmt::format("{}: other users can read it; run chmod 600 on it", file.string()));
  if (about.st_uid != ::geteuid() && about.st_uid != 0)
    throw config_error(fmt::format("{}: belongs to user {}; it must belong to this user or to root",
                                   file.string(), about.st_uid));
  if (auto const why = why_not_trusted(file.parent_path()); !why.empty())
    throw config_error(fmt::format("{}: {}", file.string(), why));
}

constexpr std::size_t shortest_token = 16;

}  // namespace

std::string read_token(std::filesystem::path const& file) {
  require_private(file, "the token that clients send");
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw config_error(
        fmt::format("{}: cannot be read; it must hold the token that clients send", file.string()));
  std::string const text(std::istreambuf_iterator<char>(in), {});
  auto const begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
  if (begin == std::string::npos)
    throw config_error(fmt::format("{}: is empty; write a long random token to it", file.string()));
  auto token = text.substr(begin, end - begin + 1);
  if (token.size() < shortest_token)
    throw config_error(fmt::format(
        "{}: the token has only {} characters and could be guessed; use a random one of at least {}",
        file.string(), token.size(), shortest_token));
  return token;
}

std::unique_ptr<ssl::context> server_tls(std::filesystem::path const& certificate,
                                         std::filesystem::path const& key) {
  require_private(key, "the private key of tls_certificate");
  auto context = modern(ssl::context::tls_server);
  error_code ec;
  context->use_certificate_chain_file(certificate.string(), ec);
  require(ec, certificate, "is not a PEM certificate");
  context->use_private_key_file(key.string(), ssl::context::pem, ec);
  require(ec, key, "is not a PEM private key, or does not match the certificate");
  // Sessions are not resumed: nothing is kept, computed or sent for clients that have left.
  SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context->native_handle(), 0);
  return context;
}

std::chrono::sys_seconds expiry_of(ssl::context& service) {
  auto const expires = [](X509 const* certificate) {
    std::tm at{};
    ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &at);
    return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&at)));
  };
  auto first = expires(SSL_CTX_get0_certificate(service.native_handle()));
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get0_chain_certs(service.native_handle(), &chain);
  for (int i = 0; i < sk_X509_num(chain); ++i) first = std::min(first, expires(sk_X509_value(chain, i)));
  return first;
}

std::unique_ptr<ssl::context> client_tls(std::filesystem::path const& authorities) {
  auto context = modern(ssl::context::tls_client);
  error_code ec;
  if (authorities.empty())
    context->set_default_verify_paths(ec);
  else
    context->load_verify_file(authorities.string(), ec);
  require(ec, authorities, "contains no PEM certificates");
  context->set_verify_mode(ssl::verify_peer);
  return context;
}

}  // namespace rondo::service
