"""What the package promises, against a running server: python3 test_client.py http://… grpc://…

Ends with "N passed, N failed, N skipped". Connections are cut by a proxy in this process, which knows no protocol.
"""

import socket
import sys
import threading
import unittest
import urllib.parse

import numpy as np

from interstice import Client, Mesh, Retry, ServiceError

# Two triangles; the second one is asked to pass through the first, which is an obstacle. The particles only make
# answers so long that the proxy can tell them from the small talk of a connection.
ROWS = 200
START = np.concatenate([
    np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 0.1], [1.2, 0.2, 0.1], [0.2, 1.2, 0.1]]),
    np.stack([np.arange(ROWS) * 0.5, np.full(ROWS, 5.0), np.zeros(ROWS)], 1)]).astype(np.float32)
MESH = Mesh(triangles=[[0, 1, 2], [3, 4, 5]], particles=np.arange(6, 6 + ROWS), kinematic=np.arange(len(START)) < 3)
QUICK = Retry(first_pause=0.01, longest_pause=0.1)
SMALL_TALK = 1500
"""bytes; an answer with these positions has 2472 and more"""


def lowered(by):
    target = START.copy()
    target[3:6, 2] -= by
    return target


class Proxy:
    """Passes bytes on; armed, it breaks the connection instead of handing over the next long answer."""

    def __init__(self, address):
        host, port = address.split(":")
        self._upstream = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.is_armed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(self._upstream)
            threading.Thread(target=self._pass_on, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(far, near, True), daemon=True).start()

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
    """For every transport; url and stream are set below."""

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
        while session.recreations == 0:  # a try is all there is, and the connection may need one
            try:
                answer = session.step(lowered(0.2))
            except ServiceError as error:
                self.assertEqual(error.code, "UNREACHABLE")
        np.testing.assert_array_equal(answer.positions, self.client.resolve(MESH, START, lowered(0.2)).positions)

    def test_dropped_session_is_made_again_as_it_was(self):
        session = self.session(parameters={"activationDistance": 0.03})
        first = session.step(lowered(0.05), kinematic=np.arange(len(START)) < 4)
        session._lane.delete(session.id)
        second = session.step(lowered(0.2))
        self.assertEqual((session.recreations, second.frame), (1, 2))
        self.assertEqual(second.report["resolved"]["activationDistance"], 0.03)
        mesh = Mesh(**{**MESH.__dict__, "kinematic": np.arange(len(START)) < 4})
        expected = self.client.resolve(mesh, first.positions, lowered(0.2), parameters={"activationDistance": 0.03})
        np.testing.assert_array_equal(second.positions, expected.positions)

    def test_what_cannot_succeed_is_told(self):
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
        self.assertTrue(session.close(), "twice is no mistake")
        self.assertEqual(self.refusal(session.step, START).code, "CANCELLED")

    def test_nobody_there(self):
        scheme = urllib.parse.urlsplit(self.url).scheme
        client = Client(f"{scheme}://127.0.0.1:1", retry=Retry(attempts=2, first_pause=0.001))
        self.assertEqual(self.refusal(client.info).code, "UNREACHABLE")


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
            case = type(f"ClientTest_{name}", (ClientTest, unittest.TestCase), {"url": url, "stream": stream})
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
