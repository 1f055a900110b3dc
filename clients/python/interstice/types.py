"""The types of arguments and results, and the conversion between arrays and the contract's bytes."""

from __future__ import annotations

import base64
import dataclasses
import math
import typing

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[typing.Any]
Json = typing.Dict[str, typing.Any]
"""a message of the contract as in JSON"""

_ELEMENTS = {"triangles": "<u4", "segments": "<u4", "particles": "<u4", "tetrahedra": "<u4", "masses": "<f4",
             "kinematic": "u1", "ignored_part_pairs": "<u4"}
_REST_ELEMENTS = {"edges": "<u4", "lengths": "<f4"}
# Numbers in a row of a list.
_WIDTHS = {"triangles": 3, "segments": 2, "tetrahedra": 4, "ignored_part_pairs": 2, "edges": 2}


@dataclasses.dataclass(frozen=True)
class RestLengths:
    """Lengths of edges at rest, to which stretch limits relate instead of the lengths in the target."""

    positions: typing.Optional[npt.ArrayLike] = None
    """(V, 3) the mesh at rest, which sets the length of every edge"""
    edges: typing.Optional[npt.ArrayLike] = None
    """(n, 2) ends of edges with a length of their own"""
    lengths: typing.Optional[npt.ArrayLike] = None
    """(n,) 0 = the edge has no limit"""

    def arrays(self) -> typing.Dict[str, Array]:
        """The lists that are set, in the contract's element types."""
        given = {name: getattr(self, name) for name in _REST_ELEMENTS}
        return {name: as_elements(name, value) for name, value in given.items() if value is not None}


@dataclasses.dataclass(frozen=True)
class StrainLimits:
    """Limits of the principal strains of triangles and tetrahedra: lengths relative to those at rest."""

    rest: npt.ArrayLike
    """(V, 3) the shape of every element at rest, in the unit of the positions"""
    min: typing.Optional[float] = None
    """0 to 1; None, 0 = none"""
    max: typing.Optional[float] = None
    """1 or more; None = none"""

    def bounds(self) -> Json:
        """The limits that are set, as the contract's JSON."""
        given = {"min": self.min, "max": self.max}
        return {name: value for name, value in given.items() if value is not None}


@dataclasses.dataclass(frozen=True)
class Mesh:
    """Accepts any array-like, flat or in rows such as (T, 3). `parts` are dicts of the contract's Part."""

    triangles: typing.Optional[npt.ArrayLike] = None
    segments: typing.Optional[npt.ArrayLike] = None
    particles: typing.Optional[npt.ArrayLike] = None
    tetrahedra: typing.Optional[npt.ArrayLike] = None
    masses: typing.Optional[npt.ArrayLike] = None
    kinematic: typing.Optional[npt.ArrayLike] = None
    parts: typing.Sequence[Json] = ()
    ignored_part_pairs: typing.Optional[npt.ArrayLike] = None
    rest_lengths: typing.Optional[RestLengths] = None
    strain_limits: typing.Optional[StrainLimits] = None

    def arrays(self) -> typing.Dict[str, Array]:
        """The arrays that are set, in the contract's element types."""
        given = {name: getattr(self, name) for name in _ELEMENTS}
        return {name: as_elements(name, value) for name, value in given.items() if value is not None}


@dataclasses.dataclass(frozen=True)
class Progress:
    """The progress of a running step."""

    steps: int
    residual: float
    """largest unfinished share of the way of any vertex, from 1 to 0"""
    unfinished_vertices: int


ProgressListener = typing.Callable[[Progress], None]


@dataclasses.dataclass(frozen=True)
class UntangleProgress:
    """The progress of a running untangling."""

    phase: str
    """UNTANGLING, PULLING_BACK or CHECKING_ANSWER"""
    iteration: int
    """from 1"""
    pierces: int
    contours: int
    region_vertices: int
    """vertices that are on a wrong side"""


UntangleListener = typing.Callable[[UntangleProgress], None]


@dataclasses.dataclass(frozen=True)
class UntangleResult:
    positions: Array
    """(V, 3) in the scalar of the start; read-only"""
    report: Json
    """names of the contract's JSON: status, piercesBefore, contours, ...; the points of a contour are (n, 3)"""
    regions: Array
    """(V,) the contour of the start in whose region the vertex was; 0xFFFFFFFF = in none, 0xFFFFFFFE = in that of a later one"""


@dataclasses.dataclass(frozen=True)
class StepResult:
    frame: int
    positions: Array
    """(V, 3) in the scalar of the target; read-only, because a lost session is recreated from it"""
    report: Json
    """names of the contract's JSON: status, pairs, verification, ..."""
    contacts: typing.Optional[typing.Dict[str, Array]] = None
    vertices: typing.Optional[typing.Dict[str, Array]] = None
    path: typing.Optional[Json] = None
    """phases (N,), steps (N,), positions (N, V, 3): the states on the way to the answer"""
    reasons: typing.Optional[Json] = None
    """for each vertex, what holds it where it is: holds, pairs, since; and the pairs"""


