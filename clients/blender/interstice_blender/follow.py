"""Handles the events of a run in a window, without Blender.

The operator of a window passes its events on and follows the result. So this can be tested without a window, and the
operator contains almost nothing that could be wrong except names.
"""

from .jobs import Background
from .service import Cancelled

RUNNING, DONE, CANCELLED = "RUNNING", "DONE", "CANCELLED"


class Follow:
    """Continues a job at every tick of a timer, shows its progress, and cancels it on Esc.

    `view` has three methods: `begin()`, `show(done, total, text)` and `end()`. Whatever happens after `begin`, `end` is called once.
    """

    def __init__(self, job, service, view):
        """Raises errors of the job before its first call; nothing has begun then."""
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
        """`kind` as Blender names it. Returns RUNNING, DONE or CANCELLED; raises errors of the job.

        Until the end the data that the job uses must not be edited, so all other events are ignored.
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
        """The result of the job, once it is DONE."""
        return self.background.result
