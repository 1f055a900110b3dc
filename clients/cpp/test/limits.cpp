// Calls whose service does not answer.
#include <atomic>
#include <thread>

#include "checks.hpp"

/// While it hangs, it takes calls and answers none of them.
class Hanging : public v1::CollisionService::Service {
 public:
  std::atomic<bool> hangs = false;
  std::atomic<bool> hangsInDeletions = false;
  std::atomic<int> refusals = 0;
  std::atomic<int> deletions = 0;
  std::vector<std::optional<Seconds>> budgets;  // of the requests to resolve

  grpc::Status CreateSession(grpc::ServerContext* context, const v1::CreateSessionRequest*, v1::Session* session) override {
    session->set_id("session");
    return hang(*context, hangs);
  }
  grpc::Status Step(grpc::ServerContext* context, const v1::StepRequest* request, v1::StepResponse* answer) override {
    answer->set_frame(request->frame());
    *answer->mutable_positions() = request->target();
    return hang(*context, hangs);
  }
  grpc::Status StepStream(grpc::ServerContext* context,
                          grpc::ServerReaderWriter<v1::StepStreamResponse, v1::StepRequest>* stream) override {
    v1::StepRequest request;
    return stream->Read(&request) ? hang(*context, hangs) : grpc::Status::OK;
  }
  grpc::Status DeleteSession(grpc::ServerContext* context, const v1::DeleteSessionRequest*,
                             v1::DeleteSessionResponse*) override {
    deletions++;
    return hang(*context, hangsInDeletions);
  }
  grpc::Status Resolve(grpc::ServerContext* context, const v1::ResolveRequest* request, v1::ResolveResponse*) override {
    budgets.push_back(budgetOf(*request));
    if (refusals-- > 0) return grpc::Status(grpc::StatusCode::UNAVAILABLE, "Socket closed");
    return hang(*context, hangs);
  }
  grpc::Status ResolveStream(grpc::ServerContext* context, const v1::ResolveRequest*,
                             grpc::ServerWriter<v1::ResolveStreamResponse>*) override {
    return hang(*context, hangs);
  }
  grpc::Status Check(grpc::ServerContext* context, const v1::CheckRequest*, v1::CheckResponse*) override {
    return hang(*context, hangs);
  }

 private:
  static grpc::Status hang(const grpc::ServerContext& context, const std::atomic<bool>& isHanging) {
    while (isHanging && !context.IsCancelled()) std::this_thread::sleep_for(Seconds(0.005));
    return grpc::Status::OK;
  }
};

constexpr Seconds kLittle{0.05};
/// Whoever waits for this ignores a shorter limit.
constexpr Seconds kLongest{120};

template <typename Work>
void checkLate(const std::string& what, Work&& work) {
  const auto began = Clock::now();
  const auto error = refusalOf(work);
  check(error && error->code() == kTimeout && error->isUncertain(), what + " ends as TIMEOUT");
  check(Clock::now() - began < kLongest / 2, "and does not wait for the timeout of the client");
  check(error && error->error().hint().find("allowance") != std::string::npos, "its hint names the allowance");
}

static v1::ResolveRequest resolveWithin(Seconds budget) {
  v1::ResolveRequest request;
  setDuration(*request.mutable_time_budget(), budget);
  return request;
}

static void testLateSteps(Hanging& service, const Client& client) {
  const auto target = lowered<float>(0);
  const StepOptions options{.timeBudget = kLittle};
  {
    auto session = client.session(pair(), target);
    check(session.step(target, {.timeBudget = Seconds(60)}).message.frame() == 1, "a step within its budget has its answer");
    service.hangs = true;
    checkLate("a step", [&] { session.step(target, options); });
    checkLate("the creation of a session for a step", [&] { session.step(target, options); });
    check(service.deletions == 1, "the session was abandoned");
    service.hangs = false;
    check(session.step(target).message.frame() == 4, "the next step has its answer");
    service.hangs = true;
    v1::CheckRequest question;
    setDuration(*question.mutable_time_budget(), kLittle);
    checkLate("a check", [&] { session.check(question); });
    checkLate("a step with progress", [&] {
      auto told = options;
      told.onProgress = [](const v1::Progress&) {};
      session.step(target, told);
    });
    service.hangs = false;
  }
  auto session = client.session(pair(), target, {.isStreaming = true});
  service.hangs = true;
  checkLate("a step on a stream", [&] { session.step(target, options); });
  service.hangs = false;
}

