"""Runs a job, a generator that yields calls to make outside of Blender's thread and receives their results.

Blender's data may be used only on its own thread, and its window must not freeze while a service computes. So a job
runs on Blender's thread and yields `Call`s, which wait for the network and use no Blender data.
"""

import threading

from .service import Cancelled


class Call:
    def __init__(self, function, done=0, total=1, label=""):
        """`done` of `total` frames are finished while this call runs."""
        self.function, self.done, self.total, self.label = function, done, total, label


def run(job):
    """Runs a job to its end on this thread. Returns its result."""
    try:
        call = next(job)
        while True:
            try:
                result = call.function()
            except Exception as error:  # The job decides what an error means; it may close its session.
                call = job.throw(error)
            else:
                call = job.send(result)
    except StopIteration as end:
        return end.value


class Background:
    """Runs a job in pieces: `poll` from a timer on Blender's thread, its calls on a separate thread."""

    def __init__(self, job, service):
        self.job, self.service = job, service
        self.thread = None
        self.call = None
        self.outcome = None
        self.result = None
        self.is_done = False
        self._advance(lambda: next(job))

    def _advance(self, go_on):
        try:
            self.call = go_on()
        except StopIteration as end:
            self.result, self.is_done = end.value, True
            return
        except BaseException:
            self.is_done = True
            raise
        self.outcome = None
        self.thread = threading.Thread(target=self._work, args=(self.call,), daemon=True)
        self.thread.start()

    def _work(self, call):
        try:
            self.outcome = (call.function(), None)
        except Exception as error:
            self.outcome = (None, error)

    def poll(self):
        """Continues the job if the running call has ended. Returns whether the job has ended; raises its errors."""
        if self.is_done or self.thread.is_alive():
            return self.is_done
        result, error = self.outcome
        self._advance(lambda: self.job.throw(error) if error else self.job.send(result))
        return self.is_done

    def cancel(self):
        """Ends the job, which then writes nothing."""
        if self.is_done:
            return
        self.service.cancel()
        self.thread.join()
        self.is_done = True
        try:
            self.job.throw(Cancelled())
        except (Cancelled, StopIteration):
            pass
