"""Tries a call again where that is safe: what the server calls retryable, and what got no answer."""

import dataclasses
import random
import time

from .errors import ServiceError


@dataclasses.dataclass(frozen=True)
class Retry:
    attempts: int = 20
    """tries of one call, the first one included"""
    first_pause: float = 0.1
    """seconds after the first try; each further pause is twice as long"""
    longest_pause: float = 2.0
    """seconds; with the other defaults a server may be away for about 25 s"""
    longest_retry_after: float = 30.0
    """a server that asks for more seconds is not waited for"""


def persist(work, retry, ends_at=float("inf"), sleep=time.sleep):
    """Does the work until it succeeds, fails for good, or tries or time end; ends_at is a time.monotonic()."""
    for attempt in range(1, retry.attempts + 1):
        try:
            return work()
        except ServiceError as error:
            asked = error.retry_after or 0.0
            if not error.retryable or attempt == retry.attempts or asked > retry.longest_retry_after:
                raise
            # Half of it is left to chance, so that many clients of one server do not come back all at once.
            pause = min(retry.longest_pause, retry.first_pause * 2 ** (attempt - 1)) * random.uniform(0.5, 1)
            pause = max(pause, asked + random.uniform(0, retry.first_pause) if asked else 0.0)
            if time.monotonic() + pause >= ends_at:
                raise
        sleep(pause)
    raise ValueError("Retry.attempts is at least 1")
