"""Reads answers over HTTP that arrive as lines of JSON: progress, then the answer or an error."""

from __future__ import annotations

import http.client
import json
import typing

from . import errors
from .errors import ServiceError
from .types import Json, Progress, ProgressListener, with_counts

_STREAM = "application/x-ndjson"
ACCEPT_STREAM = f"{_STREAM}, application/json;q=0.5"
"""a server without progress sends a single answer"""


class ListenerFailed(Exception):
    """Wraps an exception of a listener, which is not a fault of the connection."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__(reason)
        self.reason = reason


Result = typing.TypeVar("Result")


def json_of(address: str, text: bytes) -> Json:
    try:
        answer = with_counts(json.loads(text))
    except ValueError as cause:
        raise ServiceError(
            errors.UNEXPECTED_ANSWER, f"The answer of {address} is not JSON.", is_uncertain=True) from cause
    return decoded(address, dict, answer)


def decoded(address: str, decode: typing.Callable[[typing.Any], Result], answer: typing.Any) -> Result:
    """What decode raises means that the answer is not of this service."""
    try:
        return decode(answer)
    except (AttributeError, LookupError, TypeError, ValueError) as cause:
        raise ServiceError(
            errors.UNEXPECTED_ANSWER, f"{address} answered JSON that is not of this service ({cause!r}).",
            hint="Is this the address of an Interstice server?", is_uncertain=True) from cause


Teller = typing.Callable[[Json], None]
"""takes a message of progress"""


def teller_of(on_progress: ProgressListener) -> Teller:
    return lambda progress: on_progress(
        Progress(progress["steps"], float(progress["residual"]), progress["unfinishedVertices"]))


def read_streamed(address: str, response: http.client.HTTPResponse, on_progress: Teller) -> Json:
    """Reads to the end. Raises the error that the stream ends with, ListenerFailed, and IncompleteRead if it just ends."""
    if not (response.getheader("content-type") or "").startswith(_STREAM):
        return json_of(address, response.read())
    for line in iter(response.readline, b""):
        message = json_of(address, line)
        if "progress" in message:
            _tell(on_progress, message["progress"])
        elif "response" in message:
            response.read()
            return typing.cast(Json, message["response"])
        elif "error" in message:
            response.read()
            raise errors.from_fields(message["error"])
        # A message without a result means that the server is still computing.
    raise http.client.IncompleteRead(b"")


def _tell(on_progress: Teller, progress: Json) -> None:
    try:
        on_progress(progress)
    except BaseException as reason:
        raise ListenerFailed(reason) from reason
