"""Tests the packed add-on in a real Blender against a running service:

    blender -b --factory-startup --python-exit-code 1 --python test_blender.py -- ZIP URL FOLDER

Ends with "N passed, N failed". Writes its answers to FOLDER as OBJ, in world coordinates with all digits, so that the
caller can test them.
"""

import os
import socket
import sys
import urllib.parse

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scene

FRAMES = 4
archive, url, folder = sys.argv[sys.argv.index("--") + 1 :]
passed = failed = 0


def check(is_right, what, detail=""):
    global passed, failed
    passed, failed = passed + bool(is_right), failed + (not is_right)
    print(f"{'ok  ' if is_right else 'FAIL'} {what} {'' if is_right else detail}", flush=True)


bpy.ops.preferences.addon_install(filepath=archive)
bpy.ops.preferences.addon_enable(module="interstice_blender")
import interstice_blender as addon
from interstice_blender import gather, jobs, parts, service, work


def prepare():
    """The scene and its settings; factory settings disable the add-on, so it is enabled again before."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_enable(module="interstice_blender")
    cloth, ball = scene.build_objects()
    bpy.context.preferences.addons["interstice_blender"].preferences.url = url
    return cloth, ball, bpy.context.scene.interstice


def write_obj(name, objects):
    """World coordinates as the add-on sends them to the test: doubles, rounded to float32 once."""
    first = 1
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        for obj in objects:
            evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
            mesh = evaluated.to_mesh()
            local = gather.coordinates_of(mesh.vertices, len(mesh.vertices))
            for point in parts.to_world(local, obj.matrix_world):
                file.write("v %.9g %.9g %.9g\n" % tuple(point))
            for triangle in gather.triangles_of(mesh):
                file.write("f %d %d %d\n" % tuple(int(vertex) + first for vertex in triangle))
            first += len(mesh.vertices)
            evaluated.to_mesh_clear()


def refused():
    try:
        return "no error", bpy.ops.interstice.resolve()
    except RuntimeError as error:
        return str(error), None


def sessions():
    return service.Service(url).call_json("GET", "/v1/sessions").get("sessions", [])


# A shape key as the target.
cloth, ball, settings = prepare()
write_obj("start.obj", [cloth, ball])
before = gather.coordinates_of(cloth.data.shape_keys.key_blocks["Target"].data, len(cloth.data.vertices))
check(bpy.ops.interstice.resolve() == {"FINISHED"}, "a shape key is resolved")
keys = cloth.data.shape_keys.key_blocks
check("Interstice" in keys and cloth.show_only_shape_key, "the answer is a shape key, and shown alone")
answer = gather.coordinates_of(keys["Interstice"].data, len(cloth.data.vertices))
distance = np.linalg.norm(answer - before, axis=1)
# Away from the ball nothing holds the cloth, so every vertex must be nearest to its own target: ids are kept.
corner = [0, scene.SIDE - 1, scene.SIDE * (scene.SIDE - 1), scene.SIDE**2 - 1]
nearest = [int(np.argmin(np.linalg.norm(before - answer[vertex], axis=1))) for vertex in corner]
check(nearest == corner, "the corners keep their ids", nearest)
check(distance[corner].max() < 0.05 and distance.max() > 0.1, "the corners arrive, the middle is held", distance.max())
write_obj("shape-key.obj", [cloth, ball])
check(sessions() == [], "no session is left")

# A range of frames, with an animated obstacle.
cloth, ball, settings = prepare()
scene.animate(cloth, ball, FRAMES)
settings.mode = "FRAMES"
settings.frame_end = FRAMES
settings.cache_path = os.path.join(folder, "cloth.pc2")
check(bpy.ops.interstice.resolve() == {"FINISHED"}, "frames are resolved")
check(os.path.getsize(settings.cache_path) == 32 + FRAMES * scene.SIDE**2 * 12, "the cache holds every frame")
for frame in range(1, FRAMES + 1):
    bpy.context.scene.frame_set(frame)
    write_obj(f"frame-{frame}.obj", [cloth, ball])
check(bpy.ops.interstice.resolve() == {"FINISHED"} and len(cloth.modifiers) == 1, "a second run replaces the first")
usual_cache, settings.cache_path, settings.frame_end = settings.cache_path, os.path.join(folder, "other.pc2"), 1
refused()
check(cloth.modifiers[0].filepath == usual_cache, "a run that fails leaves the earlier cache")

# Cancelling while a step waits for its answer: it goes to a port that never answers.
cloth, ball, settings = prepare()
here = service.Service(url)
silent = socket.create_server(("127.0.0.1", 0))
once = service.Service._once


def to_nobody(self, method, path, *rest):
    usual = self.parts
    if "/steps" in path:
        self.parts = urllib.parse.urlsplit("http://127.0.0.1:%d" % silent.getsockname()[1])
    try:
        return once(self, method, path, *rest)
    finally:
        self.parts = usual


service.Service._once = to_nobody
run = jobs.Background(work.resolve(here, bpy.context, cloth, settings), here)
while "resolving" not in run.call.label:
    run.poll()
silent.accept()[0].recv(1)
run.cancel()
service.Service._once = once
check(run.is_done and "Interstice" not in cloth.data.shape_keys.key_blocks, "a cancelled run stores nothing")
check(sessions() == [], "and leaves no session")

# The operator as a window runs it. Without a window Blender sends no events, so they are made here, and what the operator does to
# the window is noted.


class Noted:
    """Stands for a part of the window, and records the calls."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *given, **named: self.calls.append((name, *given)) or name


