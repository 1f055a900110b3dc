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

/// Paths of PEM files. Without `ca` the authorities that the gRPC library trusts apply.
struct Tls {
  std::string ca{};    // the authority that signed the server's certificate
  std::string cert{};  // the client's certificate with its chain, for a server that requires one (mTLS); needs `key`
  std::string key{};

  bool isEmpty() const { return ca.empty() && cert.empty() && key.empty(); }

  /// @throws std::invalid_argument if a file cannot be read or the files do not match
  std::shared_ptr<grpc::ChannelCredentials> credentials() const {
    if (cert.empty() != key.empty()) {
      throw std::invalid_argument("tls.cert and tls.key belong together. Set both or neither.");
    }
    const grpc::SslCredentialsOptions pem{read("ca", ca), read("key", key), read("cert", cert)};
    // Validated here, because the library accepts anything; calls would then wait for a connection that it never opens.
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
    if (!file) throw std::invalid_argument("The file of tls." + name + " cannot be read: " + path + ".");
    return text;
  }

  static std::invalid_argument unusable(const std::string& paths) {
    ERR_clear_error();
    return std::invalid_argument("TLS cannot use " + paths + ". Are they PEM files that match?");
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
    // A key with a pass phrase must fail instead of asking on the terminal.
    const auto refuse = [](char*, int, int, void*) { return 0; };
    return {PEM_read_bio_PrivateKey(source(text).get(), nullptr, refuse, nullptr), EVP_PKEY_free};
  }
};

/// Distinguishes a fault of the certificates from a connection that merely broke.
///
/// A server that rejects a certificate may simply close the connection (Node's do) after the handshake has ended on this
/// side. Only repetition distinguishes that from a server that stops at that moment.
class TlsDiagnosis {
 public:
  void recordAnswer() { isAnswered_ = true; }

  /// @returns nothing if the cause may be another one and a retry may succeed
  std::optional<ServiceError> explain(const std::string& address, const std::string& reason) {
    // Matched against the messages of OpenSSL and gRPC. The TypeScript and Python clients match the same ones.
    std::string words = reason;
    std::transform(words.begin(), words.end(), words.begin(), [](unsigned char c) { return c == '_' ? ' ' : std::tolower(c); });
    const auto has = [&](std::initializer_list<const char*> parts) {
      return std::any_of(parts.begin(), parts.end(), [&](const char* part) { return words.find(part) != std::string::npos; });
    };
    const auto refusal = [&](const std::string& text, const char* hint) {
      return ServiceError::local(kTlsRefused, address + " " + text + " (" + reason + ").", false, false, hint);
    };
    if (has({"verify failed", "verification check failed", "not in peer certificate"})) {
      return refusal("presents a certificate that this client does not trust",
                     "Set tls.ca to the certificate of the authority that signed it, and use an address that the "
                     "certificate names.");
    }
    if (has({"alert"}) && has({"certificate", "unknown ca", "handshake failure", "access denied"})) {
      return refusal("rejects this client, which has no certificate that the server trusts", kGiveCertificate);
    }
    if (has({"wrong version", "packet length too long", "unsupported protocol", "protocol version"})) {
      return refusal("does not use TLS, or only a version that this client does not support",
                     "Is this the port that uses TLS? Without TLS the address begins with grpc://.");
    }
    if (isAnswered_ || !has({"socket closed", "endpoint read failed", "connection reset", "broken pipe"})) return {};
    const int closed = ++closed_;
    if (closed < kClosedLimit) return {};
    return refusal("closed " + std::to_string(closed) + " connections without an answer", kGiveCertificate);
  }

 private:
  /// Closed connections before a certificate is suspected. A server that is starting behind a proxy closes a few, too.
  static constexpr int kClosedLimit = 5;
  static constexpr const char* kGiveCertificate =
      "If the server requires client certificates (mTLS), set tls.cert and tls.key to a valid certificate of an authority "
      "that the server trusts.";

  std::atomic<bool> isAnswered_ = false;
  std::atomic<int> closed_ = 0;
};

}  // namespace interstice
