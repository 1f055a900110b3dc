// Tests of the headers against a running server: client_test 127.0.0.1:50051.
// Ends with "N passed, N failed, 0 skipped".
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
  v1::Mesh mesh;
  mesh.set_vertex_count(6);
  mesh.set_triangles(pack<std::uint32_t>(std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
  mesh.set_kinematic(pack<std::uint8_t>(std::vector<std::uint8_t>{1, 1, 1, 0, 0, 0}));
  return mesh;
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
  testReport(client);
  testMetadata();
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