@dataclasses.dataclass(frozen=True)
class Work:
    """A target and its options, as step(...) and resolve(...) pass them to a transport."""

    target: Array
    start: typing.Optional[Array] = None
    kinematic: typing.Optional[Array] = None
    masses: typing.Optional[Array] = None
    override: typing.Optional[Json] = None
    include: typing.Optional[Json] = None
    budget: typing.Optional[float] = None
    on_budget: typing.Optional[str] = None
    priority: typing.Optional[str] = None

    def vertex_count(self) -> int:
        """That of the start, so that a target of another length is named as what is wrong."""
        return (self.target if self.start is None else self.start).size // 3

    def is_raw(self) -> bool:
        """Whether raw positions and a few headers express the whole request."""
        return all(part is None for part in (self.start, self.kinematic, self.masses, self.include, self.priority))


@dataclasses.dataclass(frozen=True)
class FrameLoss:
    """Frames that the service had answered and has lost: those after `kept`, up to `answered`."""

    kept: int
    answered: int


@dataclasses.dataclass(frozen=True)
class SessionTerms:
    mesh: Mesh
    start: Array
    parameters: Json
    label: str
    idle_timeout: typing.Optional[float]
    key: str
    """idempotency key: repeating a creation whose answer was lost returns the same session"""
    untangle: typing.Optional[Json] = None


@dataclasses.dataclass(frozen=True)
class Untangling:
    positions: Array
    question: Json
    """the fields of an UntangleRequest besides mesh, positions and parameters, as the contract's JSON"""


@dataclasses.dataclass(frozen=True)
class JobTerms:
    mesh: Mesh
    parameters: Json
    work: typing.Union[Work, Untangling]
    label: str
    keep_for: typing.Optional[float]
    key: str
    """idempotency key: repeating a submission whose answer was lost returns the same job"""


def as_mesh(mesh: typing.Union[Mesh, npt.ArrayLike]) -> Mesh:
    return mesh if isinstance(mesh, Mesh) else Mesh(triangles=mesh)


def as_elements(name: str, value: npt.ArrayLike) -> Array:
    """Never changes a value: an id of -1 or 2**40 is refused instead of wrapped."""
    wanted = np.dtype(_ELEMENTS.get(name) or _REST_ELEMENTS[name])
    array = _array_of(name, value)
    if array.size == 0:  # numpy makes doubles of an empty list
        return np.empty(0, wanted)
    _check_rows(name, array, _WIDTHS.get(name))
    if wanted.kind == "f":
        array = _as_floats(name, array, wanted)
    elif array.dtype == bool:
        array = array.astype(wanted)
    elif array.dtype != wanted:
        if array.dtype.kind not in "iu" or (array.size and (array.min() < 0 or array.max() > np.iinfo(wanted).max)):
            raise ValueError(f"{name} must hold integers from 0 to {np.iinfo(wanted).max}.")
        array = array.astype(wanted)
    return np.ascontiguousarray(array).reshape(-1)


def _array_of(name: str, value: npt.ArrayLike) -> Array:
    if isinstance(value, np.ma.MaskedArray) and np.any(value.mask):  # numpy would give the numbers behind the mask
        raise ValueError(f"{name} has masked entries; fill them, or leave them out.")
    array: Array = np.asarray(value)
    return array


def _as_floats(name: str, array: Array, wanted: np.dtype[typing.Any]) -> Array:
    """Rounds, but never to infinity or zero."""
    if array.dtype.kind not in "bfiu":
        raise ValueError(f"{name} is {array.dtype}; an array of numbers is expected.")
    with np.errstate(over="ignore", under="ignore"):
        narrow: Array = array.astype(wanted, copy=False)
    lost = np.isfinite(array) & (~np.isfinite(narrow) | ((narrow == 0) & (array != 0)))
    if lost.any():
        raise ValueError(f"{name} holds {array[lost][0]}, which is beyond the range of float32.")
    return narrow


def _check_rows(name: str, array: Array, width: typing.Optional[int]) -> None:
    """Quads, and coordinates axis by axis, would otherwise be read as other triangles and other points."""
    if width is not None and array.ndim > 1 and array.shape[-1] != width:
        raise ValueError(f"{name} has the shape {array.shape}; (n, {width}) or a flat list is expected.")


