"""Interstice in Blender: a mesh moves to a shape key, or through frames, without ever intersecting."""

bl_info = {
    "name": "Interstice",
    "description": "Moves meshes to their targets without intersections, by an Interstice service",
    "author": "The Interstice project",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "3D Viewport > Sidebar > Interstice",
    "category": "Physics",
}

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from . import gather, jobs, work
from .follow import CANCELLED, DONE, Follow
from .service import Service

POLL_SECONDS = 0.1
# Errors that the user can fix are shown as text; anything else is a fault of the add-on and shows its traceback.
ERRORS = (gather.Problem, work.Failure, ValueError, OSError)


class Window:
    """Shows a run in a window: the timer, the progress at the pointer, the status bar."""

    def __init__(self, context):
        self.context = context

    def begin(self):
        manager = self.context.window_manager
        self.timer = manager.event_timer_add(POLL_SECONDS, window=self.context.window)
        manager.progress_begin(0, 100)

    def show(self, done, total, text):
        self.context.window_manager.progress_update(100 * done / total)
        self.context.workspace.status_text_set(text)

    def end(self):
        manager = self.context.window_manager
        manager.event_timer_remove(self.timer)
        manager.progress_end()
        self.context.workspace.status_text_set(None)


class Preferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    url: StringProperty(name="Service", default="http://127.0.0.1:8080", description="Address of the service")
    api_key: StringProperty(
        name="API key", subtype="PASSWORD", description="Empty for a service without keys. Blender saves it unencrypted"
    )

    def draw(self, context):
        self.layout.prop(self, "url")
        self.layout.prop(self, "api_key")


class Settings(bpy.types.PropertyGroup):
    mode: EnumProperty(
        name="Target",
        items=[
            ("SHAPE_KEY", "Shape key", "From one shape key to another; the answer is a shape key"),
            ("FRAMES", "Frames", "Through a range of frames; the answer is a point cache (PC2)"),
        ],
    )
    start_key: StringProperty(name="Start", default="Basis", description="Shape key that does not intersect")
    target_key: StringProperty(name="Target", default="Target", description="Shape key to go to; it may intersect")
    result_key: StringProperty(name="Answer", default="Interstice", description="Shape key that receives the answer")
    frame_start: IntProperty(name="From", default=1, description="Frame that does not intersect")
    frame_end: IntProperty(name="To", default=24)
    cache_path: StringProperty(name="Cache", default="//interstice.pc2", subtype="FILE_PATH")
    obstacles: PointerProperty(
        name="Obstacles", type=bpy.types.Collection, description="Their meshes move as animated, whatever they meet"
    )
    pins: StringProperty(name="Pins", description="Vertex group whose vertices move as animated (weight over 0.5)")
    quality: EnumProperty(
        name="Quality",
        default="BALANCED",
        items=[("FAST", "Fast", "Previews"), ("BALANCED", "Balanced", "Cloth that is looked at"), ("FINE", "Fine", "Stills")],
    )
    time_budget: FloatProperty(
        name="Seconds a frame", min=0, default=0, description="Time after which the safe state reached is taken; 0: none"
    )


class INTERSTICE_OT_resolve(bpy.types.Operator):
    """Moves the active mesh to its target without intersections"""

    bl_idname = "interstice.resolve"
    bl_label = "Resolve"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return context.mode == "OBJECT" and context.object is not None and context.object.type == "MESH"

    def prepare(self, context):
        preferences = context.preferences.addons[__package__].preferences
        service = Service(preferences.url, preferences.api_key)
        return service, work.resolve(service, context, context.object, context.scene.interstice)

    def end(self, outcome):
        self.report({"INFO"}, outcome.text())
        return {"FINISHED"}

    def fail(self, error):
        self.report({"ERROR"}, str(error))
        return {"CANCELLED"}

    def execute(self, context):
        """Without a window: waits for the end."""
        try:
            return self.end(jobs.run(self.prepare(context)[1]))
        except ERRORS as error:
            return self.fail(error)

    def invoke(self, context, event):
        try:
            service, job = self.prepare(context)
            self.follow = Follow(job, service, Window(context))
        except ERRORS as error:
            return self.fail(error)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        try:
            state = self.follow.event(event.type)
        except ERRORS as error:
            return self.fail(error)
        if state == DONE:
            return self.end(self.follow.result)
        if state == CANCELLED:
            self.report({"WARNING"}, "Cancelled; nothing was changed.")
            return {"CANCELLED"}
        return {"RUNNING_MODAL"}


class INTERSTICE_PT_panel(bpy.types.Panel):
    bl_label = "Interstice"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Interstice"

    def draw(self, context):
        settings, layout = context.scene.interstice, self.layout
        obj = context.object
        layout.use_property_split = True
        layout.prop(settings, "mode")
        if settings.mode == "SHAPE_KEY":
            keys = obj.data.shape_keys if obj is not None and obj.type == "MESH" else None
            for name in ("start_key", "target_key"):
                if keys:
                    layout.prop_search(settings, name, keys, "key_blocks")
                else:
                    layout.prop(settings, name)
            layout.prop(settings, "result_key")
        else:
            for name in ("frame_start", "frame_end", "cache_path"):
                layout.prop(settings, name)
        layout.prop(settings, "obstacles")
        if obj is not None and obj.type == "MESH":
            layout.prop_search(settings, "pins", obj, "vertex_groups")
        layout.prop(settings, "quality")
        layout.prop(settings, "time_budget")
        layout.operator("interstice.resolve", icon="MOD_CLOTH")


CLASSES = (Preferences, Settings, INTERSTICE_OT_resolve, INTERSTICE_PT_panel)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Scene.interstice = PointerProperty(type=Settings)


def unregister():
    del bpy.types.Scene.interstice
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
