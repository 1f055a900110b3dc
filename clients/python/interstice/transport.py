"""The interface of transports to clients and sessions: one attempt of every operation."""

from __future__ import annotations

import typing

import numpy as np

from .types import JobTerms, Json, Mesh, ProgressListener, SessionTerms, UntangleListener, Work


class Calls(typing.Protocol):
    """The operations of the contract, with one routing key. Each is one attempt and raises ServiceError.

    limit: seconds that the attempt may take, if fewer than the transport allows.
    """

    def create(self, terms: SessionTerms, limit: typing.Optional[float] = None) -> Json: ...

    def step(self, session: str, frame: int, after: int, work: Work,
             on_progress: typing.Optional[ProgressListener], limit: typing.Optional[float] = None) -> Json: ...

    def resolve(self, mesh: Mesh, parameters: Json, work: Work,
                on_progress: typing.Optional[ProgressListener], limit: typing.Optional[float] = None) -> Json: ...

    def check(self, subject: typing.Union[Mesh, str], arrays: typing.Dict[str, np.ndarray[typing.Any, typing.Any]],
              question: Json, limit: typing.Optional[float] = None) -> Json: ...

    def diagnose(self, mesh: Mesh, arrays: typing.Dict[str, np.ndarray[typing.Any, typing.Any]],
                 question: Json, limit: typing.Optional[float] = None) -> Json: ...

    def untangle(self, mesh: Mesh, positions: np.ndarray[typing.Any, typing.Any], question: Json,
                 on_progress: typing.Optional[UntangleListener], limit: typing.Optional[float] = None) -> Json: ...

    def submit(self, terms: JobTerms) -> str: ...

    def job(self, job: str, wait: float, limit: typing.Optional[float] = None) -> Json: ...

    def list_jobs(self, page_token: str, label: str) -> Json: ...

    def job_result(self, job: str) -> Json: ...

    def delete_job(self, job: str) -> None: ...

    def delete(self, session: str, limit: typing.Optional[float] = None) -> None:
        """session: its id, or "key:" and the key of its creation."""

    def info(self) -> Json: ...

    def close(self) -> None: ...


class Transport(typing.Protocol):
    """One server."""

    def calls(self, routing: str, stream: bool) -> Calls: ...

    def sleep(self, seconds: float) -> None: ...

    def close(self) -> None: ...
