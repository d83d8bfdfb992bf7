"""One HTTP exchange with the service, and its answer or error. Nothing is sent twice but what the service refused for lack of its nonce."""

from __future__ import annotations

import http.client
import json
import socket
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Timer
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Tuple, Union
from urllib.parse import urlencode, urlsplit

from . import canonical
from .errors import ConnectionLostError, AnswerError


@dataclass(frozen=True)
class Answer:
    status: int
    #: Names in lower case.
    headers: Dict[str, str]
    content: bytes

    def value(self) -> Any:
        """The JSON body, with one reading.

        Raises ConnectionLostError where it has none: such a success is of something in between, and says nothing of what was asked for.
        """
        try:
            return canonical.parse(self.content)
        except canonical.NotCanonical as error:
            raise ConnectionLostError(f"The answer is no JSON: {error}") from error

    def text(self) -> str:
        return self.content.decode("utf-8")

    def error(self) -> AnswerError:
        message, code = f"HTTP {self.status}", None
        try:
            body = json.loads(self.content)
        except ValueError:  # an answer of something in between, such as a proxy
            body = None
        if isinstance(body, dict):
            message, code = str(body.get("error", message)), body.get("code")
        return AnswerError(self.status, code, message, self.headers.get("x-request-id"), self.headers)


@dataclass(frozen=True)
class ProvenRequest:
    """The request that a proof of possession (DPoP, RFC 9449) covers."""

    #: Its ``htm``.
    method: str
    #: Its ``htu``, without query and fragment.
    url: str
    #: Its ``ath`` is the SHA-256 of this.
    token: str
    #: The nonce that the service gave for this proof; None where it has given none.
    nonce: Optional[str] = None


class TooLong(ConnectionLostError):
    """The answer is longer than any that is true."""


@contextmanager
def _ended_after(seconds: float, connected: socket.socket) -> Iterator[None]:
    """Ends the connection after so many seconds. The timeout of a socket begins anew with each byte, and a service may send bytes forever.

    Raises TimeoutError where the time was over, whatever was made of what had arrived by then.
    """
    over = Event()

    def end() -> None:
        over.set()
        # Shuts down the socket below TLS: a concurrent reader sees the end of the connection, and its TLS state stays as it is.
        with suppress(OSError):
            socket.socket.shutdown(connected, socket.SHUT_RDWR)

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if over.is_set():
            raise TimeoutError(f"no whole answer within {seconds:g} seconds")


class Exchange:
    """Where requests go and what they carry. A connection per request, so that threads may share it."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: Union[str, Callable[[], str], None],
        timeout_seconds: float,
        proof: Optional[Callable[[ProvenRequest], str]] = None,
    ) -> None:
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment:
            raise ValueError(f"not the address of a service: {base_url}")
        self._secure = url.scheme == "https"
        self._address: Tuple[str, Optional[int]] = (url.hostname, url.port)
        self._prefix = url.path.rstrip("/")
        self._origin = f"{url.scheme}://{url.netloc.rpartition('@')[2]}"
        self._api_key = api_key
        self._proof = proof
        #: The newest that the service gave.
        self._nonce: Optional[str] = None
        self._timeout_seconds = timeout_seconds

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any],
        body: Any,
        open_route: bool,
        prefer: Optional[str] = None,
        bytes_max: Optional[int] = None,
    ) -> Answer:
        """Any status is an answer. With ``bytes_max`` the timeout is for the whole answer, and otherwise for each wait within it.

        A service that asks for its nonce (RFC 9449 §9) did nothing with the request: it is sent once more, with a proof that has it.

        Raises ConnectionLostError where no whole answer arrived, and TooLong for one of more than ``bytes_max``.
        """
        asked = {name: value for name, value in query.items() if value is not None}
        target = self._prefix + path + (f"?{urlencode(asked)}" if asked else "")
        request = f"{method} {self._origin}{self._prefix}{path}"
        headers = {"Accept": "application/json, */*"}
        if self._api_key is not None and not open_route:
            # Asked before each request: a token expires.
            key = self._api_key() if callable(self._api_key) else self._api_key
            headers["Authorization"] = f"Bearer {key}"
        if prefer is not None:
            headers["Prefer"] = prefer
        content = None
        if body is not None:
            # Canonical: what could not be signed is refused before it is sent.
            content = canonical.canonicalize(body)
            headers["Content-Type"] = "application/json"
        answer = self._send_once(method, target, content, self._proven(method, path, headers), bytes_max, request)
        if self._proof is None or not _asks_for_nonce(answer):
            return answer
        return self._send_once(method, target, content, self._proven(method, path, headers), bytes_max, request)

    def _proven(self, method: str, path: str, headers: Mapping[str, str]) -> Dict[str, str]:
        """The headers with a proof for the token that they have, where proofs are made."""
        credential = headers.get("Authorization")
        if self._proof is None or credential is None:
            return dict(headers)
        token = credential[len("Bearer ") :]
        proven = ProvenRequest(method, f"{self._origin}{self._prefix}{path}", token, self._nonce)
        return {**headers, "Authorization": f"DPoP {token}", "DPoP": self._proof(proven)}

    def _send_once(
        self, method: str, target: str, content: Optional[bytes], headers: Mapping[str, str], bytes_max: Optional[int], request: str
    ) -> Answer:
        connection = self._connect()
        try:
            if bytes_max is None:
                connection.request(method, target, body=content, headers=headers)
                response = connection.getresponse()
                received = response.read()
            else:
                connection.connect()
                with _ended_after(self._timeout_seconds, connection.sock):
                    connection.request(method, target, body=content, headers=headers)
                    response = connection.getresponse()
                    received = response.read(bytes_max + 1)
        except (OSError, http.client.HTTPException) as error:
            timed_out = isinstance(error, TimeoutError) or isinstance(error, socket.timeout)
            raise ConnectionLostError(f"{request}: {type(error).__name__} {error}", timed_out=timed_out) from error
        finally:
            connection.close()
        if bytes_max is not None and len(received) > bytes_max:
            raise TooLong(f"{request}: the answer has more than {bytes_max} bytes")
        # Where less arrives than was announced, `read` with a size says nothing.
        if response.length:
            raise ConnectionLostError(f"{request}: the connection ended {response.length} bytes before the answer did")
        answer = Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, received)
        self._nonce = answer.headers.get("dpop-nonce", self._nonce)
        return answer

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._address
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        return kind(host, port, timeout=self._timeout_seconds)


def _asks_for_nonce(answer: Answer) -> bool:
    challenge = answer.headers.get("www-authenticate", "")
    return answer.status == 401 and "dpop-nonce" in answer.headers and 'error="use_dpop_nonce"' in challenge
