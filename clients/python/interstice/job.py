"""A resolve or an untangling that the server computes on its own: no connection waits for it."""

from __future__ import annotations

import dataclasses
import datetime
import time
import typing

from .deadline import Deadline
from .errors import ServiceError, from_fields
from .retry import Retry, with_retries
from .settings import check_allowance
from .transport import Calls, Transport
from .types import Json, Progress, StepResult, UntangleProgress, UntangleResult, untangle_progress_of, untangled_of

SHORT_WAIT = 1.0
"""seconds that one request waits for the end of a job, with a listener for its status"""
LONG_WAIT = 20.0
"""the same without one"""


@dataclasses.dataclass(frozen=True)
class JobStatus:
    id: str
    state: str
    """JOB_WAITING, JOB_RUNNING, JOB_DONE or JOB_FAILED"""
    label: str
    created: datetime.datetime
    started: typing.Optional[datetime.datetime]
    """None while it waits"""
    ended: typing.Optional[datetime.datetime]
    """None until it has ended"""
    expires: typing.Optional[datetime.datetime]
    """None until it has ended; the server keeps it until then"""
    ahead: typing.Optional[int]
    """of a waiting job: requests that arrived before it and wait for the same threads"""
    phase: typing.Optional[str]
    """of a running job: START_CHECK, SOLVING or ANSWER_CHECK"""
    progress: typing.Optional[Progress]
    """None before the first step"""
    error: typing.Optional[ServiceError]
    """the error of a failed job"""
    bytes: int
    """memory on the server that is reserved for it, or that its result takes"""
    untangle_progress: typing.Optional[UntangleProgress] = None
    """of an untangling, in place of progress"""


JobListener = typing.Callable[[JobStatus], None]


class Job:
    """Used through `Client.submit` and `Client.job`. It outlives this object, its client and its process."""

    def __init__(self, id: str, transport: Transport, retry: Retry, calls: Calls, timeout: float,
                 allowance: float) -> None:
        self.id = id
        self._transport = transport
        self._retry = retry
        self._calls = calls
        # A request must be answered well before its attempt times out.
        self._longest_wait = min(LONG_WAIT, timeout / 2)
        self._allowance = allowance

    def status(self) -> JobStatus:
        """The current state, progress and times. Raises JOB_NOT_FOUND for a job that the server has lost."""
        return self._ask(0.0, Deadline())

    def wait(self, *, timeout: typing.Optional[float] = None,
             on_status: typing.Optional[JobListener] = None) -> JobStatus:
        """Waits for the end of the job, whether it succeeds or fails, or for timeout seconds: `ended` is then None.
        Raises TIMEOUT or UNREACHABLE if the server does not answer, at the latest when `allowance` of the client has
        passed beyond the timeout.

        on_status: called with the status about once a second.
        """
        check_allowance("timeout", timeout)
        ends_at = float("inf") if timeout is None else time.monotonic() + timeout
        deadline = Deadline(None if timeout is None else timeout + self._allowance)
        longest = self._longest_wait if on_status is None else min(SHORT_WAIT, self._longest_wait)
        while True:
            left = max(0.0, ends_at - time.monotonic())
            status = self._ask(min(left, longest), deadline)
            if on_status is not None:
                on_status(status)
            if status.ended is not None or time.monotonic() >= ends_at:
                return status

    def result(self, *, on_status: typing.Optional[JobListener] = None) -> StepResult:
        """Waits for the end of a resolve and fetches the answer. Raises the error that the job ended with."""
        answer = self._fetch(on_status)
        if "untangle" in answer:
            raise TypeError(f"Job {self.id} is an untangling; untangled() has its answer.")
        return StepResult(frame=0, **answer)

    def untangled(self, *, on_status: typing.Optional[JobListener] = None) -> UntangleResult:
        """The same for an untangling."""
        answer = self._fetch(on_status)
        if "untangle" not in answer:
            raise TypeError(f"Job {self.id} is no untangling; result() has its answer.")
        return untangled_of(answer["untangle"])

    def delete(self) -> None:
        """Stops the job if it has not ended, and forgets it and its answer. No error if it no longer exists."""
        try:
            self._retried(lambda: self._calls.delete_job(self.id))
        except ServiceError as error:
            if error.code != "JOB_NOT_FOUND":
                raise

    def _fetch(self, on_status: typing.Optional[JobListener]) -> Json:
        status = self.wait(on_status=on_status)
        if status.error is not None:
            raise status.error
        return typing.cast(Json, self._retried(lambda: self._calls.job_result(self.id)))

    def _ask(self, wait: float, deadline: Deadline) -> JobStatus:
        return status_of(self._retried(lambda: self._calls.job(self.id, wait, deadline.left), deadline.ends_at))

    def _retried(self, work: typing.Callable[[], typing.Any], ends_at: float = float("inf")) -> typing.Any:
        return with_retries(work, self._retry, ends_at, self._transport.sleep)


def status_of(job: Json) -> JobStatus:
    """A job from the contract's JSON."""
    progress, untangling, error = job.get("progress"), job.get("untangleProgress"), job.get("error")
    started, ended, expires = (_time(job[name]) if job.get(name) else None for name in ("started", "ended", "expires"))
    return JobStatus(
        job["id"], job["state"], job.get("label", ""), _time(job["created"]), started, ended, expires, job.get("ahead"),
        job.get("phase"),
        Progress(progress["steps"], float(progress["residual"]), progress["unfinishedVertices"]) if progress else None,
        from_fields(error) if error else None, int(job.get("bytes", 0)),
        untangle_progress_of(untangling) if untangling else None)


def _time(text: str) -> datetime.datetime:
    # Python before 3.11 reads neither Z nor more than six decimals.
    whole, _, decimals = text.rstrip("Z").partition(".")
    return datetime.datetime.fromisoformat(f"{whole}.{decimals[:6]:0<6}+00:00")
