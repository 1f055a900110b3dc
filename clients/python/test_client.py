"""Tests of the package against a running server: python3 test_client.py http://… grpc://…

Ends with "N passed, N failed, N skipped".
"""

import concurrent.futures
import datetime
import email.utils
import http.server
import json
import socket
import sys
import threading
import unittest

import numpy as np

from interstice import Client, Mesh, Retry, ServiceError
from interstice.errors import unreachable
from interstice.retry import with_retries
from interstice.types import Work
from support import MESH, QUICK, START
from test_grpc import GrpcTests
from test_jobs import JobTests
from test_limits import DeadlineTest, LimitTests, TrickleTest
from test_sessions import SessionTests
from test_settings import ErrorTest, SettingsTest
from test_untangle import UntangleTests


class ArraysTest(unittest.TestCase):
    def test_no_number_becomes_another_one(self):
        for wrong in ([[0, 1, -1]], [[0, 1, 2**40]], [[0.5, 1, 2]]):
            with self.assertRaises(ValueError):
                Mesh(triangles=wrong).arrays()
        with self.assertRaises(TypeError):
            Client("http://127.0.0.1:1").check(MESH, np.zeros((3, 3), np.float16))

    def test_rows_of_another_width_are_not_regrouped(self):
        quads = np.arange(12).reshape(3, 4)  # as many ids as four triangles
        for name, wrong in (("triangles", quads), ("segments", quads), ("tetrahedra", quads.T),
                            ("ignored_part_pairs", quads.T)):
            with self.assertRaisesRegex(ValueError, "shape"):
                Mesh(**{name: wrong}).arrays()
        with self.assertRaisesRegex(ValueError, "shape"):
            Client("http://127.0.0.1:1").check(MESH, START.T)
        self.assertEqual(Work(START[1:], start=START).vertex_count(), len(START), "a target that is too short is what is wrong")
        flat = Mesh(triangles=quads.reshape(-1), segments=[], kinematic=np.zeros((3, 1), bool)).arrays()
        self.assertEqual({name: len(array) for name, array in flat.items()}, {"triangles": 12, "segments": 0, "kinematic": 3})


