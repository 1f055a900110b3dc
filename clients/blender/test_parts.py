"""Tests the parts of the add-on without Blender, against a running service: test_parts.py URL. Ends with "N passed, N
failed"."""

import json
import os
import socket
import struct
import sys
import threading
import time
import types

import numpy as np

# The package itself imports Blender, so its modules are loaded beside it.
folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "interstice_blender")
package = types.ModuleType("interstice_blender")
package.__path__ = [folder]
sys.modules["interstice_blender"] = package
from interstice_blender import follow, jobs, parts, service

if len(sys.argv) != 2:
    sys.exit("usage: test_parts.py URL, the address of a running service")
url = sys.argv[1]
passed = failed = 0


def check(is_right, what):
    global passed, failed
    passed, failed = passed + bool(is_right), failed + (not is_right)
    print(f"{'ok  ' if is_right else 'FAIL'} {what}")


matrix = [[0, -2, 0, 5], [3, 0, 0, -1], [0, 0, 0.5, 2], [0, 0, 0, 1]]
local = np.array([[1, 2, 4], [0, 0, 0]], dtype=np.float32)
world = parts.to_world(local, matrix)
check(np.array_equal(world, np.float32([[1, 2, 4], [5, -1, 2]])), "an object's matrix is applied to column vectors")
check(np.array_equal(parts.to_local(world, matrix), local), "and undone")
try:
    parts.to_local(world, np.diag([1, 0, 1, 1]))
    check(False, "a flattened object is refused")
except ValueError:
    check(True, "a flattened object is refused")

cache = parts.point_cache([local, 2 * local], 7)
check(struct.unpack("<12siiffi", cache[:32]) == (b"POINTCACHE2\0", 1, 2, 7.0, 1.0, 2), "the header of a PC2 file")
check(np.array_equal(np.frombuffer(cache[32:], "<f4"), np.concatenate([local, 2 * local]).ravel()), "and its samples")

cloth = parts.Part("cloth", 4, [[0, 1, 2], [1, 3, 2]], False, pins=[3])
floor = parts.Part("floor", 3, [[0, 1, 2]], True)
joined = parts.Joined([cloth, floor])
check(joined.by_part([[1, 2], [6], [4, 5, 6]]) == {cloth: [[1, 2]], floor: [[2], [0, 1, 2]]}, "ids return to their parts")

ground = [[-4, -4, 0], [4, -4, 0], [0, 6, 0]]
start = np.float32([[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1], *ground])
target = start - np.float32([0, 0, 2]) * (np.arange(7) < 3)[:, None]
here = service.Service(url)
for key in ("secret\n", " secret", "se cret", "s\u00e9cret", "\u0441\u0435\u043a"):
    try:
        service.Service(url, key)
        check(False, f"the key {key!r} is refused")
    except ValueError as error:
        check("API key has spaces" in str(error) and key.strip() not in str(error), f"the key {key!r} is refused, not repeated")


def job(first):
    opened = []
    try:
        yield jobs.Call(lambda: opened.append(service.Session(here, joined.mesh(), first, {})))
        return (yield jobs.Call(lambda: opened[0].step(target)))
    finally:
        for session in opened:
            session.close()


positions, report = jobs.run(job(start))
check(np.array_equal(positions[3:], start[3:]), "pins and obstacles keep their bits")
check((positions[:3, 2] > 0).all() and (positions[:3, 2] < 1).all(), "the rest stays above the floor")
check(report["status"] in ("CONVERGED", "STALLED"), "the report says how it ended")
run = jobs.Background(job(start), here)
while not run.poll():
    run.thread.join()
check(np.array_equal(run.result[0], positions), "in the background the answer has the same bytes")


class View:
    """Records what a window would show."""

    def __init__(self):
        self.seen = []

    def begin(self):
        self.seen.append("begin")

    def show(self, done, total, text):
        self.seen.append((done, total, text))

    def end(self):
        self.seen.append("end")


def watch(work, events=()):
    """Follows a job to its end by ticks of a timer, after some other events. Returns the last state and what was seen."""
    view = View()
    run = follow.Follow(work, here, view)
    for kind in events:
        state = run.event(kind)
        if state != follow.RUNNING:
            return state, run, view.seen
    while True:
        state = run.event("TIMER")
        if state != follow.RUNNING:
            return state, run, view.seen
        run.background.thread.join()


state, run, seen = watch(job(start), ["MOUSEMOVE", "A"])
check(state == follow.DONE and np.array_equal(run.result[0], positions), "followed by a timer it has the same bytes")
check(seen[0] == "begin" and seen.count("end") == 1 and seen[-1] == "end", "the window is left as it was")
check("0 of 1 done. Esc cancels." in seen[1][2], "it shows how far it is")
state, run, seen = watch(job(start), ["TIMER", "ESC"])
check(state == follow.CANCELLED and run.result is None and seen[-1] == "end", "Esc gives it up")
here = service.Service(url)
check(here.call_json("GET", "/v1/sessions").get("sessions") == [], "with no session left")


def give_up(seconds):
    """Opens a session and abandons the call: before it is sent, while it is computed or when it is answered."""
    call = service.Service(url)

    def work():
        try:
            service.Session(call, joined.mesh(), start, {}).close()
        except service.Cancelled:
            pass

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(seconds)
    call.cancel()
    thread.join()


