// Tests of the headers against a running server: client_test 127.0.0.1:50051.
// Ends with "N passed, N failed, 0 skipped".
#include "checks.hpp"

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
  const auto request = tangle();
  const auto pierced = unpack<double>(request.positions().data());
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
  testUntanglingAsJob(client);
  testDiagnosis(client);
  testMetadata();
  testLostFrames();
  testGivenUpOpenings();
  testRefusedStream();
  testForeignAnswers();
  testLastAttempt();
  testSpentAttempts();
  testLimits();
  testSettings();

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