class Event:
    def __init__(self, kind):
        self.type = kind


class Watched:
    """The context of a window, and the operator with its own methods in it."""

    def __init__(self):
        self.manager, self.workspace = Noted(), Noted()
        self.reports = []
        noted = {"window_manager": self.manager, "workspace": self.workspace, "window": None}
        inner = bpy.context
        self.context = type("Context", (), {"__getattr__": lambda _, name: noted[name] if name in noted else getattr(inner, name)})()
        methods = {name: value for name, value in vars(addon.INTERSTICE_OT_resolve).items() if callable(value)}
        self.operator = type("Operator", (), {**methods, "report": lambda _, kind, text: self.reports.append((*kind, text))})()

    def run(self, *kinds):
        """Invokes it and sends events, then ticks until its end."""
        state = self.operator.invoke(self.context, Event("LEFTMOUSE"))
        waiting = list(kinds)
        while state == {"RUNNING_MODAL"}:
            kind = waiting.pop(0) if waiting else "TIMER"
            state = self.operator.modal(self.context, Event(kind))
            if kind == "TIMER" and state == {"RUNNING_MODAL"}:
                self.operator.follow.background.thread.join()
        return state

    def names(self):
        return [call[0] for call in self.manager.calls]


cloth, ball, settings = prepare()
window = Watched()
check(window.run("MOUSEMOVE", "G", "TIMER") == {"FINISHED"}, "in a window the operator runs to its end", window.reports)
again = gather.coordinates_of(cloth.data.shape_keys.key_blocks["Interstice"].data, len(cloth.data.vertices))
check(np.array_equal(again, answer), "with the answer of the run without a window")
check(window.reports[0][0] == "INFO" and "no intersections" in window.reports[0][1], "and says how it ended", window.reports)
order = ["event_timer_add", "progress_begin", "modal_handler_add", "event_timer_remove", "progress_end"]
check([name for name in window.names() if name != "progress_update"] == order, "the timer and the progress are removed")
texts = [text for _, text in window.workspace.calls]
check("resolving" in " ".join(texts[:-1]) and texts[-1] is None, "the status bar said what it does, and is free again", texts)

cloth, ball, settings = prepare()
window = Watched()
check(window.run("TIMER", "ESC") == {"CANCELLED"}, "Esc cancels the operator")
check(window.reports == [("WARNING", "Cancelled; nothing was changed.")], "which says so", window.reports)
check("Interstice" not in cloth.data.shape_keys.key_blocks and sessions() == [], "nothing is stored, no session left")
check(window.names()[-2:] == ["event_timer_remove", "progress_end"] and window.workspace.calls[-1][1] is None, "the window is free")

cloth, ball, settings = prepare()
settings.start_key, settings.target_key = "Target", "Basis"
window = Watched()
check(window.run() == {"CANCELLED"} and "INTERSECTING_START" in window.reports[0][1], "a refusal is reported in the window too")
check(any(vertex.select for vertex in cloth.data.vertices), "with the vertices at fault selected")
settings.start_key = "Nowhere"
window = Watched()
check(window.run() == {"CANCELLED"} and window.names() == [], "what is wrong at once begins nothing", window.names())

# An intersecting start selects what intersects.
cloth, ball, settings = prepare()
settings.start_key, settings.target_key = "Target", "Basis"
text, _ = refused()
check("INTERSECTING_START" in text and "selected" in text, "an intersecting start is refused in words", text)
for obj in (cloth, ball):
    vertices = [vertex.index for vertex in obj.data.vertices if vertex.select]
    check(0 < len(vertices) < len(obj.data.vertices), f"vertices of {obj.name} are selected, and not all", len(vertices))
    faces = [face for face in obj.data.polygons if face.select]
    edges = [edge for edge in obj.data.edges if edge.select]
    check(faces or edges, f"so are faces or edges of {obj.name}")
    chosen = set(vertices)
    is_at_fault = all(set(edge.vertices) <= chosen for edge in edges) and all(len(chosen & set(face.vertices)) >= 3 for face in faces)
    check(is_at_fault, "and only those at fault")

# Mistakes of the user.
settings.start_key = "Nowhere"
check("no shape key 'Nowhere'" in refused()[0], "a missing shape key is named")
settings.start_key, settings.target_key = "Basis", "Target"
for name, words in (("Basis", "would replace the start"), ("Target", "would replace the target"), ("", "has no name")):
    settings.result_key = name
    check(words in refused()[0], f"an answer with the name {name!r} is refused")
settings.result_key = "Interstice"
check(np.array_equal(gather.coordinates_of(cloth.data.shape_keys.key_blocks["Target"].data, len(before)), before), "nothing is replaced")
cloth.scale.x, scale = 0, cloth.scale.x
check("scaled to zero" in refused()[0], "so is an object without a width")
cloth.scale.x = scale
settings.mode, settings.frame_end = "FRAMES", FRAMES
for name, words in (("//interstice.pc2", "not been saved"), ("", "has no file"), (folder, "is a folder"), ("/proc/none/a.pc2", "cannot be written")):
    settings.cache_path = name
    check(words in refused()[0], f"a cache that cannot be written is refused before the first frame: {name!r}")
settings.mode = "SHAPE_KEY"
bpy.context.preferences.addons["interstice_blender"].preferences.url = "http://127.0.0.1:9"
check("UNREACHABLE" in refused()[0] and "preferences" in refused()[0], "so is a service that does not answer")

print(f"{passed} passed, {failed} failed", flush=True)
sys.exit(failed > 0)
