#include "tests/certificate.hpp"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace rondo_test {

namespace {

void require_made(bool holds, char const* what) {
  if (!holds) throw std::runtime_error(std::string("a certificate for a test: ") + what);
}

}  // namespace

void write_certificate(std::filesystem::path const& certificate, std::filesystem::path const& key,
                       std::string const& name) {
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> const pair(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  std::unique_ptr<X509, decltype(&X509_free)> const x(X509_new(), &X509_free);
  require_made(pair && x, "no key could be made");
  X509_set_version(x.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(x.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x.get()), 24 * 3600);
  auto* const subject = X509_get_subject_name(x.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                             reinterpret_cast<unsigned char const*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(x.get(), subject);
  X509_set_pubkey(x.get(), pair.get());
  auto const names = "DNS:" + name;
  std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> const alternative(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str()), &X509_EXTENSION_free);
  X509_add_ext(x.get(), alternative.get(), -1);
  require_made(X509_sign(x.get(), pair.get(), EVP_sha256()) != 0, "the certificate could not be signed");
  std::unique_ptr<std::FILE, decltype(&std::fclose)> const c(std::fopen(certificate.c_str(), "w"),
                                                             &std::fclose);
  std::unique_ptr<std::FILE, decltype(&std::fclose)> const k(std::fopen(key.c_str(), "w"), &std::fclose);
  require_made(c && k && PEM_write_X509(c.get(), x.get()) == 1 &&
                   PEM_write_PrivateKey(k.get(), pair.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1,
               "the certificate could not be written");
  std::filesystem::permissions(key, std::filesystem::perms::owner_read);
}

}  // namespace rondo_test
