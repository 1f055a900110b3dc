"""The time budget of a call, and how long the client waits for an answer to it."""

from __future__ import annotations

import re
import time
import typing

from .settings import check_time
from .types import Json

ALLOWANCE = 30.0
"""seconds"""
MIN_BUDGET = 0.001
"""seconds; 0 would mean no budget, and a time limit of 0 no wait at all"""
GRACE = 1 / 8
"""share of a budget by which the answer of a server may be late (docs/api.md, Time budgets)"""

_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")


class Deadline:
    """Covers all attempts of a call. Without a budget it limits nothing."""

    def __init__(self, budget: typing.Optional[float] = None, allowance: float = ALLOWANCE) -> None:
        """allowance: seconds beyond the budget and its GRACE, for the way to the server and back."""
        now = time.monotonic()
        self.ends_at = float("inf") if budget is None else now + budget
        """a time of time.monotonic() after which no attempt starts"""
        self._answered_by = float("inf") if budget is None else now + budget * (1 + GRACE) + allowance

    @property
    def left(self) -> typing.Optional[float]:
        """Seconds of the budget for an attempt that starts at once."""
        return self._until(self.ends_at)

    @property
    def limit(self) -> typing.Optional[float]:
        """Seconds that an attempt that starts at once may take."""
        return self._until(self._answered_by)

    def left_in(self, question: Json) -> Json:
        """The question with what is left of its budget."""
        return question if self.left is None else {**question, "timeBudget": f"{self.left:.9f}s"}

    @staticmethod
    def _until(end: float) -> typing.Optional[float]:
        return None if end == float("inf") else max(MIN_BUDGET, end - time.monotonic())


def budget_of(question: Json) -> typing.Optional[float]:
    """Seconds of the time budget in a question as the contract's JSON. The server refuses what is not a duration."""
    match = _DURATION.fullmatch(str(question.get("timeBudget")))
    budget = float(match[1]) if match else None
    check_time("timeBudget", budget)
    return budget
