// Tests of the headers against a running server: client_test 127.0.0.1:50051.
// Ends with "N passed, N failed, 0 skipped".
#include <atomic>
#include <iostream>

#include "interstice/client.hpp"

using namespace interstice;

int passed = 0, failed = 0;

void check(bool isRight, const std::string& what) {
  (isRight ? passed : failed)++;
  std::cout << (isRight ? " ok   " : "FAIL  ") << "c++: " << what << "\n";
}

template <typename Work>
std::optional<ServiceError> refusalOf(Work&& work) {
  try {
    work();
  } catch (const ServiceError& error) {
    return error;
  }
  return std::nullopt;
}

/// Two triangles; the second one is moved through the first, which is an obstacle.
v1::Mesh pair() {
  return meshOf(6, {0, 1, 2, 3, 4, 5}, {1, 1, 1, 0, 0, 0});
}

template <typename T>
std::vector<T> lowered(T by) {
  const T z = T(0.1) - by;
  return {0, 0, 0, 1, 0, 0, 0, 1, 0, T(0.2), T(0.2), z, T(1.2), T(0.2), z, T(0.2), T(1.2), z};
}

void testSession(const Client& client, bool isStreaming) {
  const std::string way = isStreaming ? " (stream)" : "";
  auto session = client.session(pair(), lowered<float>(0), {.isStreaming = isStreaming});
  const auto held = session.step(lowered<float>(0.2f));
  check(held.message.frame() == 1 && held.positions.size() == 18, "a step has an answer" + way);
  check(held.positions != lowered<float>(0.2f), "it was held back" + way);
  check(session.check().intersection_free(), "and is free" + way);

  const auto nothing = refusalOf([&] { client.diagnose({}); });
  check(nothing && nothing->code() == "MALFORMED_BODY", "a diagnosis needs a mesh" + way);

  const auto size = refusalOf([&] { session.step(std::vector<float>(3)); });
  check(size && size->code() == "SIZE_MISMATCH" && !size->error().hint().empty(), "a refusal has code and hint" + way);
  StepOptions wrong;
  wrong.parameters.emplace().set_damping(7);
  const auto range = refusalOf([&] { session.step(lowered<float>(0.1f), wrong); });
  check(range && range->code() == "INVALID_PARAMETER" && !range->isUncertain(), "so does the refusal of a parameter" + way);

  StepOptions options;
  options.timeBudget = Seconds(60);
  options.include.emplace().set_contacts(true);
  options.kinematic = {1, 1, 1, 1, 1, 1};
  const auto wide = session.step(lowered<double>(0.01), options);
  check(wide.message.frame() == 4 && wide.positions.size() == 18, "refusals change nothing, doubles come back" + way);
  check(wide.message.has_contacts(), "the answer contains what the step includes" + way);
  check(session.recreations() == 0 && session.close() && session.close(), "closing twice is allowed" + way);
  const auto closed = refusalOf([&] { session.step(lowered<float>(0)); });
  check(closed && closed->code() == kCancelled, "a closed session refuses steps" + way);
}

void testFutures(const Client& client, bool isStreaming) {
  const std::string way = isStreaming ? " (stream)" : "";
  auto session = client.session(pair(), lowered<float>(0), {.isStreaming = isStreaming});
  int messages = 0;
  StepOptions options;
  options.onProgress = [&](const v1::Progress& progress) { messages += progress.residual() >= 0; };
  auto first = session.stepAsync(lowered<float>(0.05f), options);
  auto refused = session.stepAsync(std::vector<float>(3));
  auto third = session.stepAsync(lowered<double>(0.2));
  check(session.check().intersection_free(), "a check waits for the steps that were started" + way);
  check(third.get().message.frame() == 3 && first.get().message.frame() == 1, "futures keep the order" + way);
  const auto error = refusalOf([&] { refused.get(); });
  check(error && error->code() == "SIZE_MISMATCH", "a future throws the refusal" + way);
  check(messages > 0, "a step hands out its progress" + way);

  options.onProgress = [](const v1::Progress&) { throw std::logic_error("the listener's own"); };
  bool isPassedOn = false;
  try {
    session.step(lowered<float>(0.1f), options);
  } catch (const std::logic_error&) {
    isPassedOn = true;
  }
  check(isPassedOn && session.step(lowered<float>(0.1f)).message.frame() == 5, "what a listener throws ends its step" + way);
}

void testDiagnosis(const Client& client) {
  v1::DiagnoseRequest request;
  *request.mutable_mesh() = pair();
  auto pierced = lowered<float>(0);
  pierced[11] = -0.1f;
  *request.mutable_positions() = positionsOf(std::span<const float>(pierced));
  const auto told = client.diagnose(request);
  check(!told.accepted() && told.findings_size() > 0 && told.region_count() == 1, "a diagnosis names what intersects");
  const auto whole = lowered<float>(0);
  *request.mutable_positions() = positionsOf(std::span<const float>(whole));
  check(client.diagnose(request).accepted(), "and accepts what does not");
}

