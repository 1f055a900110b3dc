"""The contract over gRPC."""

import pathlib
import time

import grpc

try:
    from .v1 import collision_pb2 as pb
    from .v1 import collision_pb2_grpc as stubs
except ImportError as cause:
    raise ImportError(
        "The gRPC stubs are missing. Run generate.py, or install the package on a machine with protoc.") from cause

from .errors import UNREACHABLE, ServiceError
from .grpc_errors import error_of_call, plain
from .grpc_messages import mesh_of, message_of, motion_of, positions_message, with_work
from .grpc_stream import StepStream
from .tls import TlsDiagnosis
from .types import Mesh

_OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # This package retries calls itself (retry.py): only it knows that a frame and a key make repeated sending safe, and the
    # library must not wait longer than this package before it reconnects. The library's minimum backoff is also the time
    # limit of a connection attempt, which is long with TLS and a distant or busy server: it stays at 20 s.
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
]


def _credentials_of(tls):
    tls.context()  # only validates the files: the library accepts any file and fails without a reason
    ca, cert, key = (None if path is None else pathlib.Path(path).read_bytes() for path in (tls.ca, tls.cert, tls.key))
    return grpc.ssl_channel_credentials(ca, key, cert)


def _ignore(_):
    pass


class GrpcTransport:
    def __init__(self, url, address, tls, api_key, timeout):
        self.address = url
        self.channel = (grpc.secure_channel(address, _credentials_of(tls), _OPTIONS) if tls
                        else grpc.insecure_channel(address, _OPTIONS))
        self.tls_diagnosis = TlsDiagnosis() if tls else None
        self.stub = stubs.CollisionServiceStub(self.channel)
        self.metadata = [] if api_key is None else [("authorization", f"Bearer {api_key}")]
        self.timeout = timeout

    def calls(self, routing, stream):
        return GrpcCalls(self, routing, stream)

    def record_answer(self):
        if self.tls_diagnosis is not None:
            self.tls_diagnosis.record_answer()

    def sleep(self, seconds):
        """Waits between two attempts. The library reconnects only while its channel has a subscriber."""
        self.channel.subscribe(_ignore, try_to_connect=True)
        try:
            time.sleep(seconds)
        finally:
            self.channel.unsubscribe(_ignore)

    def close(self):
        self.channel.close()


class GrpcCalls:
    """The operations, with one routing key; steps use a stream if requested."""

    def __init__(self, transport, routing, stream):
        self._transport = transport
        self._metadata = [*transport.metadata, ("x-session-id", routing)]
        self._is_streaming = stream
        self._stream = None

    def create(self, terms):
        request = pb.CreateSessionRequest(
            mesh=mesh_of(terms.mesh, terms.start.size // 3), start=positions_message(terms.start), label=terms.label,
            parameters=message_of(pb.Parameters, terms.parameters), idempotency_key=terms.key)
        if terms.idle_timeout is not None:
            request.idle_timeout.FromNanoseconds(round(terms.idle_timeout * 1e9))
        return self._call("CreateSession", request).id

    def step(self, session, frame, work):
        request = with_work(pb.StepRequest(session_id=session, frame=frame), work)
        for name in ("kinematic", "masses"):
            if getattr(work, name) is not None:
                setattr(request, name, getattr(work, name).tobytes())
        if work.override is not None:
            request.override.CopyFrom(message_of(pb.Parameters, work.override))
        return motion_of(self._streamed(request) if self._is_streaming else self._call("Step", request, session))

    def resolve(self, mesh, parameters, work):
        request = pb.ResolveRequest(
            mesh=mesh_of(mesh, work.target.size // 3), parameters=message_of(pb.Parameters, parameters))
        return motion_of(self._call("Resolve", with_work(request, work)))

    def check(self, subject, arrays, question):
        request = message_of(pb.CheckRequest, question)
        if isinstance(subject, Mesh):
            request.mesh.CopyFrom(mesh_of(subject, arrays["positions"].size // 3))
        else:
            request.session_id = subject
        for name, array in arrays.items():
            getattr(request, name).CopyFrom(positions_message(array))
        return plain(self._call("Check", request, request.session_id))

    def delete(self, session):
        self._call("DeleteSession", pb.DeleteSessionRequest(session_id=session))

    def info(self):
        return plain(self._call("GetServerInfo", pb.GetServerInfoRequest()))

    def close(self):
        if self._stream is not None:
            self._stream.close()
        self._stream = None

    def _call(self, method, request, session=""):
        # The server knows the session before the message arrives and can refuse it early.
        metadata = [*self._metadata, ("interstice-session", session)] if session else self._metadata
        try:
            call = getattr(self._transport.stub, method)
            answer = call(request, metadata=metadata, timeout=self._transport.timeout)
        except grpc.RpcError as error:
            raise error_of_call(self._transport, error) from error
        self._transport.record_answer()
        return answer

    def _streamed(self, request):
        if self._stream is None:
            self._stream = StepStream(self._transport, self._metadata)
        try:
            return self._stream.step(request)
        except BaseException as thrown:
            # By the contract two refusals end the stream. Without an answer it has ended or is in an unknown state.
            ends_stream = not isinstance(thrown, ServiceError) or thrown.is_uncertain
            if ends_stream or thrown.code in ("DRAINING", "SESSION_NOT_FOUND", UNREACHABLE):
                self.close()
            raise
