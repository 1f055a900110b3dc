#pragma once

#include <condition_variable>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <sstream>
#include <stop_token>

#include "interstice/deadline.hpp"
#include "interstice/tls.hpp"
#include "interstice/v1/collision.grpc.pb.h"
#include "interstice/wire.hpp"

namespace interstice {

/// How the library keeps its connections.
inline grpc::ChannelArguments channelArguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // The client retries calls itself (retry.hpp): only it knows that a frame and a key make repeated sending safe, and the
  // library must not wait longer than the client before it reconnects. The library's minimum backoff is also the time
  // limit of a connection attempt, which is long with TLS and a distant or busy server: it stays at 20 s.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // While a call waits, the library asks for a sign of life. A connection that carries nothing more, as after a router has
  // forgotten it, is then broken, and the call is sent again on another one: without this, every later call would wait on
  // it, too. The service computes on other threads and answers such a ping at once.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 60'000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // as many as a long call needs
  return arguments;
}

/// The common part of all calls of a client.
struct Connection {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::CollisionService::Stub> stub;
  std::string apiKey;  // empty = none
  Retry retry;
  Seconds timeout;
  Seconds allowance;  // see Deadline
  std::string address;
  std::shared_ptr<TlsDiagnosis> tlsDiagnosis;  // null without encryption

  void recordAnswer() const {
    if (tlsDiagnosis) tlsDiagnosis->recordAnswer();
  }

  /// @param limit of the attempt @param isAnswered see errorOf
  ServiceError refusalOf(const grpc::Status& status, std::optional<Seconds> limit, bool isAnswered = false) const {
    auto error = errorOf(status, isAnswered);
    if (error.code() == kTimeout) return timedOut(limit);
    if (error.code() != kUnreachable) recordAnswer();
    if (!tlsDiagnosis || error.code() != kUnreachable) return error;
    const auto refusal = tlsDiagnosis->explain(address, status.error_message());
    return refusal ? *refusal : error;
  }

  /// @param limit what the call allowed this attempt
  ServiceError timedOut(std::optional<Seconds> limit) const {
    const char* hint = "Increase timeout. Where the call takes a time budget, a server answers within it.";
    if (limit) {
      hint = timeout < *limit ? "Increase timeout, which is shorter than what the time budget allows."
                              : "Is the server stopped or overloaded? If not, increase the time budget or allowance.";
    }
    std::ostringstream message;
    message << address << " did not answer within " << std::round(within(limit).count() * 1000) / 1000 << " s.";
    return ServiceError::local(kTimeout, message.str(), false, true, hint);
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

  /// What an attempt with this limit may take.
  Seconds within(std::optional<Seconds> limit) const { return limit ? std::min(*limit, timeout) : timeout; }

  std::chrono::system_clock::time_point endOf(std::optional<Seconds> limit) const {
    return std::chrono::system_clock::now() + std::chrono::duration_cast<Clock::duration>(within(limit));
  }

  /// One attempt of a unary call. @param session id of the session concerned, or empty
  /// @param limit what the call allows this attempt; unset = as long as the client does @throws ServiceError
  template <typename Answer, typename Request, typename Method>
  Answer call(Method method, const Request& request, const std::string& routing,
              const std::string& session = "", std::optional<Seconds> limit = {}) const {
    grpc::ClientContext context;
    prepare(context, routing, session);
    context.set_deadline(endOf(limit));
    Answer answer;
    const auto status = (stub.get()->*method)(&context, request, &answer);
    if (!status.ok()) throw refusalOf(status, limit);
    recordAnswer();
    return answer;
  }

  /// One attempt of a call that answers with several messages; `take` receives each of them.
  /// @param limit as of `call` @throws ServiceError, and exceptions of `take`, which end the call
  template <typename Message, typename Request, typename Method, typename Take>
  void stream(Method method, const Request& request, Take&& take, std::optional<Seconds> limit = {}) const {
    grpc::ClientContext context;
    prepare(context, "");
    context.set_deadline(endOf(limit));
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
    if (!status.ok()) throw refusalOf(status, limit, isAnswered);
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

  /// Whether a step has reached its limit, which has cancelled the stream; the step may have its answer nevertheless.
  bool isLate() const { return isLate_; }

  /// @param limit what the call allows this step; unset = as long as the client does
  /// @throws ServiceError; in-band refusals leave the stream open, except for those that end it by the contract
  v1::StepResponse step(const v1::StepRequest& request, const std::function<void(const v1::Progress&)>& onProgress = {},
                        std::optional<Seconds> limit = {}) {
    v1::StepStreamResponse answer;
    {
      // A blocking read has no deadline of its own. The end of the scope joins the thread, which publishes isLate_.
      std::jthread watch([&](std::stop_token stop) {
        std::mutex mutex;
        std::condition_variable_any ended;
        std::unique_lock lock(mutex);
        ended.wait_for(lock, stop, connection_.within(limit), [] { return false; });
        if (stop.stop_requested()) return;
        isLate_ = true;
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
    if (isLate_) throw connection_.timedOut(limit);
    throw status.ok() ? ServiceError::local(kUnreachable, "The stream ended.", true)
                      : connection_.refusalOf(status, limit, isAnswered_);
  }

 private:
  const Connection& connection_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StepRequest, v1::StepStreamResponse>> stream_;
  bool isAnswered_ = false;
  bool isFinished_ = false;
  bool isLate_ = false;
};

}  // namespace interstice
