"""Reads objects of Blender as parts, and writes answers and errors to them."""

import os

import bpy
import numpy as np

from .parts import Part, point_cache, to_world

MODIFIER = "Interstice"
PIN_WEIGHT = 0.5


class Problem(Exception):
    """The scene does not meet the needs of an operator; the text says what to change."""


def triangles_of(mesh):
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    return triangles.reshape(-1, 3)


def coordinates_of(items, count):
    """`co` of vertices or of the points of a shape key."""
    values = np.empty(3 * count, dtype=np.float32)
    items.foreach_get("co", values)
    return values.reshape(-1, 3)


def world_of_key(obj, name):
    return to_world(coordinates_of(key_named(obj, name).data, len(obj.data.vertices)), obj.matrix_world)


def key_named(obj, name):
    keys = obj.data.shape_keys.key_blocks if obj.data.shape_keys else {}
    if name not in keys:
        raise Problem(f"{obj.name} has no shape key {name!r}. Add one under Object Data, Shape Keys.")
    return keys[name]


def evaluated_world(obj, part):
    """World coordinates in the current frame, with modifiers, keys and animation applied."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    try:
        if len(mesh.vertices) != part.count:
            raise Problem(
                f"{obj.name} has {len(mesh.vertices)} vertices in frame {bpy.context.scene.frame_current} and {part.count} "
                "elsewhere. Apply or disable the modifiers that add or remove vertices."
            )
        return to_world(coordinates_of(mesh.vertices, part.count), evaluated.matrix_world)
    finally:
        evaluated.to_mesh_clear()


def obstacles_of(settings, obj):
    if settings.obstacles is None:
        return []
    found = [other for other in settings.obstacles.all_objects if other.type == "MESH" and other != obj]
    return sorted(found, key=lambda other: other.name)


def part_of_obstacle(obj):
    """Obstacles are read with their modifiers, so their ids are those of the evaluated mesh."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    try:
        return Part(obj.name, len(mesh.vertices), triangles_of(mesh), True)
    finally:
        evaluated.to_mesh_clear()


def part_of_cloth(obj, settings):
    pins = []
    if settings.pins:
        group = obj.vertex_groups.get(settings.pins)
        if group is None:
            raise Problem(f"{obj.name} has no vertex group {settings.pins!r}.")
        pins = [
            vertex.index
            for vertex in obj.data.vertices
            if any(entry.group == group.index and entry.weight > PIN_WEIGHT for entry in vertex.groups)
        ]
    if not obj.data.polygons:
        raise Problem(f"{obj.name} has no faces.")
    return Part(obj.name, len(obj.data.vertices), triangles_of(obj.data), False, pins)


def write_key(obj, name, local):
    """Stores an answer as a shape key and shows only that key, so that no mix rounds its numbers again."""
    keys = obj.data.shape_keys.key_blocks
    key = keys[name] if name in keys else obj.shape_key_add(name=name, from_mix=False)
    key.data.foreach_set("co", np.ascontiguousarray(local, dtype=np.float32).ravel())
    key.value = 1.0
    obj.active_shape_key_index = list(keys).index(key)
    obj.show_only_shape_key = True
    obj.data.update()


def remove_cache(obj):
    """Removes the answer of an earlier run before targets are read. Returns its path and first frame, or None."""
    modifier = obj.modifiers.get(MODIFIER)
    if modifier is None:
        return None
    played = (modifier.filepath, modifier.frame_start)
    obj.modifiers.remove(modifier)
    return played


def check_keys(settings):
    """An answer never takes the place of what it was computed from."""
    name = settings.result_key
    if not name:
        raise Problem("The answer has no name. Enter that of the shape key that receives it.")
    for role, key in (("start", settings.start_key), ("target", settings.target_key)):
        if key == name:
            raise Problem(f"The answer would replace the {role}, the shape key {name!r}. Enter another name for the answer.")


def check_cache(path):
    """Before anything is computed: a run through many frames may take hours."""
    if not path:
        raise Problem("The cache has no file. Enter the name of a file for it.")
    if path.startswith("//") and not bpy.data.filepath:
        raise Problem("The cache lies beside the Blender file, which has not been saved yet. Save it first, or enter a whole path.")
    target = bpy.path.abspath(path)
    if os.path.isdir(target):
        raise Problem(f"The cache {target} is a folder. Enter the name of a file.")
    try:
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
        with open(f"{target}.part", "wb"):
            pass
        os.remove(f"{target}.part")
    except OSError as error:
        raise Problem(f"The cache {target} cannot be written: {error.strerror}.") from error


def write_cache(obj, path, frames, first_frame):
    """Writes a PC2 file and plays it after all modifiers, without mixing frames: states between them are not tested."""
    target = bpy.path.abspath(path)
    folder = os.path.dirname(target)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(f"{target}.part", "wb") as file:
        file.write(point_cache(frames, first_frame))
    os.replace(f"{target}.part", target)
    show_cache(obj, path, first_frame)


def show_cache(obj, path, first_frame):
    modifier = obj.modifiers.new(MODIFIER, "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = path
    modifier.interpolation = "NONE"
    modifier.frame_start = first_frame


def select_sides(objects, sides_by_part):
    """Selects the vertices, edges and faces at fault, and nothing else, in each object's mesh. Returns how many elements."""
    count = 0
    for part, obj in objects.items():
        mesh = obj.data
        for items in (mesh.vertices, mesh.edges, mesh.polygons):
            items.foreach_set("select", np.zeros(len(items), dtype=bool))
        sides = sides_by_part.get(part, [])
        if part.count != len(mesh.vertices):
            continue  # Modifiers give an obstacle vertices that its mesh does not have.
        sets = [set(side) for side in sides]
        for vertex in set().union(*sets):
            mesh.vertices[vertex].select = True
        edges = {frozenset(side) for side in sides if len(side) == 2}
        corners = {frozenset(side) for side in sides if len(side) == 3}
        for edge in mesh.edges if edges else ():
            edge.select = frozenset(edge.vertices) in edges
        if corners:
            mesh.calc_loop_triangles()
            for triangle in mesh.loop_triangles:
                if frozenset(triangle.vertices) in corners:
                    mesh.polygons[triangle.polygon_index].select = True
        mesh.update()
        count += len({frozenset(side) for side in sides})
    return count
