"""Encodes plain data as the contract's messages, and decodes them."""

from google.protobuf import json_format

from .errors import ServiceError
from .grpc_errors import plain
from .types import CONTACT_LISTS, VERTEX_LISTS, list_of, positions_of, scalar_of
from .v1 import collision_pb2 as pb


def positions_message(array):
    # Protobuf stores immutable bytes, so this copy is unavoidable.
    return pb.Positions(data=array.tobytes(), scalar=pb.Scalar.Value(scalar_of(array)))


def mesh_of(mesh, vertex_count):
    arrays = {name: array.tobytes() for name, array in mesh.arrays().items()}
    return pb.Mesh(vertex_count=vertex_count, parts=[message_of(pb.Part, part) for part in mesh.parts], **arrays)


def with_work(request, work):
    request.target.CopyFrom(positions_message(work.target))
    if work.start is not None:
        request.start.CopyFrom(positions_message(work.start))
    if work.include is not None:
        request.include.CopyFrom(message_of(pb.Include, work.include))
    if work.budget is not None:
        request.time_budget.FromNanoseconds(round(work.budget * 1e9))
    if work.on_budget is not None:
        request.on_budget = _enum(pb.OnBudget, "on_budget", work.on_budget)
    if work.priority is not None:
        request.priority = _enum(pb.Priority, "priority", work.priority)
    return request


def _enum(kind, name, value):
    if value not in kind.keys():
        raise ServiceError("INVALID_PARAMETER", f"{name} is {value!r}, expected one of {', '.join(kind.keys()[1:])}.")
    return kind.Value(value)


def message_of(kind, fields):
    """The names are those of JSON, so that callers use the same names with both transports."""
    try:
        return json_format.ParseDict(fields, kind())
    except json_format.ParseError as cause:
        raise ServiceError("INVALID_PARAMETER", str(cause), hint="See the contract for names and types.") from cause


def motion_of(answer):
    scalar = pb.Scalar.Name(answer.positions.scalar)
    motion = {"positions": positions_of(answer.positions.data, scalar), "report": plain(answer.report)}
    for field, lists in (("contacts", CONTACT_LISTS), ("vertices", VERTEX_LISTS)):
        if answer.HasField(field):
            part = getattr(answer, field)
            motion[field] = {name: list_of(name, getattr(part, name)) for name in lists}
    return motion