for k in range(40):
    give_up(0.0005 * k)
check(here.call_json("GET", "/v1/sessions").get("sessions") == [], "an opening that is given up at any time leaves none")


class Losing(service.Service):
    """Loses the answer of the service to a creation."""

    def _once(self, method, path, *request):
        answer = super()._once(method, path, *request)
        if method == "POST" and path == "/v1/sessions":
            raise service.Refusal("UNREACHABLE", "The connection is gone.")
        return answer


try:
    service.Session(Losing(url), joined.mesh(), start, {})
    check(False, "a lost answer is told")
except service.Refusal as refusal:
    check(refusal.code == "UNREACHABLE", "a lost answer is told")
check(here.call_json("GET", "/v1/sessions").get("sessions") == [], "an opening whose answer was lost leaves none")


class Hanging:
    """Forwards bytes to the service. When it does not flow, each answer ends in a byte at a time, without an end."""

    def __init__(self):
        self.flow = threading.Event()
        self.flow.set()
        self.is_over = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        far = socket.create_connection((here.parts.hostname, here.parts.port))
        if self.flow.is_set():
            threading.Thread(target=self.forward, args=(far, near), daemon=True).start()
            self.forward(near, far)
        try:
            near.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
            while not self.is_over.wait(0.01):
                near.sendall(b"0")
        except OSError:
            pass

    def forward(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


hanging = Hanging()
service.ALLOWANCE = service.FORGET_LIMIT = 0.3
session = service.Session(service.Service(hanging.url), joined.mesh(), start, {})
session.step(target, 60)
hanging.flow.clear()
began = time.monotonic()
try:
    session.step(target, 0.1)
    check(False, "a time budget bounds a step whose answer does not end")
except service.Refusal as refusal:
    is_soon = time.monotonic() - began < service.TIMEOUT / 2
    check(refusal.code == "TIMEOUT" and is_soon, "a time budget bounds a step whose answer does not end")
session.close()
check(time.monotonic() - began < service.TIMEOUT / 2, "so does the limit of a deletion")
hanging.is_over.set()
service.Session.close(types.SimpleNamespace(service=here, path=session.path))
seen = []


class Refusing(service.Service):
    """Is refused for a while."""

    def _once(self, method, path, body, headers, limit):
        seen.append((int(headers["interstice-time-budget-ms"]), limit))
        problem = {"type": "urn:interstice:error:QUEUE_FULL", "code": "QUEUE_FULL", "message": "Full.", "retryable": True}
        return 429, {"retry-after": "0.1"}, json.dumps(problem).encode()


try:
    Refusing(url).call("POST", "/", budget=0.25, limit=9)
    check(False, "a time budget covers all attempts")
except service.Refusal as refusal:
    budgets, limits = zip(*seen)
    is_less = all(a > b for a, b in zip(budgets, budgets[1:])) and all(a > b for a, b in zip(limits, limits[1:]))
    check(refusal.code == "QUEUE_FULL" and 1 <= len(seen) < service.ATTEMPTS and is_less, "a time budget covers all attempts")


class Foreign(service.Service):
    """Is answered by something else."""

    answer = (200, {}, b"")

    def _once(self, method, path, *request):
        return self.answer


def code_of(work, *arguments):
    try:
        work(*arguments)
    except service.Refusal as refusal:
        return refusal.code
    return None


foreign = Foreign(url)
session = types.SimpleNamespace(service=foreign, path="/v1/sessions/one", id="one", frame=0, shape=start.shape)
for body in (b"", b"<html>", b"{}", b"[]", b"null", b'{"status": "ok"}'):
    foreign.answer = (200, {}, body)
    codes = {
        code_of(service.Session, foreign, joined.mesh(), start, {}),
        code_of(service.Session.step, session, target),
        code_of(service.Session.check, session, start),
    }
    check(codes == {"UNEXPECTED_ANSWER"}, f"{body} is no answer of the service")
    foreign.answer = (502, {}, body)
    check(code_of(service.Session.step, session, target) == "HTTP_502", f"and {body} no problem of it")


def failing():
    yield jobs.Call(lambda: None)
    raise ValueError("no room")


view = View()
run = follow.Follow(failing(), here, view)
run.background.thread.join()
try:
    run.event("TIMER")
    check(False, "an error of the job reaches the operator")
except ValueError:
    check(view.seen[-1] == "end", "an error of the job reaches the operator, and the window is left as it was")


def squeeze():
    session = yield jobs.Call(lambda: service.Session(here, joined.mesh(), start, {}))
    try:
        session.check(start)
        shown = start.copy()
        shown[0, 2] = -1
        session.check(shown, 3)
    finally:
        session.close()


try:
    jobs.run(squeeze())
    check(False, "what is shown is tested")
except service.Refusal as refusal:
    check(refusal.code == "INTERSECTING_ANSWER" and "3 of their vertices" in refusal.message, "what is shown is tested")
low = start.copy()
low[0, 2] = -1
try:
    jobs.run(job(low))
    check(False, "an intersecting start is refused")
except service.Refusal as refusal:
    found = joined.by_part(refusal.sides())
    is_named = any(0 in side for side in found[cloth]) and floor in found
    check(refusal.code == "INTERSECTING_START" and is_named, "an intersecting start names elements of both parts")
check(here.call_json("GET", "/v1/sessions").get("sessions") == [], "no session is left")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
