/// Interstice from C++ over gRPC. Header only, on the stubs that the CMake file beside it makes from the contract:
///
///     interstice::Client client("127.0.0.1:50051");
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
  /// Default: not encrypted.
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
};

/// A server of Interstice. Every call is tried again where that is safe, and throws ServiceError.
class Client {
 public:
  /// @param address as in `127.0.0.1:50051`
  explicit Client(const std::string& address, const ClientOptions& options = {}) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetMaxSendMessageSize(-1);
    // Tries are this header's own (retry.hpp): only it knows that a frame and a key make sending again safe, and the library
    // must not wait longer than they do before it connects again.
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
    const auto channel = grpc::CreateCustomChannel(address, options.credentials, arguments);
    connection_ = {v1::CollisionService::NewStub(channel), options.apiKey, options.retry, options.timeout};
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
    return persist(connection_.retry, Clock::time_point::max(),
                   [&] { return connection_.call<Answer>(method, request, ""); });
  }

  Connection connection_;
};

}  // namespace interstice
