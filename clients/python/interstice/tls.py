"""The caller's certificates, and the diagnosis of connections that fail because of certificates."""

from __future__ import annotations

import dataclasses
import re
import ssl
import threading
import typing

from .errors import TLS_REFUSED, ServiceError

_CLOSED_LIMIT = 5
"""Closed connections before a certificate is suspected; a server that is starting behind a proxy closes a few, too."""


@dataclasses.dataclass(frozen=True)
class Tls:
    """Paths of PEM files. Without ca the authorities that Python (https) or the gRPC library (grpcs) trusts apply."""

    ca: typing.Optional[str] = None
    """the authority that signed the server's certificate"""
    cert: typing.Optional[str] = None
    """the client's certificate with its chain, for a server that requires one (mTLS); needs key"""
    key: typing.Optional[str] = None

    def context(self) -> ssl.SSLContext:
        """Raises ValueError if a file cannot be read or the files do not match."""
        if (self.cert is None) != (self.key is None):
            raise ValueError("tls.cert and tls.key belong together. Set both or neither.")
        for name, path in dataclasses.asdict(self).items():
            try:
                if path is not None:
                    open(path, "rb").close()
            except OSError as cause:
                raise ValueError(f"The file of tls.{name} cannot be read ({cause}).") from cause
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.cert is not None:
                context.load_cert_chain(self.cert, self.key, password="")  # fails instead of asking on the terminal
        except ssl.SSLError as cause:
            paths = ", ".join(path for path in dataclasses.astuple(self) if path is not None)
            raise ValueError(f"TLS cannot use {paths} ({cause}). Are they PEM files that match?") from cause
        return context


_GIVE_CERTIFICATE = ("If the server requires client certificates (mTLS), set tls.cert and tls.key to a valid "
                     "certificate of an authority that the server trusts.")

# Matched against the messages of OpenSSL and gRPC. The TypeScript and C++ clients match the same ones.
_FAULTS = (
    (re.compile(r"verify[_ ]failed|verification check failed|not in peer certificate"),
     "presents a certificate that this client does not trust",
     "Set tls.ca to the certificate of the authority that signed it, and use an address that the certificate names."),
    (re.compile(r"alert[_ ].*(certificate|unknown[_ ]ca|handshake[_ ]failure|access[_ ]denied)"),
     "rejects this client, which has no certificate that the server trusts", _GIVE_CERTIFICATE),
    (re.compile(r"wrong[_ ]version|packet[_ ]length[_ ]too[_ ]long|unsupported[_ ]protocol|protocol[_ ]version"),
     "does not use TLS, or only a version that this client does not support",
     "Is this the port that uses TLS? Without TLS the address begins with http:// or grpc://."),
)

_CLOSED = re.compile(r"socket closed|endpoint read failed|connection reset|broken pipe|remote end closed|eof occurred")


class TlsDiagnosis:
    """Distinguishes a fault of the certificates from a connection that merely broke.

    A server that rejects a certificate may simply close the connection (Node's do) after the handshake has ended on this
    side. Only repetition distinguishes that from a server that stops at that moment.
    """

    def __init__(self) -> None:
        self._closed = 0
        self._is_answered = False
        self._lock = threading.Lock()

    def record_answer(self) -> None:
        self._is_answered = True

    def explain(self, address: str, reason: str, is_done: bool = True) -> typing.Optional[ServiceError]:
        """None if the cause may be another one and a retry may succeed. is_done: the handshake has ended on this side."""
        words = reason.lower()
        for pattern, text, hint in _FAULTS:
            if pattern.search(words):
                return ServiceError(TLS_REFUSED, f"{address} {text} ({reason}).", hint=hint)
        if self._is_answered or not is_done or not _CLOSED.search(words):
            return None
        with self._lock:
            self._closed += 1
            closed = self._closed
        if closed < _CLOSED_LIMIT:
            return None
        return ServiceError(
            TLS_REFUSED, f"{address} closed {closed} connections without an answer ({reason}).",
            hint=_GIVE_CERTIFICATE)
