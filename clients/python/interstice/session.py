"""A mesh that a server keeps from step to step."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import threading
import time
import types
import typing
import uuid

import numpy.typing as npt

from . import errors
from .deadline import ALLOWANCE, Deadline, budget_of
from .errors import ServiceError
from .retry import Result, Retry, with_retries
from .settings import check_pause, check_time
from .transport import Transport
from .types import (Array, FrameLoss, Json, Mesh, ProgressListener, SessionTerms, StepResult, UntangleResult, Work,
                    as_elements, as_positions, untangled_of)

FORGET_LIMIT = 5.0
"""seconds for the deletion of a session after a failure, for which the caller waits"""
CLOSE_ATTEMPTS = 3
"""The session of an unavailable server ends by its idle timeout."""


class Base(typing.NamedTuple):
    """What the server's session was created from."""

    frame: int
    """the frame whose answer is start; 0 = the start of the caller"""
    mesh: Mesh
    start: Array


class Session:
    """Created by Client.session. If the server loses the session (it was restarted, or removed the session), the client
    recreates it from the mesh and the last answer received. Calls from several threads run one after the other."""

    def __init__(self, transport: Transport, retry: Retry, mesh: Mesh, start: npt.ArrayLike,
                 parameters: typing.Optional[Json], label: str, idle_timeout: typing.Optional[float],
                 stream: bool, recreates: bool, untangle: typing.Optional[Json] = None,
                 allowance: float = ALLOWANCE) -> None:
        check_pause("idle_timeout", idle_timeout)
        self._routing = str(uuid.uuid4())  # a proxy may hash on it, so that all requests go to one server
        self._calls = transport.calls(self._routing, stream)
        self._retry = retry
        self._allowance = allowance
        self._sleep = transport.sleep
        self._mesh = mesh
        # A copy, because the caller may modify this array. Answers are read-only and need no copy.
        self._last = as_positions(start, "start").copy()
        self._terms: Json = {"parameters": parameters or {}, "label": label, "idle_timeout": idle_timeout,
                             "untangle": untangle}
        self.untangled: typing.Optional[UntangleResult] = None
        """how the start was untangled, if onIntersectingStart requested it; its positions are those of frame 0"""
        self._creation: typing.Optional[SessionTerms] = None
        self._is_creation_uncertain = False  # an attempt has ended without an answer, so the server may have the session
        self._base: typing.Optional[Base] = None  # what the server's session was created from
        self._id: typing.Optional[str] = None
        self._frame = 0
        self._last_frame = 0  # of the last answer received
        self._answered = 0  # the last frame that the server's session has answered
        self._is_behind = False  # the service has lost frames that the caller sends again: _last is the answer of one of them
        self._recreates = recreates
        self._is_closed = False
        self._is_closing = False
        self._lock = threading.Lock()
        self._lock_of_worker = threading.Lock()
        self._worker: typing.Optional[concurrent.futures.ThreadPoolExecutor] = None
        self.recreations = 0
        """how often the session was lost and recreated"""
        self.last_loss: typing.Optional[FrameLoss] = None
        """the frames that were lost when the service last refused a step with FRAME_LOST"""
        try:
            with_retries(self._create, retry, sleep=self._sleep)
        except BaseException:
            self._forget()
            raise

    @property
    def id(self) -> typing.Optional[str]:
        """The server's id of the session; it changes when the session is recreated."""
        return self._id

    def step(self, target: npt.ArrayLike, *, start: typing.Optional[npt.ArrayLike] = None,
             kinematic: typing.Optional[npt.ArrayLike] = None, masses: typing.Optional[npt.ArrayLike] = None,
             override: typing.Optional[Json] = None, include: typing.Optional[Json] = None,
             time_budget: typing.Optional[float] = None, on_budget: typing.Optional[str] = None,
             priority: typing.Optional[str] = None,
             on_progress: typing.Optional[ProgressListener] = None) -> StepResult:
        """Moves towards the target, (V, 3) float32 or float64. time_budget, in seconds, covers all attempts together.

        on_progress is called with a Progress several times while the server computes. It runs in the thread of the step
        and must not call this session. Over gRPC such a step uses the stream, over HTTP JSON.

        Raises ServiceError; the session then keeps the state of the last answer, and the next step may follow.
        """
        check_time("time_budget", time_budget)
        work = Work(
            as_positions(target, "target"), None if start is None else as_positions(start, "start"),
            None if kinematic is None else as_elements("kinematic", kinematic),
            None if masses is None else as_elements("masses", masses), override, include, None, on_budget, priority)
        with self._lock:
            return self._step(work, time_budget, on_progress)

    def step_async(self, target: npt.ArrayLike, **options: typing.Any) -> concurrent.futures.Future[StepResult]:
        """Starts a step and returns its future at once. Options are those of step.

        Steps run in the order in which they were started, in a thread of this session. The arrays must not change before
        the future is done. In a coroutine: `await asyncio.wrap_future(session.step_async(target))`.
        """
        with self._lock_of_worker:
            if self._is_closing:
                raise ServiceError(errors.CANCELLED, "This session is closed.")
            if self._worker is None:
                self._worker = concurrent.futures.ThreadPoolExecutor(1, "interstice")
            return self._worker.submit(self.step, target, **options)

    def check(self, positions: typing.Optional[npt.ArrayLike] = None, *,
              path_end: typing.Optional[npt.ArrayLike] = None, **question: typing.Any) -> Json:
        """Tests the last answer, or other positions of this mesh; the names in question are those of the contract."""
        arrays = {name: as_positions(value, name) for name, value in
                  (("positions", positions), ("path_end", path_end)) if value is not None}
        with self._lock:
            deadline = Deadline(budget_of(question), self._allowance)
            return self._with_session(
                lambda session: self._calls.check(session, arrays, deadline.left_in(question), deadline.limit), deadline)

    def close(self) -> bool:
        """Ends the session after the steps that have been started. Returns False if the server was unavailable and ends it by
        its idle timeout."""
        return self._close(None)

    def _close(self, limit: typing.Optional[float]) -> bool:
        """limit: seconds for the deletion; None = as long as any call may take."""
        with self._lock_of_worker:
            self._is_closing = True
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.shutdown()
        with self._lock:
            self._is_closed = True
            unseen = None if self._id is not None else self._unseen()
            session, self._id = self._id or unseen, None
            self._is_creation_uncertain = False
            try:
                return session is None or self._delete(session, limit if unseen is None else FORGET_LIMIT)
            finally:
                self._calls.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: typing.Optional[typing.Type[BaseException]], error: typing.Optional[BaseException],
                 trace: typing.Optional[types.TracebackType]) -> None:
        try:
            self._close(None if kind is None else FORGET_LIMIT)
        except ServiceError:
            # An earlier exception must not be hidden by this one.
            if kind is None:
                raise

    def _step(self, work: Work, budget: typing.Optional[float],
              on_progress: typing.Optional[ProgressListener]) -> StepResult:
        # Every step has a new number, answered or not: a frame that may have been computed must not get another target.
        self._frame += 1
        frame = self._frame
        deadline = Deadline(budget, self._allowance)
        is_uncertain = False

        def attempt(session: str) -> Json:
            nonlocal is_uncertain
            part = dataclasses.replace(work, budget=deadline.left)
            try:
                return self._calls.step(session, frame, self._answered, part, on_progress, deadline.limit)
            except ServiceError as error:
                is_uncertain = is_uncertain or error.is_uncertain
                raise
            except BaseException:
                is_uncertain = True
                raise

        try:
            answer = self._with_session(attempt, deadline)
        except BaseException:
            # The server may have computed the step. The next one starts from the last answer received, in a new session.
            if is_uncertain:
                self._abandon()
            raise
        self._keep(answer["positions"], work)
        self._answered = self._last_frame = frame
        return StepResult(frame=frame, **answer)

    def _with_session(self, work: typing.Callable[[str], Result], deadline: Deadline) -> Result:
        """Does the work on a session that exists; recreates the session if necessary."""
        if self._is_closed:
            raise ServiceError(errors.CANCELLED, "This session is closed.")

        def attempt(has_lost: bool = False) -> Result:
            session = self._id
            if session is None:
                if self._base is not None and self._is_behind:
                    raise self._go_back(self._base)
                session = self._create(deadline.limit)
                self.recreations += 1
            try:
                return work(session)
            except ServiceError as error:
                # Without any frame the session is at its base, whose number the service does not know.
                is_at_base = error.code == "FRAME_LOST" and not error.frame
                if self._base is not None and not self._recreates and is_at_base:
                    raise self._go_back(self._base) from error
                if not self._is_lost(error):
                    raise
                if self._base is not None and not self._recreates and (self._is_behind or self._answered > 0):
                    raise self._go_back(self._base) from error
                error.retryable = True
                if has_lost or time.monotonic() >= deadline.ends_at:
                    raise
            # The attempt that reaches a restarted server may be the last one, so it continues at once in a new session.
            return attempt(True)

        return with_retries(attempt, self._retry, deadline.ends_at, self._sleep)

    def _is_lost(self, error: ServiceError) -> bool:
        """Whether the session must be created again; its id is then unset."""
        at = error.frame or 0
        # The service accepted a step whose answer never arrived: no step may continue from a state unknown to the
        # caller.
        is_ahead = error.code == "FRAME_CONFLICT" and at > self._answered
        if error.code == "FRAME_LOST":
            self.last_loss = FrameLoss(at, self._answered)
            if not self._recreates:
                self._answered, self._is_behind = at, True
        if is_ahead or (error.code == "FRAME_LOST" and self._recreates):
            self._abandon()
        if error.code == "SESSION_NOT_FOUND":
            self._id = None
        return self._id is None

    def _go_back(self, base: Base) -> ServiceError:
        """Makes the next step continue from the base of the session. Returns the refusal of this step."""
        self.last_loss = FrameLoss(base.frame, self._last_frame)
        self._mesh, self._last, self._last_frame, self._answered = base.mesh, base.start, base.frame, 0
        self._is_behind = False
        return ServiceError(
            "FRAME_LOST", f"The server has lost the frames after {base.frame}, or the session with them.", frame=base.frame,
            hint="Send those frames again: they are computed to the same answers, in a new session if it is lost.")

    def _keep(self, positions: Array, work: Work) -> None:
        self._last = positions
        self._is_behind = False
        if work.masses is not None:
            self._mesh = dataclasses.replace(self._mesh, masses=work.masses.copy())
        if work.kinematic is not None:
            # The kinematic flags of a step, one per vertex, replace those of the parts.
            parts = [{**part, "kinematic": False} for part in self._mesh.parts]
            self._mesh = dataclasses.replace(self._mesh, kinematic=work.kinematic.copy(), parts=parts)

    def _create(self, limit: typing.Optional[float] = None) -> str:
        # The key is kept until the answer: repeating a creation whose answer was lost returns the same session.
        if self._creation is None:
            self._creation = SessionTerms(self._mesh, self._last, key=str(uuid.uuid4()), **self._terms)
        try:
            answer = self._calls.create(self._creation, limit)
        except BaseException as thrown:
            self._is_creation_uncertain |= not isinstance(thrown, ServiceError) or thrown.is_uncertain
            raise
        session = str(answer["id"])
        self._id, self._creation, self._is_creation_uncertain, self._answered = session, None, False, 0
        if answer.get("untangle"):
            # If the session is lost from now on, it is created again from the untangled state, with nothing to
            # untangle.
            self.untangled = untangled_of(answer["untangle"])
            self._last = self.untangled.positions
            parameters = {**self._terms["parameters"], "onIntersectingStart": "REJECT"}
            self._terms = {**self._terms, "untangle": None, "parameters": parameters}
        self._base = Base(self._last_frame, self._mesh, self._last)
        return session

    def _unseen(self) -> typing.Optional[str]:
        """Identifies the session of a creation that was abandoned while its answer might still have arrived."""
        return f"key:{self._creation.key}" if self._creation is not None and self._is_creation_uncertain else None

    def _forget(self) -> None:
        session = self._unseen()
        if session is None:
            return
        try:
            # The server deletes a session that it has created, or stops creating it.
            self._calls.delete(session, FORGET_LIMIT)
        except ServiceError:
            pass  # best effort, as below

    def _abandon(self) -> None:
        session, self._id = self._id, None
        if session is None:
            return
        self._calls.close()  # a stream belongs to one session
        try:
            self._calls.delete(session, FORGET_LIMIT)
        except ServiceError:
            pass  # best effort: the session also ends by its idle timeout

    def _delete(self, session: str, limit: typing.Optional[float]) -> bool:
        deadline = Deadline(limit)
        try:
            retry = dataclasses.replace(self._retry, attempts=CLOSE_ATTEMPTS)
            with_retries(lambda: self._calls.delete(session, deadline.left), retry, deadline.ends_at, self._sleep)
        except ServiceError as error:
            if error.code == "SESSION_NOT_FOUND":
                return True
            if error.retryable or error.code == errors.TIMEOUT:
                return False
            raise
        return True
