"""Tests of untangling, for every transport."""

import numpy as np

from interstice import Client, Mesh
from support import MESH, START, ClientCase

PARTS = [{"name": "lower", "firstVertex": 0, "vertexCount": 3}, {"name": "upper", "firstVertex": 3, "vertexCount": 3}]
LAYERS = [{"inner": "lower", "outer": "upper"}]
OUTFIT = Mesh(triangles=[[0, 1, 2], [3, 4, 5]], parts=PARTS)
PIERCED = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [.2, .2, -.1], [.2, .4, .9], [.4, .2, .9]])


class UntangleTests(ClientCase):
    def test_a_start_that_intersects_is_freed(self):
        seen = []
        answer = self.client.untangle(OUTFIT, PIERCED, layers=LAYERS, maxIterations=20, on_progress=seen.append)
        self.assertEqual(answer.report["status"], "FREE")
        self.assertEqual((answer.positions.shape, answer.positions.dtype), (PIERCED.shape, np.float64))
        self.assertEqual(answer.report["piercesByIteration"][0], answer.report["piercesBefore"])
        self.assertEqual(answer.report["contours"][0]["why"], "HINT")
        self.assertEqual(answer.report["contours"][0]["points"].shape[1], 3)
        self.assertEqual((answer.regions.shape, answer.regions.dtype), ((6,), np.uint32))
        self.assertTrue(self.client.check(OUTFIT, answer.positions)["intersectionFree"])
        for progress in seen:
            self.assertIn(progress.phase, ("UNTANGLING", "PULLING_BACK", "CHECKING_ANSWER"))
        silent = self.client.untangle(OUTFIT, PIERCED, layers=LAYERS, maxIterations=20, time_budget=60)
        np.testing.assert_array_equal(silent.positions, answer.positions)
        error = self.refusal(self.client.untangle, OUTFIT, PIERCED, layers=[{"inner": "coat", "outer": "upper"}])
        self.assertEqual(error.code, "INVALID_PARAMETER")
        self.assertEqual(self.client.untangle(MESH, START).report["piercesBefore"], 0)

    def test_an_untangling_runs_as_a_job(self):
        job = self.client.submit_untangling(OUTFIT, PIERCED, layers=LAYERS, maxIterations=20, label="coat", keep_for=60)
        self.addCleanup(job.delete)
        answer = self.client.job(job.id).untangled()
        direct = self.client.untangle(OUTFIT, PIERCED, layers=LAYERS, maxIterations=20)
        np.testing.assert_array_equal(answer.positions, direct.positions)
        np.testing.assert_array_equal(answer.regions, direct.regions)
        status = job.status()
        self.assertEqual((answer.report["status"], status.label), ("FREE", "coat"))
        self.assertIn(status.untangle_progress.phase, ("UNTANGLING", "PULLING_BACK", "CHECKING_ANSWER"))
        self.assertRaises(TypeError, job.result)
        resolve = self.client.submit(MESH, START, START)
        self.addCleanup(resolve.delete)
        self.assertRaises(TypeError, resolve.untangled)

    def test_a_session_opens_on_the_untangled_start(self):
        parameters = {"onIntersectingStart": "UNTANGLE"}
        session = self.client.session(OUTFIT, PIERCED, parameters=parameters, untangle={"layers": LAYERS}, stream=self.stream)
        self.addCleanup(session.close)
        self.assertEqual(session.untangled.report["status"], "FREE")
        freed = session.untangled.positions
        with Client(self.url) as other:
            other._calls().delete(session.id)
        np.testing.assert_array_equal(session.step(freed).positions, freed)
        self.assertEqual(session.recreations, 1)

    def test_lengths_at_rest_limit_edges(self):
        from interstice import RestLengths
        wide = START * [2, 1, 1]
        rest = Mesh(triangles=OUTFIT.triangles, rest_lengths=RestLengths(positions=START, edges=[[0, 1]], lengths=[.5]))
        held = self.client.resolve(rest, START, wide)
        self.assertLess(held.report["maxStretch"], 1.101)
        self.assertLess(abs(held.positions[1, 0] - held.positions[0, 0]), .551)

    def test_strain_limits_keep_the_shape_of_elements(self):
        from interstice import StrainLimits
        wide = START * [2, 1, 1]
        limited = Mesh(triangles=OUTFIT.triangles, strain_limits=StrainLimits(rest=START, min=0.95, max=1.05))
        strain = self.client.resolve(limited, START, wide).report["strain"]
        self.assertEqual(strain["violated"], 0)
        self.assertLess(strain["max"], 1.052)
        error = self.refusal(self.client.resolve, Mesh(triangles=OUTFIT.triangles, strain_limits=StrainLimits(rest=START, max=.5)),
                             START, wide)
        self.assertEqual(error.code, "INVALID_PARAMETER")
