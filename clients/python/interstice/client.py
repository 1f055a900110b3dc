"""A server of Interstice."""

import time
import urllib.parse
import uuid

from .retry import Retry, persist
from .session import LEAST_BUDGET, Session
from .tls import Tls
from .types import StepResult, Work, as_mesh, as_positions

TIMEOUT = 630.0
"""Longest time budget that a server grants by default, in seconds, and half a minute for the way."""


class Client:
    """`http://`, `https://`, `grpc://` or `grpcs://` and an address. Calls are tried again where that is safe.

    tls: a Tls, certificates for `https://` and `grpcs://` where those that are known will not do.
    timeout: seconds that one try may take.
    """

    def __init__(self, url, *, api_key=None, tls=None, retry=Retry(), timeout=TIMEOUT):
        scheme, address = urllib.parse.urlsplit(url)[:2]
        if scheme in ("http", "https"):
            from .http_transport import HttpTransport as Transport
        elif scheme in ("grpc", "grpcs"):
            from .grpc_transport import GrpcTransport as Transport
        else:
            raise ValueError(f"{url} is no address of the form http://host:port or grpc://host:port")
        is_encrypted = scheme.endswith("s")
        if tls is not None and not is_encrypted:
            raise ValueError(f"tls needs an address that begins with https:// or grpcs://, not {url}")
        self._transport = Transport(url, address, (tls or Tls()) if is_encrypted else None, api_key, timeout)
        self._retry = retry

    def session(self, mesh, start, *, parameters=None, label="", idle_timeout=None, stream=False):
        """Opens a session. mesh: a Mesh, or triangles (T, 3); start: (V, 3), free of intersections.

        stream: over gRPC, all steps on one stream of messages instead of a call each.
        """
        return Session(self._transport, self._retry, as_mesh(mesh), start, parameters, label, idle_timeout, stream)

    def resolve(self, mesh, start, target, *, parameters=None, include=None, time_budget=None, on_budget=None,
                priority=None):
        """One pair, no state kept."""
        ends_at = float("inf") if time_budget is None else time.monotonic() + time_budget

        def attempt():
            left = None if time_budget is None else max(LEAST_BUDGET, ends_at - time.monotonic())
            work = Work(as_positions(target, "target"), as_positions(start, "start"), None, None, None, include, left,
                        on_budget, priority)
            return self._lane().resolve(as_mesh(mesh), parameters or {}, work)

        return StepResult(frame=0, **self._persist(attempt, ends_at))

    def check(self, mesh, positions, *, path_end=None, **question):
        """Does this state, or the straight path to path_end, intersect?"""
        arrays = {"positions": as_positions(positions, "positions")}
        if path_end is not None:
            arrays["path_end"] = as_positions(path_end, "path_end")
        return self._persist(lambda: self._lane().check(as_mesh(mesh), arrays, question))

    def info(self):
        """What the server can do: engines, limits, defaults."""
        return self._persist(lambda: self._lane().info())

    def close(self):
        """Closes the connections; sessions are closed on their own."""
        self._transport.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _persist(self, work, ends_at=float("inf")):
        return persist(work, self._retry, ends_at, self._transport.sleep)

    def _lane(self):
        return self._transport.lane(str(uuid.uuid4()), False)
