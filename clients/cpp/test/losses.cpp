// Sessions whose service loses frames, answers or streams.
#include <atomic>

#include "checks.hpp"

/// Answers a creation and records the metadata of each call.
class Recorder : public v1::CollisionService::Service {
 public:
  std::vector<std::string> named;  // session in the metadata, by call; "-" = none

  grpc::Status CreateSession(grpc::ServerContext* context, const v1::CreateSessionRequest*,
                             v1::Session* session) override {
    session->set_id("its-name");
    return record(*context), grpc::Status::OK;
  }
  grpc::Status Step(grpc::ServerContext* context, const v1::StepRequest*, v1::StepResponse*) override {
    return record(*context), grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "");
  }
  grpc::Status Check(grpc::ServerContext* context, const v1::CheckRequest*, v1::CheckResponse*) override {
    return record(*context), grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "");
  }

 private:
  void record(const grpc::ServerContext& context) {
    const auto& metadata = context.client_metadata();
    const auto found = metadata.find("interstice-session");
    named.push_back(found == metadata.end() ? "-" : std::string(found->second.data(), found->second.size()));
  }
};

void testMetadata() {
  Recorder recorder;
  const Served served(recorder);
  {
    const Client client(served.address());
    auto session = client.session(pair(), lowered<float>(0));
    refusalOf([&] { session.check(); });
    refusalOf([&] { client.check({}); });
    refusalOf([&] { session.step(lowered<float>(0)); });
  }
  served->Shutdown();
  const std::vector<std::string> expected = {"-", "its-name", "-", "its-name"};
  check(recorder.named == expected, "step and check name their session before their message arrives");
}

/// A service that loses frames on request.
class Forgetful : public v1::CollisionService::Service {
 public:
  std::atomic<std::uint64_t> at = 0;  // the last accepted frame
  std::atomic<int> creations = 0;
  std::atomic<bool> hasLostSession = false;
  std::atomic<int> breaks = 0, refusals = 0;  // of the next steps, in this order

  std::vector<float> opening;  // the start of the last creation

  grpc::Status CreateSession(grpc::ServerContext*, const v1::CreateSessionRequest* request, v1::Session* session) override {
    at = 0;
    hasLostSession = false;
    opening = unpack<float>(request->start().data());
    session->set_id("session-" + std::to_string(++creations));
    return grpc::Status::OK;
  }
  grpc::Status StepStream(grpc::ServerContext*,
                          grpc::ServerReaderWriter<v1::StepStreamResponse, v1::StepRequest>* stream) override {
    v1::StepRequest request;
    std::string id;
    while (stream->Read(&request)) {
      if (breaks > 0 && breaks--) return grpc::Status(grpc::StatusCode::UNAVAILABLE, "Socket closed");
      v1::StepStreamResponse answer;
      if (id.empty()) id = request.session_id();
      if (hasLostSession) {
        answer.mutable_error()->set_code("SESSION_NOT_FOUND");
      } else if (refusals > 0 && refusals--) {
        answer.mutable_error()->set_code("QUEUE_FULL");
      } else if (id != request.session_id()) {
        answer.mutable_error()->set_code("INVALID_PARAMETER");
      } else if (request.has_after_frame() && request.after_frame() == at) {
        at = request.frame();
        answer.mutable_response()->set_frame(at);
        *answer.mutable_response()->mutable_positions() = request.target();
      } else {
        answer.mutable_error()->set_code(request.after_frame() > at ? "FRAME_LOST" : "FRAME_CONFLICT");
        answer.mutable_error()->set_frame(at);
      }
      stream->Write(answer);
    }
    return grpc::Status::OK;
  }
};