static void testLateDeletions(Hanging& service, const Client& client) {
  const auto began = Clock::now();
  const auto target = lowered<float>(0);
  {
    auto failing = client.session(pair(), target);
    auto idle = client.session(pair(), target);
    service.hangs = service.hangsInDeletions = true;
    checkLate("a step whose session cannot be deleted", [&] { failing.step(target, {.timeBudget = kLittle}); });
    refusalOf([&] { failing.step(target, {.timeBudget = kLittle}); });
    check(!failing.close(), "what it was creating cannot be deleted either");
  }
  check(Clock::now() - began < kLongest / 2, "a session ends soon although the service hangs");
  service.hangs = service.hangsInDeletions = false;
}

/// Answers each step of a stream after a time.
class Punctual : public Hanging {
 public:
  std::atomic<Seconds> delay{Seconds(0)};

  grpc::Status StepStream(grpc::ServerContext*,
                          grpc::ServerReaderWriter<v1::StepStreamResponse, v1::StepRequest>* stream) override {
    v1::StepRequest request;
    v1::StepStreamResponse answer;
    do {
      if (!stream->Read(&request)) break;
      std::this_thread::sleep_for(delay.load());
      answer.mutable_response()->set_frame(request.frame());
      *answer.mutable_response()->mutable_positions() = request.target();
    } while (stream->Write(answer));
    return grpc::Status::OK;
  }
};

static void testAnswersAtTheirLimit() {
  Punctual service;
  const Served served(service);
  {
    const Client client(served.address(), {.retry = {.attempts = 1}, .allowance = Seconds(0)});
    auto session = client.session(pair(), lowered<float>(0), {.isStreaming = true});
    constexpr Seconds limit(0.005);
    std::string others;
    for (int i = 0; i < 200; i++) {
      // Around the limit, so that some answers arrive just as it ends their stream.
      service.delay = limit * (0.8 + 0.004 * (i % 100));
      const auto error = refusalOf([&] { session.step(lowered<float>(0), {.timeBudget = limit / 1.125}); });
      if (error && error->code() != kTimeout) others += error->what();
    }
    check(others.empty(), "the limit of one step does not end the next one " + others.substr(0, 200));
  }
  served->Shutdown();
}

static void testLateResolves(Hanging& service, const Client& client) {
  service.refusals = 2;
  client.resolve(resolveWithin(Seconds(60)));
  check(service.budgets.size() == 3 && service.budgets[0] == Seconds(60), "a resolve is retried in its budget");
  check(service.budgets[1] < service.budgets[0] && service.budgets[2] < service.budgets[1], "with what is left of it");
  service.hangs = true;
  checkLate("a resolve", [&] { client.resolve(resolveWithin(kLittle)); });
  checkLate("a resolve with progress", [&] { client.resolve(resolveWithin(kLittle), [](const v1::Progress&) {}); });
  service.hangs = false;
}

void testLimits() {
  const Deadline deadline(Seconds(400), Seconds(30));
  check(*deadline.limit() > Seconds(450) && *deadline.limit() <= Seconds(480), "an answer may be late by an eighth, and by the way");
  check(!Deadline().limit() && !Deadline().left(), "without a budget there is no limit");

  testAnswersAtTheirLimit();
  Hanging service;
  const Served served(service);
  {
    const Client client(served.address(), {.retry = {.firstPause = Seconds(0.001)}, .timeout = kLongest, .allowance = kLittle});
    testLateSteps(service, client);
    testLateDeletions(service, client);
    testLateResolves(service, client);
    service.hangs = true;
    const Client hasty(served.address(), {.timeout = kLittle});
    const auto error = refusalOf([&] { hasty.resolve(resolveWithin(Seconds(60))); });
    check(error && error->error().hint().starts_with("Increase timeout, "), "a hint names a timeout that is too short");
    service.hangs = false;
  }
  served->Shutdown();
}
