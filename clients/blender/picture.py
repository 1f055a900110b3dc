"""Draws the picture of README.md: blender -b --factory-startup --python picture.py -- ZIP URL FILE"""

import math
import os
import sys

import bpy
import mathutils

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scene

archive, url, file = sys.argv[sys.argv.index("--") + 1 :]
bpy.ops.preferences.addon_install(filepath=archive)
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.preferences.addon_enable(module="interstice_blender")
bpy.context.preferences.addons["interstice_blender"].preferences.url = url
cloth, ball = scene.build_objects()
bpy.ops.interstice.resolve()


def paint(obj, colour):
    material = bpy.data.materials.new(obj.name)
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*colour, 1)
    obj.data.materials.append(material)


paint(cloth, (0.05, 0.25, 0.6))
paint(ball, (0.8, 0.3, 0.1))
# The target is on the left, the answer on the right.
right = mathutils.Vector((2.9, 2.9, 0))
for original in (cloth, ball):
    other = original.copy()
    bpy.context.scene.collection.objects.link(other)
    other.location = original.location - right
    if original == cloth:
        other.active_shape_key_index = list(cloth.data.shape_keys.key_blocks).index(cloth.data.shape_keys.key_blocks["Target"])
middle = cloth.location - right / 2 + mathutils.Vector((-0.1, 0, -0.7))
camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
sun.data.energy, sun.data.angle = 3, 0.2
sun.rotation_euler = (0.5, 0.5, 0)
for obj in (camera, sun):
    bpy.context.scene.collection.objects.link(obj)
camera.location = middle + mathutils.Vector((6, -6, 4.5))
camera.rotation_euler = (middle - camera.location).to_track_quat("-Z", "Y").to_euler()
camera.data.type, camera.data.ortho_scale = "ORTHO", 8.5
world = bpy.data.worlds.new("World")
world.use_nodes = True
world.node_tree.nodes["Background"].inputs[0].default_value = (0.9, 0.92, 0.95, 1)
world.node_tree.nodes["Background"].inputs[1].default_value = 0.6
render = bpy.context.scene.render
bpy.context.scene.world, bpy.context.scene.camera = world, camera
render.engine, render.threads_mode, render.threads = "CYCLES", "FIXED", 1
bpy.context.scene.cycles.samples, bpy.context.scene.cycles.use_denoising = 16, False
bpy.context.scene.view_settings.view_transform = "Standard"
render.resolution_x, render.resolution_y, render.resolution_percentage = 800, 360, 100
render.image_settings.file_format = "PNG"
render.filepath = os.path.abspath(file)
bpy.ops.render.render(write_still=True)