class ForeignTest(unittest.TestCase):
    """Against a server that is not the service."""

    def serve(self, status, body, **headers):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"] or 0))
                self.send_response(status)
                for name, value in {"content-length": str(len(body)), **headers}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        client = Client(f"http://127.0.0.1:{server.server_port}", retry=Retry(attempts=1))
        self.addCleanup(client.close)
        return client

    def refusal(self, work, *args):
        with self.assertRaises(ServiceError) as caught:
            work(*args)
        return caught.exception

    def test_json_of_another_service_is_an_unexpected_answer(self):
        for body in (b"{}", b"[]", b"null", b'{"status": "ok"}'):
            client = self.serve(200, body)
            job = client.job("8e7c1f64")
            calls = {
                "session": lambda: client.session(MESH, START), "resolve": lambda: client.resolve(MESH, START, START),
                "check": lambda: client.check(MESH, START), "diagnose": lambda: client.diagnose(MESH, START),
                "untangle": lambda: client.untangle(MESH, START), "info": client.info,
                "submit": lambda: client.submit(MESH, START, START), "jobs": lambda: list(client.jobs()),
                "status": job.status, "wait": job.wait, "result": job.result, "untangled": job.untangled,
            }
            for name, call in calls.items():
                with self.subTest(call=name, body=body):
                    error = self.refusal(call)
                    self.assertEqual((error.code, error.is_uncertain), ("UNEXPECTED_ANSWER", True))
        ended = b'{"id": "8e7c1f64", "state": "JOB_DONE", "created": "2026-01-01T00:00:00Z", "ended": "2026-01-01T00:00:01Z"}'
        job = self.serve(200, ended).job("8e7c1f64")
        self.assertEqual(job.status().state, "JOB_DONE")
        for call in (job.result, job.untangled):  # the same answer is no result
            self.assertEqual(self.refusal(call).code, "UNEXPECTED_ANSWER")
        for body in (b'{"id": 7}', b'{"id": null}'):
            self.assertEqual(self.refusal(self.serve(200, body).submit, MESH, START, START).code, "UNEXPECTED_ANSWER")
        for body in (b"[1]", b'"no"', b'{"code": "NO", "retryAfter": 3}', b'{"code": 404}'):
            self.assertEqual(self.refusal(self.serve(400, body).info).code, "UNEXPECTED_ANSWER")
        error = self.refusal(self.serve(504, b'{"code": "GATEWAY_TIMEOUT", "message": "no"}').info)
        self.assertEqual((error.code, error.retryable, error.is_uncertain), ("UNREACHABLE", True, True))

    def test_messages_of_another_service_are_unexpected_answers(self):
        import grpc

        class Empty(grpc.GenericRpcHandler):
            def service(self, details):
                return grpc.unary_unary_rpc_method_handler(lambda *_: b"")

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            server = grpc.server(pool, [Empty()])
            port = server.add_insecure_port("127.0.0.1:0")
            server.start()
            with Client(f"grpc://127.0.0.1:{port}", retry=Retry(attempts=1)) as client:
                job = client.job("8e7c1f64")
                calls = {
                    "session": lambda: client.session(MESH, START), "resolve": lambda: client.resolve(MESH, START, START),
                    "untangle": lambda: client.untangle(MESH, START), "submit": lambda: client.submit(MESH, START, START),
                    "info": client.info, "status": job.status, "wait": job.wait,
                    "result": lambda: job._calls.job_result(job.id),
                }
                for name, call in calls.items():
                    with self.subTest(call=name):
                        error = self.refusal(call)
                        self.assertEqual((error.code, error.is_uncertain), ("UNEXPECTED_ANSWER", True))
                self.assertFalse(client.check(MESH, START)["intersectionFree"])
            server.stop(None).wait()

    def test_a_proxy_may_send_a_step_in_chunks(self):
        whole = START.tobytes()
        answers = {"whole": whole, "short": whole[:12], "long": whole + bytes(12)}
        work = Work(START, *[None] * 8)
        for name, body in answers.items():
            chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:10], body[10:])) + b"0\r\n\r\n"
            client = self.serve(200, chunks, transfer_encoding="chunked", interstice_report="{}")
            step = client._transport.calls("", False).step
            with self.subTest(answer=name):
                if name == "whole":
                    np.testing.assert_array_equal(step("its-name", 1, 0, work, None)["positions"], START)
                else:
                    self.assertEqual(self.refusal(step, "its-name", 1, 0, work, None).code, "UNEXPECTED_ANSWER")

    def test_a_refusal_before_the_body_is_read_is_that_refusal(self):
        problem = json.dumps({"type": "urn:interstice:error:TOO_LARGE", "code": "TOO_LARGE", "message": "too large", "hint": "smaller",
                              "retryable": False, "pairs": [], "pairCount": "0"}).encode()
        attempts = []

        def refuse(listener):
            while True:
                try:
                    near, _ = listener.accept()
                except OSError:
                    return
                attempts.append(near)
                while b"\r\n\r\n" not in near.recv(65536, socket.MSG_PEEK):
                    pass
                near.recv(65536)
                near.sendall(b"HTTP/1.1 413 Payload Too Large\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(problem) + problem)
                near.close()

        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=refuse, args=(listener,), daemon=True).start()
            client = Client(f"http://127.0.0.1:{listener.getsockname()[1]}", retry=QUICK)
            start = np.zeros((2_000_000, 3), np.float32)
            with self.assertRaises(ServiceError) as caught:
                client.resolve(Mesh(triangles=[[0, 1, 2]]), start, start)
            self.assertEqual((caught.exception.code, len(attempts)), ("TOO_LARGE", 1))

    def test_a_refusal_does_not_hide_that_an_earlier_attempt_has_no_answer(self):
        failures = [ServiceError("QUEUE_FULL", "busy"), unreachable("there", "gone")]

        def fail():
            raise failures.pop()

        error = self.refusal(with_retries, fail, Retry(first_pause=0))
        self.assertEqual((error.code, error.is_uncertain), ("QUEUE_FULL", True))

    def test_a_proxy_may_ask_for_a_pause(self):
        soon = email.utils.format_datetime(datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1))
        for header, least, most in (("7", 7, 7), (soon, 3000, 3600), ("whenever", None, None)):
            error = self.refusal(self.serve(503, b"busy", retry_after=header).resolve, MESH, START, START)
            self.assertEqual((error.code, error.retryable), ("UNREACHABLE", True))
            if least is None:
                self.assertIsNone(error.retry_after)
            else:
                self.assertTrue(least <= error.retry_after <= most, error.retry_after)


def main(urls):
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite(map(loader.loadTestsFromTestCase, (ArraysTest, ErrorTest, ForeignTest, SettingsTest, DeadlineTest, TrickleTest)))
    for url in urls:
        for stream in (False, True) if url.startswith("grpc") else (False,):
            name = f"{url.split(':')[0]}{'_stream' if stream else ''}"
            tests = (SessionTests, JobTests, UntangleTests, LimitTests, *((GrpcTests,) if url.startswith("grpc") else ()))
            case = type(f"ClientTest_{name}", (*tests, unittest.TestCase), {"url": url, "stream": stream})
            suite.addTests(loader.loadTestsFromTestCase(case))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
