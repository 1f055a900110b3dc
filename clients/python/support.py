"""Helpers that the tests of the package share: a scene, and a proxy that cuts connections. The proxy knows no protocol
except the few HTTP/2 frames that refuse a call.
"""

import socket
import threading
import urllib.parse

import numpy as np

from interstice import Client, Mesh, Retry, ServiceError

# Two triangles; the second one is moved through the first, which is an obstacle. The particles only make
# answers so long that the proxy can distinguish them from the control frames of a connection.
ROWS = 200
START = np.concatenate([
    np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 0.1], [1.2, 0.2, 0.1], [0.2, 1.2, 0.1]]),
    np.stack([np.arange(ROWS) * 0.5, np.full(ROWS, 5.0), np.zeros(ROWS)], 1)]).astype(np.float32)
MESH = Mesh(triangles=[[0, 1, 2], [3, 4, 5]], particles=np.arange(6, 6 + ROWS), kinematic=np.arange(len(START)) < 3)
QUICK = Retry(first_pause=0.01, longest_pause=0.1)
SMALL_TALK = 1500
"""bytes; an answer with these positions has at least 2472"""


def lowered(by):
    target = START.copy()
    target[3:6, 2] -= by
    return target


def frame(kind, stream, payload=b"", flags=0):
    """Frame types of HTTP/2."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


SETTINGS, PING, HEADERS, RST_STREAM, ACKNOWLEDGED = 4, 6, 1, 3, 1
REFUSED_STREAM = (7).to_bytes(4, "big")


class Proxy:
    """Forwards bytes. While it does not flow, answers wait, as those of a server that hangs. While armed, it breaks the connection instead of forwarding the next long answer. While refusals are
    left, it accepts new connections itself and refuses every call on them, as an overloaded server does."""

    def __init__(self, address):
        host, port = address.split(":")
        self._upstream = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.is_armed = False
        self.refusals = 0
        self.flow = threading.Event()
        self.flow.set()
        self._near = None
        self._stalled = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        for flow in (self.flow, *self._stalled):
            flow.set()
        self._listener.close()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self.refusals > 0:
                threading.Thread(target=self._refuse, args=(near,), daemon=True).start()
                continue
            self._near = near
            far = socket.create_connection(self._upstream)
            threading.Thread(target=self._pass_on, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(far, near, True), daemon=True).start()

    def stall(self):
        """No more answers arrive on the connections that there are, which stay open."""
        self.flow.clear()
        self._stalled.append(self.flow)
        self.flow = threading.Event()
        self.flow.set()

    def cut(self):
        """Ends the connection."""
        self._near.shutdown(socket.SHUT_RDWR)

    def _refuse(self, near):
        with near, near.makefile("rb") as source:
            source.read(24)  # the preface
            near.sendall(frame(SETTINGS, 0))
            while self.refusals > 0 and (head := source.read(9)):
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
                payload = source.read(int.from_bytes(head[:3], "big"))
                if kind in (SETTINGS, PING) and not flags & ACKNOWLEDGED:
                    near.sendall(frame(kind, 0, payload if kind == PING else b"", ACKNOWLEDGED))
                if kind == HEADERS:
                    self.refusals -= 1
                    near.sendall(frame(RST_STREAM, stream, REFUSED_STREAM))
            # Closing with unread data would reset the connection and discard the last data sent.
            near.shutdown(socket.SHUT_WR)
            while source.read(65536):
                pass

    def _pass_on(self, source, sink, is_answer):
        seen, flow = 0, self.flow
        try:
            while data := source.recv(65536):
                seen = seen + len(data) if self.is_armed and is_answer else 0
                if is_answer:
                    flow.wait()
                if seen > SMALL_TALK:
                    self.is_armed = False
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

class ClientCase:
    """Common to the tests of every transport; test_client.py sets url and stream."""

    def setUp(self):
        scheme, address = urllib.parse.urlsplit(self.url)[:2]
        self.proxy = Proxy(address)
        self.addCleanup(self.proxy.close)
        self.client = Client(self.url, retry=QUICK)
        self.addCleanup(self.client.close)
        self.shaky_url = f"{scheme}://{self.proxy.address}"

    def session(self, client=None, start=START, **options):
        session = (client or self.client).session(MESH, start, stream=self.stream, **options)
        self.addCleanup(session.close)
        return session

    def refusal(self, work, *args, **options):
        with self.assertRaises(ServiceError) as caught:
            work(*args, **options)
        return caught.exception
