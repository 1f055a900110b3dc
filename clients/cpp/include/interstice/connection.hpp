#pragma once

#include <condition_variable>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <stop_token>

#include "interstice/tls.hpp"
#include "interstice/v1/collision.grpc.pb.h"
#include "interstice/wire.hpp"

namespace interstice {

/// The common part of all calls of a client.
struct Connection {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::CollisionService::Stub> stub;
  std::string apiKey;  // empty = none
  Retry retry;
  Seconds timeout;
  std::string address;
  std::shared_ptr<TlsDiagnosis> tlsDiagnosis;  // null without encryption

  void recordAnswer() const {
    if (tlsDiagnosis) tlsDiagnosis->recordAnswer();
  }

  /// @param isAnswered see errorOf
  ServiceError refusalOf(const grpc::Status& status, bool isAnswered = false) const {
    auto error = errorOf(status, isAnswered);
    if (error.code() != kUnreachable && error.code() != kTimeout) recordAnswer();
    if (!tlsDiagnosis || error.code() != kUnreachable) return error;
    const auto refusal = tlsDiagnosis->explain(address, status.error_message());
    return refusal ? *refusal : error;
  }

  void prepare(grpc::ClientContext& context, const std::string& routing, const std::string& session = "") const {
    if (!apiKey.empty()) context.AddMetadata("authorization", "Bearer " + apiKey);
    // A proxy may hash on this header, so that all requests of a session go to one server.
    if (!routing.empty()) context.AddMetadata("x-session-id", routing);
    // The server knows the session before the message arrives and can refuse it early.
    if (!session.empty()) context.AddMetadata("interstice-session", session);
  }

  /// Does the work with the connection's retries, or with fewer attempts.
  template <typename Work>
  auto withRetries(Clock::time_point endsAt, Work&& work, int attempts = std::numeric_limits<int>::max()) const {
    auto policy = retry;
    policy.attempts = std::min(retry.attempts, attempts);
    return interstice::withRetries(policy, endsAt, work, [this](Seconds pause) {
      // The library reconnects only while a caller waits for its channel.
      const auto end = std::chrono::system_clock::now() + std::chrono::duration_cast<Clock::duration>(pause);
      channel->WaitForConnected(end);
      std::this_thread::sleep_until(end);
    });
  }

  Clock::duration limit() const { return std::chrono::duration_cast<Clock::duration>(timeout); }

  /// One attempt of a unary call. @param session id of the session concerned, or empty
  /// @param within shorter time limit than that of the client @throws ServiceError
  template <typename Answer, typename Request, typename Method>
  Answer call(Method method, const Request& request, const std::string& routing,
              const std::string& session = "", std::optional<Seconds> within = {}) const {
    grpc::ClientContext context;
    prepare(context, routing, session);
    const auto limit = std::chrono::duration_cast<Clock::duration>(std::min(timeout, within.value_or(timeout)));
    context.set_deadline(std::chrono::system_clock::now() + limit);
    Answer answer;
    const auto status = (stub.get()->*method)(&context, request, &answer);
    if (!status.ok()) throw refusalOf(status);
    recordAnswer();
    return answer;
  }

  /// One attempt of a call that answers with several messages; `take` receives each of them.
  /// @throws ServiceError, and exceptions of `take`, which end the call
  template <typename Message, typename Request, typename Method, typename Take>
  void stream(Method method, const Request& request, Take&& take) const {
    grpc::ClientContext context;
    prepare(context, "");
    context.set_deadline(std::chrono::system_clock::now() + limit());
    const auto reader = (stub.get()->*method)(&context, request);
    Message message;
    bool isAnswered = false;
    try {
      while (reader->Read(&message)) {
        isAnswered = true;
        recordAnswer();
        take(message);
      }
    } catch (...) {
      context.TryCancel();
      reader->Finish();
      throw;
    }
    const auto status = reader->Finish();
    if (!status.ok()) throw refusalOf(status, isAnswered);
  }
};

/// Steps on one stream: alternates one request and one answer.
class StepStream {
 public:
  StepStream(const Connection& connection, const std::string& routing) : connection_(connection) {
    connection.prepare(context_, routing);
    stream_ = connection.stub->StepStream(&context_);
  }

  ~StepStream() {
    context_.TryCancel();
    if (!isFinished_) stream_->Finish();
  }

  StepStream(const StepStream&) = delete;
  StepStream& operator=(const StepStream&) = delete;

  /// @throws ServiceError; in-band refusals leave the stream open, except for those that end it by the contract
  v1::StepResponse step(const v1::StepRequest& request, const std::function<void(const v1::Progress&)>& onProgress = {}) {
    bool isLate = false;
    v1::StepStreamResponse answer;
    {
      // A blocking read has no deadline of its own. The end of the scope joins the thread, which publishes isLate.
      std::jthread watch([&](std::stop_token stop) {
        std::mutex mutex;
        std::condition_variable_any ended;
        std::unique_lock lock(mutex);
        ended.wait_for(lock, stop, connection_.limit(), [] { return false; });
        if (stop.stop_requested()) return;
        isLate = true;
        context_.TryCancel();
      });
      bool isOpen = stream_->Write(request);
      while (isOpen && (isOpen = stream_->Read(&answer))) {
        isAnswered_ = true;
        connection_.recordAnswer();
        if (!answer.has_progress()) break;
        if (onProgress) onProgress(answer.progress());
      }
      if (!isOpen) answer.Clear();
    }
    if (answer.has_error()) throw ServiceError(answer.error());
    if (answer.has_response()) return std::move(*answer.mutable_response());
    const auto status = stream_->Finish();
    isFinished_ = true;
    if (isLate) throw ServiceError::local(kTimeout, "No answer within the time limit of the client.");
    throw status.ok() ? ServiceError::local(kUnreachable, "The stream ended.", true) : connection_.refusalOf(status, isAnswered_);
  }

 private:
  const Connection& connection_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StepRequest, v1::StepStreamResponse>> stream_;
  bool isAnswered_ = false;
  bool isFinished_ = false;
};

}  // namespace interstice
