"""Tests of what the client refuses to be told, without a server. test/clients/settings.test.ts and
clients/cpp/test/settings.cpp refuse the same."""

import re
import unittest

from interstice import Client, Retry
from interstice.deadline import budget_of
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
