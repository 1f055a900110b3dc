"""The client of one Interstice server."""

from __future__ import annotations

import types
import typing
import uuid

import numpy.typing as npt

from .deadline import ALLOWANCE, Deadline, budget_of
from .job import Job, JobStatus, status_of
from .retry import Result, Retry, with_retries
from .session import Session
from .settings import address_of, check_allowance, check_api_key, check_time
from .tls import Tls
from .transport import Calls, Transport
from .types import (JobTerms, Json, Mesh, ProgressListener, StepResult, UntangleListener, UntangleResult, Untangling,
                    Work, as_mesh, as_positions, untangled_of)

TIMEOUT = 705.0
"""seconds: the longest time budget that a server grants by default, the eighth of it by which the answer may be late, and half
a minute for the transfer"""


class Client:
    """`http://`, `https://`, `grpc://` or `grpcs://` and an address. Calls are retried if that is safe.

    api_key: visible ASCII without spaces; empty = none.
    tls: a Tls, certificates for `https://` and `grpcs://`, if the system's are not sufficient.
    timeout: seconds that one attempt may take, at most 2,147,483.
    allowance: seconds that a call may take beyond its time budget and the eighth of it by which the server may be late:
    for the way there and back.
    """

    def __init__(self, url: str, *, api_key: typing.Optional[str] = None, tls: typing.Optional[Tls] = None,
                 retry: Retry = Retry(), timeout: float = TIMEOUT, allowance: float = ALLOWANCE) -> None:
        address = address_of(url)
        check_api_key(api_key or "")
        check_time("timeout", timeout)
        check_allowance("allowance", allowance)
        kind: typing.Callable[..., Transport]
        if address.scheme in ("http", "https"):
            from .http_transport import HttpTransport
            kind = HttpTransport
        else:
            try:
                from .grpc_transport import GrpcTransport
            except ModuleNotFoundError as missing:
                raise ModuleNotFoundError(
                    f"{missing}, which {address.scheme}:// needs: install the package with its extra, interstice[grpc], where "
                    "protoc and its plugin are installed.", name=missing.name) from missing
            kind = GrpcTransport
        is_encrypted = address.scheme.endswith("s")
        if tls is not None and not is_encrypted:
            raise ValueError(f"The option tls needs an address that begins with https:// or grpcs://, not {url}.")
        self._transport = kind(url, address, (tls or Tls()) if is_encrypted else None, api_key or None, timeout)
        self._retry = retry
        self._timeout = timeout
        self._allowance = allowance

    def session(self, mesh: typing.Union[Mesh, npt.ArrayLike], start: npt.ArrayLike, *,
                parameters: typing.Optional[Json] = None, label: str = "", idle_timeout: typing.Optional[float] = None,
                stream: bool = False, on_frame_lost: str = "recreate",
                untangle: typing.Optional[Json] = None) -> Session:
        """Opens a session. mesh: a Mesh, or triangles (T, 3); start: (V, 3), free of intersections.

        With parameters={"onIntersectingStart": "UNTANGLE"} the start may intersect; untangle then has the options of
        UntangleOptions (layers, turned, ...), and the session's `untangled` the answer.
        stream: over gRPC, send all steps on one stream of messages instead of one call per step.

        on_frame_lost: what a step does if the service has lost answered frames (FRAME_LOST). "recreate": the client
        creates the session again from the mesh and the last answer received, and makes the step there. "raise": the
        step raises, with `frame` = the last frame that the service still has, and the next step continues from that
        one: send the lost frames again, and the answers have the same bytes. If the whole session is lost, `frame` is
        the one that it was created from: 0, unless it was created again after a step of unknown outcome.
        """
        if on_frame_lost not in ("recreate", "raise"):
            raise ValueError(f"on_frame_lost is {on_frame_lost!r}; \"recreate\" or \"raise\" is expected.")
        return Session(self._transport, self._retry, as_mesh(mesh), start, parameters, label, idle_timeout, stream,
                       on_frame_lost == "recreate", untangle, self._allowance)

    def resolve(self, mesh: typing.Union[Mesh, npt.ArrayLike], start: npt.ArrayLike, target: npt.ArrayLike, *,
                parameters: typing.Optional[Json] = None, include: typing.Optional[Json] = None,
                time_budget: typing.Optional[float] = None, on_budget: typing.Optional[str] = None,
                priority: typing.Optional[str] = None,
                on_progress: typing.Optional[ProgressListener] = None) -> StepResult:
        """Resolves one pair of start and target; the server keeps no state.

        on_progress: called with a Progress several times while the server computes, in this thread.
        """
        check_time("time_budget", time_budget)

        def attempt(deadline: Deadline) -> Json:
            work = Work(as_positions(target, "target"), as_positions(start, "start"), None, None, None, include,
                        deadline.left, on_budget, priority)
            return self._calls().resolve(as_mesh(mesh), parameters or {}, work, on_progress, deadline.limit)

        return StepResult(frame=0, **self._within(time_budget, attempt))

    def submit(self, mesh: typing.Union[Mesh, npt.ArrayLike], start: npt.ArrayLike, target: npt.ArrayLike, *,
               parameters: typing.Optional[Json] = None, include: typing.Optional[Json] = None,
               time_budget: typing.Optional[float] = None, on_budget: typing.Optional[str] = None,
               priority: typing.Optional[str] = None, label: str = "",
               keep_for: typing.Optional[float] = None) -> Job:
        """Submits a resolve as a job, which no connection waits for. After a lost answer it is sent again as the same
        job.

        keep_for: seconds that the server keeps the job and its answer after its end; None = the server's default.
        """
        check_time("time_budget", time_budget)
        check_time("keep_for", keep_for)
        work = Work(as_positions(target, "target"), as_positions(start, "start"), None, None, None, include,
                    time_budget, on_budget, priority)
        return self._submit(JobTerms(as_mesh(mesh), parameters or {}, work, label, keep_for, str(uuid.uuid4())))

    def submit_untangling(self, mesh: typing.Union[Mesh, npt.ArrayLike], positions: npt.ArrayLike, *,
                          parameters: typing.Optional[Json] = None, time_budget: typing.Optional[float] = None,
                          priority: typing.Optional[str] = None, label: str = "",
                          keep_for: typing.Optional[float] = None, **options: typing.Any) -> Job:
        """Submits an untangling as a job; its answer is fetched by `Job.untangled`. options as of `untangle`."""
        check_time("time_budget", time_budget)
        check_time("keep_for", keep_for)
        work = Untangling(as_positions(positions, "positions"), _question(options, time_budget, priority))
        return self._submit(JobTerms(as_mesh(mesh), parameters or {}, work, label, keep_for, str(uuid.uuid4())))

    def job(self, id: str) -> Job:
        """A job that was submitted earlier, perhaps by another process. Sends no request."""
        return Job(id, self._transport, self._retry, self._calls(), self._timeout, self._allowance)

    def _submit(self, terms: JobTerms) -> Job:
        calls = self._calls()
        return self.job(self._with_retries(lambda: calls.submit(terms)))

    def jobs(self, *, label: str = "") -> typing.Iterator[JobStatus]:
        """Your jobs, or those with this label; requests one page at a time."""
        token = ""
        while True:
            page = self._with_retries(lambda: self._calls().list_jobs(token, label))
            yield from map(status_of, page.get("jobs", ()))
            token = page.get("nextPageToken", "")
            if not token:
                return

    def check(self, mesh: typing.Union[Mesh, npt.ArrayLike], positions: npt.ArrayLike, *,
              path_end: typing.Optional[npt.ArrayLike] = None, **question: typing.Any) -> Json:
        """Tests whether this state, or the straight path to path_end, intersects."""
        arrays = {"positions": as_positions(positions, "positions")}
        if path_end is not None:
            arrays["path_end"] = as_positions(path_end, "path_end")
        return self._within(budget_of(question), lambda deadline: self._calls().check(
            as_mesh(mesh), arrays, deadline.left_in(question), deadline.limit))

    def diagnose(self, mesh: typing.Union[Mesh, npt.ArrayLike], positions: npt.ArrayLike, *,
                 target: typing.Optional[npt.ArrayLike] = None, **question: typing.Any) -> Json:
        """Diagnoses a mesh, even one that other calls refuse."""
        arrays = {"positions": as_positions(positions, "positions")}
        if target is not None:
            arrays["target"] = as_positions(target, "target")
        return self._within(budget_of(question), lambda deadline: self._calls().diagnose(
            as_mesh(mesh), arrays, deadline.left_in(question), deadline.limit))

    def untangle(self, mesh: typing.Union[Mesh, npt.ArrayLike], positions: npt.ArrayLike, *,
                 parameters: typing.Optional[Json] = None, time_budget: typing.Optional[float] = None,
                 priority: typing.Optional[str] = None, on_progress: typing.Optional[UntangleListener] = None,
                 **options: typing.Any) -> UntangleResult:
        """Brings positions that may intersect to a state that does not. options: layers, turned, maxIterations,
        maxDisplacement, as in UntangleOptions.

        A time budget ends it with the best state so far: report["status"] says whether it is FREE.
        """
        check_time("time_budget", time_budget)
        start = as_positions(positions, "positions")

        def attempt(deadline: Deadline) -> Json:
            question = {"parameters": parameters or {}, **_question(options, deadline.left, priority)}
            return self._calls().untangle(as_mesh(mesh), start, question, on_progress, deadline.limit)

        return untangled_of(self._within(time_budget, attempt))

    def info(self) -> Json:
        """Engines, limits and defaults of the server."""
        return self._with_retries(lambda: self._calls().info())

    def close(self) -> None:
        """Closes the connections. Sessions must be closed separately."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: typing.Optional[typing.Type[BaseException]], error: typing.Optional[BaseException],
                 trace: typing.Optional[types.TracebackType]) -> None:
        self.close()

    def _within(self, budget: typing.Optional[float], attempt: typing.Callable[[Deadline], Result]) -> Result:
        """Retries a call within its time budget."""
        deadline = Deadline(budget, self._allowance)
        return self._with_retries(lambda: attempt(deadline), deadline.ends_at)

    def _with_retries(self, work: typing.Callable[[], Result], ends_at: float = float("inf")) -> Result:
        return with_retries(work, self._retry, ends_at, self._transport.sleep)

    def _calls(self) -> Calls:
        return self._transport.calls(str(uuid.uuid4()), False)


def _question(options: Json, time_budget: typing.Optional[float], priority: typing.Optional[str]) -> Json:
    """The fields of an UntangleRequest besides mesh, positions and parameters, as the contract's JSON."""
    question: Json = {"options": options}
    if time_budget is not None:
        question["timeBudget"] = f"{time_budget:.9f}s"
    if priority is not None:
        question["priority"] = priority
    return question
