"""Encodes plain data as the contract's JSON, with bulk fields as base64, and decodes it."""

import base64

from .types import CONTACT_LISTS, VERTEX_LISTS, list_of, positions_of, scalar_of


def base64_of(array):
    return base64.b64encode(array).decode("ascii")


def positions_json(array):
    return {"data": base64_of(array), "scalar": scalar_of(array)}


def mesh_json(mesh, vertex_count):
    names = {"ignored_part_pairs": "ignoredPartPairs"}
    arrays = {names.get(name, name): base64_of(array) for name, array in mesh.arrays().items()}
    return {"vertexCount": vertex_count, "parts": list(mesh.parts), **arrays}


def duration_json(seconds):
    return f"{seconds:.9f}s"


def work_json(work):
    given = {"target": positions_json(work.target), "start": work.start is not None and positions_json(work.start),
             "include": work.include, "onBudget": work.on_budget, "priority": work.priority,
             "timeBudget": work.budget and duration_json(work.budget)}
    return {name: value for name, value in given.items() if value}


def _snake(name):
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def motion_of(answer):
    positions = answer["positions"]
    data = base64.b64decode(positions["data"])
    motion = {"positions": positions_of(data, positions["scalar"]), "report": answer["report"]}
    for field, lists in (("contacts", CONTACT_LISTS), ("vertices", VERTEX_LISTS)):
        if answer.get(field):
            decoded = {_snake(name): base64.b64decode(data) for name, data in answer[field].items()}
            motion[field] = {name: list_of(name, decoded[name]) for name in lists}
    return motion
