"""Tests of sessions, resolves, checks and their progress, for every transport."""

import asyncio
import urllib.parse

import numpy as np

from interstice import Client, FrameLoss, Mesh, Progress, Retry, ServiceError
from interstice.errors import timed_out, unreachable
from support import MESH, QUICK, START, ClientCase, lowered


class SessionTests(ClientCase):
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
        told = self.client.diagnose(MESH, START, target=lowered(0.2), maxElements=4)
        self.assertEqual((told["accepted"], told["regionCount"]), (True, 0))
        start = START.copy()
        start[5] = [0.2, 0.2, -0.1]
        pierced = self.client.diagnose(MESH, start)
        self.assertEqual((pierced["accepted"], pierced["findings"][0]["severity"]), (False, "PROBLEM"))
        self.assertIn("algorithmVersion", self.client.info())

    def test_doubles_and_what_goes_with_a_target(self):
        session = self.session(start=START.astype(float))
        plain = session.step(lowered(0.01).astype(float), override={"stepLimit": 9}, time_budget=60, on_budget="FAIL")
        self.assertEqual(plain.positions.dtype, np.float64)
        self.assertEqual(plain.report["resolved"]["stepLimit"], 9)
        full = session.step(lowered(0.05), include={"contacts": True, "vertices": True, "contactDistance": 1,
                                                        "path": True, "reasons": True},
                            masses=np.full(len(START), 2), priority="INTERACTIVE")
        self.assertEqual((full.frame, full.positions.dtype), (2, np.float32))
        self.assertEqual(full.contacts["vertices"].shape, (len(full.contacts["kinds"]), 4))
        self.assertEqual(full.vertices["residual"].shape, (len(START),))
        self.assertEqual(full.reasons["holds"].shape, (len(START),))
        path = full.path
        self.assertEqual(path["positions"].shape, (len(path["phases"]), len(START), 3))
        self.assertTrue(np.array_equal(path["positions"][-1], full.positions))
        self.assertEqual(path["steps"][0], 0)

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
        while session.recreations == 0:  # there is only one attempt, and the connection may need one itself
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

    def test_a_last_attempt_that_finds_the_session_lost_continues_in_a_new_one(self):
        client = Client(self.url, retry=Retry(attempts=2, first_pause=0.01))
        self.addCleanup(client.close)
        session = self.session(client)
        session._calls.delete(session.id)
        step, failures = session._calls.step, [unreachable(self.url, "as if it were restarted")]

        def shaky(*work):
            if failures:
                raise failures.pop()
            return step(*work)

        session._calls.step = shaky
        self.assertEqual((session.step(lowered(0.05)).frame, session.recreations), (1, 1))

    def test_lost_frames_are_told(self):
        session = self.session()
        first = session.step(lowered(0.05))
        session._answered = 3  # as if the service had answered two more, and lost them
        second = session.step(lowered(0.2))
        self.assertEqual((session.last_loss, session.recreations, second.frame), (FrameLoss(1, 3), 1, 2))
        expected = self.client.resolve(MESH, first.positions, lowered(0.2))
        np.testing.assert_array_equal(second.positions, expected.positions)

    def test_lost_frames_are_refused_where_the_caller_sends_them_again(self):
        session = self.session(on_frame_lost="raise")
        session.step(lowered(0.05))
        session._answered = 3
        error = self.refusal(session.step, lowered(0.2))
        self.assertEqual((error.code, error.frame, session.last_loss), ("FRAME_LOST", 1, FrameLoss(1, 3)))
        again = session.step(lowered(0.1))
        self.assertEqual((session.recreations, again.frame), (0, 3))
        with self.assertRaises(ValueError):
            self.session(on_frame_lost="ignore")

    def test_a_session_that_is_lost_altogether_is_computed_again(self):
        session = self.session(on_frame_lost="raise")
        frames = [(lowered(0.02), {}), (lowered(0.05), {"kinematic": np.arange(len(START)) < 4}), (lowered(0.2), {})]
        answers = [session.step(target, **options).positions for target, options in frames]
        session._calls.delete(session.id)
        error = self.refusal(session.step, lowered(0.1))
        self.assertEqual((error.code, error.frame, error.retryable), ("FRAME_LOST", 0, False))
        self.assertEqual((session.last_loss, session.recreations), (FrameLoss(0, 3), 0))
        again = [session.step(target, **options).positions for target, options in frames]
        np.testing.assert_array_equal(again, answers)
        self.assertEqual(session.recreations, 1)

    def test_a_session_that_is_lost_while_lost_frames_are_sent_again_goes_back_to_its_opening(self):
        targets = [lowered(0.02), lowered(0.05), lowered(0.2)]
        for kept in (0, 1):
            session = self.session(on_frame_lost="raise")
            answers = [session.step(target).positions for target in targets]
            step = session._calls.step
            failures = [ServiceError("FRAME_LOST", "lost", frame=kept), timed_out(self.url, 1)][:1 + kept]

            def shaky(*work):
                if failures:
                    raise failures.pop(0)
                return step(*work)

            session._calls.step = shaky
            error = self.refusal(session.step, lowered(0.1))
            self.assertEqual((error.code, error.frame, session.last_loss), ("FRAME_LOST", kept, FrameLoss(kept, 3)))
            if kept == 0:
                session._calls.delete(session.id)
            else:
                self.assertEqual(self.refusal(session.step, targets[1]).code, "TIMEOUT")
                error = self.refusal(session.step, targets[1])
                self.assertEqual((error.code, error.frame, session.last_loss), ("FRAME_LOST", 0, FrameLoss(0, 3)))
            np.testing.assert_array_equal([session.step(target).positions for target in targets], answers)
            self.assertEqual(session.recreations, 1)

    def test_an_opening_that_is_given_up_leaves_no_session(self):
        transport, created = self.client._transport, []
        make = transport.calls
        self.addCleanup(setattr, transport, "calls", make)
        for thrown in (timed_out(self.url, 1), KeyboardInterrupt()):
            def calls(routing, stream, thrown=thrown):
                made = make(routing, stream)
                create = made.create

                def give_up(terms, limit=None):
                    created.append(create(terms)["id"])
                    raise thrown  # the answer had already been sent

                made.create = give_up
                return made

            transport.calls = calls
            with self.assertRaises(type(thrown)):
                self.session()
        self.assertEqual(len(created), 2)
        for session in created:
            self.assertEqual(self.refusal(make("", False).delete, session).code, "SESSION_NOT_FOUND")

    def test_closing_ends_what_a_step_was_creating(self):
        session = self.session()
        session._calls.delete(session.id)
        create, created = session._calls.create, []

        def give_up(terms, limit=None):
            created.append(create(terms)["id"])
            raise KeyboardInterrupt

        session._calls.create = give_up
        with self.assertRaises(KeyboardInterrupt):
            session.step(START)
        self.assertTrue(session.close())
        self.assertEqual(self.refusal(session._calls.delete, created[0]).code, "SESSION_NOT_FOUND")

    def test_a_step_that_was_not_seen_is_not_gone_on_from(self):
        session = self.session()
        session.step(lowered(0.02))
        session._answered = 0  # as if its answer had never arrived
        second = session.step(lowered(0.2))
        self.assertEqual((session.recreations, second.frame), (1, 2))

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

    def test_futures_run_in_order(self):
        session = self.session()
        futures = [session.step_async(lowered(0.01 * (i + 1)), time_budget=60) for i in range(3)]
        refused = session.step_async(np.zeros((1, 3), np.float32))
        self.assertEqual([future.result().frame for future in futures], [1, 2, 3])
        self.assertEqual(self.refusal(refused.result).code, "SIZE_MISMATCH")

        async def wait():
            return await asyncio.wrap_future(session.step_async(lowered(0.2)))

        self.assertEqual(asyncio.run(wait()).frame, 5)
        last = session.step_async(lowered(0.2))
        self.assertTrue(session.close())
        self.assertEqual(last.result().frame, 6, "closing waits for what was started")
        self.assertEqual(self.refusal(session.step_async, START).code, "CANCELLED")

    def test_progress(self):
        session = self.session()
        seen = []
        answer = session.step(lowered(0.2), on_progress=seen.append)
        self.assertGreater(len(seen), 0)
        self.assertIsInstance(seen[0], Progress)
        self.assertLessEqual(seen[-1].steps, answer.report["steps"])

        def fail(_):
            raise KeyError("the listener's own")

        with self.assertRaises(KeyError):
            session.step(lowered(0.1), on_progress=fail)
        self.assertEqual(session.step(lowered(0.1)).frame, 3)
        self.assertEqual(self.refusal(session.step, lowered(np.nan), on_progress=fail).code, "NOT_FINITE")

    def test_progress_of_a_resolve(self):
        seen = []
        told = self.client.resolve(MESH, START, lowered(0.2), on_progress=seen.append, include={"contacts": True})
        np.testing.assert_array_equal(told.positions, self.client.resolve(MESH, START, lowered(0.2)).positions)
        self.assertEqual(told.contacts["vertices"].shape[1], 4)
        self.assertIsInstance(seen[0], Progress)
        self.assertGreater(seen[0].unfinished_vertices, 0)

        def fail(_):
            raise OSError("the listener's own")

        with self.assertRaisesRegex(OSError, "the listener's own"):
            self.client.resolve(MESH, START, lowered(0.2), on_progress=fail)
        pierced = lowered(0.2)
        pierced[3, 2] = 0.01
        error = self.refusal(self.client.resolve, MESH, pierced, START, on_progress=seen.append)
        self.assertEqual(error.code, "INTERSECTING_START")
        self.assertGreater(error.pair_count, 0)

    def test_closing(self):
        session = self.session()
        self.assertTrue(session.close())
        self.assertTrue(session.close(), "closing twice is allowed")
        self.assertEqual(self.refusal(session.step, START).code, "CANCELLED")

    def test_a_closed_port(self):
        scheme = urllib.parse.urlsplit(self.url).scheme
        client = Client(f"{scheme}://127.0.0.1:1", retry=Retry(attempts=2, first_pause=0.001))
        self.assertEqual(self.refusal(client.info).code, "UNREACHABLE")
