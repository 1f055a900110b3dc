"""Tests of the package against a running server: python3 test_client.py http://… grpc://…

Ends with "N passed, N failed, N skipped".
"""

import sys
import unittest

import numpy as np

from interstice import Client, Mesh
from support import MESH
from test_grpc import GrpcTests
from test_jobs import JobTests
from test_limits import DeadlineTest, LimitTests, TrickleTest
from test_sessions import SessionTests
from test_untangle import UntangleTests


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
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite(map(loader.loadTestsFromTestCase, (ArraysTest, DeadlineTest, TrickleTest)))
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
