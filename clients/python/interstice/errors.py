"""Why a call failed."""

from __future__ import annotations

import copyreg
import typing

# Codes that no server sends: the client detects these failures.
UNREACHABLE = "UNREACHABLE"  # no answer: the port is closed, or the connection broke
TLS_REFUSED = "TLS_REFUSED"  # one side does not trust the other's certificate, or the server does not use TLS
UNEXPECTED_ANSWER = "UNEXPECTED_ANSWER"  # an answer, but not of this service
TIMEOUT = "TIMEOUT"  # no answer within the client's own time limit
CANCELLED = "CANCELLED"  # the session is closed


class ServiceError(Exception):
    """A refusal in the server's words. The server, not a table of this client, decides whether a call is retryable."""

    def __init__(self, code: str, message: str, *, hint: str = "", retryable: bool = False,
                 retry_after: typing.Optional[float] = None, request_id: str = "",
                 element: typing.Optional[typing.Dict[str, typing.Any]] = None,
                 pairs: typing.Iterable[typing.Dict[str, typing.Any]] = (), pair_count: typing.Optional[int] = None,
                 frame: typing.Optional[int] = None, is_uncertain: bool = False) -> None:
        super().__init__(f"{code}: {message}" + (f" ({hint})" if hint else ""))
        self.code = code
        self.message = message
        self.hint = hint
        self.retryable = retryable
        self.retry_after = retry_after
        """seconds"""
        self.request_id = request_id
        """identifies the call in the server's log"""
        self.element = element
        self.pairs = list(pairs)
        """some of the pairs at fault, as dicts; pair_count is the complete number"""
        self.pair_count = len(self.pairs) if pair_count is None else pair_count
        self.frame = frame
        """last accepted frame of the session, with FRAME_LOST, FRAME_CONFLICT and FRAME_OUT_OF_ORDER"""
        self.is_uncertain = is_uncertain
        """whether the server may have executed the request nevertheless, at one of its attempts"""


    def __reduce__(self) -> typing.Tuple[typing.Any, ...]:
        # Python would copy an exception by calling its class with the text alone: a pool of processes then hangs.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


_ENCRYPTED_HINT = "Is the server running, and is this its address?"
_PLAIN_HINT = _ENCRYPTED_HINT + " If it uses TLS, the address begins with https:// or grpcs://."


def unreachable(address: str, reason: str, is_uncertain: bool = True) -> ServiceError:
    return ServiceError(
        UNREACHABLE, f"{address} cannot be reached, or the connection broke ({reason}).",
        hint=_ENCRYPTED_HINT if address.startswith(("https:", "grpcs:")) else _PLAIN_HINT, retryable=True,
        is_uncertain=is_uncertain)


def unexpected(address: str, why: str) -> ServiceError:
    return ServiceError(UNEXPECTED_ANSWER, f"The answer of {address} is not of this service: {why}.",
                        hint="Is this the address of an Interstice server?", is_uncertain=True)


def timed_out(address: str, timeout: float, limit: typing.Optional[float] = None) -> ServiceError:
    """timeout: of the client. limit: what the call itself allowed this attempt; None = it has set no limit."""
    if limit is None:
        hint = "Increase timeout. Where the call takes a time budget, a server answers within it."
    elif timeout < limit:
        hint = "Increase timeout, which is shorter than what the time budget allows."
    else:
        hint = "Is the server stopped or overloaded? If not, increase the time budget or allowance."
    seconds = timeout if limit is None else min(timeout, limit)
    return ServiceError(TIMEOUT, f"{address} did not answer within {round(seconds, 3):g} s.", hint=hint, is_uncertain=True)


def from_fields(fields: typing.Dict[str, typing.Any]) -> ServiceError:
    """Converts the contract's Error in JSON, whose counts are already numbers."""
    retry_after = fields.get("retryAfter")
    return ServiceError(
        fields["code"], fields.get("message", ""), hint=fields.get("hint", ""),
        retryable=fields.get("retryable", False),
        retry_after=None if retry_after is None else float(retry_after.rstrip("s")),
        request_id=fields.get("requestId", ""), element=fields.get("element"), pairs=fields.get("pairs", ()),
        pair_count=fields.get("pairCount", 0), frame=fields.get("frame"))
