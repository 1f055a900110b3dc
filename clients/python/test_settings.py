"""Tests of what the client refuses to be told, without a server. test/clients/settings.test.ts and
clients/cpp/test/settings.cpp refuse the same."""

import copy
import pickle
import re
import sys
import unittest
import unittest.mock

import numpy as np

from interstice import Client, Retry, ServiceError
from interstice.deadline import budget_of
from interstice.types import as_elements, as_positions, plain_json
from support import MESH, START

LONGEST = 2_147_483
NAN = float("nan")
BEYOND = (NAN, -1, float("inf"), LONGEST + 1)
URLS = ("http://127.0.0.1:1", "grpc://127.0.0.1:1")


class SettingsTest(unittest.TestCase):
    def assert_refused(self, message, work, *args, **options):
        with self.assertRaisesRegex(ValueError, "^" + re.escape(message)):
            work(*args, **options)

    def test_addresses(self):
        for url in ("127.0.0.1:8080", "ftp://host", "http://", "grpc://", "http://host:port", " http://host", "http://host?a=b",
                    "http://host/#a", "grpc://host/path"):
            self.assert_refused(f"{url} is not an address of the form", Client, url)
        self.assert_refused("An address has no user name and", Client, "http://me:secret@host")
        for url in (*URLS, "grpc://[::1]:1/", "http://host/behind/a/proxy/"):
            Client(url).close()
        self.assertEqual(Client("http://host/behind/a/proxy/")._transport.address, "http://host/behind/a/proxy")

    def test_keys(self):
        for url in URLS:
            for key in ("key\n", "a b", " ", "cl\u00e9", "\u20ac"):
                self.assert_refused("api_key has spaces, line breaks or letters beyond ASCII", Client, url, api_key=key)
            for key in ("", "a+/=~!"):
                Client(url, api_key=key).close()

    def test_times_of_a_client(self):
        for time in (*BEYOND, 0):
            self.assert_refused(f"timeout is {time}; more than 0 and at most {LONGEST} s are possible.",
                                Client, URLS[0], timeout=time)
        for time in (NAN, -1):
            self.assert_refused(f"allowance is {time}, expected a number of seconds from 0.", Client, URLS[0], allowance=time)
        for attempts in (0, -1, 1.5, NAN):
            self.assert_refused(f"Retry.attempts is {attempts}, expected a whole number from 1.", Retry, attempts=attempts)
        for time in BEYOND:
            for name in ("first_pause", "longest_pause", "longest_retry_after"):
                self.assert_refused(f"Retry.{name} is {time}; from 0 to {LONGEST} s are possible.", Retry, **{name: time})
        Client(URLS[0], timeout=LONGEST, allowance=float("inf"), retry=Retry(1, 0)).close()

    def test_times_of_a_call(self):
        for url in URLS:
            client = Client(url, retry=Retry(1))
            self.addCleanup(client.close)
            for time in (*BEYOND, 0):
                message = f"time_budget is {time}; more than 0 and at most {LONGEST} s are possible."
                for call in (client.resolve, client.submit):
                    self.assert_refused(message, call, MESH, START, START, time_budget=time)
                for call in (client.untangle, client.submit_untangling):
                    self.assert_refused(message, call, MESH, START, time_budget=time)
                self.assert_refused(message.replace("time_budget", "keep_for"), client.submit, MESH, START, START, keep_for=time)
            for time in BEYOND:
                self.assert_refused(f"idle_timeout is {time}; from 0 to {LONGEST} s are possible.",
                                    client.session, MESH, START, idle_timeout=time)
            for time in (NAN, -1):
                self.assert_refused(f"timeout is {time}, expected a number of seconds from 0.", client.job("id").wait, timeout=time)
            self.assert_refused("timeBudget is 0.0; more than 0", client.check, MESH, START, timeBudget="0s")
        self.assertIsNone(budget_of({"timeBudget": "-1s"}), "the server refuses it")

    def test_a_package_that_is_missing(self):
        with unittest.mock.patch.dict(sys.modules, {"interstice.grpc_transport": None}):
            with self.assertRaisesRegex(ModuleNotFoundError, r"which grpc:// needs: install .*interstice\[grpc\]"):
                Client(URLS[1])

    def test_arrays(self):
        for value in (["a"], [None], [1j], [2**70]):
            self.assert_refused("masses is ", as_elements, "masses", value)
        for value in (1e300, 1e-50, -1e39):
            self.assert_refused(f"masses holds {value}, which is beyond the range of float32.", as_elements, "masses", [1, value])
        np.testing.assert_array_equal(as_elements("masses", [NAN, float("inf"), 0, True]), np.float32([NAN, np.inf, 0, 1]))
        masked = np.ma.masked_array(np.zeros((3, 3), np.float32), np.eye(3))
        self.assert_refused("start has masked entries", as_positions, masked, "start")
        self.assert_refused("triangles has masked entries", as_elements, "triangles", masked.astype(int))
        self.assertEqual(as_positions(np.ma.masked_array(np.zeros((3, 3))), "start").shape, (3, 3))
        for far in (2**53 + 1, -2**60):
            self.assert_refused("target holds integers beyond 2**53", as_positions, [[0, 0, far]], "target")
        self.assertEqual(as_positions([[0, 0, 2**53]], "target")[0, 2], 2**53)

    def test_numbers_of_numpy(self):
        given = {"a": np.float32(0.5), "b": [np.int64(3), np.bool_(True)], "c": {"d": (NAN, -np.inf)}, "e": np.arange(2), "f": "NaN"}
        self.assertEqual(plain_json(given), {"a": 0.5, "b": [3, True], "c": {"d": ["NaN", "-Infinity"]}, "e": [0, 1], "f": "NaN"})


class ErrorTest(unittest.TestCase):
    def test_copies(self):
        """A pool of processes pickles the exceptions of its tasks, and waits for ever for one that cannot be read."""
        error = ServiceError("QUEUE_FULL", "The queue is full.", hint="Retry.", retryable=True, retry_after=1.5, frame=3,
                             pairs=[{"kind": "VERTEX_TRIANGLE"}], pair_count=7, is_uncertain=True)
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            self.assertEqual((type(again), str(again), vars(again)), (ServiceError, str(error), vars(error)))
