"""Encodes plain data as the contract's messages, and decodes them."""

from __future__ import annotations

import typing

from google.protobuf import json_format

from .errors import ServiceError
from .grpc_errors import plain
from .types import (LISTS, Array, Json, Mesh, Work, as_positions, list_of, plain_json, positions_of, scalar_of,
                    states_of)
from .v1 import collision_pb2 as pb

Request = typing.TypeVar("Request", pb.StepRequest, pb.ResolveRequest)


def positions_message(array: Array) -> pb.Positions:
    # Protobuf stores immutable bytes, so this copy is unavoidable.
    return pb.Positions(data=array.tobytes(), scalar=pb.Scalar.Value(scalar_of(array)))


def mesh_of(mesh: Mesh, vertex_count: int) -> pb.Mesh:
    arrays: typing.Dict[str, typing.Any] = {name: array.tobytes() for name, array in mesh.arrays().items()}
    message = pb.Mesh(vertex_count=vertex_count, parts=[message_of(pb.Part, part) for part in mesh.parts], **arrays)
    rest = mesh.rest_lengths
    if rest is not None:
        lists: typing.Dict[str, typing.Any] = {name: array.tobytes() for name, array in rest.arrays().items()}
        message.rest_lengths.CopyFrom(pb.RestLengths(**lists))
        if rest.positions is not None:
            message.rest_lengths.positions.CopyFrom(positions_message(as_positions(rest.positions, "rest_lengths")))
    limits = mesh.strain_limits
    if limits is not None:
        rest_shape = positions_message(as_positions(limits.rest, "strain_limits"))
        message.strain_limits.CopyFrom(pb.StrainLimits(rest=rest_shape, **limits.bounds()))
    return message


def with_work(request: Request, work: Work) -> Request:
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


def _enum(kind: typing.Any, name: str, value: str) -> typing.Any:
    if value not in kind.keys():
        raise ServiceError("INVALID_PARAMETER", f"{name} is {value!r}, expected one of {', '.join(kind.keys()[1:])}.")
    return kind.Value(value)


def message_of(kind: typing.Callable[[], typing.Any], fields: Json) -> typing.Any:
    """The names are those of JSON, so that callers use the same names with both transports."""
    try:
        return json_format.ParseDict(plain_json(fields), kind())
    except json_format.ParseError as cause:
        raise ServiceError("INVALID_PARAMETER", str(cause), hint="See the contract for names and types.") from cause


def motion_of(answer: typing.Union[pb.StepResponse, pb.ResolveResponse]) -> Json:
    scalar = pb.Scalar.Name(answer.positions.scalar)
    motion: Json = {"positions": positions_of(answer.positions.data, scalar), "report": plain(answer.report)}
    for field, lists in LISTS.items():
        if answer.HasField(field):
            part = getattr(answer, field)
            motion[field] = {name: list_of(name, getattr(part, name)) for name in lists}
    if answer.HasField("path"):
        path = answer.path.positions
        motion["path"]["positions"] = states_of(path.data, pb.Scalar.Name(path.scalar), len(answer.path.phases))
    return motion
