"""The contract over HTTP, with the standard library alone. Positions are sent in memory order."""

from __future__ import annotations

import collections
import email.utils
import http.client
import json
import re
import socket
import time
import typing
import urllib.parse

import numpy as np

from . import errors
from .errors import ServiceError
from .http_limit import answers_until, seconds_until
from .http_messages import base64_of, duration_json, mesh_json, motion_of, positions_json, work_json
from .http_stream import ACCEPT_STREAM, ListenerFailed, Teller, decoded, json_of, read_streamed, teller_of
from .settings import Address
from .tls import Tls, TlsDiagnosis
from .types import (Array, JobTerms, Json, Mesh, ProgressListener, SessionTerms, UntangleListener, Untangling, Work,
                    moved_of, plain_json, scalar_of, untangle_progress_of, with_counts)


Result = typing.TypeVar("Result")


class HttpTransport:
    """One server and its idle connections."""

    def __init__(self, url: str, address: Address, tls: typing.Optional[Tls], api_key: typing.Optional[str],
                 timeout: float) -> None:
        self.address = f"{address.scheme}://{address.place}{address.path}"
        self._context = tls.context() if tls else None
        self._tls_diagnosis = TlsDiagnosis()
        self._host = address.place
        self._path = address.path  # of a proxy, before the paths of the service
        self._headers = {} if api_key is None else {"authorization": f"Bearer {api_key}"}
        self._timeout = timeout
        self._idle: typing.Deque[http.client.HTTPConnection] = collections.deque()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def calls(self, routing: str, stream: bool) -> HttpCalls:
        if stream:
            raise ValueError("stream=True needs a grpc:// address.")
        return HttpCalls(self, routing)

    def send(self, method: str, path: str, headers: typing.Dict[str, str],
             body: typing.Union[bytes, memoryview, None],
             read: typing.Callable[[http.client.HTTPResponse], Result],
             limit: typing.Optional[float] = None, is_separate: bool = False) -> Result:
        """One attempt. read receives a successful response and reads its body to the end. limit: seconds. is_separate: on
        a connection of its own."""
        ends_at = time.monotonic() + (self._timeout if limit is None else min(limit, self._timeout))
        try:
            connection = self._new_connection() if is_separate else self._idle.pop()
        except IndexError:
            connection = self._new_connection()
        is_connected = connection.sock is not None
        try:
            if not is_connected:
                connection.timeout = seconds_until(ends_at)
                connection.connect()
                is_connected = True
            connection.sock.settimeout(seconds_until(ends_at))
            connection.response_class = answers_until(ends_at)
            try:
                connection.request(method, self._path + path, body=body, headers={**self._headers, **headers})
            except (BrokenPipeError, ConnectionResetError):
                response = _early_refusal(connection)
                if response is None:
                    raise
            else:
                response = connection.getresponse()
            self._tls_diagnosis.record_answer()
            if response.status >= 300:
                raise _refusal(self.address, response)
            answer = read(response)
        except BaseException as thrown:
            connection.close()
            if isinstance(thrown, (TimeoutError, socket.timeout)):  # two types before Python 3.10
                raise errors.timed_out(self.address, self._timeout, limit) from thrown
            if isinstance(thrown, (OSError, http.client.HTTPException)):
                self.close()  # the idle connections are most likely broken too
                reason = str(thrown) or type(thrown).__name__
                refusal = self._tls_diagnosis.explain(self.address, reason, is_connected) if self._context else None
                raise refusal or errors.unreachable(self.address, reason) from thrown
            raise
        if is_separate:
            connection.close()
        else:
            self._idle.append(connection)
        return answer

    def _new_connection(self) -> http.client.HTTPConnection:
        if self._context is None:
            return http.client.HTTPConnection(self._host)
        return http.client.HTTPSConnection(self._host, context=self._context)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()


