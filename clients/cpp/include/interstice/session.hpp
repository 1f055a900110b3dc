#pragma once

#include <functional>
#include <future>

#include "interstice/connection.hpp"
#include "interstice/turns.hpp"

namespace interstice {

struct SessionOptions {
  v1::Parameters parameters{};
  std::string label{};
  std::optional<Seconds> idleTimeout{};  // unset = the server's default; 0 = until deleted
  /// What a step does if the service has lost answered frames (FRAME_LOST). False: the client creates the session again
  /// from the mesh and the last answer received, and makes the step there. True: the step throws, with
  /// `error().frame()` = the last frame that the service still has, and the next step continues from that one: send the
  /// lost frames again, and the answers have the same bytes. If the whole session is lost, that frame is the one that
  /// it was created from: 0, unless it was created again after a step of unknown outcome.
  bool throwsFrameLost = false;
  std::optional<v1::UntangleOptions> untangle{};  // with on_intersecting_start UNTANGLE in the parameters
  bool isStreaming = false;            // all steps on one stream of messages instead of one call per step
};

struct StepOptions {
  std::optional<Seconds> timeBudget{};  // of all attempts of the step together; see ClientOptions::allowance
  v1::OnBudget onBudget = v1::BUDGET_UNSPECIFIED;
  v1::Priority priority = v1::PRIORITY_UNSPECIFIED;
  std::optional<v1::Parameters> parameters{};  // for this step only; they take precedence over the session's
  std::optional<v1::Include> include{};
  std::optional<v1::Positions> start{};   // unset = the last answer
  std::vector<std::uint8_t> kinematic{};  // empty = as before; from this step on
  std::vector<float> masses{};            // empty = as before; from this step on
  /// Called several times while the server computes, in the thread of the step; it must not call the session. Such a
  /// step uses the stream.
  std::function<void(const v1::Progress&)> onProgress{};
};

/// Frames that the service had answered and has lost: those after `kept`, up to `answered`.
struct FrameLoss {
  std::uint64_t kept;
  std::uint64_t answered;
};

/// Positions in the scalar of the target, and the rest of the answer.
template <typename T>
struct StepResult {
  std::vector<T> positions;
  v1::StepResponse message;  // report, contacts, vertices; its positions are moved out to `positions`
  const v1::Report& report() const { return message.report(); }
};

/// A mesh that a server keeps from step to step. If the server loses the session (it was restarted, or removed the
/// session), the client recreates it from the mesh and the last answer received. Calls run one after the other, in the order
/// in which they were started. The client must outlive the session.
class Session {
 public:
  Session(const Connection& connection, v1::Mesh mesh, v1::Positions start, SessionOptions options)
      : connection_(connection), options_(std::move(options)), mesh_(std::move(mesh)), last_(std::move(start)) {
    if (options_.idleTimeout) checkPause("idleTimeout", *options_.idleTimeout);
    try {
      connection_.withRetries(Clock::time_point::max(), [&] { create(); });
    } catch (...) {
      forget();
      throw;
    }
  }

  /// Waits for the steps that have been started, and makes one attempt to end the session, of five seconds at most; an
  /// unavailable server ends it by its idle timeout.
  ~Session() {
    Turns::Turn(turns_).wait();
    abandon();
    forget();
  }

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// How the start was untangled, if on_intersecting_start requested it; its positions are those of frame 0.
  const std::optional<v1::UntangleResponse>& untangled() const { return untangled_; }

  /// How often the session was lost and recreated.
  int recreations() const { return recreations_; }

  /// The frames that were lost when the service last refused a step with FRAME_LOST. Do not call this while steps run.
  std::optional<FrameLoss> lastLoss() const { return lastLoss_; }

  /// Moves towards the target, [3·V]. @throws ServiceError; the session then keeps the state of the last answer, and the
  /// next step may follow.
  template <typename T>
  StepResult<T> step(const std::vector<T>& target, const StepOptions& options = {}) {
    const Turns::Turn turn(turns_);
    return stepIn(turn, target, options);
  }

