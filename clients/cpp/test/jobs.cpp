// Resolves and untanglings as jobs.
#include "checks.hpp"

static v1::SubmitJobRequest jobOf(const std::vector<float>& start, const std::vector<float>& target) {
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

template <typename Work>
bool isMisuse(Work&& work) {
  try {
    work();
  } catch (const std::logic_error&) {
    return true;
  }
  return false;
}

void testUntanglingAsJob(const Client& client) {
  v1::SubmitJobRequest request;
  *request.mutable_untangle() = tangle();
  request.set_label("coat");
  const auto job = client.submit(request);
  int statuses = 0;
  const auto freed = client.job(job.id()).untangled([&](const v1::Job& status) { statuses += status.label() == "coat"; });
  const auto direct = client.untangle(request.untangle());
  check(statuses > 0 && freed.report().status() == v1::FREE, "an untangling runs as a job");
  check(freed.positions().data() == direct.positions().data() && freed.regions() == direct.regions(),
        "with the answer that a connection gets");
  check(isMisuse([&] { job.result(); }), "it is no resolve");
  const auto resolve = client.submit(jobOf(lowered<float>(0), lowered<float>(0)));
  check(isMisuse([&] { resolve.untangled(); }), "and a resolve is no untangling");
  job.remove(), resolve.remove();
}
