"""Errors over gRPC: the contract's Error in the trailer of a call or in a message of a stream."""

from __future__ import annotations

import inspect
import typing

import grpc
from google.protobuf import any_pb2, json_format

from . import errors
from .errors import ServiceError
from .types import Json, with_counts
from .v1 import collision_pb2 as pb

if typing.TYPE_CHECKING:
    from .grpc_transport import GrpcTransport

# Without the contract's Error these come from the library or a proxy: the connection broke or was never established.
_BROKEN = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)


# REFUSED_STREAM in the library's words: by RFC 9113, 8.7, the server did not process the call. If the words change, the call
# counts as uncertain, which costs a new session and is as safe.
_REFUSED_STREAM = "RST_STREAM with error code 7"


# Defaults are included, as in the service's JSON; protobuf 5 renamed the argument.
_DEFAULTS = {name: True for name in ("including_default_value_fields", "always_print_fields_with_no_presence")
             if name in inspect.signature(json_format.MessageToDict).parameters}


def plain(message: typing.Any) -> Json:
    """A message as a dict, names and enums as in JSON, counts as numbers."""
    return typing.cast(Json, with_counts(json_format.MessageToDict(message, **_DEFAULTS)))


def error_of_message(message: pb.Error) -> ServiceError:
    return errors.from_fields(plain(message))


def error_of_call(transport: GrpcTransport, call: typing.Any, is_answered: bool = False,
                  limit: typing.Optional[float] = None) -> ServiceError:
    """is_answered: whether this stream has received a message, so that the server cannot have refused it. limit: of the
    attempt."""
    details = dict(call.trailing_metadata() or ()).get("grpc-status-details-bin")
    for value in _details(details or b""):
        transport.record_answer()
        return error_of_message(pb.Error.FromString(value))
    if call.code() in _BROKEN:
        refusal = transport.tls_diagnosis and transport.tls_diagnosis.explain(transport.address, call.details() or "")
        if refusal:
            return refusal
        is_refused = not is_answered and (call.details() or "").endswith(_REFUSED_STREAM)
        return errors.unreachable(transport.address, call.details(), is_uncertain=not is_refused)
    if call.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return errors.timed_out(transport.address, transport.timeout, limit)
    return ServiceError(
        errors.UNEXPECTED_ANSWER, f"{transport.address} ended the call with {call.code().name}: {call.details()}",
        hint="Is this the address of an Interstice server?", is_uncertain=True)


def _details(status: bytes) -> typing.Iterator[bytes]:
    """The contract's errors in the details of a google.rpc.Status, whose generated classes no Debian package contains."""
    for number, value in _fields(status):
        if number == 3:
            detail = any_pb2.Any.FromString(value)
            if detail.type_url.endswith("/interstice.v1.Error"):
                yield detail.value


def _fields(data: bytes) -> typing.Iterator[typing.Tuple[int, bytes]]:
    """Number and bytes of every length-delimited field; the only other field of a Status is a varint."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        size = varint()
        if tag & 7 == 2:
            yield tag >> 3, data[at:at + size]
            at += size