  /// Starts a step and returns at once; the future holds the result, or throws what `step` would throw. Steps run in the
  /// order in which they were started. As with any future of std::async, destroying one waits for its step.
  template <typename T>
  std::future<StepResult<T>> stepAsync(std::vector<T> target, StepOptions options = {}) {
    auto work = [this, turn = Turns::Turn(turns_), target = std::move(target), options = std::move(options)]() mutable {
      // The future keeps this function object; the turn must end with the call.
      const Turns::Turn mine(std::move(turn));
      return stepIn(mine, target, options);
    };
    return std::async(std::launch::async, std::move(work));
  }

  /// Tests the last answer, or the positions that the question contains, for intersections.
  v1::CheckResponse check(v1::CheckRequest question = {}) {
    const Turns::Turn turn(turns_);
    turn.wait();
    const Deadline deadline(budgetOf(question), connection_.allowance);
    return withSession(deadline, [&](const std::string& id) {
      question.set_session_id(id);
      if (const auto left = deadline.left()) setDuration(*question.mutable_time_budget(), *left);
      return connection_.call<v1::CheckResponse>(&Stub::Check, question, routing_, id, deadline.limit());
    });
  }

  /// Ends the session after the steps that have been started. Returns false if the server was unavailable and ends it by its
  /// idle timeout.
  bool close() {
    const Turns::Turn turn(turns_);
    turn.wait();
    isClosed_ = true;
    stream_.reset();
    auto id = std::exchange(id_, std::nullopt);
    const auto deadline = id ? Deadline() : Deadline(kForgetLimit, Seconds(0));
    if (!id) id = takeUnseen();
    try {
      if (id) connection_.withRetries(deadline.endsAt(), [&] { remove(*id, deadline.left()); }, 3);
    } catch (const ServiceError& error) {
      if (error.code() == "SESSION_NOT_FOUND") return true;
      if (error.isRetryable() || error.code() == kTimeout) return false;
      throw;
    }
    return true;
  }

 private:
  using Stub = v1::CollisionService::Stub;

  /// Time limit for the deletion of a session after a failure, for which the caller waits.
  static constexpr Seconds kForgetLimit{5};

  /// The state that the server's session was created from.
  struct Base {
    std::uint64_t frame;  // the frame whose answer is `start`; 0 = the start of the caller
    v1::Mesh mesh;
    v1::Positions start;
  };

  template <typename T>
  StepResult<T> stepIn(const Turns::Turn& turn, const std::vector<T>& target, const StepOptions& options) {
    turn.wait();
    auto request = requestOf(std::span<const T>(target), options);
    const Deadline deadline(options.timeBudget, connection_.allowance);
    bool isUncertain = false;
    try {
      auto answer = withSession(deadline, [&](const std::string& id) {
        request.set_session_id(id);
        request.set_after_frame(answered_);
        if (const auto left = deadline.left()) setDuration(*request.mutable_time_budget(), *left);
        try {
          return send(request, options, deadline.limit());
        } catch (const ServiceError& error) {
          isUncertain = isUncertain || error.isUncertain();
          throw;
        }
      });
      keep(request, answer.positions());
      answered_ = lastFrame_ = request.frame();
      StepResult<T> result{unpack<T>(answer.positions().data()), std::move(answer)};
      result.message.clear_positions();
      return result;
    } catch (const ServiceError&) {
      // The server may have computed the step. The next one starts from the last answer received, in a new session.
      if (isUncertain) abandon();
      throw;
    } catch (...) {
      abandon();
      throw;
    }
  }

  template <typename T>
  v1::StepRequest requestOf(std::span<const T> target, const StepOptions& options) {
    v1::StepRequest request;
    // Every step has a new number, answered or not: a frame that may have been computed must not get another target.
    request.set_frame(++frame_);
    *request.mutable_target() = positionsOf(target);
    if (options.start) *request.mutable_start() = *options.start;
    if (options.parameters) *request.mutable_override() = *options.parameters;
    if (options.include) *request.mutable_include() = *options.include;
    if (!options.kinematic.empty()) request.set_kinematic(pack<std::uint8_t>(options.kinematic));
    if (!options.masses.empty()) request.set_masses(pack<float>(options.masses));
    if (options.onProgress) request.mutable_include()->set_progress(true);
    request.set_on_budget(options.onBudget);
    request.set_priority(options.priority);
    return request;
  }

