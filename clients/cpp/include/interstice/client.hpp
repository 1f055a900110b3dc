/// Interstice from C++ over gRPC. Header only, with stubs that CMakeLists.txt generates from the contract:
///
///     interstice::Client client("grpc://127.0.0.1:50051");
///     auto session = client.session(mesh, positions);
///     auto result = session.step(target);
#pragma once

#include "interstice/job.hpp"
#include "interstice/session.hpp"

namespace interstice {

struct ClientOptions {
  /// Visible ASCII without spaces; empty = none.
  std::string apiKey{};
  Retry retry{};
  /// Time limit of one attempt: the longest time budget that a server grants by default, the eighth of it by which the
  /// answer may be late, and half a minute for the transfer. At most 2,147,483 s.
  Seconds timeout{705};
  /// What a call may take beyond its time budget and the eighth of it by which the server may be late: for the way there
  /// and back.
  Seconds allowance{30};
  /// Certificates for `grpcs://`, if those that the gRPC library trusts are not sufficient.
  Tls tls{};
  /// Alternative to `tls` for other kinds of gRPC credentials.
  std::shared_ptr<grpc::ChannelCredentials> credentials{};
};

/// A server of Interstice. Every call is retried if that is safe, and throws ServiceError.
class Client {
 public:
  /// @param url for example `grpc://127.0.0.1:50051`, or `grpcs://` for TLS; an address without a scheme means `grpc://`
  /// @throws std::invalid_argument if the address or an option cannot work, the options do not match the address, or TLS
  /// cannot use the files
  explicit Client(const std::string& url, const ClientOptions& options = {}) {
    const auto [address, isEncrypted] = addressOf(url);
    checkApiKey(options.apiKey);
    checkRetry(options.retry);
    checkTime("timeout", options.timeout);
    const auto allowance = checkedAllowance("allowance", options.allowance);
    if (!isEncrypted && !options.tls.isEmpty()) {
      throw std::invalid_argument("The option tls needs an address that begins with grpcs://, not " + url + ".");
    }
    if (options.credentials && !options.tls.isEmpty()) {
      throw std::invalid_argument("The options tls and credentials exclude each other.");
    }
    auto credentials = options.credentials;
    if (!credentials) credentials = isEncrypted ? options.tls.credentials() : grpc::InsecureChannelCredentials();
    const auto channel = grpc::CreateCustomChannel(address, credentials, channelArguments());
    connection_ = {channel, v1::CollisionService::NewStub(channel), options.apiKey, options.retry, options.timeout,
                   allowance, url, isEncrypted || options.credentials ? std::make_shared<TlsDiagnosis>() : nullptr};
  }

  /// Opens a session. @param start [3·V], free of intersections
  template <typename T>
  Session session(v1::Mesh mesh, const std::vector<T>& start, SessionOptions options = {}) const {
    return Session(connection_, std::move(mesh), positionsOf(std::span<const T>(start)), std::move(options));
  }

  /// Resolves one pair of start and target; the server keeps no state. Here and below a time budget covers all attempts
  /// together.
  v1::ResolveResponse resolve(const v1::ResolveRequest& request) const {
    return matching(callInBudget<v1::ResolveResponse>(&Stub::Resolve, request), request.target());
  }

  /// The same, with progress several times while the server computes. @param onProgress called in this thread
  v1::ResolveResponse resolve(const v1::ResolveRequest& request,
                              const std::function<void(const v1::Progress&)>& onProgress) const {
    auto whole = inBudget(request, [&](const v1::ResolveRequest& part, std::optional<Seconds> limit) {
      std::optional<v1::ResolveResponse> answer;
      const auto take = [&](v1::ResolveStreamResponse& message) {
        if (message.has_progress()) onProgress(message.progress());
        if (message.has_response()) answer = std::move(*message.mutable_response());
      };
      connection_.stream<v1::ResolveStreamResponse>(&Stub::ResolveStream, part, take, limit);
      if (!answer) throw ServiceError::local(kUnreachable, "The stream ended.", true);
      return std::move(*answer);
    });
    return matching(std::move(whole), request.target());
  }

