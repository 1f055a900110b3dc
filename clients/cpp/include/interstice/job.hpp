#pragma once

#include <functional>
#include <stdexcept>
#include <utility>

#include "interstice/connection.hpp"

namespace interstice {

/// A resolve, a step or an untangling that the server computes on its own: no connection waits for it. The job outlives
/// this object and its process; the client must outlive this object. Every call is retried if that is safe, and throws
/// ServiceError.
class Job {
 public:
  using Listener = std::function<void(const v1::Job&)>;

  /// Used by the client; see Client::submit and Client::job.
  Job(const Connection& connection, std::string id) : connection_(&connection), id_(std::move(id)) {}

  const std::string& id() const { return id_; }

  /// The current state, progress and times. @throws JOB_NOT_FOUND for a job that the server has lost
  v1::Job status() const { return ask(Seconds(0)); }

  /// Waits for the end of the job, whether it succeeds (JOB_DONE) or fails (JOB_FAILED).
  /// @param onStatus called with the status about once a second, in this thread
  v1::Job wait(const Listener& onStatus = {}) const {
    // A request must be answered well before its attempt times out.
    const auto longest = std::min(onStatus ? Seconds(1) : Seconds(20), connection_->timeout / 2);
    for (;;) {
      auto job = ask(longest);
      if (onStatus) onStatus(job);
      if (job.has_ended()) return job;
    }
  }

  /// Waits for the end of a resolve or a step and fetches the answer.
  /// @throws ServiceError with the error that the job ended with; std::logic_error if it is an untangling
  v1::ResolveResponse result(const Listener& onStatus = {}) const {
    auto answer = fetch(onStatus);
    if (answer.has_untangle()) throw std::logic_error("job " + id_ + " is an untangling; untangled() has its answer");
    return answer;
  }

  /// The same for an untangling. @throws std::logic_error if it is not one
  v1::UntangleResponse untangled(const Listener& onStatus = {}) const {
    auto answer = fetch(onStatus);
    if (!answer.has_untangle()) throw std::logic_error("job " + id_ + " is no untangling; result() has its answer");
    return std::move(*answer.mutable_untangle());
  }

  /// Stops the job if it has not ended, and forgets it and its answer. It is not an error if the job no longer exists.
  void remove() const {
    v1::DeleteJobRequest request;
    request.set_job_id(id_);
    try {
      call<v1::DeleteJobResponse>(&Stub::DeleteJob, request);
    } catch (const ServiceError& error) {
      if (error.code() != "JOB_NOT_FOUND") throw;
    }
  }

 private:
  using Stub = v1::CollisionService::Stub;

  v1::ResolveResponse fetch(const Listener& onStatus) const {
    const auto job = wait(onStatus);
    if (job.state() == v1::JOB_FAILED) throw ServiceError(job.error());
    v1::GetJobResultRequest request;
    request.set_job_id(id_);
    auto answer = call<v1::ResolveResponse>(&Stub::GetJobResult, request);
    const bool isWhole = answer.has_positions() || (answer.has_untangle() && answer.untangle().has_positions());
    if (!isWhole) throw ServiceError::unexpected("The result of the job has no positions.");
    return answer;
  }

  v1::Job ask(Seconds wait) const {
    v1::GetJobRequest request;
    request.set_job_id(id_);
    setDuration(*request.mutable_wait(), wait);
    auto job = call<v1::Job>(&Stub::GetJob, request);
    if (job.id().empty()) throw ServiceError::unexpected("The answer has no job.");
    return job;
  }

  template <typename Answer, typename Request, typename Method>
  Answer call(Method method, const Request& request) const {
    return connection_->withRetries(Clock::time_point::max(), [&] { return connection_->call<Answer>(method, request, ""); });
  }

  const Connection* connection_;
  std::string id_;
};

}  // namespace interstice