  /// Does the work on a session that exists; recreates the session if necessary.
  template <typename Work>
  std::invoke_result_t<Work&, const std::string&> withSession(const Deadline& deadline, Work&& work) {
    if (isClosed_) throw ServiceError::local(kCancelled, "This session is closed.", false, false);
    return connection_.withRetries(deadline.endsAt(), [&] {
      for (bool hasLost = false;; hasLost = true) {
        if (!id_) {
          if (isBehind_) throw goBack();
          create(deadline.limit());
          recreations_++;
        }
        try {
          return work(*id_);
        } catch (const ServiceError& error) {
          // Without any frame the session is at its base, whose number the service does not know.
          if (options_.throwsFrameLost && error.code() == "FRAME_LOST" && error.error().frame() == 0) throw goBack();
          if (!isLost(error)) throw;
          if (options_.throwsFrameLost && (isBehind_ || answered_ > 0)) throw goBack();
          if (hasLost || Clock::now() >= deadline.endsAt()) {
            auto again = error.error();
            again.set_retryable(true);
            throw ServiceError(std::move(again));
          }
        }
        // The attempt that reaches a restarted server may be the last one, so it continues at once in a new session.
      }
    });
  }

  /// Whether the session must be created again; its id is then unset.
  bool isLost(const ServiceError& error) {
    const auto at = error.error().frame();
    const bool hasLostFrames = error.code() == "FRAME_LOST";
    // The service accepted a step whose answer never arrived: no step may continue from a state unknown to the caller.
    const bool isAhead = error.code() == "FRAME_CONFLICT" && at > answered_;
    if (hasLostFrames) lastLoss_ = FrameLoss{at, answered_};
    if (hasLostFrames && options_.throwsFrameLost) {
      answered_ = at;
      isBehind_ = true;
    }
    if (isAhead || (hasLostFrames && !options_.throwsFrameLost)) abandon();
    if (error.code() == "SESSION_NOT_FOUND") id_.reset();
    return !id_;
  }

  /// Makes the next step continue from the base of the session. @returns the refusal of this step
  ServiceError goBack() {
    lastLoss_ = FrameLoss{base_->frame, lastFrame_};
    mesh_ = base_->mesh;
    last_ = base_->start;
    lastFrame_ = base_->frame;
    answered_ = 0;
    isBehind_ = false;
    v1::Error error;
    error.set_code("FRAME_LOST");
    error.set_message("The server has lost the frames after " + std::to_string(base_->frame) + ", or the session with them.");
    error.set_hint("Send those frames again: they are computed to the same answers, in a new session if it is lost.");
    error.set_frame(base_->frame);
    return ServiceError(std::move(error));
  }

  v1::StepResponse send(const v1::StepRequest& request, const StepOptions& options, std::optional<Seconds> limit) {
    // Only the stream has messages before the answer.
    if (!options_.isStreaming && !options.onProgress) {
      return matching(request, connection_.call<v1::StepResponse>(&Stub::Step, request, routing_, request.session_id(), limit));
    }
    // The answer of the last step may have arrived as its limit cancelled the stream.
    if (stream_ && stream_->isLate()) stream_.reset();
    if (!stream_) stream_ = std::make_unique<StepStream>(connection_, routing_);
    try {
      return matching(request, stream_->step(request, options.onProgress, limit));
    } catch (const ServiceError& error) {
      // By the contract two refusals end the stream. Without an answer it has ended or is in an unknown state.
      const auto& code = error.code();
      const bool endsStream = code == "DRAINING" || code == "SESSION_NOT_FOUND" || code == kUnreachable;
      if (error.isUncertain() || endsStream) stream_.reset();
      throw;
    } catch (...) {
      // Thrown by the caller's listener before the answer has arrived.
      stream_.reset();
      throw;
    }
  }

  /// @throws ServiceError UNEXPECTED_ANSWER unless the positions have the number and the scalar of the target
  static v1::StepResponse matching(const v1::StepRequest& request, v1::StepResponse answer) {
    const auto& mine = request.target();
    const auto& its = answer.positions();
    const bool isSameScalar = (its.scalar() == v1::FLOAT64) == (mine.scalar() == v1::FLOAT64);
    if (isSameScalar && its.data().size() == mine.data().size()) return answer;
    throw ServiceError::unexpected("The answer to a step of " + std::to_string(mine.data().size()) + " bytes has " +
                                   std::to_string(its.data().size()) + " bytes, or another scalar.");
  }

