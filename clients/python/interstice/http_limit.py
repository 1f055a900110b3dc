"""Bounds the time of an attempt over HTTP: the time limit of a socket applies to each of its operations only."""

from __future__ import annotations

import functools
import http.client
import io
import socket
import time
import typing


def seconds_until(ends_at: float) -> float:
    """ends_at: a time of time.monotonic(). Raises socket.timeout if it has passed."""
    left = ends_at - time.monotonic()
    if left <= 0:
        raise socket.timeout("timed out")
    return left


def answers_until(ends_at: float) -> typing.Type[http.client.HTTPResponse]:
    """For HTTPConnection.response_class."""
    return typing.cast(typing.Type[http.client.HTTPResponse], functools.partial(_Answer, ends_at))


class _Answer(http.client.HTTPResponse):
    """An answer that is read by a time, however many pieces it arrives in."""

    def __init__(self, ends_at: float, sock: socket.socket, *args: typing.Any, **options: typing.Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_Limited(ends_at, sock, self.fp.detach()))


class _Limited(io.RawIOBase):
    """Reads from a socket."""

    def __init__(self, ends_at: float, sock: socket.socket, raw: io.RawIOBase) -> None:
        self._ends_at = ends_at
        self._sock = sock
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: typing.Any) -> typing.Optional[int]:
        self._sock.settimeout(seconds_until(self._ends_at))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        # The connection is closed when its last reader is.
        self._raw.close()
        super().close()
