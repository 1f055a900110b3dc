#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>

#include "interstice/v1/collision.grpc.pb.h"
#include "interstice/wire.hpp"

namespace interstice {

/// What every call of a client has in common.
struct Connection {
  std::unique_ptr<v1::CollisionService::Stub> stub;
  std::string apiKey;  // empty = none
  Retry retry;
  Seconds timeout;

  void prepare(grpc::ClientContext& context, const std::string& routing, const std::string& session = "") const {
    if (!apiKey.empty()) context.AddMetadata("authorization", "Bearer " + apiKey);
    // For a proxy to hash on: all requests of a session go to one server.
    if (!routing.empty()) context.AddMetadata("x-session-id", routing);
    // The server learns the session before the message has come, and can refuse before it is sent.
    if (!session.empty()) context.AddMetadata("interstice-session", session);
  }

  Clock::duration limit() const { return std::chrono::duration_cast<Clock::duration>(timeout); }

  /// One try of a unary call. @param session that it is about, empty = none @throws ServiceError
  template <typename Answer, typename Request, typename Method>
  Answer call(Method method, const Request& request, const std::string& routing,
              const std::string& session = "") const {
    grpc::ClientContext context;
    prepare(context, routing, session);
    context.set_deadline(std::chrono::system_clock::now() + limit());
    Answer answer;
    const auto status = (stub.get()->*method)(&context, request, &answer);
    if (!status.ok()) throw errorOf(status);
    return answer;
  }
};

/// Steps on one stream: one request, one answer, over and over.
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

  /// @throws ServiceError; in-band refusals leave the stream open, but for those that end it by the contract
  v1::StepResponse step(const v1::StepRequest& request) {
    bool isLate = false;
    v1::StepStreamResponse answer;
    {
      // A blocking read has no deadline of its own. The scope joins the thread, which is what publishes isLate.
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
        if (!answer.has_progress()) break;
      }
      if (!isOpen) answer.Clear();
    }
    if (answer.has_error()) throw ServiceError(answer.error());
    if (answer.has_response()) return std::move(*answer.mutable_response());
    const auto status = stream_->Finish();
    isFinished_ = true;
    if (isLate) throw ServiceError::local(kTimeout, "No answer within the time limit of the client.");
    throw status.ok() ? ServiceError::local(kUnreachable, "The stream ended.", true) : errorOf(status, isAnswered_);
  }

 private:
  const Connection& connection_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StepRequest, v1::StepStreamResponse>> stream_;
  bool isAnswered_ = false;
  bool isFinished_ = false;
};

}  // namespace interstice
