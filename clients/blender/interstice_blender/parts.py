"""Joins objects into one mesh and separates its vertices again. Uses only arrays, nothing of Blender."""

import struct

import numpy as np

from .service import encode


class Part:
    """One object: its vertices have the ids `first` to `first + count - 1` of the joined mesh, in their own order."""

    def __init__(self, name, count, triangles, is_kinematic, pins=()):
        """`triangles`: (T, 3) ids within the object; `pins`: ids of vertices that are kinematic in a part that is not."""
        self.name, self.count, self.is_kinematic = name, count, is_kinematic
        self.triangles = np.asarray(triangles, dtype=np.uint32).reshape(-1, 3)
        self.pins = np.asarray(pins, dtype=np.int64)
        self.first = 0


class Joined:
    def __init__(self, parts):
        self.parts = list(parts)
        self.count = 0
        for part in self.parts:
            part.first = self.count
            self.count += part.count

    def mesh(self):
        """The mesh as in the contract, for JSON."""
        kinematic = np.zeros(self.count, dtype=np.uint8)
        for part in self.parts:
            if part.is_kinematic:
                kinematic[part.first : part.first + part.count] = 1
            kinematic[part.first + part.pins] = 1
        triangles = np.concatenate([part.triangles + np.uint32(part.first) for part in self.parts])
        return {
            "vertexCount": self.count,
            "triangles": encode(triangles, "<u4"),
            "kinematic": encode(kinematic, np.uint8),
            "parts": [
                {"name": part.name, "firstVertex": part.first, "vertexCount": part.count, "kinematic": part.is_kinematic}
                for part in self.parts
            ],
        }

    def by_part(self, sides):
        """Elements of the joined mesh by part: {part: [ids within the part]}.

        An element never joins parts, because no triangle does.
        """
        found = {}
        for side in sides:
            for part in self.parts:
                if part.first <= side[0] < part.first + part.count:
                    found.setdefault(part, []).append([vertex - part.first for vertex in side])
        return found


def to_world(local, matrix):
    """(V, 3) local coordinates → world, computed in doubles and rounded to float32 once."""
    matrix = np.asarray(matrix, dtype=np.float64)
    return (np.asarray(local, dtype=np.float64) @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)


def to_local(world, matrix):
    """The inverse transform. A singular matrix has none."""
    matrix = np.asarray(matrix, dtype=np.float64)
    if not abs(np.linalg.det(matrix[:3, :3])) > 0:
        raise ValueError("The object is scaled to zero along an axis, so no shape of it can be stored.")
    shifted = np.asarray(world, dtype=np.float64) - matrix[:3, 3]
    return np.linalg.solve(matrix[:3, :3], shifted.T).T.astype(np.float32)


def point_cache(frames, first_frame):
    """The bytes of a PC2 file: one sample per frame, each (V, 3) local coordinates."""
    frames = [np.ascontiguousarray(frame, dtype="<f4") for frame in frames]
    header = struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(frames[0]), first_frame, 1.0, len(frames))
    return header + b"".join(frame.tobytes() for frame in frames)
