"""Certificates: those that the caller gives, and what is said when one side does not trust the other's."""

import dataclasses
import re
import ssl
import threading
import typing

from .errors import TLS_REFUSED, ServiceError

_CLOSED_LIMIT = 5
"""Of a server that has never answered; one that is just starting behind a proxy does so too, but not for long."""


@dataclasses.dataclass(frozen=True)
class Tls:
    """Paths of PEM files. Without ca the authorities count that Python (https) or gRPC's library (grpcs) knows."""

    ca: typing.Optional[str] = None
    """who signed the server's certificate"""
    cert: typing.Optional[str] = None
    """this side's own certificate with its chain, for a server that asks for one (mTLS); goes with key"""
    key: typing.Optional[str] = None

    def context(self):
        """Raises ValueError when the files cannot be read or do not fit together."""
        if (self.cert is None) != (self.key is None):
            raise ValueError("tls.cert and tls.key belong together: give both, or neither")
        for name, path in dataclasses.asdict(self).items():
            try:
                if path is not None:
                    open(path, "rb").close()
            except OSError as cause:
                raise ValueError(f"the file of tls.{name} cannot be read ({cause})") from cause
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.cert is not None:
                context.load_cert_chain(self.cert, self.key, password="")  # fails where it would ask on the terminal
        except ssl.SSLError as cause:
            paths = ", ".join(path for path in dataclasses.astuple(self) if path is not None)
            raise ValueError(f"TLS cannot use {paths} ({cause}). Are they PEM files that fit together?") from cause
        return context


_GIVE_CERTIFICATE = ("If it asks its clients for certificates (mTLS): give tls.cert and tls.key, signed by the authority "
                     "that the server trusts, and valid now.")

# By the words of OpenSSL and of gRPC. The TypeScript and C++ clients look for the same.
_FAULTS = (
    (re.compile(r"verify[_ ]failed|verification check failed|not in peer certificate"),
     "shows a certificate that this side does not trust",
     "Give the certificate of the authority that signed it as tls.ca, and call the server by a name that it holds."),
    (re.compile(r"alert[_ ].*(certificate|unknown[_ ]ca|handshake[_ ]failure|access[_ ]denied)"),
     "does not take this client, for want of a certificate that it trusts", _GIVE_CERTIFICATE),
    (re.compile(r"wrong[_ ]version|packet[_ ]length[_ ]too[_ ]long|unsupported[_ ]protocol|protocol[_ ]version"),
     "does not speak TLS, or none that this side knows",
     "Is this the port that speaks TLS? Without it the address begins with http:// or grpc://."),
)

_CLOSED = re.compile(r"socket closed|endpoint read failed|connection reset|broken pipe|remote end closed|eof occurred")


class Handshakes:
    """Tells what is wrong with the certificates from a connection that merely broke.

    A server that does not take a certificate may just close the connection (Node's do), after the handshake has ended
    for this side. Nothing tells that from a server that dies at that moment, but that it happens again and again.
    """

    def __init__(self):
        self._closed = 0
        self._is_answered = False
        self._lock = threading.Lock()

    def note_answer(self):
        self._is_answered = True

    def explain(self, address, reason, is_done=True):
        """None when it may be something else, and another try has a chance. is_done: the handshake, for this side."""
        words = reason.lower()
        for pattern, told, hint in _FAULTS:
            if pattern.search(words):
                return ServiceError(TLS_REFUSED, f"{address} {told} ({reason}).", hint=hint)
        if self._is_answered or not is_done or not _CLOSED.search(words):
            return None
        with self._lock:
            self._closed += 1
            closed = self._closed
        if closed < _CLOSED_LIMIT:
            return None
        return ServiceError(
            TLS_REFUSED, f"{address} has closed {closed} connections without an answer to any ({reason}).",
            hint=_GIVE_CERTIFICATE)
