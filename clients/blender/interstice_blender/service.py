"""The HTTP side of the add-on: sessions of an Interstice service, with the standard library and numpy only.

Does not use Blender, so it runs and is tested in any Python from 3.9. Positions are float32 arrays of the shape (V, 3).
"""

import base64
import contextlib
import http.client
import json
import re
import socket
import threading
import time
import urllib.parse
import uuid

import numpy as np

# Attempts of a request after retryable refusals, with pauses of at most 30 s each.
ATTEMPTS = 5
# Seconds that an attempt may take. The longest run of a service takes 600 s unless its operator changed that; its answer
# may be an eighth of that late.
TIMEOUT = 705.0
# Share of a time budget by which an answer may be late (docs/api.md, Time budgets).
GRACE = 1 / 8
# Seconds beyond a time budget and its GRACE, for the way to the service and back.
ALLOWANCE = 30.0
# Seconds for the deletion of a session, for which Blender's window waits.
FORGET_LIMIT = 5.0
# Seconds within which a host must accept a connection; cancelling waits at most this long.
CONNECT_TIMEOUT = 10.0


class Refusal(Exception):
    """An error of the service, or of the connection to it, in place of a result."""

    def __init__(self, code, message, hint="", pairs=(), element=None, retry_after=None):
        super().__init__(f"{message} {hint}".strip())
        self.code, self.message, self.hint = code, message, hint
        self.pairs = list(pairs)
        self.element = element
        self.retry_after = retry_after

    def sides(self):
        """The elements at fault, each as the list of its vertex ids in the joined mesh."""
        found = [side for pair in self.pairs for side in (pair.get("a", []), pair.get("b", []))]
        if self.element:
            found.append(self.element.get("vertices", []))
        return [[int(vertex) for vertex in side] for side in found if side]


class Cancelled(Exception):
    """`Service.cancel` has ended the call."""


def encode(array, kind):
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")


def positions_of(array):
    return {"data": encode(array, "<f4")}


def _shut(connection):
    """Ends what waits on a connection, from another thread."""
    sock = connection.sock
    if sock is not None:
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It was already closed, so nothing waits on it.


def _pause_of(retry_after):
    """Seconds to wait before the next attempt."""
    try:
        return min(30.0, float(retry_after))
    except (TypeError, ValueError):
        return 0.5


def _problem_of(data):
    """The problem document of the service; {} for anything else, which a proxy or another service has answered."""
    try:
        problem = json.loads(data)
        return problem if problem["type"].startswith("urn:interstice:error:") else {}
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}


