"""The client of one Interstice server."""

import time
import urllib.parse
import uuid

from .retry import Retry, with_retries
from .session import MIN_BUDGET, Session
from .tls import Tls
from .types import StepResult, Work, as_mesh, as_positions

TIMEOUT = 630.0
"""seconds: the longest time budget that a server grants by default, and half a minute for the transfer"""


class Client:
    """`http://`, `https://`, `grpc://` or `grpcs://` and an address. Calls are retried where that is safe.

    tls: a Tls, certificates for `https://` and `grpcs://`, if the system's are not sufficient.
    timeout: seconds that one attempt may take.
    """

    def __init__(self, url, *, api_key=None, tls=None, retry=Retry(), timeout=TIMEOUT):
        scheme, address = urllib.parse.urlsplit(url)[:2]
        if scheme in ("http", "https"):
            from .http_transport import HttpTransport as Transport
        elif scheme in ("grpc", "grpcs"):
            from .grpc_transport import GrpcTransport as Transport
        else:
            raise ValueError(f"{url} is not an address of the form http://host:port or grpc://host:port.")
        is_encrypted = scheme.endswith("s")
        if tls is not None and not is_encrypted:
            raise ValueError(f"The option tls needs an address that begins with https:// or grpcs://, not {url}.")
        self._transport = Transport(url, address, (tls or Tls()) if is_encrypted else None, api_key, timeout)
        self._retry = retry

    def session(self, mesh, start, *, parameters=None, label="", idle_timeout=None, stream=False):
        """Opens a session. mesh: a Mesh, or triangles (T, 3); start: (V, 3), free of intersections.

        stream: over gRPC, send all steps on one stream of messages instead of one call per step.
        """
        return Session(self._transport, self._retry, as_mesh(mesh), start, parameters, label, idle_timeout, stream)

    def resolve(self, mesh, start, target, *, parameters=None, include=None, time_budget=None, on_budget=None,
                priority=None):
        """Resolves one pair of start and target; the server keeps no state."""
        ends_at = float("inf") if time_budget is None else time.monotonic() + time_budget

        def attempt():
            left = None if time_budget is None else max(MIN_BUDGET, ends_at - time.monotonic())
            work = Work(as_positions(target, "target"), as_positions(start, "start"), None, None, None, include, left,
                        on_budget, priority)
            return self._calls().resolve(as_mesh(mesh), parameters or {}, work)

        return StepResult(frame=0, **self._with_retries(attempt, ends_at))

    def check(self, mesh, positions, *, path_end=None, **question):
        """Tests whether this state, or the straight path to path_end, intersects."""
        arrays = {"positions": as_positions(positions, "positions")}
        if path_end is not None:
            arrays["path_end"] = as_positions(path_end, "path_end")
        return self._with_retries(lambda: self._calls().check(as_mesh(mesh), arrays, question))

    def info(self):
        """Engines, limits and defaults of the server."""
        return self._with_retries(lambda: self._calls().info())

    def close(self):
        """Closes the connections. Sessions must be closed separately."""
        self._transport.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _with_retries(self, work, ends_at=float("inf")):
        return with_retries(work, self._retry, ends_at, self._transport.sleep)

    def _calls(self):
        return self._transport.calls(str(uuid.uuid4()), False)
