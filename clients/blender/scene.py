"""The example scene of the add-on: a cloth above a ball, on an object that is moved, rotated and scaled."""

import math

import bpy
import mathutils

SIDE = 24
RADIUS = 0.4


def grid(name, height):
    at = [i / (SIDE - 1) * 2 - 1 for i in range(SIDE)]
    vertices = [(u, v, height) for v in at for u in at]
    faces = [
        (i + SIDE * j, i + 1 + SIDE * j, i + 1 + SIDE * (j + 1), i + SIDE * (j + 1))
        for j in range(SIDE - 1)
        for i in range(SIDE - 1)
    ]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def build_objects():
    """A cloth with a target that goes through a ball, and the ball in a collection of obstacles; returns both objects."""
    cloth = grid("Cloth", 0.0)
    cloth.shape_key_add(name="Basis")
    target = cloth.shape_key_add(name="Target", from_mix=False)
    for point in target.data:
        # The rim hangs lower than the middle; the middle passes through the ball.
        point.co.z = -0.35 - 0.5 * (point.co.x**2 + point.co.y**2) / 2
    collection = bpy.data.collections.new("Obstacles")
    bpy.context.scene.collection.children.link(collection)
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=RADIUS, location=(0, 0, 0))
    ball = bpy.context.object
    ball.name = "Ball"
    for other in list(ball.users_collection):
        other.objects.unlink(ball)
    collection.objects.link(ball)
    cloth.matrix_world = mathutils.Matrix.Translation((3, -2, 1)) @ mathutils.Matrix.Rotation(math.radians(20), 4, "Y")
    cloth.scale = (1.5, 1.5, 1.5)
    bpy.context.view_layer.update()
    ball.location = cloth.matrix_world @ mathutils.Vector((0, 0, -0.45))
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = cloth
    cloth.select_set(True)
    bpy.context.scene.interstice.obstacles = collection
    return cloth, ball


def animate(cloth, ball, frames):
    """The cloth stays; the ball rises through it."""
    middle = cloth.matrix_world @ mathutils.Vector((0, 0, 0.3))
    ball.keyframe_insert("location", frame=1)
    ball.location = middle
    ball.keyframe_insert("location", frame=frames)
    bpy.context.scene.frame_set(1)