class Service:
    """One service. Calls are made one at a time; `cancel` may be called from another thread."""

    def __init__(self, url, api_key=""):
        parts = urllib.parse.urlsplit(url if "//" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not the address of a service. It looks like http://127.0.0.1:8080.")
        # As the clients: what every service accepts and every header can hold. Does not repeat the key.
        if not re.fullmatch(r"[!-~]*", api_key):
            raise ValueError("The API key has spaces, line breaks or letters beyond ASCII, which no key of a service has.")
        self.parts, self.api_key = parts, api_key
        self.connection = None
        self.is_cancelled = False

    def cancel(self):
        """Ends the running call with Cancelled: the closed connection tells the service to stop its work."""
        self.is_cancelled = True
        connection = self.connection
        if connection is not None:
            _shut(connection)

    def _once(self, method, path, body, headers, limit):
        https = self.parts.scheme == "https"
        kind = http.client.HTTPSConnection if https else http.client.HTTPConnection
        connection = kind(self.parts.hostname, self.parts.port, timeout=min(CONNECT_TIMEOUT, limit))
        self.connection = connection
        ends_at = time.monotonic() + limit
        is_late = threading.Event()

        def give_up():
            is_late.set()
            _shut(connection)

        # The time limit of a socket bounds each of its operations, not the answer, which may arrive in many pieces.
        timer = threading.Timer(limit, give_up)
        timer.daemon = True
        timer.start()
        try:
            connection.connect()
            connection.sock.settimeout(limit)
            if self.is_cancelled:
                raise Cancelled
            connection.request(method, self.parts.path.rstrip("/") + path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
            if is_late.is_set():
                raise socket.timeout
            return answer.status, answer.headers, data
        except (OSError, http.client.HTTPException) as error:
            if self.is_cancelled:
                raise Cancelled from error
            if is_late.is_set() or time.monotonic() >= ends_at:
                raise Refusal(
                    "TIMEOUT",
                    f"{self.parts.geturl()} did not answer within {limit:.3g} s.",
                    "Is the service stopped or overloaded? If not, allow more time.",
                ) from error
            raise Refusal(
                "UNREACHABLE",
                f"No answer from {self.parts.geturl()}: {error or type(error).__name__}.",
                "Start the service with npm start, or correct its address in the preferences of the add-on.",
            ) from error
        finally:
            timer.cancel()
            self.connection = None
            connection.close()

    def call(self, method, path, body=None, headers=None, budget=0.0, limit=float("inf")):
        """Sends one request, and repeats it if the service says that this helps. Returns headers and body.

        `budget`: seconds for the work of the service, 0 = none; `limit`: seconds until its answer. Each covers all attempts.
        """
        began = time.monotonic()
        headers = dict(headers or {})
        if self.api_key:
            headers["authorization"] = f"Bearer {self.api_key}"
        for attempt in range(1, ATTEMPTS + 1):
            if self.is_cancelled:
                raise Cancelled
            passed = time.monotonic() - began
            if budget > 0:
                headers["interstice-time-budget-ms"] = str(max(1, round(1000 * (budget - passed))))
            left = max(0.001, min(TIMEOUT, limit - passed))
            status, answered, data = self._once(method, path, body, headers, left)
            if status < 300:
                return answered, data
            problem = _problem_of(data)
            pause = _pause_of(answered.get("retry-after"))
            is_over = time.monotonic() + pause - began > (budget or limit)
            if not problem.get("retryable") or attempt == ATTEMPTS or is_over:
                raise Refusal(
                    problem.get("code", f"HTTP_{status}"),
                    problem.get("message", f"The answer to {method} {path} has the status {status}."),
                    problem.get("hint", ""),
                    problem.get("pairs", ()),
                    problem.get("element"),
                )
            self._pause(pause)
        raise AssertionError("unreachable")

    def _pause(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.is_cancelled:
            time.sleep(0.05)

    def call_json(self, method, path, message=None):
        body = None if message is None else json.dumps(message).encode()
        _, data = self.call(method, path, body, {"content-type": "application/json", "accept": "application/json"})
        with self.reading():
            return json.loads(data)

    @contextlib.contextmanager
    def reading(self):
        """What cannot be read is not an answer of this service."""
        try:
            yield
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise Refusal(
                "UNEXPECTED_ANSWER",
                f"The answer of {self.parts.geturl()} is not one of this service ({error!r}).",
                "Correct its address in the preferences of the add-on.",
            ) from error


def _delete_unseen(service, key):
    """Deletes a session, or stops its creation, if the answer with its id was abandoned or lost."""
    again = Service(service.parts.geturl(), service.api_key)
    try:
        again.call("DELETE", f"/v1/sessions/key:{key}", limit=FORGET_LIMIT)
    except Refusal:
        pass  # There is none; or the service cannot be reached, and the session ends by its idle timeout.


class Session:
    """A mesh that the service keeps. Opening it tests the start, which must not intersect."""

    def __init__(self, service, mesh, start, parameters):
        """`mesh`: see `parts.Joined.mesh`; `start`: (V, 3) in one space for all parts; `parameters`: as in JSON requests."""
        self.service = service
        self.frame = 0
        self.shape = np.shape(start)
        key = uuid.uuid4().hex
        request = {
            "mesh": mesh,
            "start": positions_of(start),
            "parameters": parameters,
            "label": "Blender",
            "idempotencyKey": key,
        }
        try:
            created = service.call_json("POST", "/v1/sessions", request)
            with service.reading():
                self.id = created["id"]
        except Cancelled:
            _delete_unseen(service, key)
            raise
        except Refusal as refusal:
            if refusal.code in ("UNREACHABLE", "TIMEOUT", "UNEXPECTED_ANSWER"):
                _delete_unseen(service, key)
            raise
        self.path = f"/v1/sessions/{self.id}"

    def step(self, target, budget=0.0):
        """Moves from the last answer towards `target`. Returns the new positions and the report. `budget`: s, 0 = none."""
        self.frame += 1
        headers = {"content-type": "application/octet-stream", "accept": "application/octet-stream"}
        body = np.ascontiguousarray(target, dtype="<f4").tobytes()
        limit = budget * (1 + GRACE) + ALLOWANCE if budget > 0 else float("inf")
        path = f"{self.path}/steps?frame={self.frame}"
        answered, data = self.service.call("POST", path, body, headers, budget, limit)
        with self.service.reading():
            return np.frombuffer(data, dtype="<f4").reshape(self.shape), json.loads(answered["interstice-report"])

    def check(self, positions, held_back=0):
        """Raises Refusal if `positions` intersect: what a program shows is not always what it received.

        `held_back`: number of kinematic vertices whose answer differs from `positions`.
        """
        answer = self.service.call_json(
            "POST", "/v1/check", {"sessionId": self.id, "positions": positions_of(positions)}
        )
        with self.service.reading():
            is_free, count, pairs = answer["intersectionFree"], answer["intersectionCount"], answer["intersections"]
        if is_free is not True:
            words = (
                (
                    f"Obstacles or pins leave no room: {held_back} of their vertices cannot go where they are animated, "
                    f"and {count} pairs would intersect.",
                    "Leave room for the mesh between obstacles and pins, or allow more time.",
                )
                if held_back
                else (
                    f"{count} pairs intersect after rounding to the coordinates of the object.",
                    "Apply the object's transforms, or move it closer to its origin, and try again.",
                )
            )
            raise Refusal("INTERSECTING_ANSWER", *words, pairs)

    def close(self):
        """Deletes the session. If the service cannot be reached, the session ends by its idle timeout."""
        again = Service(self.service.parts.geturl(), self.service.api_key)
        try:
            again.call("DELETE", self.path, limit=FORGET_LIMIT)
        except Refusal:
            pass
