"""A mesh that a server keeps from step to step."""

import dataclasses
import threading
import time
import uuid

from . import errors
from .errors import ServiceError
from .retry import with_retries
from .types import SessionTerms, StepResult, Work, as_elements, as_positions

CLOSE_ATTEMPTS = 3
"""The session of an unavailable server ends by its idle timeout."""
MIN_BUDGET = 0.001
"""seconds"""


class Session:
    """Created by Client.session. If the server loses the session (it was restarted, or removed the session), the client
    recreates it from the mesh and the last answer received. Calls from several threads run one after the other."""

    def __init__(self, transport, retry, mesh, start, parameters, label, idle_timeout, stream):
        self._routing = str(uuid.uuid4())  # a proxy may hash on it, so that all requests go to one server
        self._calls = transport.calls(self._routing, stream)
        self._retry = retry
        self._sleep = transport.sleep
        self._mesh = mesh
        # A copy, because the caller may modify this array. Answers are read-only and need none.
        self._last = as_positions(start, "start").copy()
        self._terms = {"parameters": parameters or {}, "label": label, "idle_timeout": idle_timeout}
        self._creation = None
        self._id = None
        self._frame = 0
        self._is_closed = False
        self._lock = threading.Lock()
        self.recreations = 0
        """how often the session was lost and recreated"""
        with_retries(self._create, retry, sleep=self._sleep)

    @property
    def id(self):
        """The server's id of the session; it changes when the session is recreated."""
        return self._id

    def step(self, target, *, start=None, kinematic=None, masses=None, override=None, include=None, time_budget=None,
             on_budget=None, priority=None):
        """Moves towards the target, (V, 3) float32 or float64. time_budget, in seconds, covers all attempts together.

        Raises ServiceError; the session then keeps the state of the last answer, and the next step may follow.
        """
        work = Work(
            as_positions(target, "target"), None if start is None else as_positions(start, "start"),
            None if kinematic is None else as_elements("kinematic", kinematic),
            None if masses is None else as_elements("masses", masses), override, include, None, on_budget, priority)
        with self._lock:
            return self._step(work, time_budget)

    def check(self, positions=None, *, path_end=None, **question):
        """Tests the last answer, or other positions of this mesh; the names in question are those of the contract."""
        arrays = {name: as_positions(value, name) for name, value in
                  (("positions", positions), ("path_end", path_end)) if value is not None}
        with self._lock:
            return self._with_session(lambda session: self._calls.check(session, arrays, question))

    def close(self):
        """Ends the session. Returns False if the server was unavailable and ends it by its idle timeout."""
        with self._lock:
            self._is_closed = True
            session, self._id = self._id, None
            try:
                return session is None or self._delete(session, CLOSE_ATTEMPTS)
            finally:
                self._calls.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            self.close()
        except ServiceError:
            # An earlier exception must not be hidden by this one.
            if kind is None:
                raise

    def _step(self, work, budget):
        # Every step has a new number, answered or not: a frame that may have been computed must not get another target.
        self._frame += 1
        frame = self._frame
        ends_at = float("inf") if budget is None else time.monotonic() + budget
        is_uncertain = False

        def attempt(session):
            nonlocal is_uncertain
            left = None if budget is None else max(MIN_BUDGET, ends_at - time.monotonic())
            try:
                return self._calls.step(session, frame, dataclasses.replace(work, budget=left))
            except ServiceError as error:
                is_uncertain = is_uncertain or error.is_uncertain
                raise
            except BaseException:
                is_uncertain = True
                raise

        try:
            answer = self._with_session(attempt, ends_at)
        except BaseException:
            # The server may have computed the step. The next one starts from the last answer received, in a new session.
            if is_uncertain:
                self._abandon()
            raise
        self._keep(answer["positions"], work)
        return StepResult(frame=frame, **answer)

    def _with_session(self, work, ends_at=float("inf")):
        """Does the work on a session that exists; recreates the session if necessary."""
        if self._is_closed:
            raise ServiceError(errors.CANCELLED, "This session is closed.")

        def attempt():
            if self._id is None:
                self._create()
                self.recreations += 1
            try:
                return work(self._id)
            except ServiceError as error:
                if error.code == "SESSION_NOT_FOUND":
                    self._id = None
                    error.retryable = True
                raise

        return with_retries(attempt, self._retry, ends_at, self._sleep)

    def _keep(self, positions, work):
        self._last = positions
        if work.masses is not None:
            self._mesh = dataclasses.replace(self._mesh, masses=work.masses.copy())
        if work.kinematic is not None:
            # The kinematic flags of a step, one per vertex, replace those of the parts.
            parts = [{**part, "kinematic": False} for part in self._mesh.parts]
            self._mesh = dataclasses.replace(self._mesh, kinematic=work.kinematic.copy(), parts=parts)

    def _create(self):
        # The key is kept until the answer: repeating a creation whose answer was lost returns the same session.
        if self._creation is None:
            self._creation = SessionTerms(self._mesh, self._last, key=str(uuid.uuid4()), **self._terms)
        self._id = self._calls.create(self._creation)
        self._creation = None

    def _abandon(self):
        session, self._id = self._id, None
        if session is None:
            return
        try:
            self._delete(session, 1)
        except ServiceError:
            pass  # best effort: the session also ends by its idle timeout

    def _delete(self, session, attempts):
        try:
            retry = dataclasses.replace(self._retry, attempts=attempts)
            with_retries(lambda: self._calls.delete(session), retry, sleep=self._sleep)
        except ServiceError as error:
            if error.code == "SESSION_NOT_FOUND":
                return True
            if error.retryable or error.code == errors.TIMEOUT:
                return False
            raise
        return True