void testUntangle(const Client& client) {
  v1::UntangleRequest request;
  *request.mutable_mesh() = meshOf(6, {0, 1, 2, 3, 4, 5});
  for (const std::uint32_t first : {0, 3}) {
    auto& part = *request.mutable_mesh()->add_parts();
    part.set_name(first == 0 ? "lower" : "upper");
    part.set_first_vertex(first), part.set_vertex_count(3);
  }
  const std::vector<double> pierced{0, 0, 0, 1, 0, 0, 0, 1, 0, .2, .2, -.1, .2, .4, .9, .4, .2, .9};
  *request.mutable_positions() = positionsOf(std::span<const double>(pierced));
  auto& layer = *request.mutable_options()->add_layers();
  layer.set_inner("lower"), layer.set_outer("upper");
  std::uint64_t told = 0;
  const auto freed = client.untangle(request, [&](const v1::UntangleProgress&) { told++; });
  check(freed.report().status() == v1::FREE && freed.report().pierces_before() > 0, "a tangle is freed");
  check(freed.report().contours(0).why() == v1::HINT, "by the hint");
  check(unpack<std::uint32_t>(freed.regions()).size() == 6, "with the region of each vertex");
  check(client.untangle(request).positions().data() == freed.positions().data(), "and so it is without a listener");

  SessionOptions options;
  options.parameters.set_on_intersecting_start(v1::UNTANGLE);
  options.untangle = request.options();
  auto session = client.session(request.mesh(), pierced, options);
  check(session.untangled() && session.untangled()->positions().data() == freed.positions().data(), "a session opens on it");
  const auto kept = session.step(unpack<double>(freed.positions().data()));
  check(kept.positions == unpack<double>(freed.positions().data()), "and stays there");
}

void testReport(const Client& client) {
  v1::ResolveRequest request;
  *request.mutable_mesh() = pair();
  for (const std::uint32_t first : {0, 3}) {
    auto& part = *request.mutable_mesh()->add_parts();
    part.set_name(first == 0 ? "lower" : "upper");
    part.set_first_vertex(first), part.set_vertex_count(3), part.set_contact_offset(0.002);
  }
  auto& parameters = *request.mutable_parameters();
  parameters.set_activation_distance(0.02), parameters.set_quality(v1::BALANCED);
  request.mutable_start()->set_data(pack<float>(lowered<float>(0)));
  request.mutable_target()->set_data(pack<float>(lowered<float>(0.2f)));
  const auto report = client.resolve(request).report();
  check(report.has_pull_back() && report.pull_back().steps() > 0, "the report has the pull-back");
  const auto& before = report.pull_back().before();
  const auto& after = report.pull_back().after();
  check(after.distance_to_target_rms() < before.distance_to_target_rms(), "which came nearer to the target");
  check(after.distance_to_target_rms() == report.distance_to_target_rms(), "its end is the answer");
  check(report.overlong_edges() == 0 && !report.has_worst_edge(), "no edge is longer than the limit");
}

v1::SubmitJobRequest jobOf(const std::vector<float>& start, const std::vector<float>& target) {
  v1::SubmitJobRequest request;
  *request.mutable_resolve()->mutable_mesh() = pair();
  *request.mutable_resolve()->mutable_start() = positionsOf(std::span<const float>(start));
  *request.mutable_resolve()->mutable_target() = positionsOf(std::span<const float>(target));
  request.set_label("c++");
  return request;
}

void testJobs(const Client& client) {
  const auto request = jobOf(lowered<float>(0), lowered<float>(0.2f));
  const auto job = client.submit(request);
  int statuses = 0;
  const auto answer = client.job(job.id()).result([&](const v1::Job& status) { statuses += status.id() == job.id(); });
  const auto plain = client.resolve(request.resolve());
  int messages = 0;
  const auto told = client.resolve(request.resolve(), [&](const v1::Progress& progress) { messages += progress.steps() > 0; });
  check(messages > 0 && told.positions().data() == plain.positions().data(), "a resolve hands out its progress");
  bool isPassedOn = false;
  try {
    client.resolve(request.resolve(), [](const v1::Progress&) { throw std::logic_error("the listener's own"); });
  } catch (const std::logic_error&) {
    isPassedOn = true;
  }
  check(isPassedOn, "what a listener throws ends its resolve");
  check(statuses > 0 && answer.positions().data() == plain.positions().data(), "a job has the bytes of its resolve");
  check(job.status().state() == v1::JOB_DONE && job.status().has_expires(), "a job states its end");
  v1::ListJobsRequest mine;
  mine.set_label("c++");
  const auto listed = client.jobs(mine);
  check(listed.jobs_size() == 1 && listed.jobs(0).id() == job.id(), "jobs are listed");
  job.remove(), job.remove();
  const auto gone = refusalOf([&] { job.wait(); });
  check(gone && gone->code() == "JOB_NOT_FOUND", "a job that was removed is gone");

  auto again = request;
  again.set_idempotency_key(randomKey());
  const auto first = client.submit(again);
  check(client.submit(again).id() == first.id(), "a submission that is repeated stays one job");
  first.remove();

  auto apart = lowered<float>(0.2f);
  apart[11] = 0.01f;
  const auto failing = client.submit(jobOf(apart, lowered<float>(0)));
  const auto error = refusalOf([&] { failing.result(); });
  check(error && error->code() == "INTERSECTING_START" && error->error().pair_count() > 0, "a job that fails has its error");
  check(failing.wait().state() == v1::JOB_FAILED, "and can be waited for");
  failing.remove();
}

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
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&recorder);
  const auto server = builder.BuildAndStart();
  {
    const Client client("127.0.0.1:" + std::to_string(port));
    auto session = client.session(pair(), lowered<float>(0));
    refusalOf([&] { session.check(); });
    refusalOf([&] { client.check({}); });
    refusalOf([&] { session.step(lowered<float>(0)); });
  }
  server->Shutdown();
  const std::vector<std::string> expected = {"-", "its-name", "-", "its-name"};
  check(recorder.named == expected, "step and check name their session before their message arrives");
}

