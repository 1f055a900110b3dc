"""A mesh that a server keeps from step to step."""

import dataclasses
import threading
import time
import uuid

from . import errors
from .errors import ServiceError
from .retry import persist
from .types import SessionTerms, StepResult, Work, as_elements, as_positions

CLOSE_ATTEMPTS = 3
"""The session of a server that is away ends by its idle timeout."""
LEAST_BUDGET = 0.001
"""seconds"""


class Session:
    """Made by Client.session. What the server forgets (it was restarted, or dropped the session) is made again here
    from the mesh and the last answer received, without the caller's help. Threads take turns."""

    def __init__(self, transport, retry, mesh, start, parameters, label, idle_timeout, stream):
        self._routing = str(uuid.uuid4())  # for a proxy to hash on: all requests of this session go to one server
        self._lane = transport.lane(self._routing, stream)
        self._retry = retry
        self._sleep = transport.sleep
        self._mesh = mesh
        # A copy: the caller may go on computing in this array. Answers need none, they are read-only.
        self._last = as_positions(start, "start").copy()
        self._terms = {"parameters": parameters or {}, "label": label, "idle_timeout": idle_timeout}
        self._creation = None
        self._id = None
        self._frame = 0
        self._is_closed = False
        self._lock = threading.Lock()
        self.recreations = 0
        """how often the session was lost and made again"""
        persist(self._create, retry, sleep=self._sleep)

    @property
    def id(self):
        """The server's name for it; another one after the session was made again."""
        return self._id

    def step(self, target, *, start=None, kinematic=None, masses=None, override=None, include=None, time_budget=None,
             on_budget=None, priority=None):
        """Moves towards the target, (V, 3) float32 or float64. time_budget, in seconds, covers all tries together.

        Raises ServiceError; the session is then where the last answer left it, and the next step may be asked for.
        """
        work = Work(
            as_positions(target, "target"), None if start is None else as_positions(start, "start"),
            None if kinematic is None else as_elements("kinematic", kinematic),
            None if masses is None else as_elements("masses", masses), override, include, None, on_budget, priority)
        with self._lock:
            return self._step(work, time_budget)

    def check(self, positions=None, *, path_end=None, **question):
        """Tests the last answer, or other positions of this mesh; the question's names are those of the contract."""
        arrays = {name: as_positions(value, name) for name, value in
                  (("positions", positions), ("path_end", path_end)) if value is not None}
        with self._lock:
            return self._with_session(lambda session: self._lane.check(session, arrays, question))

    def close(self):
        """Ends the session. False: the server could not be told and will end it by its idle timeout."""
        with self._lock:
            self._is_closed = True
            session, self._id = self._id, None
            try:
                return session is None or self._delete(session, CLOSE_ATTEMPTS)
            finally:
                self._lane.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            self.close()
        except ServiceError:
            # What went wrong before must not hide behind what went wrong now.
            if kind is None:
                raise

    def _step(self, work, budget):
        # A new number for every step, answered or not: a frame whose fate is unknown must never meet another target.
        self._frame += 1
        frame = self._frame
        ends_at = float("inf") if budget is None else time.monotonic() + budget
        is_uncertain = False

        def attempt(session):
            nonlocal is_uncertain
            left = None if budget is None else max(LEAST_BUDGET, ends_at - time.monotonic())
            try:
                return self._lane.step(session, frame, dataclasses.replace(work, budget=left))
            except ServiceError as error:
                is_uncertain = is_uncertain or error.is_uncertain
                raise
            except BaseException:
                is_uncertain = True
                raise

        try:
            answer = self._with_session(attempt, ends_at)
        except BaseException:
            # Perhaps the server went on without us. The next step starts from what was received, in a new session.
            if is_uncertain:
                self._abandon()
            raise
        self._keep(answer["positions"], work)
        return StepResult(frame=frame, **answer)

    def _with_session(self, work, ends_at=float("inf")):
        """Does the work on a session that exists, which may have to be made again for it."""
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

        return persist(attempt, self._retry, ends_at, self._sleep)

    def _keep(self, positions, work):
        self._last = positions
        if work.masses is not None:
            self._mesh = dataclasses.replace(self._mesh, masses=work.masses.copy())
        if work.kinematic is not None:
            # What a step says of every vertex replaces what the parts said of theirs.
            parts = [{**part, "kinematic": False} for part in self._mesh.parts]
            self._mesh = dataclasses.replace(self._mesh, kinematic=work.kinematic.copy(), parts=parts)

    def _create(self):
        # The key stays until it is answered: a creation whose answer was lost gives the same session again.
        if self._creation is None:
            self._creation = SessionTerms(self._mesh, self._last, key=str(uuid.uuid4()), **self._terms)
        self._id = self._lane.create(self._creation)
        self._creation = None

    def _abandon(self):
        session, self._id = self._id, None
        if session is None:
            return
        try:
            self._delete(session, 1)
        except ServiceError:
            pass  # only a courtesy: it ends by its idle timeout as well

    def _delete(self, session, attempts):
        try:
            retry = dataclasses.replace(self._retry, attempts=attempts)
            persist(lambda: self._lane.delete(session), retry, sleep=self._sleep)
        except ServiceError as error:
            if error.code == "SESSION_NOT_FOUND":
                return True
            if error.retryable or error.code == errors.TIMEOUT:
                return False
            raise
        return True