void testLostFrames() {
  Forgetful service;
  const Served served(service);
  {
    const Client client(served.address());
    const auto target = lowered<float>(0.05f);
    auto session = client.session(pair(), lowered<float>(0), {.isStreaming = true});
    for (int k = 0; k < 3; k++) session.step(target);
    check(service.at == 3 && !session.lastLoss(), "every step names the frame before it");
    service.at = 1;
    check(session.step(target).message.frame() == 4 && session.recreations() == 1, "a session that has lost frames is made again");
    const auto loss = session.lastLoss();
    check(loss && loss->kept == 1 && loss->answered == 3, "and the client says which");
    service.at = 9;
    check(session.step(target).message.frame() == 5 && session.recreations() == 2, "so is one that is ahead of the client");

    auto exact = client.session(pair(), lowered<float>(0), {.throwsFrameLost = true, .isStreaming = true});
    for (int k = 0; k < 3; k++) exact.step(target);
    service.at = 1;
    const auto error = refusalOf([&] { exact.step(target); });
    check(error && error->code() == "FRAME_LOST" && error->error().frame() == 1, "or the step throws, with the frame");
    for (int k = 0; k < 3; k++) exact.step(target);
    check(service.at == 7 && exact.recreations() == 0, "and the lost frames can be sent again");
    service.hasLostSession = true;
    const auto all = refusalOf([&] { exact.step(target); });
    check(all && all->code() == "FRAME_LOST" && all->error().frame() == 0, "so it does when the session itself is lost");
    const auto lost = exact.lastLoss();
    check(lost && lost->kept == 0 && lost->answered == 7, "with everything since its creation");
    check(exact.step(target).message.frame() == 9 && exact.recreations() == 1, "and goes on from there");

    // The session is lost, too, before the lost frames are sent again.
    exact.step(target);
    service.at = 9;
    check(refusalOf([&] { exact.step(target); })->error().frame() == 9, "a frame is lost again");
    service.hasLostSession = true;
    check(refusalOf([&] { exact.step(target); })->error().frame() == 0, "and then everything");
    exact.step(target);
    service.at = 0;
    const auto none = refusalOf([&] { exact.step(target); });
    check(none && none->error().frame() == 0 && exact.recreations() == 2, "the service has kept the opening only");
    service.hasLostSession = true;
    check(exact.step(target).message.frame() > 9 && exact.recreations() == 3, "the session is made again from there");
    check(service.opening == lowered<float>(0), "which is the start of the caller");

    auto busy = client.session(pair(), lowered<float>(0), {.isStreaming = true});
    busy.step(target);
    service.breaks = 1;
    service.refusals = 1;
    const auto full = refusalOf([&] { busy.step(target); });
    check(full && full->code() == "QUEUE_FULL" && full->isUncertain(), "an attempt without an answer, then a refusal");
    check(!refusalOf([&] { busy.step(target); }) && busy.recreations() == 1, "the new session has a stream of its own");
  }
  served->Shutdown();
}

/// Creates sessions, and loses the answers on request.
class Muffled : public v1::CollisionService::Service {
 public:
  std::atomic<bool> losesAnswers = false;
  std::vector<std::string> keys, deleted;

  grpc::Status CreateSession(grpc::ServerContext*, const v1::CreateSessionRequest* request, v1::Session* session) override {
    keys.push_back("key:" + request->idempotency_key());
    session->set_id("session");
    return losesAnswers ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "Socket closed") : grpc::Status::OK;
  }
  grpc::Status Step(grpc::ServerContext*, const v1::StepRequest*, v1::StepResponse*) override {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "Socket closed");
  }
  grpc::Status DeleteSession(grpc::ServerContext*, const v1::DeleteSessionRequest* request,
                             v1::DeleteSessionResponse*) override {
    deleted.push_back(request->session_id());
    return grpc::Status::OK;
  }
};

void testGivenUpOpenings() {
  Muffled service;
  const Served served(service);
  {
    const Client client(served.address(), {.retry = {.attempts = 2, .firstPause = Seconds(0.001)}});
    const auto start = lowered<float>(0);
    service.losesAnswers = true;
    const auto error = refusalOf([&] { client.session(pair(), start); });
    check(error && error->code() == kUnreachable && service.keys.size() == 2, "an opening may end without an answer");
    check(service.deleted == std::vector<std::string>{service.keys[0]}, "what it may have left is deleted by its key");
    service.losesAnswers = false;
    auto session = client.session(pair(), start);
    refusalOf([&] { session.step(start); });
    service.losesAnswers = true;
    refusalOf([&] { session.step(start); });
    check(service.deleted.back() == "session" && session.close(), "a session may be closed while it is made again");
    check(service.deleted.back() == service.keys.back(), "and leaves nothing behind");
  }
  served->Shutdown();
}

void testRefusedStream() {
  const grpc::Status refused(grpc::StatusCode::UNAVAILABLE, "Received RST_STREAM with error code 7");
  const grpc::Status broken(grpc::StatusCode::UNAVAILABLE, "Socket closed");
  check(errorOf(refused).isRetryable() && !errorOf(refused).isUncertain(), "a refused call had no effect");
  check(errorOf(broken).isRetryable() && errorOf(broken).isUncertain(), "a broken call is uncertain");
  check(errorOf(refused, true).isUncertain(), "so is one on a stream that has received a message");
}

/// Answers without fields, as protobuf reads those of another service. With names, sessions and steps come further.
class Foreign : public v1::CollisionService::Service {
 public:
  std::atomic<bool> namesSessions = false;

