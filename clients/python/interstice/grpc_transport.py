"""The contract over gRPC."""

from __future__ import annotations

import pathlib
import time
import typing

import grpc

try:
    from .v1 import collision_pb2 as pb
    from .v1 import collision_pb2_grpc as stubs
except ImportError as cause:
    raise ImportError(
        "The gRPC stubs are missing. Run generate.py, or install the package on a machine with protoc.") from cause

from .errors import UNREACHABLE, ServiceError, unexpected, unreachable
from .grpc_errors import error_of_call, plain
from .grpc_messages import mesh_of, message_of, motion_of, positions_message, with_work
from .grpc_stream import StepStream
from .settings import Address
from .tls import Tls, TlsDiagnosis
from .types import (Array, JobTerms, Json, Mesh, Progress, ProgressListener, SessionTerms, UntangleListener,
                    Untangling, Work, moved_of, untangle_progress_of)

_OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # This package retries calls itself (retry.py): only it knows that a frame and a key make repeated sending safe, and the
    # library must not wait longer than this package before it reconnects. The library's minimum backoff is also the time
    # limit of a connection attempt, which is long with TLS and a distant or busy server: it stays at 20 s.
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    # While a call waits, the library asks for a sign of life. A connection that carries nothing more, as after a router has
    # forgotten it, is then broken, and the call is sent again on another one: without this, every later call would wait
    # on it, too. The service computes on other threads and answers such a ping at once.
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 60_000),
    ("grpc.http2.max_pings_without_data", 0),  # 0 = as many as a long call needs
]


def _credentials_of(tls: Tls) -> typing.Any:
    tls.context()  # only validates the files: the library accepts any file and fails without a reason
    ca, cert, key = (None if path is None else pathlib.Path(path).read_bytes() for path in (tls.ca, tls.cert, tls.key))
    return grpc.ssl_channel_credentials(ca, key, cert)


def _ignore(_: object) -> None:
    pass


