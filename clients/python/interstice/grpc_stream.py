"""Steps of one session on one stream of messages."""

from __future__ import annotations

import queue
import threading
import typing

import grpc

from . import errors
from .grpc_errors import error_of_call, error_of_message
from .types import Progress, ProgressListener
from .v1 import collision_pb2 as pb

if typing.TYPE_CHECKING:
    from .grpc_transport import GrpcTransport


class StepStream:
    """Alternates one request and one answer."""

    def __init__(self, transport: GrpcTransport, metadata: typing.List[typing.Tuple[str, str]]) -> None:
        self._transport = transport
        self._requests: queue.SimpleQueue[typing.Optional[pb.StepRequest]] = queue.SimpleQueue()
        self._answers = transport.stub.StepStream(iter(self._requests.get, None), metadata=metadata)
        self._lock = threading.Lock()
        self._turn: typing.Optional[object] = None  # the step that waits for its answer
        self.is_late = False
        """whether a step has reached its limit, which has cancelled the stream; the step may have its answer nevertheless"""
        self._is_answered = False

    def step(self, request: pb.StepRequest, on_progress: typing.Optional[ProgressListener] = None,
             limit: typing.Optional[float] = None) -> pb.StepResponse:
        """on_progress is called in this thread. An exception of it leaves the stream in an unknown state."""
        turn = self._turn = object()
        timer = threading.Timer(self._transport.within(limit), self._give_up, [turn])
        timer.daemon = True
        timer.start()
        self._requests.put(request)
        try:
            for answer in self._answers:
                self._is_answered = True
                self._transport.record_answer()
                kind = answer.WhichOneof("result")
                if kind == "error":
                    raise error_of_message(answer.error)
                if kind == "response":
                    return typing.cast(pb.StepResponse, answer.response)
                if kind == "progress" and on_progress is not None:
                    progress = answer.progress
                    on_progress(Progress(progress.steps, progress.residual, progress.unfinished_vertices))
        except grpc.RpcError as error:
            if self.is_late:
                raise errors.timed_out(self._transport.address, self._transport.timeout, limit) from error
            raise error_of_call(self._transport, error, self._is_answered, limit) from error
        finally:
            timer.cancel()
            # A timer that has just fired must not end the stream under the next step.
            with self._lock:
                self._turn = None
        raise errors.unreachable(self._transport.address, "the stream ended")

    def close(self) -> None:
        self._requests.put(None)
        self._answers.cancel()

    def _give_up(self, turn: object) -> None:
        with self._lock:
            if self._turn is not turn:
                return
            self.is_late = True
            self._answers.cancel()