  grpc::Status CreateSession(grpc::ServerContext*, const v1::CreateSessionRequest*, v1::Session* session) override {
    if (namesSessions) session->set_id("its-name");
    return grpc::Status::OK;
  }
  grpc::Status StepStream(grpc::ServerContext*,
                          grpc::ServerReaderWriter<v1::StepStreamResponse, v1::StepRequest>* stream) override {
    v1::StepRequest request;
    v1::StepStreamResponse answer;
    answer.mutable_response();
    while (stream->Read(&request)) stream->Write(answer);
    return grpc::Status::OK;
  }
  grpc::Status Step(grpc::ServerContext*, const v1::StepRequest*, v1::StepResponse*) override { return grpc::Status::OK; }
  grpc::Status Resolve(grpc::ServerContext*, const v1::ResolveRequest*, v1::ResolveResponse*) override {
    return grpc::Status::OK;
  }
  grpc::Status Untangle(grpc::ServerContext*, const v1::UntangleRequest*, v1::UntangleResponse*) override {
    return grpc::Status::OK;
  }
  grpc::Status SubmitJob(grpc::ServerContext*, const v1::SubmitJobRequest*, v1::Job*) override { return grpc::Status::OK; }
  grpc::Status GetJob(grpc::ServerContext*, const v1::GetJobRequest*, v1::Job*) override { return grpc::Status::OK; }
};

void testForeignAnswers() {
  Foreign service;
  const Served served(service);
  {
    const Client client(served.address());
    const auto start = lowered<float>(0);
    v1::ResolveRequest request;
    *request.mutable_mesh() = pair();
    *request.mutable_start() = *request.mutable_target() = positionsOf(std::span<const float>(start));
    const auto isForeign = [](auto&& work) {
      const auto error = refusalOf(work);
      return error && error->code() == kUnexpectedAnswer && error->isUncertain();
    };
    check(isForeign([&] { client.session(pair(), start); }), "a session without an id is not of this service");
    check(isForeign([&] { client.resolve(request); }), "nor is a resolve without positions");
    check(isForeign([&] { client.untangle(tangle()); }), "nor is an untangling");
    check(isForeign([&] { client.submit({}); }) && isForeign([&] { client.job("one").wait(); }), "nor is a job without an id");
    service.namesSessions = true;
    for (const bool isStreaming : {false, true}) {
      auto session = client.session(pair(), start, {.isStreaming = isStreaming});
      check(isForeign([&] { session.step(start); }), "nor is a step without positions");
    }
  }
  served->Shutdown();
}

/// Loses each session once, at the second attempt of its first step.
class Restarted : public v1::CollisionService::Service {
 public:
  std::atomic<int> creations = 0, steps = 0;

  grpc::Status CreateSession(grpc::ServerContext*, const v1::CreateSessionRequest*, v1::Session* session) override {
    session->set_id("session-" + std::to_string(++creations));
    return grpc::Status::OK;
  }
  grpc::Status Step(grpc::ServerContext*, const v1::StepRequest* request, v1::StepResponse* answer) override {
    if (++steps == 1) return grpc::Status(grpc::StatusCode::UNAVAILABLE, "Socket closed");
    *answer->mutable_positions() = request->target();
    return steps == 2 ? lost() : grpc::Status::OK;
  }

 private:
  static grpc::Status lost() {
    v1::Error error;
    error.set_code("SESSION_NOT_FOUND");
    google::protobuf::Any detail;
    detail.PackFrom(error);
    // google.rpc.Status, of which only the details (field 3) are read.
    const auto bytes = detail.SerializeAsString();
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "", "\x1a" + std::string(1, static_cast<char>(bytes.size())) + bytes);
  }
};

void testLastAttempt() {
  Restarted service;
  const Served served(service);
  {
    const Client client(served.address(), {.retry = {.attempts = 2, .firstPause = Seconds(0.001)}});
    const auto start = lowered<float>(0);
    auto session = client.session(pair(), start);
    const auto error = refusalOf([&] { session.step(start); });
    check(!error && session.recreations() == 1, "a last attempt that finds the session lost continues in a new one");
  }
  served->Shutdown();
}

void testSpentAttempts() {
  int tries = 0;
  const auto error = refusalOf([&] {
    withRetries({.attempts = 2, .firstPause = Seconds(0.001)}, Clock::time_point::max(), [&] {
      if (++tries == 1) throw ServiceError::local(kUnreachable, "gone", true);
      throw ServiceError::local("QUEUE_FULL", "busy", true, false);
    });
  });
  check(error && error->code() == "QUEUE_FULL" && error->isUncertain(), "a refusal does not hide an earlier lost answer");
}
