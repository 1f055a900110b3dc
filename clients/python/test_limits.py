"""Tests of calls whose server does not answer, for every transport."""

import contextlib
import socket
import threading
import time
import unittest
import unittest.mock

from interstice import Client, ServiceError, client, session
from interstice.deadline import Deadline, budget_of
from support import MESH, QUICK, START, ClientCase, lowered

TIMEOUT = 120
"""seconds; whoever waits for it ignores a shorter limit"""
ALLOWANCE = 0.2
LITTLE = 0.05
"""seconds of a time budget"""


class DeadlineTest(unittest.TestCase):
    def test_an_answer_may_be_late_by_an_eighth_of_the_budget(self):
        deadline = Deadline(600, 30)
        self.assertTrue(600 * 9 / 8 < deadline.limit <= 600 * 9 / 8 + 30)
        self.assertLessEqual(deadline.left, 600)
        self.assertEqual((Deadline().left, Deadline().limit), (None, None))

    def test_the_default_limit_leaves_time_for_the_default_budget_of_a_server(self):
        self.assertLessEqual(Deadline(600).limit, client.TIMEOUT)

    def test_the_budget_of_a_question(self):
        self.assertEqual([budget_of({"timeBudget": text}) for text in ("2s", "0.25s", "soon")], [2, 0.25, None])
        self.assertIsNone(budget_of({}))
        self.assertEqual(Deadline().left_in({"maxPairs": 1}), {"maxPairs": 1})
        self.assertLessEqual(budget_of(Deadline(2).left_in({"timeBudget": "2s"})), 2)


class Patience:
    @contextlib.contextmanager
    def assert_soon(self):
        began = time.monotonic()
        yield
        self.assertLess(time.monotonic() - began, TIMEOUT / 2)

    def assert_late(self, work, *args, **options):
        with self.assert_soon():
            error = self.refusal(work, *args, **options)
        self.assertEqual((error.code, error.is_uncertain), ("TIMEOUT", True))
        self.assertIn("allowance", error.hint)


class LimitTests(Patience, ClientCase):
    def hanging(self, **options):
        client = Client(self.shaky_url, retry=QUICK, allowance=ALLOWANCE, **{"timeout": TIMEOUT, **options})
        self.addCleanup(client.close)
        patch = unittest.mock.patch.object(session, "FORGET_LIMIT", LITTLE)
        patch.start()
        self.addCleanup(patch.stop)
        return client

    def test_a_time_budget_bounds_the_steps(self):
        session = self.session(self.hanging())
        session.step(lowered(0.02), time_budget=60)
        self.proxy.flow.clear()
        self.assert_late(session.step, lowered(0.1), time_budget=LITTLE)
        self.assert_late(session.step, lowered(0.1), time_budget=LITTLE)  # by the creation of the session
        self.proxy.flow.set()
        self.assertEqual((session.step(lowered(0.2)).frame, session.recreations), (4, 1))
        self.proxy.flow.clear()
        self.assert_late(session.step, lowered(0.1), time_budget=LITTLE, on_progress=lambda _: None)
        self.proxy.flow.set()
        self.assertTrue(session.check()["intersectionFree"])
        self.proxy.flow.clear()
        self.assert_late(session.check, timeBudget=f"{LITTLE}s")
        self.proxy.flow.set()

    def test_a_time_budget_bounds_the_other_calls(self):
        client = self.hanging()
        client.info()
        self.proxy.flow.clear()
        self.assert_late(client.resolve, MESH, START, START, time_budget=LITTLE)
        self.assert_late(client.resolve, MESH, START, START, time_budget=LITTLE, on_progress=lambda _: None)
        self.assert_late(client.untangle, MESH, START, time_budget=LITTLE)
        self.assert_late(client.untangle, MESH, START, time_budget=LITTLE, on_progress=lambda _: None)
        self.assert_late(client.check, MESH, START, timeBudget=f"{LITTLE}s")
        self.assert_late(client.diagnose, MESH, START, timeBudget=f"{LITTLE}s")

    def test_leaving_a_session_after_a_failure(self):
        client = self.hanging()
        with self.assertRaises(KeyError), self.assert_soon():
            with client.session(MESH, START, stream=self.stream) as session:
                session.step(START)
                self.proxy.flow.clear()
                raise KeyError("the caller's own")
        with self.assertRaises(KeyError), self.assert_soon():
            self.proxy.flow.set()
            with client.session(MESH, START, stream=self.stream) as session:
                self.proxy.flow.clear()
                for _ in range(2):  # the second one creates the session
                    self.assert_late(session.step, START, time_budget=LITTLE)
                raise KeyError("the caller's own")

    def test_an_answer_that_arrives_after_the_budget_is_taken(self):
        client = Client(self.shaky_url, retry=QUICK)
        self.addCleanup(client.close)
        session = self.session(client)
        self.proxy.flow.clear()
        threading.Timer(4 * LITTLE, self.proxy.flow.set).start()
        try:
            self.assertEqual(session.step(lowered(0.02), time_budget=LITTLE).frame, 1)
        except ServiceError as error:
            self.assertEqual(error.code, "DEADLINE_EXCEEDED", "a busy server may refuse it, in its own words")
        self.assertEqual((session.step(lowered(0.02)).frame, session.recreations), (2, 0))

    def test_a_wait_for_a_job_ends(self):
        client = self.hanging()
        job = self.client.submit(MESH, START, START)
        self.addCleanup(job.delete)
        self.assertIsNotNone(client.job(job.id).wait().ended)
        self.proxy.flow.clear()
        self.assert_late(client.job(job.id).wait, timeout=LITTLE)

    def test_the_hint_names_what_can_be_changed(self):
        client = self.hanging(timeout=LITTLE)
        self.proxy.flow.clear()
        error = self.refusal(client.resolve, MESH, START, START, time_budget=60)
        self.assertEqual(error.code, "TIMEOUT")
        self.assertIn("Increase timeout", error.hint)
        self.assertIn("within 0.05 s", error.message)
        self.assertIn("Increase timeout", self.refusal(client.info).hint)


class TrickleTest(Patience, unittest.TestCase):
    """A server over HTTP whose answer does not end: each of its bytes arrives in time, but never the last one."""

    refusal = ClientCase.refusal

    def test_an_answer_without_end(self):
        has_ended = threading.Event()
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def answer():
            near, _ = listener.accept()
            with near, contextlib.suppress(OSError):
                near.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\r\n")
                while not has_ended.wait(0.01):
                    near.sendall(b"{}\n")

        threading.Thread(target=answer, daemon=True).start()
        self.addCleanup(has_ended.set)
        client = Client(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=TIMEOUT, allowance=ALLOWANCE)
        self.assert_late(client.resolve, MESH, START, START, time_budget=LITTLE, on_progress=lambda _: None)
