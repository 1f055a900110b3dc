"""Tests of the package's TLS against a running server: python3 test_tls.py FOLDER KEY TLS MTLS MISNAMED PLAIN

FOLDER contains the certificates; the other arguments are an API key and URLs. Ends with "N passed, N failed, N skipped".
"""

import pathlib
import sys
import unittest

import numpy as np

from interstice import Client, Mesh, Retry, ServiceError, Tls

START = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 0.1], [1.2, 0.2, 0.1], [0.2, 1.2, 0.1]], np.float32)
MESH = Mesh(triangles=[[0, 1, 2], [3, 4, 5]], kinematic=np.arange(6) < 3)
# Enough attempts that the test would time out if a refusal were retried.
PATIENT = Retry(attempts=10**6, first_pause=0.005, longest_pause=0.005)


def lowered(by):
    target = START.copy()
    target[3:6, 2] -= by
    return target


class TlsTest(unittest.TestCase):
    folder, key, url, mutual, misnamed, plain = sys.argv[1:7]

    def at(self, name):
        return str(pathlib.Path(self.folder, name))

    def tls(self, ca="ca", client=None):
        cert, key = (None, None) if client is None else (self.at(f"{client}.crt"), self.at(f"{client}.key"))
        return Tls(ca=self.at(f"{ca}.crt"), cert=cert, key=key)

    def client(self, url, tls=None, **options):
        client = Client(url, tls=tls, **{"api_key": self.key, "retry": PATIENT, **options})
        self.addCleanup(client.close)
        return client

    def take_steps(self, url, tls):
        for stream in (False, True) if url.startswith("grpc") else (False,):
            with self.client(url, tls).session(MESH, START, stream=stream) as session:
                self.assertFalse(np.array_equal(session.step(lowered(0.2)).positions, lowered(0.2)), "it was held back")
                self.assertEqual(session.step(lowered(0.05), include={"contacts": True}).frame, 2)
                self.assertTrue(session.check()["intersectionFree"])
                self.assertEqual(session.recreations, 0)

    def assert_refused(self, url, tls, code, hint, **options):
        for ask in (lambda client: client.info(), lambda client: client.session(MESH, START)):
            with self.assertRaises(ServiceError) as caught:
                ask(self.client(url, tls, **options))
            print(f"\n      {caught.exception}")
            self.assertEqual(caught.exception.code, code)
            self.assertIn(hint, caught.exception.hint)

    def test_steps_over_tls(self):
        self.take_steps(self.url, self.tls())

    def test_steps_over_mutual_tls(self):
        self.take_steps(self.mutual, self.tls(client="client"))

    def test_key_is_asked_for(self):
        self.assert_refused(self.mutual, self.tls(client="client"), "UNAUTHENTICATED", "", api_key=None)

    def test_authority_is_unknown(self):
        self.assert_refused(self.url, None, "TLS_REFUSED", "tls.ca")
        self.assert_refused(self.url, self.tls(ca="other-ca"), "TLS_REFUSED", "tls.ca")

    def test_name_is_another(self):
        self.assert_refused(self.misnamed, self.tls(), "TLS_REFUSED", "name")

    def test_certificate_is_asked_for(self):
        self.assert_refused(self.mutual, self.tls(), "TLS_REFUSED", "tls.cert")

    def test_certificate_is_a_strangers(self):
        self.assert_refused(self.mutual, self.tls(client="stranger"), "TLS_REFUSED", "tls.cert")

    def test_one_side_speaks_no_tls(self):
        self.assert_refused(self.plain.replace("://", "s://"), self.tls(), "TLS_REFUSED", "port")
        two = Retry(attempts=2, first_pause=0.005)
        self.assert_refused(self.url.replace("s://", "://"), None, "UNREACHABLE", "TLS", retry=two)

    def test_mistakes_are_told_at_once(self):
        ca, cert, key = self.at("ca.crt"), self.at("client.crt"), self.at("client.key")
        wrong = (Tls(ca=self.at("none.crt")), Tls(ca=self.at("server.ext")), Tls(cert=self.at("server.ext"), key=key),
                 Tls(cert=cert, key=self.at("server.key")), Tls(cert=cert), Tls(key=key))
        for url, tls in [*((self.url, tls) for tls in wrong), (self.plain, Tls(ca=ca))]:
            with self.assertRaises(ValueError) as caught:
                Client(url, tls=tls)
            print(f"\n      {caught.exception}")


if __name__ == "__main__":
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(TlsTest)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(tests)
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)
