"""Steps of one session on one stream of messages."""

import queue
import threading

import grpc

from . import errors
from .grpc_errors import error_of_call, error_of_message


class StepStream:
    """Alternates one request and one answer."""

    def __init__(self, transport, metadata):
        self._transport = transport
        self._requests = queue.SimpleQueue()
        self._answers = transport.stub.StepStream(iter(self._requests.get, None), metadata=metadata)
        self._is_late = False
        self._is_answered = False

    def step(self, request):
        timer = threading.Timer(self._transport.timeout, self._give_up)
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
                    return answer.response
        except grpc.RpcError as error:
            if self._is_late:
                raise errors.timed_out(self._transport.address, self._transport.timeout) from error
            raise error_of_call(self._transport, error, self._is_answered) from error
        finally:
            timer.cancel()
        raise errors.unreachable(self._transport.address, "the stream ended")

    def close(self):
        self._requests.put(None)
        self._answers.cancel()

    def _give_up(self):
        self._is_late = True
        self._answers.cancel()