def _untangle_request(mesh: Mesh, positions: Array, question: Json) -> pb.UntangleRequest:
    request: pb.UntangleRequest = message_of(pb.UntangleRequest, question)
    request.mesh.CopyFrom(mesh_of(mesh, positions.size // 3))
    request.positions.CopyFrom(positions_message(positions))
    return request


def _resolve_request(mesh: Mesh, parameters: Json, work: Work) -> pb.ResolveRequest:
    request = pb.ResolveRequest(
        mesh=mesh_of(mesh, work.vertex_count()), parameters=message_of(pb.Parameters, parameters))
    return with_work(request, work)


class GrpcTransport:
    def __init__(self, url: str, address: Address, tls: typing.Optional[Tls], api_key: typing.Optional[str],
                 timeout: float) -> None:
        self.address = url
        self.channel = (grpc.secure_channel(address.place, _credentials_of(tls), _OPTIONS) if tls
                        else grpc.insecure_channel(address.place, _OPTIONS))
        self.tls_diagnosis = TlsDiagnosis() if tls else None
        self.stub = stubs.CollisionServiceStub(self.channel)
        self.metadata: typing.List[typing.Tuple[str, str]] = [] if api_key is None else [("authorization", f"Bearer {api_key}")]
        self.timeout = timeout

    def calls(self, routing: str, stream: bool) -> GrpcCalls:
        return GrpcCalls(self, routing, stream)

    def within(self, limit: typing.Optional[float]) -> float:
        """Seconds that an attempt with this limit may take."""
        return self.timeout if limit is None else min(limit, self.timeout)

    def record_answer(self) -> None:
        if self.tls_diagnosis is not None:
            self.tls_diagnosis.record_answer()

    def sleep(self, seconds: float) -> None:
        """Waits between two attempts. The library reconnects only while its channel has a subscriber."""
        self.channel.subscribe(_ignore, try_to_connect=True)
        try:
            time.sleep(seconds)
        finally:
            self.channel.unsubscribe(_ignore)

    def close(self) -> None:
        self.channel.close()


class GrpcCalls:
    """The operations, with one routing key; steps use a stream if requested."""

    def __init__(self, transport: GrpcTransport, routing: str, stream: bool) -> None:
        self._transport = transport
        self._metadata = [*transport.metadata, ("x-session-id", routing)]
        self._is_streaming = stream
        self._stream: typing.Optional[StepStream] = None

    def create(self, terms: SessionTerms, limit: typing.Optional[float] = None) -> Json:
        request = pb.CreateSessionRequest(
            mesh=mesh_of(terms.mesh, terms.start.size // 3), start=positions_message(terms.start), label=terms.label,
            parameters=message_of(pb.Parameters, terms.parameters), idempotency_key=terms.key)
        if terms.idle_timeout is not None:
            request.idle_timeout.FromNanoseconds(round(terms.idle_timeout * 1e9))
        if terms.untangle is not None:
            request.untangle.CopyFrom(message_of(pb.UntangleOptions, terms.untangle))
        return self._named(self._call("CreateSession", request, limit=limit))

    def step(self, session: str, frame: int, after: int, work: Work,
             on_progress: typing.Optional[ProgressListener], limit: typing.Optional[float] = None) -> Json:
        request = with_work(pb.StepRequest(session_id=session, frame=frame, after_frame=after), work)
        for name in ("kinematic", "masses"):
            if getattr(work, name) is not None:
                setattr(request, name, getattr(work, name).tobytes())
        if work.override is not None:
            request.override.CopyFrom(message_of(pb.Parameters, work.override))
        if on_progress is not None:
            request.include.progress = True
        # Only the stream has messages before the answer.
        if self._is_streaming or on_progress is not None:
            return self._streamed(request, work, on_progress, limit)
        return self._moved(self._call("Step", request, session, limit), work)

    def resolve(self, mesh: Mesh, parameters: Json, work: Work,
                on_progress: typing.Optional[ProgressListener], limit: typing.Optional[float] = None) -> Json:
        request = _resolve_request(mesh, parameters, work)
        if on_progress is not None:
            listener = on_progress
            return self._moved(self._response_of("ResolveStream", request, lambda progress: listener(
                Progress(progress.steps, progress.residual, progress.unfinished_vertices)), limit), work)
        return self._moved(self._call("Resolve", request, limit=limit), work)

    def submit(self, terms: JobTerms) -> str:
        request = pb.SubmitJobRequest(label=terms.label, idempotency_key=terms.key)
        if isinstance(terms.work, Untangling):
            question = {"parameters": terms.parameters, **terms.work.question}
            request.untangle.CopyFrom(_untangle_request(terms.mesh, terms.work.positions, question))
        else:
            request.resolve.CopyFrom(_resolve_request(terms.mesh, terms.parameters, terms.work))
        if terms.keep_for is not None:
            request.keep_for.FromNanoseconds(round(terms.keep_for * 1e9))
        return str(self._named(self._call("SubmitJob", request))["id"])

    def job(self, job: str, wait: float, limit: typing.Optional[float] = None) -> Json:
        request = pb.GetJobRequest(job_id=job)
        request.wait.FromNanoseconds(round(wait * 1e9))
        return self._named(self._call("GetJob", request, limit=limit))

    def list_jobs(self, page_token: str, label: str) -> Json:
        return plain(self._call("ListJobs", pb.ListJobsRequest(page_token=page_token, label=label)))

    def job_result(self, job: str) -> Json:
        answer = self._call("GetJobResult", pb.GetJobResultRequest(job_id=job))
        if answer.HasField("untangle"):
            return {"untangle": self._placed(answer.untangle)}
        return motion_of(self._with_positions(answer))

    def delete_job(self, job: str) -> None:
        self._call("DeleteJob", pb.DeleteJobRequest(job_id=job))

    def check(self, subject: typing.Union[Mesh, str], arrays: typing.Dict[str, Array], question: Json,
              limit: typing.Optional[float] = None) -> Json:
        request = message_of(pb.CheckRequest, question)
        if isinstance(subject, Mesh):
            request.mesh.CopyFrom(mesh_of(subject, arrays["positions"].size // 3))
        else:
            request.session_id = subject
        for name, array in arrays.items():
            getattr(request, name).CopyFrom(positions_message(array))
        return plain(self._call("Check", request, request.session_id, limit))

    def diagnose(self, mesh: Mesh, arrays: typing.Dict[str, Array], question: Json,
                 limit: typing.Optional[float] = None) -> Json:
        request = message_of(pb.DiagnoseRequest, question)
        request.mesh.CopyFrom(mesh_of(mesh, arrays["positions"].size // 3))
        for name, array in arrays.items():
            getattr(request, name).CopyFrom(positions_message(array))
        return plain(self._call("Diagnose", request, limit=limit))

    def untangle(self, mesh: Mesh, positions: Array, question: Json,
                 on_progress: typing.Optional[UntangleListener], limit: typing.Optional[float] = None) -> Json:
        request = _untangle_request(mesh, positions, question)
        if on_progress is None:
            return self._placed(self._call("Untangle", request, limit=limit))
        listener = on_progress
        return self._placed(self._response_of(
            "UntangleStream", request, lambda progress: listener(untangle_progress_of(plain(progress))), limit))

    def delete(self, session: str, limit: typing.Optional[float] = None) -> None:
        self._call("DeleteSession", pb.DeleteSessionRequest(session_id=session), limit=limit)

    def info(self) -> Json:
        info = self._call("GetServerInfo", pb.GetServerInfoRequest())
        if not info.HasField("limits"):
            raise unexpected(self._transport.address, "it has no limits")
        return plain(info)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = None

    def _named(self, answer: typing.Any) -> Json:
        """A message with an id. One of another service is read as a message without fields."""
        if not answer.id:
            raise unexpected(self._transport.address, "it has no id")
        return plain(answer)

    def _with_positions(self, answer: typing.Any) -> typing.Any:
        if not answer.HasField("positions"):
            raise unexpected(self._transport.address, "it has no positions")
        return answer

    def _placed(self, answer: pb.UntangleResponse) -> Json:
        return plain(self._with_positions(answer))

    def _moved(self, answer: typing.Any, work: Work) -> Json:
        try:
            return moved_of(motion_of(answer), work.target)
        except ValueError as cause:
            raise unexpected(self._transport.address, str(cause)) from cause

    def _call(self, method: str, request: typing.Any, session: str = "",
              limit: typing.Optional[float] = None) -> typing.Any:
        # The server knows the session before the message arrives and can refuse it early.
        metadata = [*self._metadata, ("interstice-session", session)] if session else self._metadata
        try:
            call = getattr(self._transport.stub, method)
            answer = call(request, metadata=metadata, timeout=self._transport.within(limit))
        except grpc.RpcError as error:
            raise error_of_call(self._transport, error, limit=limit) from error
        self._transport.record_answer()
        return answer

    def _response_of(self, method: str, request: typing.Any,
                     on_progress: typing.Callable[[typing.Any], None], limit: typing.Optional[float]) -> typing.Any:
        """The answer of a method that sends progress before it."""
        timeout = self._transport.within(limit)
        call = getattr(self._transport.stub, method)(request, metadata=self._metadata, timeout=timeout)
        is_answered = False
        try:
            for message in call:
                is_answered = True
                self._transport.record_answer()
                if message.WhichOneof("result") == "response":
                    return message.response
                if message.WhichOneof("result") == "progress":
                    on_progress(message.progress)
        except grpc.RpcError as error:
            raise error_of_call(self._transport, error, is_answered, limit) from error
        finally:
            # Does nothing to a call that has ended; the listener may have raised.
            call.cancel()
        raise unreachable(self._transport.address, "the stream ended")

    def _streamed(self, request: pb.StepRequest, work: Work, on_progress: typing.Optional[ProgressListener],
                  limit: typing.Optional[float]) -> Json:
        if self._stream is None:
            self._stream = StepStream(self._transport, self._metadata)
        try:
            return self._moved(self._stream.step(request, on_progress, limit), work)
        except BaseException as thrown:
            # By the contract two refusals end the stream. Without an answer it has ended or is in an unknown state.
            if (not isinstance(thrown, ServiceError) or thrown.is_uncertain
                    or thrown.code in ("DRAINING", "SESSION_NOT_FOUND", UNREACHABLE)):
                self.close()
            raise
        finally:
            if self._stream is not None and self._stream.is_late:
                self.close()