def as_positions(value: npt.ArrayLike, name: str) -> Array:
    """The array itself if it is contiguous float32 or float64, which can be sent; otherwise a converted copy."""
    array = _array_of(name, value)
    _check_rows(name, array, 3)
    if array.dtype.kind in "iu":
        if array.size and (array.max() > 2**53 or array.min() < -2**53):
            raise ValueError(f"{name} holds integers beyond 2**53, which float64 would round.")
        array = array.astype("<f8")
    if array.dtype not in (np.dtype("<f4"), np.dtype("<f8")):
        if array.dtype not in (np.dtype(">f4"), np.dtype(">f8")):
            raise TypeError(f"{name} is {array.dtype}; float32 or float64 is expected.")
        array = array.astype(array.dtype.newbyteorder("<"))
    return np.ascontiguousarray(array)


def scalar_of(array: Array) -> str:
    return "FLOAT64" if array.dtype.itemsize == 8 else "FLOAT32"


def positions_of(data: bytes, scalar: str) -> Array:
    """A read-only view of the bytes."""
    array: Array = np.frombuffer(data, "<f8" if scalar == "FLOAT64" else "<f4").reshape(-1, 3)
    array.setflags(write=False)
    return array


def moved_of(motion: Json, target: Array) -> Json:
    """Raises ValueError unless the positions have the number and the scalar of the target."""
    positions: Array = motion["positions"]
    if positions.size != target.size or positions.dtype != target.dtype:
        raise ValueError(f"{positions.size} coordinates of {positions.dtype} to {target.size} of {target.dtype}")
    return motion


def states_of(data: bytes, scalar: str, states: int) -> Array:
    """The states of a path, one after another: (states, V, 3)."""
    array = positions_of(data, scalar)
    return array.reshape(states, -1, 3)


_LISTS = {"kinds": ("u1", 1), "vertices": ("<u4", 4), "weights": ("<f4", 4), "normals": ("<f4", 3),
          "distances": ("<f4", 1), "residual": ("<f4", 1), "distance_to_target": ("<f4", 1),
          "multipliers": ("<f4", 1), "unreached_kinematic": ("<u4", 1), "phases": ("u1", 1), "steps": ("<u4", 1), "holds": ("u1", 1),
          "pairs": ("<u4", 1), "since": ("<u4", 1)}
# The bulk fields of the parts of an answer.
LISTS = {"contacts": ("kinds", "vertices", "weights", "normals", "distances", "multipliers"),
         "vertices": ("residual", "distance_to_target", "unreached_kinematic"),
         "path": ("phases", "steps"),
         "reasons": ("holds", "pairs", "since", "kinds", "vertices", "normals", "distances")}


def list_of(name: str, data: bytes) -> Array:
    """A bulk field of Contacts or VertexReport; ids and weights have one row per contact."""
    element, width = _LISTS[name]
    array: Array = np.frombuffer(data, element)
    return array if width == 1 else array.reshape(-1, width)


# The uint64 fields of the contract, which are text in JSON.
_COUNTS = frozenset(
    "vertexTriangle edgeEdge vertexEdge vertexVertex activeContacts touchingPairs pairCount pairsTested doubtfulPairs "
    "intersections ignoredPairCount intersectingPairCount count index frame deviceBytes intersectionCount kinematicIntersectionCount "
    "maxBufferBytes maxVertices maxElements maxMessageBytes maxDeviceBytes edges triangles segments particles "
    "tetrahedra overlongEdges newtonIterations solverIterations volumes remainingPairs "
    "pierces piercesBefore piercesAfter leftOutPierces leftOutVertices limitedRegions "
    "violated inverted maxPairsPerRequest maxWorkBytes bytes regionCount componentCount triangleCount samples".split())


def untangle_progress_of(progress: Json) -> UntangleProgress:
    return UntangleProgress(progress.get("phase", ""), progress.get("iteration", 0), int(progress.get("pierces", 0)),
                            progress.get("contours", 0), progress.get("regionVertices", 0))


def untangled_of(answer: Json) -> UntangleResult:
    """An UntangleResponse from the contract's JSON."""
    positions, report = answer["positions"], answer["report"]
    for contour in report["contours"]:
        contour["points"] = np.frombuffer(base64.b64decode(contour["points"]), "<f4").reshape(-1, 3)
    report["piercesByIteration"] = [int(count) for count in report["piercesByIteration"]]
    regions: Array = np.frombuffer(base64.b64decode(answer["regions"]), "<u4")
    return UntangleResult(positions_of(base64.b64decode(positions["data"]), positions["scalar"]), report, regions)


def plain_json(value: typing.Any) -> typing.Any:
    """What a caller has given as the contract's JSON, with numpy's numbers as those of Python, and with numbers that JSON lacks
    as the text that the contract has for them, so that the service refuses them by name."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: plain_json(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_json(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def with_counts(value: typing.Any) -> typing.Any:
    """The contract's JSON with counts as numbers."""
    if isinstance(value, list):
        return [with_counts(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {name: int(part) if name in _COUNTS and isinstance(part, str) else with_counts(part)
            for name, part in value.items()}
