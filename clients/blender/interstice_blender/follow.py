"""A run that somebody watches: what its events do, without Blender.

The operator of a window hands its events on and does what it is told. So this is tested where there is no window, and the operator has
nothing left that could go wrong but names.
"""

from .jobs import Background
from .service import Cancelled

RUNNING, DONE, CANCELLED = "RUNNING", "DONE", "CANCELLED"


class Follow:
    """Goes on with a job at every tick of a timer, shows how far it is, and gives it up on Esc.

    `view` has three methods: `begin()`, `show(done, total, text)` and `end()`. Whatever happens after `begin`, `end` is called once.
    """

    def __init__(self, job, service, view):
        """Raises what the job raises before its first call; nothing has begun then."""
        self.background = Background(job, service)
        self.view = view
        view.begin()
        self._show()

    def _show(self):
        call = self.background.call
        if call is not None:
            self.view.show(
                call.done, call.total, f"Interstice: {call.label}, {call.done} of {call.total} done. Esc cancels."
            )

    def event(self, kind):
        """`kind` as Blender names it. Returns RUNNING, DONE or CANCELLED; raises what the job raises.

        Until the end nobody may edit what is read and written, so every event but these two goes nowhere.
        """
        if kind == "ESC":
            try:
                self.background.cancel()
            finally:
                self.view.end()
            return CANCELLED
        if kind != "TIMER":
            return RUNNING
        try:
            is_done = self.background.poll()
        except Cancelled:
            self.view.end()
            return CANCELLED
        except BaseException:
            self.view.end()
            raise
        if is_done:
            self.view.end()
            return DONE
        self._show()
        return RUNNING

    @property
    def result(self):
        """What the job has returned, once it is DONE."""
        return self.background.result