/// A service that forgets frames when it is told to.
class Forgetful : public v1::CollisionService::Service {
 public:
  std::atomic<std::uint64_t> at = 0;  // the last accepted frame
  std::atomic<int> creations = 0;
  std::atomic<bool> hasLostSession = false;

  grpc::Status CreateSession(grpc::ServerContext*, const v1::CreateSessionRequest*, v1::Session* session) override {
    at = 0;
    hasLostSession = false;
    session->set_id("session-" + std::to_string(++creations));
    return grpc::Status::OK;
  }
  grpc::Status StepStream(grpc::ServerContext*,
                          grpc::ServerReaderWriter<v1::StepStreamResponse, v1::StepRequest>* stream) override {
    v1::StepRequest request;
    std::string id;
    while (stream->Read(&request)) {
      v1::StepStreamResponse answer;
      if (id.empty()) id = request.session_id();
      if (hasLostSession) {
        answer.mutable_error()->set_code("SESSION_NOT_FOUND");
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
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  {
    const Client client("127.0.0.1:" + std::to_string(port));
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
  }
  server->Shutdown();
}

/// Creates sessions whose answers are lost on the way, when it is told to.
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
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  {
    const Client client("127.0.0.1:" + std::to_string(port), {.retry = {.attempts = 2, .firstPause = Seconds(0.001)}});
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
  server->Shutdown();
}

void testRefusedStream() {
  const grpc::Status refused(grpc::StatusCode::UNAVAILABLE, "Received RST_STREAM with error code 7");
  const grpc::Status broken(grpc::StatusCode::UNAVAILABLE, "Socket closed");
  check(errorOf(refused).isRetryable() && !errorOf(refused).isUncertain(), "a refused call had no effect");
  check(errorOf(broken).isRetryable() && errorOf(broken).isUncertain(), "a broken call is uncertain");
  check(errorOf(refused, true).isUncertain(), "so is one on a stream that has received a message");
}

int main(int count, char** words) {
  const std::string address = count > 1 ? words[1] : "127.0.0.1:50051";
  const Client client(address);
  check(!client.info().version().empty(), "the server states its version");
  testSession(client, false);
  testSession(client, true);
  testFutures(client, false);
  testFutures(client, true);
  testReport(client);
  testUntangle(client);
  testJobs(client);
  testDiagnosis(client);
  testMetadata();
  testLostFrames();
  testGivenUpOpenings();
  testRefusedStream();

  auto apart = lowered<float>(0.2f);
  apart[11] = 0.01f;
  const auto pierced = refusalOf([&] { client.session(pair(), apart); });
  check(pierced && pierced->code() == "INTERSECTING_START", "an intersecting start is refused");
  check(pierced && pierced->error().pairs_size() > 0 && pierced->error().pair_count() > 0, "and its pairs are named");

  const Client closedPort("127.0.0.1:1", {.apiKey = "", .retry = {.attempts = 2, .firstPause = Seconds(0.001)}});
  const auto away = refusalOf([&] { closedPort.info(); });
  check(away && away->code() == kUnreachable && away->isRetryable(), "a closed port is reported");

  int tries = 0;
  const auto late = refusalOf([&] {
    withRetries({}, Clock::time_point::max(), [&] {
      tries++;
      v1::Error error;
      error.set_code("QUEUE_FULL");
      error.set_retryable(tries < 3);
      error.mutable_retry_after()->set_nanos(1000);
      throw ServiceError(error);
    });
  });
  check(late && tries == 3, "only retryable errors are retried");
  std::cout << passed << " passed, " << failed << " failed, 0 skipped\n";
  return failed == 0 ? 0 : 1;
}
