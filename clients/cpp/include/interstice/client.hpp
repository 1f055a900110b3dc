/// Interstice from C++ over gRPC. Header only, on the stubs that the CMake file beside it makes from the contract:
///
///     interstice::Client client("grpc://127.0.0.1:50051");
///     auto session = client.session(mesh, positions);
///     auto result = session.step(target);
#pragma once

#include "interstice/session.hpp"

namespace interstice {

struct ClientOptions {
  std::string apiKey{};
  Retry retry{};
  /// One try; as long as the longest time budget that a server grants by default, and half a minute for the way.
  Seconds timeout{630};
  /// Certificates for `grpcs://`, where those that gRPC's library knows will not do.
  Tls tls{};
  /// Instead of `tls`, what it cannot say: credentials of gRPC's own.
  std::shared_ptr<grpc::ChannelCredentials> credentials{};
};

/// A server of Interstice. Every call is tried again where that is safe, and throws ServiceError.
class Client {
 public:
  /// @param url as in `grpc://127.0.0.1:50051`, or `grpcs://` for TLS; an address alone is as `grpc://`
  /// @throws std::invalid_argument when the options do not fit the address, or TLS cannot use the files
  explicit Client(const std::string& url, const ClientOptions& options = {}) {
    const auto end = url.find("://");
    const auto scheme = end == std::string::npos ? "grpc" : url.substr(0, end);
    const auto address = end == std::string::npos ? url : url.substr(end + 3);
    const bool isEncrypted = scheme == "grpcs";
    if (!isEncrypted && scheme != "grpc") throw std::invalid_argument(url + " begins neither with grpc:// nor grpcs://");
    if (!isEncrypted && !options.tls.isEmpty()) {
      throw std::invalid_argument("tls needs an address that begins with grpcs://, not " + url);
    }
    if (options.credentials && !options.tls.isEmpty()) throw std::invalid_argument("give tls or credentials, not both");
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetMaxSendMessageSize(-1);
    // Tries are this header's own (retry.hpp): only it knows that a frame and a key make sending again safe, and the library
    // must not wait longer than they do before it connects again. Its least pause is no pause but the time that a connection
    // may take to be made, which with TLS and a server far away or at work is long: that stays at 20 s.
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
    auto credentials = options.credentials;
    if (!credentials) credentials = isEncrypted ? options.tls.credentials() : grpc::InsecureChannelCredentials();
    const auto channel = grpc::CreateCustomChannel(address, credentials, arguments);
    connection_ = {channel, v1::CollisionService::NewStub(channel), options.apiKey, options.retry, options.timeout, url,
                   isEncrypted || options.credentials ? std::make_shared<Handshakes>() : nullptr};
  }

  /// Opens a session. @param start [3·V], free of intersections
  template <typename T>
  Session session(v1::Mesh mesh, const std::vector<T>& start, SessionOptions options = {}) const {
    return Session(connection_, std::move(mesh), positionsOf(std::span<const T>(start)), std::move(options));
  }

  /// One pair, no state kept. The request's time budget counts for each try.
  v1::ResolveResponse resolve(const v1::ResolveRequest& request) const {
    return persistent<v1::ResolveResponse>(&Stub::Resolve, request);
  }

  /// Does this state, or this straight path, intersect?
  v1::CheckResponse check(const v1::CheckRequest& request) const {
    return persistent<v1::CheckResponse>(&Stub::Check, request);
  }

  /// What the server can do: engines, limits, defaults.
  v1::ServerInfo info() const { return persistent<v1::ServerInfo>(&Stub::GetServerInfo, v1::GetServerInfoRequest()); }

 private:
  using Stub = v1::CollisionService::Stub;

  template <typename Answer, typename Request, typename Method>
  Answer persistent(Method method, const Request& request) const {
    return connection_.persist(Clock::time_point::max(), [&] { return connection_.call<Answer>(method, request, ""); });
  }

  Connection connection_;
};

}  // namespace interstice
