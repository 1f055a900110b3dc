"""Tests of the package against a running server: python3 test_client.py http://… grpc://…

Ends with "N passed, N failed, N skipped". Connections are cut by a proxy in this process, which knows no protocol but the
few frames of HTTP/2 that it takes to refuse a call.
"""

import concurrent.futures
import socket
import sys
import threading
import unittest
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
    """Forwards bytes. While armed, it breaks the connection instead of forwarding the next long answer. While refusals are
    left, it accepts new connections itself and refuses every call on them, as an overloaded server does."""

    def __init__(self, address):
        host, port = address.split(":")
        self._upstream = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.is_armed = False
        self.refusals = 0
        self._near = None
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
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
        seen = 0
        try:
            while data := source.recv(65536):
                seen = seen + len(data) if self.is_armed and is_answer else 0
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


class ClientTest:
    """Tests for every transport; url and stream are set below."""

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

    def test_step_resolve_check_agree(self):
        session = self.session(parameters={"activationDistance": 0.02}, idle_timeout=60)
        answer = session.step(lowered(0.2))
        self.assertEqual((answer.frame, answer.positions.shape, answer.positions.dtype), (1, START.shape, np.float32))
        self.assertFalse(np.array_equal(answer.positions, lowered(0.2)), "it was held back")
        self.assertFalse(answer.positions.flags.writeable)
        resolved = self.client.resolve(MESH, START, lowered(0.2), parameters={"activationDistance": 0.02})
        np.testing.assert_array_equal(answer.positions, resolved.positions)
        self.assertIsInstance(answer.report["pairs"]["activeContacts"], int)
        self.assertTrue(session.check()["intersectionFree"])
        path = self.client.check(MESH, START, path_end=lowered(0.2))
        self.assertEqual((path["intersectionFree"], path["pathFree"]), (True, False))
        self.assertIn("algorithmVersion", self.client.info())

    def test_doubles_and_what_goes_with_a_target(self):
        session = self.session(start=START.astype(float))
        plain = session.step(lowered(0.01).astype(float), override={"stepLimit": 9}, time_budget=60, on_budget="FAIL")
        self.assertEqual(plain.positions.dtype, np.float64)
        self.assertEqual(plain.report["resolved"]["stepLimit"], 9)
        full = session.step(lowered(0.05), include={"contacts": True, "vertices": True, "contactDistance": 1},
                            masses=np.full(len(START), 2), priority="INTERACTIVE")
        self.assertEqual((full.frame, full.positions.dtype), (2, np.float32))
        self.assertEqual(full.contacts["vertices"].shape, (len(full.contacts["kinds"]), 4))
        self.assertEqual(full.vertices["residual"].shape, (len(START),))

    def test_the_report_says_how_near_the_answer_is(self):
        parts = [{"name": "lower", "vertexCount": 3, "contactOffset": 0.001},
                 {"name": "upper", "firstVertex": 3, "vertexCount": len(START) - 3}]
        mesh = Mesh(**{**MESH.__dict__, "parts": parts})
        parameters = {"activationDistance": 0.02, "quality": "BALANCED", "contactOffset": 0.004}
        report = self.client.resolve(mesh, START, lowered(0.2), parameters=parameters).report
        self.assertEqual((report["overlongEdges"], report["kinematicDistanceMax"]), (0, 0))
        pull_back = report["pullBack"]
        self.assertLess(0, pull_back["steps"])
        self.assertLess(pull_back["after"]["distanceToTargetRms"], pull_back["before"]["distanceToTargetRms"])
        self.assertEqual(pull_back["after"], {name: report[name] for name in pull_back["after"]})
        fast = self.client.resolve(MESH, START, lowered(0.2), parameters={"quality": "FAST"}).report
        self.assertNotIn("pullBack", fast)

    def test_lost_answer_is_asked_for_again(self):
        session = self.session(Client(self.shaky_url, retry=QUICK))
        self.proxy.is_armed = True
        answer = session.step(lowered(0.2))
        self.assertFalse(self.proxy.is_armed, "the answer was lost")
        np.testing.assert_array_equal(answer.positions, self.client.resolve(MESH, START, lowered(0.2)).positions)
        self.assertEqual((session.recreations, session.step(lowered(0.2)).frame), (0, 2))

    def test_unknown_end_starts_again_from_what_was_received(self):
        session = self.session(Client(self.shaky_url, retry=Retry(attempts=1)))
        self.proxy.is_armed = True
        error = self.refusal(session.step, lowered(0.09))
        self.assertEqual((error.code, error.retryable, error.is_uncertain), ("UNREACHABLE", True, True))
        while session.recreations == 0:  # there is only one attempt, and the connection may need one
            try:
                answer = session.step(lowered(0.2))
            except ServiceError as error:
                self.assertEqual(error.code, "UNREACHABLE")
        np.testing.assert_array_equal(answer.positions, self.client.resolve(MESH, START, lowered(0.2)).positions)

    def test_dropped_session_is_made_again_as_it_was(self):
        session = self.session(parameters={"activationDistance": 0.03})
        first = session.step(lowered(0.05), kinematic=np.arange(len(START)) < 4)
        session._calls.delete(session.id)
        second = session.step(lowered(0.2))
        self.assertEqual((session.recreations, second.frame), (1, 2))
        self.assertEqual(second.report["resolved"]["activationDistance"], 0.03)
        mesh = Mesh(**{**MESH.__dict__, "kinematic": np.arange(len(START)) < 4})
        expected = self.client.resolve(mesh, first.positions, lowered(0.2), parameters={"activationDistance": 0.03})
        np.testing.assert_array_equal(second.positions, expected.positions)

    def test_a_refusal_states_its_cause(self):
        session = self.session()
        error = self.refusal(session.step, np.zeros((1, 3), np.float32))
        self.assertEqual((error.code, error.retryable), ("SIZE_MISMATCH", False))
        self.assertTrue(error.hint and error.request_id)
        self.assertEqual(self.refusal(session.step, lowered(np.nan)).code, "NOT_FINITE")
        self.assertEqual(self.refusal(session.step, START, override={"damping": 7}).code, "INVALID_PARAMETER")
        apart = lowered(0.2)
        apart[3, 2] = 0.01
        pierced = self.refusal(self.client.session, MESH, apart)
        self.assertEqual(pierced.code, "INTERSECTING_START")
        self.assertGreater(pierced.pair_count, 0)
        self.assertIsInstance(pierced.pairs[0]["a"][0], int)
        self.assertEqual((session.step(lowered(0.05)).frame, session.recreations), (4, 0))

    def test_closing(self):
        session = self.session()
        self.assertTrue(session.close())
        self.assertTrue(session.close(), "closing twice is allowed")
        self.assertEqual(self.refusal(session.step, START).code, "CANCELLED")

    def test_a_closed_port(self):
        scheme = urllib.parse.urlsplit(self.url).scheme
        client = Client(f"{scheme}://127.0.0.1:1", retry=Retry(attempts=2, first_pause=0.001))
        self.assertEqual(self.refusal(client.info).code, "UNREACHABLE")


