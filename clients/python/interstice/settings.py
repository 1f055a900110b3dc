"""What the client refuses to be told. The clients in TypeScript and C++ refuse the same values, in the same words."""

from __future__ import annotations

import re
import typing
import urllib.parse

LONGEST = 2_147_483
"""seconds that a caller may set anywhere, 24 days, as in the TypeScript client: sockets and gRPC take more for an error, or
end at once"""


def check_time(name: str, seconds: typing.Optional[float]) -> None:
    """None = the caller has set none."""
    if seconds is not None and not 0 < seconds <= LONGEST:
        raise ValueError(f"{name} is {seconds}; more than 0 and at most {LONGEST} s are possible.")


def check_pause(name: str, seconds: typing.Optional[float]) -> None:
    """The same from 0 on."""
    if seconds is not None and not 0 <= seconds <= LONGEST:
        raise ValueError(f"{name} is {seconds}; from 0 to {LONGEST} s are possible.")


def check_allowance(name: str, seconds: typing.Optional[float]) -> None:
    """A time that is added to others: any number from 0."""
    if seconds is not None and not seconds >= 0:
        raise ValueError(f"{name} is {seconds}, expected a number of seconds from 0.")


def check_api_key(key: str) -> None:
    """Empty = none. Does not repeat the key."""
    # What every service accepts and every header can hold: not the line break after a key that was read from a file.
    if not re.fullmatch(r"[!-~]*", key):
        raise ValueError("api_key has spaces, line breaks or letters beyond ASCII, which no key of a service has.")


class Address(typing.NamedTuple):
    scheme: str
    place: str
    """host and port"""
    path: str
    """without a slash at its end; empty for gRPC"""


def address_of(url: str) -> Address:
    parts = urllib.parse.urlsplit(url)
    if "@" in parts.netloc:
        raise ValueError("An address has no user name and no password. The key of a service is the option api_key.")
    try:
        parts.port  # raises ValueError unless it is a number
        is_right = bool(parts.hostname) and re.match(r"(http|grpc)s?://", url) is not None and not re.search(r"[?#\s]", url)
    except ValueError:
        is_right = False
    path = parts.path.rstrip("/")
    if not is_right or (path and parts.scheme.startswith("grpc")):
        raise ValueError(f"{url} is not an address of the form http://host:port or grpc://host:port.")
    return Address(parts.scheme, parts.netloc, path)
