"""Tests that concern only gRPC."""

import concurrent.futures
import unittest.mock

import numpy as np

from interstice import Client, Retry, ServiceError, grpc_transport
from support import MESH, QUICK, START, ClientCase, lowered


class GrpcTests(ClientCase):

    def test_refused_call_is_sent_again(self):
        self.proxy.refusals = 3
        session = self.session(Client(self.shaky_url, retry=QUICK))
        self.assertEqual(self.proxy.refusals, 0, "the creation, three times")
        answer = session.step(lowered(0.2))
        np.testing.assert_array_equal(answer.positions, self.client.resolve(MESH, START, lowered(0.2)).positions)
        self.assertEqual((answer.frame, session.recreations), (1, 0))

    def test_a_connection_that_stalls_is_replaced(self):
        brief = {"grpc.keepalive_time_ms": 200, "grpc.keepalive_timeout_ms": 200}
        options = [(name, brief.get(name, value)) for name, value in grpc_transport._OPTIONS]
        with unittest.mock.patch.object(grpc_transport, "_OPTIONS", options):
            client = Client(self.shaky_url, retry=QUICK, timeout=30)
        self.addCleanup(client.close)
        session = self.session(client)
        self.proxy.stall()
        answer = session.step(lowered(0.2))
        np.testing.assert_array_equal(answer.positions, self.client.resolve(MESH, START, lowered(0.2)).positions)
        self.assertEqual((answer.frame, session.recreations), (1, 0), "without a word to the caller")

    def test_refused_call_has_done_nothing(self):
        client = Client(self.shaky_url, retry=Retry(attempts=1))
        self.ask_until(client, lambda: self.is_answered)
        session = self.session(client)
        name = session.id
        self.proxy.refusals = 2
        self.proxy.cut()
        self.ask_until(client, lambda: self.proxy.refusals == 1)  # the new connection is open, with one refusal left
        error = self.refusal(session.step, lowered(0.2))
        self.assertEqual((error.code, error.retryable, error.is_uncertain), ("UNREACHABLE", True, False), error.message)
        self.ask_until(client, lambda: self.is_answered)
        answer = session.step(lowered(0.2))
        np.testing.assert_array_equal(answer.positions, self.client.resolve(MESH, START, lowered(0.2)).positions)
        self.assertEqual((session.id, session.recreations), (name, 0), "the session continues")

    def ask_until(self, client, is_so):
        """With a single attempt a call may use a connection that is just closing."""
        self.is_answered = False
        while not is_so():
            try:
                client.info()
                self.is_answered = True
            except ServiceError as error:
                self.assertEqual(error.code, "UNREACHABLE")

    def test_limit_that_passes_as_the_answer_arrives_does_not_end_the_next_step(self):
        from interstice import grpc_stream

        class Late:
            """A timer whose time has come just before it is cancelled."""

            def __init__(self, seconds, work, args=()):
                self.fire = lambda: work(*args)

            def start(self):
                pass

            cancel = property(lambda self: self.fire)

        session = self.session()
        with unittest.mock.patch.object(grpc_stream.threading, "Timer", Late):
            for frame in (1, 2):
                answer = session.step(lowered(0.2), on_progress=lambda _: None)
                self.assertEqual((answer.frame, session.recreations), (frame, 0))

    def test_session_is_named_before_its_message_comes(self):
        import grpc
        from interstice.v1 import collision_pb2 as pb

        seen = []

        class Recorder(grpc.GenericRpcHandler):
            def service(self, details):
                method = details.method.rpartition("/")[2]
                seen.append((method, dict(details.invocation_metadata)))

                def answer(_, context):
                    if method == "CreateSession":
                        return pb.Session(id="its-name").SerializeToString()
                    context.abort(grpc.StatusCode.UNIMPLEMENTED, "nothing else")

                return grpc.unary_unary_rpc_method_handler(answer)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            server = grpc.server(pool, [Recorder()])
            port = server.add_insecure_port("127.0.0.1:0")
            server.start()
            with Client(f"grpc://127.0.0.1:{port}", retry=QUICK) as client:
                session = client.session(MESH, START)
                self.assertEqual(self.refusal(session.check).code, "UNEXPECTED_ANSWER")
                self.refusal(client.check, MESH, START)
                self.refusal(session.step, START)
            server.stop(None).wait()
        named = [(method, metadata.get("interstice-session")) for method, metadata in seen]
        expected = [("CreateSession", None), ("Check", "its-name"), ("Check", None), ("Step", "its-name")]
        self.assertEqual(named[:4], expected)
        self.assertEqual(len({seen[at][1]["x-session-id"] for at in (0, 1, 3)}), 1)