  /// Submits a resolve, a step or an untangling as a job, which no connection waits for. A submission whose answer was
  /// lost is sent again with its key (a random one unless the request has one), so that there is only one job.
  Job submit(v1::SubmitJobRequest request) const {
    if (request.idempotency_key().empty()) request.set_idempotency_key(randomKey());
    auto id = callWithRetries<v1::Job>(&Stub::SubmitJob, request).id();
    if (id.empty()) throw ServiceError::unexpected("The answer to a submission has no id.");
    return job(std::move(id));
  }

  /// A job that was submitted earlier, perhaps by another process. Sends no request.
  Job job(std::string id) const { return Job(connection_, std::move(id)); }

  /// One page of your jobs; `next_page_token` of the answer requests the next one.
  v1::ListJobsResponse jobs(const v1::ListJobsRequest& request = {}) const {
    return callWithRetries<v1::ListJobsResponse>(&Stub::ListJobs, request);
  }

  /// Tests whether this state, or this straight path, intersects.
  v1::CheckResponse check(const v1::CheckRequest& request) const {
    return callInBudget<v1::CheckResponse>(&Stub::Check, request);
  }

  /// Diagnoses a mesh, even one that other calls refuse.
  v1::DiagnoseResponse diagnose(const v1::DiagnoseRequest& request) const {
    return callInBudget<v1::DiagnoseResponse>(&Stub::Diagnose, request);
  }

  /// Brings positions that may intersect to a state that does not; the status of the report says whether it is free.
  /// @param onProgress called several times while the server computes, in this thread; may be empty
  v1::UntangleResponse untangle(const v1::UntangleRequest& request,
                                const std::function<void(const v1::UntangleProgress&)>& onProgress = {}) const {
    if (!onProgress) return matching(callInBudget<v1::UntangleResponse>(&Stub::Untangle, request), request.positions());
    auto whole = inBudget(request, [&](const v1::UntangleRequest& part, std::optional<Seconds> limit) {
      std::optional<v1::UntangleResponse> answer;
      const auto take = [&](v1::UntangleStreamResponse& message) {
        if (message.has_progress()) onProgress(message.progress());
        if (message.has_response()) answer = std::move(*message.mutable_response());
      };
      connection_.stream<v1::UntangleStreamResponse>(&Stub::UntangleStream, part, take, limit);
      if (!answer) throw ServiceError::local(kUnreachable, "The stream ended.", true);
      return std::move(*answer);
    });
    return matching(std::move(whole), request.positions());
  }

  /// Engines, limits and defaults of the server.
  v1::ServerInfo info() const { return callWithRetries<v1::ServerInfo>(&Stub::GetServerInfo, v1::GetServerInfoRequest()); }

 private:
  using Stub = v1::CollisionService::Stub;

  /// @throws ServiceError UNEXPECTED_ANSWER unless the answer has as many positions as were sent
  template <typename Answer>
  static Answer matching(Answer answer, const v1::Positions& sent) {
    const auto count = answer.positions().data().size();
    if (count == sent.data().size()) return answer;
    throw ServiceError::unexpected("The answer to " + std::to_string(sent.data().size()) + " bytes of positions has " +
                                   std::to_string(count) + " bytes.");
  }

  template <typename Answer, typename Request, typename Method>
  Answer callWithRetries(Method method, const Request& request) const {
    return connection_.withRetries(Clock::time_point::max(), [&] { return connection_.call<Answer>(method, request, ""); });
  }

  template <typename Answer, typename Request, typename Method>
  Answer callInBudget(Method method, const Request& request) const {
    return inBudget(request, [&](const Request& part, std::optional<Seconds> limit) {
      return connection_.call<Answer>(method, part, "", "", limit);
    });
  }

  /// Retries a call within the time budget of its request. @param attempt gets a request with what is left of it
  template <typename Request, typename Attempt>
  std::invoke_result_t<Attempt&, const Request&, std::optional<Seconds>> inBudget(const Request& request,
                                                                                   Attempt&& attempt) const {
    const Deadline deadline(budgetOf(request), connection_.allowance);
    std::optional<Request> again;  // a copy, for attempts after the first one
    bool isFirst = true;
    return connection_.withRetries(deadline.endsAt(), [&] {
      if (std::exchange(isFirst, false) || !deadline.left()) return attempt(request, deadline.limit());
      if (!again) again = request;
      setDuration(*again->mutable_time_budget(), *deadline.left());
      return attempt(*again, deadline.limit());
    });
  }

  Connection connection_;
};

}  // namespace interstice
