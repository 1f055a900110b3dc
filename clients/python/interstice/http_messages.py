"""Encodes plain data as the contract's JSON, with bulk fields as base64, and decodes it."""

from __future__ import annotations

import base64
import typing

from .types import LISTS, Array, Json, Mesh, Work, as_positions, list_of, positions_of, scalar_of, states_of


def base64_of(array: Array) -> str:
    return base64.b64encode(array.data).decode("ascii")


def positions_json(array: Array) -> Json:
    return {"data": base64_of(array), "scalar": scalar_of(array)}


def mesh_json(mesh: Mesh, vertex_count: int) -> Json:
    names = {"ignored_part_pairs": "ignoredPartPairs"}
    arrays = {names.get(name, name): base64_of(array) for name, array in mesh.arrays().items()}
    message: Json = {"vertexCount": vertex_count, "parts": list(mesh.parts), **arrays}
    rest = mesh.rest_lengths
    if rest is not None:
        message["restLengths"] = {name: base64_of(array) for name, array in rest.arrays().items()}
        if rest.positions is not None:
            message["restLengths"]["positions"] = positions_json(as_positions(rest.positions, "rest_lengths"))
    limits = mesh.strain_limits
    if limits is not None:
        message["strainLimits"] = {"rest": positions_json(as_positions(limits.rest, "strain_limits")), **limits.bounds()}
    return message


def duration_json(seconds: float) -> str:
    return f"{seconds:.9f}s"


def work_json(work: Work) -> Json:
    given = {"target": positions_json(work.target), "start": work.start is not None and positions_json(work.start),
             "include": work.include, "onBudget": work.on_budget, "priority": work.priority,
             "timeBudget": work.budget and duration_json(work.budget)}
    return {name: value for name, value in given.items() if value}


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def motion_of(answer: Json) -> Json:
    positions = answer["positions"]
    data = base64.b64decode(positions["data"])
    motion: Json = {"positions": positions_of(data, positions["scalar"]), "report": answer["report"]}
    for field, lists in LISTS.items():
        if answer.get(field):
            bulk = {_snake(name): base64.b64decode(data) for name, data in answer[field].items() if isinstance(data, str)}
            motion[field] = {name: list_of(name, bulk[name]) for name in lists}
    if answer.get("path"):
        path = answer["path"]["positions"]
        states = len(motion["path"]["phases"])
        motion["path"]["positions"] = states_of(base64.b64decode(path["data"]), path["scalar"], states)
    return motion