class GrpcTest(ClientTest):
    """Tests that only gRPC needs."""

    def test_refused_call_is_sent_again(self):
        self.proxy.refusals = 3
        session = self.session(Client(self.shaky_url, retry=QUICK))
        self.assertEqual(self.proxy.refusals, 0, "the creation, three times")
        answer = session.step(lowered(0.2))
        np.testing.assert_array_equal(answer.positions, self.client.resolve(MESH, START, lowered(0.2)).positions)
        self.assertEqual((answer.frame, session.recreations), (1, 0))

    def test_refused_call_has_done_nothing(self):
        client = Client(self.shaky_url, retry=Retry(attempts=1))
        self.ask_until(client, lambda: self.is_answered)
        session = self.session(client)
        name = session.id
        self.proxy.refusals = 2
        self.proxy.cut()
        self.ask_until(client, lambda: self.proxy.refusals == 1)  # the new connection is open, with one refusal left
        error = self.refusal(session.step, lowered(0.2))
        self.assertEqual((error.code, error.retryable, error.is_uncertain), ("UNREACHABLE", True, False), error.message)
        self.ask_until(client, lambda: self.is_answered)
        answer = session.step(lowered(0.2))
        np.testing.assert_array_equal(answer.positions, self.client.resolve(MESH, START, lowered(0.2)).positions)
        self.assertEqual((session.id, session.recreations), (name, 0), "the session continues")

    def ask_until(self, client, is_so):
        """With a single attempt a call may use a connection that is just closing."""
        self.is_answered = False
        while not is_so():
            try:
                client.info()
                self.is_answered = True
            except ServiceError as error:
                self.assertEqual(error.code, "UNREACHABLE")

    def test_session_is_named_before_its_message_comes(self):
        import grpc
        from interstice.v1 import collision_pb2 as pb

        seen = []

        class Recorder(grpc.GenericRpcHandler):
            def service(self, details):
                method = details.method.rpartition("/")[2]
                seen.append((method, dict(details.invocation_metadata)))

                def answer(_, context):
                    if method == "CreateSession":
                        return pb.Session(id="its-name").SerializeToString()
                    context.abort(grpc.StatusCode.UNIMPLEMENTED, "nothing else")

                return grpc.unary_unary_rpc_method_handler(answer)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            server = grpc.server(pool, [Recorder()])
            port = server.add_insecure_port("127.0.0.1:0")
            server.start()
            with Client(f"grpc://127.0.0.1:{port}", retry=QUICK) as client:
                session = client.session(MESH, START)
                self.assertEqual(self.refusal(session.check).code, "UNEXPECTED_ANSWER")
                self.refusal(client.check, MESH, START)
                self.refusal(session.step, START)
            server.stop(None).wait()
        named = [(method, metadata.get("interstice-session")) for method, metadata in seen]
        expected = [("CreateSession", None), ("Check", "its-name"), ("Check", None), ("Step", "its-name")]
        self.assertEqual(named[:4], expected)
        self.assertEqual(len({seen[at][1]["x-session-id"] for at in (0, 1, 3)}), 1)


class ArraysTest(unittest.TestCase):
    def test_no_number_becomes_another_one(self):
        for wrong in ([[0, 1, -1]], [[0, 1, 2**40]], [[0.5, 1, 2]]):
            with self.assertRaises(ValueError):
                Mesh(triangles=wrong).arrays()
        with self.assertRaises(TypeError):
            Client("http://127.0.0.1:1").check(MESH, np.zeros((3, 3), np.float16))
        with self.assertRaises(ValueError):
            Client("127.0.0.1:8080")


def main(urls):
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(ArraysTest)
    for url in urls:
        for stream in (False, True) if url.startswith("grpc") else (False,):
            name = f"{url.split(':')[0]}{'_stream' if stream else ''}"
            tests = GrpcTest if url.startswith("grpc") else ClientTest
            case = type(f"ClientTest_{name}", (tests, unittest.TestCase), {"url": url, "stream": stream})
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
