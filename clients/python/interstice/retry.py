"""Retries calls if that is safe: those that the server calls retryable or did not answer."""

from __future__ import annotations

import dataclasses
import itertools
import random
import time
import typing

from .errors import ServiceError
from .settings import check_pause

Result = typing.TypeVar("Result")


@dataclasses.dataclass(frozen=True)
class Retry:
    attempts: int = 20
    """attempts of one call, including the first; a whole number from 1"""
    first_pause: float = 0.1
    """seconds after the first attempt; each further pause is twice as long"""
    longest_pause: float = 2.0
    """seconds; with the other defaults a server may be unavailable for about 25 s"""
    longest_retry_after: float = 30.0
    """seconds; a call whose server asks for a longer pause is not retried"""

    def __post_init__(self) -> None:
        if not (isinstance(self.attempts, int) and self.attempts >= 1):
            raise ValueError(f"Retry.attempts is {self.attempts}, expected a whole number from 1.")
        for name in ("first_pause", "longest_pause", "longest_retry_after"):
            check_pause(f"Retry.{name}", getattr(self, name))


def with_retries(work: typing.Callable[[], Result], retry: Retry, ends_at: float = float("inf"),
                 sleep: typing.Callable[[float], None] = time.sleep) -> Result:
    """Repeats the work until it succeeds, fails with an error that is not retryable, or attempts or time are used up.

    ends_at: a time of time.monotonic().
    """
    is_uncertain = False
    for attempt in itertools.count(1):
        try:
            return work()
        except ServiceError as error:
            # A refusal says nothing about an earlier attempt without an answer.
            is_uncertain = error.is_uncertain = is_uncertain or error.is_uncertain
            requested = error.retry_after or 0.0
            if not error.retryable or attempt == retry.attempts or requested > retry.longest_retry_after:
                raise
            # Half of the pause is random, so that the clients of one server do not all return at once.
            pause = min(retry.longest_pause, retry.first_pause * 2 ** (attempt - 1)) * random.uniform(0.5, 1)
            pause = max(pause, requested + random.uniform(0, retry.first_pause) if requested else 0.0)
            if time.monotonic() + pause >= ends_at:
                raise
        sleep(pause)
    raise AssertionError("the last attempt returns or raises")
