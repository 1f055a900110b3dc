"""Tests of jobs, for every transport."""

import numpy as np

from interstice import Client
from support import MESH, QUICK, START, ClientCase, lowered


class JobTests(ClientCase):
    def test_a_job_is_the_resolve_that_no_connection_waits_for(self):
        job = self.client.submit(MESH, START, lowered(0.2), include={"contacts": True}, label="cape", keep_for=60,
                                 parameters={"stepLimit": 50})
        self.addCleanup(job.delete)
        seen = []
        answer = self.client.job(job.id).result(on_status=seen.append)
        plain = self.client.resolve(MESH, START, lowered(0.2), parameters={"stepLimit": 50})
        np.testing.assert_array_equal(answer.positions, plain.positions)
        self.assertEqual(answer.report["resolved"]["stepLimit"], 50)
        self.assertEqual(answer.contacts["vertices"].shape[1], 4)
        status = job.status()
        self.assertEqual((status.id, status.state, status.label, status.error), (job.id, "JOB_DONE", "cape", None))
        self.assertEqual((status.expires - status.ended).total_seconds(), 60)
        self.assertLessEqual(status.created, status.started)
        self.assertGreater(status.bytes, START.nbytes)
        self.assertEqual(seen[-1].state, "JOB_DONE")
        self.assertEqual([job.id], [listed.id for listed in self.client.jobs(label="cape")])
        self.assertEqual([], list(self.client.jobs(label="none")))
        job.delete()
        job.delete()
        self.assertEqual(self.refusal(job.wait).code, "JOB_NOT_FOUND")

    def test_a_job_that_fails_has_its_error(self):
        pierced = lowered(0.2)
        pierced[3, 2] = 0.01
        job = self.client.submit(MESH, pierced, START)
        self.addCleanup(job.delete)
        status = job.wait()
        self.assertEqual((status.state, status.error.code), ("JOB_FAILED", "INTERSECTING_START"))
        error = self.refusal(job.result)
        self.assertEqual(error.code, "INTERSECTING_START")
        self.assertGreater(error.pair_count, 0)
        self.assertEqual(self.refusal(self.client.submit, MESH, START, START, keep_for=86401).code, "INVALID_PARAMETER")

    def test_a_lost_answer_of_a_job_is_asked_for_again(self):
        client = Client(self.shaky_url, retry=QUICK)
        self.addCleanup(client.close)
        job = client.submit(MESH, START, lowered(0.2))
        self.addCleanup(job.delete)
        job.wait()
        self.proxy.is_armed = True
        answer = job.result()
        self.assertFalse(self.proxy.is_armed, "the answer was lost, and asked for again")
        np.testing.assert_array_equal(answer.positions, self.client.resolve(MESH, START, lowered(0.2)).positions)
        self.assertIsNotNone(job.wait(timeout=0).ended)
