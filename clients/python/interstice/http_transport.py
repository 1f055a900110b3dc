"""The contract over HTTP, with the standard library alone. Positions are sent in memory order."""

import collections
import http.client
import json
import time

import numpy as np

from . import errors
from .errors import ServiceError
from .http_messages import base64_of, duration_json, mesh_json, motion_of, positions_json, work_json
from .tls import TlsDiagnosis
from .types import Mesh, scalar_of, with_counts


class HttpTransport:
    """One server and its idle connections."""

    sleep = staticmethod(time.sleep)

    def __init__(self, url, address, tls, api_key, timeout):
        self.address = f"{'https' if tls else 'http'}://{address}"
        self._context = tls.context() if tls else None
        self._tls_diagnosis = TlsDiagnosis()
        self._host = address
        self._headers = {} if api_key is None else {"authorization": f"Bearer {api_key}"}
        self._timeout = timeout
        self._idle = collections.deque()

    def calls(self, routing, stream):
        if stream:
            raise ValueError("stream=True needs a grpc:// address.")
        return HttpCalls(self, routing)

    def send(self, method, path, headers, body, read):
        """One attempt. read receives a successful response and reads its body to the end."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._new_connection()
        is_connected = connection.sock is not None
        try:
            if not is_connected:
                connection.connect()
                is_connected = True
            connection.request(method, path, body=body, headers={**self._headers, **headers})
            response = connection.getresponse()
            self._tls_diagnosis.record_answer()
            if response.status >= 300:
                raise _refusal(self.address, response)
            answer = read(response)
        except BaseException as thrown:
            connection.close()
            if isinstance(thrown, TimeoutError):
                raise errors.timed_out(self.address, self._timeout) from thrown
            if isinstance(thrown, (OSError, http.client.HTTPException)):
                self.close()  # the idle connections are most likely broken too
                reason = str(thrown) or type(thrown).__name__
                refusal = self._context and self._tls_diagnosis.explain(self.address, reason, is_connected)
                raise refusal or errors.unreachable(self.address, reason) from thrown
            raise
        self._idle.append(connection)
        return answer

    def _new_connection(self):
        if self._context is None:
            return http.client.HTTPConnection(self._host, timeout=self._timeout)
        return http.client.HTTPSConnection(self._host, timeout=self._timeout, context=self._context)

    def close(self):
        while self._idle:
            self._idle.pop().close()


class HttpCalls:
    """The operations, with one routing key."""

    def __init__(self, transport, routing):
        self._transport = transport
        self._routing = {"x-session-id": routing}

    def create(self, terms):
        body = {"mesh": mesh_json(terms.mesh, len(terms.start.reshape(-1)) // 3), "start": positions_json(terms.start),
                "parameters": terms.parameters, "label": terms.label, "idempotencyKey": terms.key}
        if terms.idle_timeout is not None:
            body["idleTimeout"] = duration_json(terms.idle_timeout)
        return self._ask("POST", "/v1/sessions", body)["id"]

    def step(self, session, frame, work):
        path = f"/v1/sessions/{session}/steps"
        if work.is_raw():
            return self._raw_step(f"{path}?scalar={scalar_of(work.target).lower()}&frame={frame}", work)
        body = {**work_json(work), "frame": str(frame)}
        for name in ("kinematic", "masses"):
            if getattr(work, name) is not None:
                body[name] = base64_of(getattr(work, name))
        if work.override is not None:
            body["override"] = work.override
        return motion_of(self._ask("POST", path, body))

    def resolve(self, mesh, parameters, work):
        body = {"mesh": mesh_json(mesh, work.target.size // 3), "parameters": parameters, **work_json(work)}
        return motion_of(self._ask("POST", "/v1/resolve", body))

    def check(self, subject, arrays, question):
        if isinstance(subject, Mesh):
            body = {"mesh": mesh_json(subject, arrays["positions"].size // 3), **question}
        else:
            body = {"sessionId": subject, **question}
        names = {"positions": "positions", "path_end": "pathEnd"}
        body.update({names[key]: positions_json(array) for key, array in arrays.items()})
        return self._ask("POST", "/v1/check", body)

    def delete(self, session):
        self._transport.send("DELETE", f"/v1/sessions/{session}", self._routing, None, lambda response: response.read())

    def info(self):
        return self._ask("GET", "/v1", None)

    def close(self):
        pass

    def _ask(self, method, path, body):
        headers = dict(self._routing) if body is None else {**self._routing, "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        address = self._transport.address
        return self._transport.send(method, path, headers, data, lambda response: _json(address, response))

    def _raw_step(self, path, work):
        headers = {**self._routing, "content-type": "application/octet-stream"}
        if work.override is not None:
            headers["interstice-override"] = json.dumps(work.override)
        if work.budget is not None:
            headers["interstice-time-budget-ms"] = f"{work.budget * 1000:.3f}"
        if work.on_budget is not None:
            headers["interstice-on-budget"] = work.on_budget

        def read(response):
            report = response.getheader("interstice-report")
            if report is None or response.length != work.target.nbytes:
                raise ServiceError(
                    errors.UNEXPECTED_ANSWER,
                    f"The answer to the step has {response.length} bytes; {work.target.nbytes} bytes and a report "
                    "were expected.",
                    hint="Does a proxy remove headers that begin with interstice-?", is_uncertain=True)
            # Read from the socket directly into the caller's array.
            positions = np.empty((work.target.size // 3, 3), work.target.dtype)
            view, done = memoryview(positions).cast("B"), 0
            while done < len(view):
                count = response.readinto(view[done:])
                if count == 0:
                    raise http.client.IncompleteRead(b"", len(view) - done)
                done += count
            response.read()
            positions.setflags(write=False)
            return {"positions": positions, "report": with_counts(json.loads(report))}

        # http.client needs a flat buffer of bytes; this is a view, not a copy.
        return self._transport.send("POST", path, headers, memoryview(work.target).cast("B"), read)


def _json(address, response):
    text = response.read()
    try:
        return with_counts(json.loads(text))
    except ValueError as cause:
        raise ServiceError(
            errors.UNEXPECTED_ANSWER, f"The answer of {address} is not JSON.", is_uncertain=True) from cause


def _refusal(address, response):
    text = response.read()
    try:
        return errors.from_fields(with_counts(json.loads(text)))
    except (ValueError, TypeError, KeyError):
        # 502, 503 and 504 without a problem document come from a proxy that cannot reach the server.
        if 502 <= response.status <= 504:
            return errors.unreachable(address, f"status {response.status}")
        shown = text[:200].decode("utf-8", "replace")
        return ServiceError(
            errors.UNEXPECTED_ANSWER, f"{address} answered {response.status}: {shown}",
            hint="Is this the address of an Interstice server?", is_uncertain=True)