class HttpCalls:
    """The operations, with one routing key."""

    def __init__(self, transport: HttpTransport, routing: str) -> None:
        self._transport = transport
        self._routing = {"x-session-id": routing}

    def create(self, terms: SessionTerms, limit: typing.Optional[float] = None) -> Json:
        body: Json = {"mesh": mesh_json(terms.mesh, len(terms.start.reshape(-1)) // 3), "start": positions_json(terms.start),
                "parameters": terms.parameters, "label": terms.label, "idempotencyKey": terms.key}
        if terms.idle_timeout is not None:
            body["idleTimeout"] = duration_json(terms.idle_timeout)
        if terms.untangle is not None:
            body["untangle"] = terms.untangle
        return self._ask_for(["id"], "POST", "/v1/sessions", body, limit=limit)

    def step(self, session: str, frame: int, after: int, work: Work,
             on_progress: typing.Optional[ProgressListener], limit: typing.Optional[float] = None) -> Json:
        path = f"/v1/sessions/{session}/steps"
        if work.is_raw() and on_progress is None:
            query = f"scalar={scalar_of(work.target).lower()}&frame={frame}&after_frame={after}"
            return self._raw_step(f"{path}?{query}", work, limit)
        body: Json = {**work_json(work), "frame": str(frame), "afterFrame": str(after)}
        for name in ("kinematic", "masses"):
            if getattr(work, name) is not None:
                body[name] = base64_of(getattr(work, name))
        if work.override is not None:
            body["override"] = work.override
        answer = self._ask("POST", path, body, on_progress and teller_of(on_progress), limit)
        return decoded(self._transport.address, lambda whole: moved_of(motion_of(whole), work.target), answer)

    def resolve(self, mesh: Mesh, parameters: Json, work: Work,
                on_progress: typing.Optional[ProgressListener], limit: typing.Optional[float] = None) -> Json:
        tell = on_progress and teller_of(on_progress)
        answer = self._ask("POST", "/v1/resolve", _resolve_json(mesh, parameters, work), tell, limit)
        return decoded(self._transport.address, lambda whole: moved_of(motion_of(whole), work.target), answer)

    def submit(self, terms: JobTerms) -> str:
        body: Json = {"label": terms.label, "idempotencyKey": terms.key}
        if isinstance(terms.work, Untangling):
            question = {"parameters": terms.parameters, **terms.work.question}
            body["untangle"] = _untangle_json(terms.mesh, terms.work.positions, question)
        else:
            body["resolve"] = _resolve_json(terms.mesh, terms.parameters, terms.work)
        if terms.keep_for is not None:
            body["keepFor"] = duration_json(terms.keep_for)
        return str(self._ask_for(["id"], "POST", "/v1/jobs", body)["id"])

    def job(self, job: str, wait: float, limit: typing.Optional[float] = None) -> Json:
        return self._ask_for(_JOB, "GET", f"{_job_path(job)}?wait={duration_json(wait)}", None, limit=limit)

    def list_jobs(self, page_token: str, label: str) -> Json:
        query = urllib.parse.urlencode([(n, v) for n, v in (("pageToken", page_token), ("label", label)) if v])
        return self._ask_for(["jobs"], "GET", f"/v1/jobs?{query}" if query else "/v1/jobs", None)

    def job_result(self, job: str) -> Json:
        answer = self._ask("GET", f"{_job_path(job)}/result", None)
        return decoded(self._transport.address, _result_of, answer)

    def delete_job(self, job: str) -> None:
        self._transport.send("DELETE", _job_path(job), self._routing, None, lambda response: response.read())

    def check(self, subject: typing.Union[Mesh, str], arrays: typing.Dict[str, Array], question: Json,
              limit: typing.Optional[float] = None) -> Json:
        body: Json
        if isinstance(subject, Mesh):
            body = {"mesh": mesh_json(subject, arrays["positions"].size // 3), **question}
        else:
            body = {"sessionId": subject, **question}
        names = {"positions": "positions", "path_end": "pathEnd"}
        body.update({names[key]: positions_json(array) for key, array in arrays.items()})
        return self._ask_for(["intersectionFree"], "POST", "/v1/check", body, limit=limit)

    def diagnose(self, mesh: Mesh, arrays: typing.Dict[str, Array], question: Json,
                 limit: typing.Optional[float] = None) -> Json:
        body: Json = {"mesh": mesh_json(mesh, arrays["positions"].size // 3), **question}
        body.update({name: positions_json(array) for name, array in arrays.items()})
        return self._ask_for(["accepted"], "POST", "/v1/diagnose", body, limit=limit)

    def untangle(self, mesh: Mesh, positions: Array, question: Json,
                 on_progress: typing.Optional[UntangleListener], limit: typing.Optional[float] = None) -> Json:
        tell = None if on_progress is None else _untangle_teller(on_progress)
        return self._ask_for(_UNTANGLING, "POST", "/v1/untangle", _untangle_json(mesh, positions, question), tell, limit)

    def delete(self, session: str, limit: typing.Optional[float] = None) -> None:
        path = f"/v1/sessions/{urllib.parse.quote(session, safe='')}"
        # With a limit it follows a failure, and no other attempt follows: an idle connection may be broken too.
        self._transport.send("DELETE", path, self._routing, None, lambda response: response.read(), limit, limit is not None)

    def info(self) -> Json:
        return self._ask_for(["limits"], "GET", "/v1", None)

    def close(self) -> None:
        pass

    def _ask_for(self, fields: typing.Sequence[str], method: str, path: str, body: typing.Optional[Json],
                 on_progress: typing.Optional[Teller] = None, limit: typing.Optional[float] = None) -> Json:
        """An answer without these fields is not of this service."""
        answer = self._ask(method, path, body, on_progress, limit)
        return decoded(self._transport.address, lambda whole: _having(fields, whole), answer)

    def _ask(self, method: str, path: str, body: typing.Optional[Json],
             on_progress: typing.Optional[Teller] = None, limit: typing.Optional[float] = None) -> Json:
        headers = dict(self._routing) if body is None else {**self._routing, "content-type": "application/json"}
        data = None if body is None else json.dumps(plain_json(body)).encode()
        address = self._transport.address
        if on_progress is None:
            return self._transport.send(method, path, headers, data, lambda response: _json(address, response), limit)
        listener = on_progress
        try:
            return self._transport.send(method, path, {**headers, "accept": ACCEPT_STREAM}, data,
                                        lambda response: read_streamed(address, response, listener), limit)
        except ListenerFailed as failed:
            raise failed.reason

    def _raw_step(self, path: str, work: Work, limit: typing.Optional[float]) -> Json:
        headers = {**self._routing, "content-type": "application/octet-stream"}
        if work.override is not None:
            headers["interstice-override"] = json.dumps(plain_json(work.override))
        if work.budget is not None:
            headers["interstice-time-budget-ms"] = f"{work.budget * 1000:.3f}"
        if work.on_budget is not None:
            headers["interstice-on-budget"] = work.on_budget

        def read(response: http.client.HTTPResponse) -> Json:
            report = response.getheader("interstice-report")
            # A proxy may send the answer in chunks, without its length.
            if report is None or response.length not in (None, work.target.nbytes):
                raise _unexpected_step(f"{response.length} bytes and {'a' if report else 'no'} report", work)
            # Read from the socket directly into the caller's array.
            positions: Array = np.empty((work.target.size // 3, 3), work.target.dtype)
            view, done = positions.data.cast("B"), 0
            while done < len(view):
                count = response.readinto(view[done:])
                if count == 0 and response.chunked:
                    raise _unexpected_step(f"{done} bytes", work)
                if count == 0:
                    raise http.client.IncompleteRead(b"", len(view) - done)
                done += count
            if response.read():
                raise _unexpected_step("more bytes", work)
            positions.setflags(write=False)
            # http.client reads the bytes of a header as Latin-1.
            return {"positions": positions, "report": json_of(self._transport.address, report.encode("latin-1"))}

        # http.client needs a flat buffer of bytes; this is a view, not a copy.
        return self._transport.send("POST", path, headers, work.target.data.cast("B"), read, limit)


def _unexpected_step(what: str, work: Work) -> ServiceError:
    return ServiceError(
        errors.UNEXPECTED_ANSWER,
        f"The answer to the step has {what}; {work.target.nbytes} bytes and a report were expected.",
        hint="Does a proxy remove headers that begin with interstice-, or change bodies?", is_uncertain=True)


_JOB = ("id", "state", "created")
_UNTANGLING = ("positions", "report", "regions")
_PROBLEMS = "urn:interstice:error:"
"""how the type of every problem document of the service begins"""


def _having(fields: typing.Sequence[str], answer: Json) -> Json:
    missing = [name for name in fields if name not in answer]
    if missing:
        raise LookupError(f"without {', '.join(missing)}")
    if "id" in fields and not (isinstance(answer["id"], str) and answer["id"]):
        raise LookupError("without an id")
    return answer


def _result_of(answer: Json) -> Json:
    """Of a job, which is a resolve or an untangling."""
    return {"untangle": _having(_UNTANGLING, answer["untangle"])} if "untangle" in answer else motion_of(answer)


def _resolve_json(mesh: Mesh, parameters: Json, work: Work) -> Json:
    return {"mesh": mesh_json(mesh, work.vertex_count()), "parameters": parameters, **work_json(work)}


def _untangle_json(mesh: Mesh, positions: Array, question: Json) -> Json:
    return {"mesh": mesh_json(mesh, positions.size // 3), "positions": positions_json(positions), **question}


def _untangle_teller(on_progress: UntangleListener) -> Teller:
    return lambda progress: on_progress(untangle_progress_of(progress))


def _job_path(job: str) -> str:
    return f"/v1/jobs/{urllib.parse.quote(job, safe='')}"


def _json(address: str, response: http.client.HTTPResponse) -> Json:
    return json_of(address, response.read())


def _early_refusal(connection: http.client.HTTPConnection) -> typing.Optional[http.client.HTTPResponse]:
    """What a server has answered that closed the connection without reading a large body, which it refused by its head."""
    try:
        response = connection.getresponse()
    except (OSError, http.client.HTTPException):
        return None
    return response if response.status >= 300 else None


def _refusal(address: str, response: http.client.HTTPResponse) -> ServiceError:
    text = response.read()
    try:
        fields = with_counts(json.loads(text))
        # A proxy may answer JSON with a code, too.
        if not fields["type"].startswith(_PROBLEMS):
            raise ValueError
        return errors.from_fields(fields)
    except (ValueError, TypeError, LookupError, AttributeError):
        # 502, 503 and 504 without a problem document come from a proxy that cannot reach the server.
        if 502 <= response.status <= 504:
            error = errors.unreachable(address, f"status {response.status}")
            error.retry_after = _retry_after(response)
            return error
        shown = text[:200].decode("utf-8", "replace")
        return ServiceError(
            errors.UNEXPECTED_ANSWER, f"{address} answered {response.status}: {shown}",
            hint="Is this the address of an Interstice server?", is_uncertain=True)


def _retry_after(response: http.client.HTTPResponse) -> typing.Optional[float]:
    """Seconds. The header is a number of seconds or a date."""
    header = response.getheader("retry-after") or ""
    if re.fullmatch(r"[0-9]+", header):
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError, IndexError):  # before Python 3.10 a TypeError
        return None
