"""The work of the operators as jobs (`jobs.py`): they read the scene, make steps of a session and store the answers."""

import numpy as np

from . import gather
from .jobs import Call
from .parts import Joined, to_local, to_world
from .service import Refusal, Session


class Outcome:
    def __init__(self, frames, report):
        self.frames, self.report = frames, report

    def text(self):
        report = self.report
        words = [
            f"{report['status']}: {self.frames} frame{'s' if self.frames > 1 else ''}, no intersections",
            f"last frame {report['distanceToTargetRms']:.3g} from its target (rms)",
        ]
        if report.get("unreachedKinematic"):
            words.append(f"{report['unreachedKinematic']} obstacle or pinned vertices held back")
        return "; ".join(words) + "."


class Failure(Exception):
    """A refusal, after the elements at fault have been selected."""

    def __init__(self, refusal, selected):
        text = f"{refusal.code}: {refusal}"
        if selected:
            text += f" {selected} elements are selected: press Tab to see them."
        super().__init__(text)
        self.refusal, self.selected = refusal, selected


def parameters_of(settings, scene):
    return {"quality": settings.quality, "metresPerUnit": scene.unit_settings.scale_length}


def resolve(service, context, obj, settings):
    """The job of both modes. Stores nothing unless it completes; an exception leaves the scene unchanged."""
    is_key = settings.mode == "SHAPE_KEY"
    scene = context.scene
    frame_before = scene.frame_current
    if is_key:
        gather.check_keys(settings)
    else:
        gather.check_cache(settings.cache_path)
    earlier_cache = None if is_key else gather.remove_cache(obj)
    is_stored = False
    # The call that opens it stores it here: a run may be cancelled after that call but before its result is passed on.
    opened = []
    objects = {}
    joined = None
    try:
        frames = [frame_before] if is_key else list(range(settings.frame_start, settings.frame_end + 1))
        if not is_key and len(frames) < 2:
            raise gather.Problem("The last frame must come after the first.")
        scene.frame_set(frames[0])
        cloth = gather.part_of_cloth(obj, settings)
        others = gather.obstacles_of(settings, obj)
        joined = Joined([cloth, *map(gather.part_of_obstacle, others)])
        objects = dict(zip(joined.parts, [obj, *others]))

        def all_positions():
            return np.concatenate([gather.evaluated_world(other, part) for part, other in objects.items()])

        def with_key(name):
            world = [gather.evaluated_world(other, part) for part, other in list(objects.items())[1:]]
            return np.concatenate([gather.world_of_key(obj, name), *world])

        # Refuses an object that is scaled to zero, whose elements would all intersect.
        to_local(np.zeros((1, 3)), obj.matrix_world)
        start = with_key(settings.start_key) if is_key else all_positions()
        budget = settings.time_budget
        total = 1 if is_key else len(frames) - 1
        mesh, parameters = joined.mesh(), parameters_of(settings, scene)
        yield Call(lambda: opened.append(Session(service, mesh, start, parameters)), 0, total, "testing the start")
        session = opened[0]

        def stored(positions, matrix, shown):
            """Local coordinates for Blender to store, and the positions that it then shows: obstacles are animated."""
            local = to_local(positions[: cloth.count], matrix)
            return local, np.concatenate([to_world(local, matrix), shown[cloth.count :]])

        locals_of_frames = [] if is_key else [stored(start, obj.matrix_world, start)[0]]
        for done in range(total):
            if is_key:
                target = with_key(settings.target_key)
            else:
                scene.frame_set(frames[done + 1])
                target = all_positions()
            matrix = [list(row) for row in obj.matrix_world]

            def step(target=target, matrix=matrix):
                positions, report = session.step(target, budget)
                local, world = stored(positions, matrix, target)
                session.check(world, report["unreachedKinematic"])
                return local, report

            label = "resolving" if is_key else f"frame {frames[done + 1]}"
            local, report = yield Call(step, done, total, label)
            locals_of_frames.append(local)
        scene.frame_set(frame_before)
        if is_key:
            gather.write_key(obj, settings.result_key, locals_of_frames[0])
        else:
            gather.write_cache(obj, settings.cache_path, locals_of_frames, frames[0])
        is_stored = True
        return Outcome(total, report)
    except Refusal as refusal:
        selected = 0
        if refusal.sides() and joined:
            selected = gather.select_sides(objects, joined.by_part(refusal.sides()))
        raise Failure(refusal, selected) from refusal
    finally:
        if scene.frame_current != frame_before:
            scene.frame_set(frame_before)
        if earlier_cache and not is_stored:
            gather.show_cache(obj, *earlier_cache)
        for session in opened:
            session.close()
