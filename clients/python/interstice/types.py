"""The types of arguments and results, and the conversion between arrays and the contract's bytes."""

import dataclasses
import typing

import numpy as np

_ELEMENTS = {"triangles": "<u4", "segments": "<u4", "particles": "<u4", "tetrahedra": "<u4", "masses": "<f4",
             "kinematic": "u1", "ignored_part_pairs": "<u4"}


@dataclasses.dataclass(frozen=True)
class Mesh:
    """Accepts any array-like; shapes such as (T, 3) are flattened. `parts` are dicts of the contract's Part."""

    triangles: typing.Any = None
    segments: typing.Any = None
    particles: typing.Any = None
    tetrahedra: typing.Any = None
    masses: typing.Any = None
    kinematic: typing.Any = None
    parts: typing.Sequence[dict] = ()
    ignored_part_pairs: typing.Any = None

    def arrays(self):
        """The arrays that are set, in the contract's element types."""
        given = {name: getattr(self, name) for name in _ELEMENTS}
        return {name: as_elements(name, value) for name, value in given.items() if value is not None}


@dataclasses.dataclass(frozen=True)
class StepResult:
    frame: int
    positions: np.ndarray
    """(V, 3) in the scalar of the target; read-only, because a lost session is recreated from it"""
    report: dict
    """names of the contract's JSON: status, pairs, verification, ..."""
    contacts: typing.Optional[dict] = None
    vertices: typing.Optional[dict] = None


@dataclasses.dataclass(frozen=True)
class Work:
    """A target and its options, as step(...) and resolve(...) pass them to a transport."""

    target: np.ndarray
    start: typing.Optional[np.ndarray] = None
    kinematic: typing.Optional[np.ndarray] = None
    masses: typing.Optional[np.ndarray] = None
    override: typing.Optional[dict] = None
    include: typing.Optional[dict] = None
    budget: typing.Optional[float] = None
    on_budget: typing.Optional[str] = None
    priority: typing.Optional[str] = None

    def is_raw(self):
        """Whether raw positions and a few headers express the whole request."""
        return all(part is None for part in (self.start, self.kinematic, self.masses, self.include, self.priority))


@dataclasses.dataclass(frozen=True)
class SessionTerms:
    mesh: Mesh
    start: np.ndarray
    parameters: dict
    label: str
    idle_timeout: typing.Optional[float]
    key: str
    """idempotency key: repeating a creation whose answer was lost returns the same session"""


def as_mesh(mesh):
    return mesh if isinstance(mesh, Mesh) else Mesh(triangles=mesh)


def as_elements(name, value):
    """Never changes a value: an id of -1 or 2**40 is refused, not wrapped around."""
    wanted = np.dtype(_ELEMENTS[name])
    array = np.asarray(value)
    if array.dtype == bool or (wanted.kind == "f" and array.dtype.kind in "fiu"):
        array = array.astype(wanted, copy=False)
    elif array.dtype != wanted:
        if array.dtype.kind not in "iu" or (array.size and (array.min() < 0 or array.max() > np.iinfo(wanted).max)):
            raise ValueError(f"{name} must hold integers from 0 to {np.iinfo(wanted).max}.")
        array = array.astype(wanted)
    return np.ascontiguousarray(array).reshape(-1)


def as_positions(value, name):
    """The array itself if it is contiguous float32 or float64, which can be sent; otherwise a converted copy."""
    array = np.asarray(value)
    if array.dtype.kind in "iu":
        array = array.astype("<f8")
    if array.dtype not in (np.dtype("<f4"), np.dtype("<f8")):
        if array.dtype not in (np.dtype(">f4"), np.dtype(">f8")):
            raise TypeError(f"{name} is {array.dtype}; float32 or float64 is expected.")
        array = array.astype(array.dtype.newbyteorder("<"))
    return np.ascontiguousarray(array)


def scalar_of(array):
    return "FLOAT64" if array.dtype.itemsize == 8 else "FLOAT32"


def positions_of(data, scalar):
    """A read-only view of the bytes."""
    array = np.frombuffer(data, "<f8" if scalar == "FLOAT64" else "<f4").reshape(-1, 3)
    array.setflags(write=False)
    return array


_LISTS = {"kinds": ("u1", 1), "vertices": ("<u4", 4), "weights": ("<f4", 4), "normals": ("<f4", 3),
          "distances": ("<f4", 1), "residual": ("<f4", 1), "distance_to_target": ("<f4", 1),
          "unreached_kinematic": ("<u4", 1)}
CONTACT_LISTS = ("kinds", "vertices", "weights", "normals", "distances")
VERTEX_LISTS = ("residual", "distance_to_target", "unreached_kinematic")


def list_of(name, data):
    """A bulk field of Contacts or VertexReport; ids and weights have one row per contact."""
    element, width = _LISTS[name]
    array = np.frombuffer(data, element)
    return array if width == 1 else array.reshape(-1, width)


# The uint64 fields of the contract, which JSON writes as text.
_COUNTS = frozenset(
    "vertexTriangle edgeEdge vertexEdge vertexVertex activeContacts touchingPairs pairCount pairsTested doubtfulPairs "
    "intersections ignoredPairCount intersectingPairCount count index frame deviceBytes intersectionCount kinematicIntersectionCount "
    "maxBufferBytes maxVertices maxElements maxMessageBytes maxDeviceBytes edges triangles segments particles "
    "tetrahedra overlongEdges newtonIterations solverIterations volumes remainingPairs".split())


def with_counts(value):
    """The contract's JSON with counts as numbers."""
    if isinstance(value, list):
        return [with_counts(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {name: int(part) if name in _COUNTS and isinstance(part, str) else with_counts(part)
            for name, part in value.items()}