  void keep(const v1::StepRequest& request, const v1::Positions& positions) {
    last_ = positions;
    isBehind_ = false;
    if (!request.masses().empty()) mesh_.set_masses(request.masses());
    if (request.kinematic().empty()) return;
    mesh_.set_kinematic(request.kinematic());
    // The kinematic flags of a step, one per vertex, replace those of the parts.
    for (auto& part : *mesh_.mutable_parts()) part.set_kinematic(false);
  }

  void create(std::optional<Seconds> limit = {}) {
    // The key is kept until the answer: repeating a creation whose answer was lost returns the same session.
    if (key_.empty()) key_ = randomKey();
    v1::CreateSessionRequest request;
    *request.mutable_mesh() = mesh_;
    *request.mutable_start() = last_;
    *request.mutable_parameters() = options_.parameters;
    request.set_label(options_.label);
    if (options_.idleTimeout) setDuration(*request.mutable_idle_timeout(), *options_.idleTimeout);
    if (options_.untangle) *request.mutable_untangle() = *options_.untangle;
    request.set_idempotency_key(key_);
    v1::Session session;
    try {
      session = connection_.call<v1::Session>(&Stub::CreateSession, request, routing_, "", limit);
      if (session.id().empty()) throw ServiceError::unexpected("The answer to the creation of a session has no id.");
    } catch (const ServiceError& error) {
      isCreationUncertain_ = isCreationUncertain_ || error.isUncertain();
      throw;
    }
    id_ = session.id();
    key_.clear();
    isCreationUncertain_ = false;
    answered_ = 0;
    if (session.has_untangle()) {
      // If the session is lost from now on, it is created again from the untangled state, with nothing to untangle.
      untangled_ = std::move(*session.mutable_untangle());
      last_ = untangled_->positions();
      options_.untangle.reset();
      options_.parameters.set_on_intersecting_start(v1::REJECT);
    }
    if (options_.throwsFrameLost) base_ = Base{lastFrame_, mesh_, last_};
  }

  /// Identifies the session of a creation that was abandoned while its answer might still have arrived.
  std::optional<std::string> takeUnseen() {
    if (!std::exchange(isCreationUncertain_, false)) return std::nullopt;
    return "key:" + key_;
  }

  /// Best effort: the server deletes a session that it has created, or stops creating it.
  void forget() {
    const auto unseen = takeUnseen();
    try {
      if (unseen) remove(*unseen, kForgetLimit);
    } catch (const ServiceError&) {
    }
  }

  void abandon() {
    stream_.reset();  // a stream belongs to one session
    const auto id = std::exchange(id_, std::nullopt);
    try {
      if (id) remove(*id, kForgetLimit);
    } catch (const ServiceError&) {
      // Best effort: the session also ends by its idle timeout.
    }
  }

  void remove(const std::string& id, std::optional<Seconds> limit) {
    v1::DeleteSessionRequest request;
    request.set_session_id(id);
    connection_.call<v1::DeleteSessionResponse>(&Stub::DeleteSession, request, routing_, "", limit);
  }

  Turns turns_;
  const Connection& connection_;
  SessionOptions options_;
  const std::string routing_ = randomKey();
  v1::Mesh mesh_;
  v1::Positions last_;
  std::optional<std::string> id_;  // unset if the server has no session, or one in an unknown state
  std::string key_;                // idempotency key of a creation without an answer
  bool isCreationUncertain_ = false;  // an attempt has ended without an answer, so the server may have the session
  std::optional<Base> base_;          // kept only if the caller sends lost frames again
  std::unique_ptr<StepStream> stream_;
  std::optional<v1::UntangleResponse> untangled_;
  std::uint64_t frame_ = 0;
  std::uint64_t lastFrame_ = 0;  // of the last answer received
  std::uint64_t answered_ = 0;  // the last frame that the server's session has answered
  bool isBehind_ = false;  // the service has lost frames that the caller sends again: last_ is the answer of one of them
  std::optional<FrameLoss> lastLoss_;
  int recreations_ = 0;
  bool isClosed_ = false;
};

}  // namespace interstice
