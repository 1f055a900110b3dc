#pragma once

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>

#include "interstice/error.hpp"

namespace interstice {

/// Paths of PEM files. Without `ca` the authorities count that gRPC's library knows.
struct Tls {
  std::string ca{};    // who signed the server's certificate
  std::string cert{};  // this side's own with its chain, for a server that asks for one (mTLS); goes with `key`
  std::string key{};

  bool isEmpty() const { return ca.empty() && cert.empty() && key.empty(); }

  /// @throws std::invalid_argument when the files cannot be read or do not fit together
  std::shared_ptr<grpc::ChannelCredentials> credentials() const {
    if (cert.empty() != key.empty()) {
      throw std::invalid_argument("tls.cert and tls.key belong together: give both, or neither");
    }
    const grpc::SslCredentialsOptions pem{read("ca", ca), read("key", key), read("cert", cert)};
    // Looked at here, for the library takes anything: calls then wait for a connection that it never begins to make.
    if (!ca.empty() && !certificateOf(pem.pem_root_certs)) throw unusable(ca);
    const auto own = certificateOf(pem.pem_cert_chain);
    const auto ownKey = keyOf(pem.pem_private_key);
    const bool fits = cert.empty() || (own && ownKey && X509_check_private_key(own.get(), ownKey.get()) == 1);
    ERR_clear_error();
    if (!fits) throw unusable(cert + ", " + key);
    return grpc::SslCredentials(pem);
  }

 private:
  static std::string read(const std::string& name, const std::string& path) {
    if (path.empty()) return "";
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) throw std::invalid_argument("the file of tls." + name + " cannot be read: " + path);
    return text;
  }

  static std::invalid_argument unusable(const std::string& paths) {
    ERR_clear_error();
    return std::invalid_argument("TLS cannot use " + paths + ". Are they PEM files that fit together?");
  }

  template <typename T>
  using Owned = std::unique_ptr<T, void (*)(T*)>;
  static Owned<BIO> source(const std::string& text) {
    return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), [](BIO* bio) { BIO_free(bio); }};
  }
  static Owned<X509> certificateOf(const std::string& text) {
    return {PEM_read_bio_X509(source(text).get(), nullptr, nullptr, nullptr), X509_free};
  }
  static Owned<EVP_PKEY> keyOf(const std::string& text) {
    // A key with a pass phrase must fail where the library would ask on the terminal.
    const auto refuse = [](char*, int, int, void*) { return 0; };
    return {PEM_read_bio_PrivateKey(source(text).get(), nullptr, refuse, nullptr), EVP_PKEY_free};
  }
};

/// Tells what is wrong with the certificates from a connection that merely broke.
///
/// A server that does not take a certificate may just close the connection (Node's do), after the handshake has ended for
/// this side. Nothing tells that from a server that dies at that moment, but that it happens again and again.
class Handshakes {
 public:
  void noteAnswer() { isAnswered_ = true; }

  /// @returns nothing when it may be something else, and another try has a chance
  std::optional<ServiceError> explain(const std::string& address, const std::string& reason) {
    // By the words of OpenSSL and of gRPC. The TypeScript and Python clients look for the same.
    std::string words = reason;
    std::transform(words.begin(), words.end(), words.begin(), [](unsigned char c) { return c == '_' ? ' ' : std::tolower(c); });
    const auto has = [&](std::initializer_list<const char*> parts) {
      return std::any_of(parts.begin(), parts.end(), [&](const char* part) { return words.find(part) != std::string::npos; });
    };
    const auto refusal = [&](const std::string& told, const char* hint) {
      return ServiceError::local(kTlsRefused, address + " " + told + " (" + reason + ").", false, false, hint);
    };
    if (has({"verify failed", "verification check failed", "not in peer certificate"})) {
      return refusal("shows a certificate that this side does not trust",
                     "Give the certificate of the authority that signed it as tls.ca, and call the server by a name that it holds.");
    }
    if (has({"alert"}) && has({"certificate", "unknown ca", "handshake failure", "access denied"})) {
      return refusal("does not take this client, for want of a certificate that it trusts", kGiveCertificate);
    }
    if (has({"wrong version", "packet length too long", "unsupported protocol", "protocol version"})) {
      return refusal("does not speak TLS, or none that this side knows",
                     "Is this the port that speaks TLS? Without it the address begins with grpc://.");
    }
    if (isAnswered_ || !has({"socket closed", "endpoint read failed", "connection reset", "broken pipe"})) return {};
    const int closed = ++closed_;
    if (closed < kClosedLimit) return {};
    return refusal("has closed " + std::to_string(closed) + " connections without an answer to any", kGiveCertificate);
  }

 private:
  /// Of a server that has never answered; one that is just starting behind a proxy does so too, but not for long.
  static constexpr int kClosedLimit = 5;
  static constexpr const char* kGiveCertificate =
      "If it asks its clients for certificates (mTLS): give tls.cert and tls.key, signed by the authority that the server "
      "trusts, and valid now.";

  std::atomic<bool> isAnswered_ = false;
  std::atomic<int> closed_ = 0;
};

}  // namespace interstice
