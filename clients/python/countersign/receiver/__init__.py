"""A receiver of connector releases: takes what the service has decided, approved and released, proves that it came from the service and is meant
for here, acts once, answers; and says what became of it when the service asks. The author writes ``act``."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import logging
import threading
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union

from ..canonical import NotCanonical, canonicalize, parse
from ..evidence import pre_auth_encoding
from ..instant import Unreadable, instant
from .journal import Journal, Release
from .keys import FixedKeys, ServiceKeys

_LOGGER = logging.getLogger("countersign")

__all__ = [
    "Executed",
    "FixedKeys",
    "Journal",
    "Listening",
    "NotExecuted",
    "Outcome",
    "Receiver",
    "Refused",
    "Release",
    "ServiceKeys",
]

_BODY_BYTES_MAX = 1024 * 1024
#: The service reads 64 KiB of an answer, which has other members too.
_RESULT_BYTES_MAX = 60 * 1024
_RESULT_DEPTH_MAX = 60
_CLOCKS_DIFFER_MS = 30_000


class Refused(Exception):
    """The effect certainly did not happen, for this reason, which becomes evidence."""


@dataclass(frozen=True)
class Executed:
    """A release was carried out, with this result."""

    result: Any = None


@dataclass(frozen=True)
class NotExecuted:
    """A release was not carried out, and never will be, for this reason."""

    reason: str


Outcome = Union[Executed, NotExecuted]


class Receiver:
    """Acts on each release at most once, despite repeats, crashes and concurrent requests. May be shared by threads.

    ``act`` is the effect; give ``release["authorizationId"]`` to a system behind it as the idempotency key. What it returns becomes evidence: JSON, of which
    60 KiB are sent and else its SHA-256 and length. It raises ``Refused`` where the effect certainly did not happen; any other exception leaves that open, and
    the execution is in doubt until ``read_back`` or a person knows.

    ``read_back`` looks up what became of a release whose ``act`` never ended: ``Executed``, ``NotExecuted``, or None where it is not known (yet). Asked when the
    service asks or repeats a release, never while ``act`` runs here.
    """

    def __init__(
        self,
        *,
        keys: Union[ServiceKeys, FixedKeys],
        capabilities: Sequence[str],
        journal: Journal,
        act: Callable[[Release], Any],
        read_back: Optional[Callable[[Release], Optional[Outcome]]] = None,
        audience: Optional[str] = None,
    ) -> None:
        """``audience`` is the origin of the registered endpoint, that of the proxy in front; where left out, where ``listen`` listens."""
        if not capabilities or isinstance(capabilities, str):
            raise ValueError("capabilities is a list of what this receiver does, such as ['vendor:pay']")
        self._keys = keys
        self._capabilities = tuple(capabilities)
        self._journal = journal
        self._act = act
        self._read_back = read_back
        self.audience = audience
        self._mutex = threading.Lock()
        #: By authorizationId: two requests with one release share one act.
        self._underway: Dict[str, _Shared] = {}

    def answer(self, method: str, *, question: Optional[str] = None, body: bytes = b"") -> Tuple[int, bytes]:
        """For a server of your own. ``question`` is the header Countersign-Question. Returns the status and the JSON to answer."""
        if self.audience is None:
            raise ValueError("audience is missing: the origin of the endpoint")
        try:
            if method == "GET":
                return self._tell(question or "")
            if method != "POST":
                return _said(405, "POST a release, or GET what became of one.")
            return _said(413, "Too large.") if len(body) > _BODY_BYTES_MAX else self._take(body)
        except Exception:
            _LOGGER.exception("What became of a release is not known.")
            return _said(500, "The outcome is unknown.")

    def listen(self, port: int, host: str = "127.0.0.1") -> "Listening":
        """Serves it by plain HTTP, in threads of its own: TLS ends at a proxy in front. ``port`` 0 is a free one."""
        listening = Listening(self, host, port)
        self.audience = self.audience or listening.origin
        return listening

    def _take(self, body: bytes) -> Tuple[int, bytes]:
        release, refused = self._verified(body, "release")
        if refused is not None:
            return refused

        def taken() -> Tuple[int, bytes]:
            if self._journal.begin(release):
                return self._once(release)
            before = self._journal.find(release["authorizationId"])
            return self._known(before) or _said(500, "It was begun before and its outcome is unknown.")

        return self._shared(release["authorizationId"], taken)

    def _once(self, release: Release) -> Tuple[int, bytes]:
        """It stands in the journal that it may happen: no crash can make it happen twice."""
        try:
            outcome: Outcome = Executed(self._act(release))
        except Refused as refused:
            outcome = NotExecuted(str(refused))
        return self._ended(release, outcome)

    def _ended(self, release: Release, outcome: Outcome) -> Tuple[int, bytes]:
        executed = isinstance(outcome, Executed)
        told = {
            "businessTransactionId": release["businessTransactionId"],
            "capability": release["capability"],
            "success": executed,
            "result": _evidence(outcome.result) if isinstance(outcome, Executed) else {"reason": outcome.reason},
            "executedAt": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
        }
        self._journal.end(release["authorizationId"], told)
        return _json(200, told)

    def _known(self, entry: Optional[Mapping[str, Any]]) -> Optional[Tuple[int, bytes]]:
        """The answer of before, or what the author can find out now."""
        if entry is None:
            return None
        if "answer" in entry:
            return _json(200, entry["answer"])
        outcome = self._read_back(entry["release"]) if self._read_back and "release" in entry else None
        return None if outcome is None else self._ended(entry["release"], outcome)

    def _tell(self, header: str) -> Tuple[int, bytes]:
        try:
            text = base64.urlsafe_b64decode(header + "=" * (-len(header) % 4))
        except (ValueError, binascii.Error):
            text = b""
        question, refused = self._verified(text, "question")
        if refused is not None:
            return refused
        authorization_id = question["authorizationId"]
        found = self._journal.find(authorization_id)
        if found is None:
            # Nothing was done and nothing will be: once a release has expired, nobody can have it carried out. Until then the service takes a
            # 404 for "not yet".
            names = {name: question[name] for name in ("businessTransactionId", "capability")}
            return _json(404, {**names, "error": "This receiver has not taken a release with this id."})
        with self._mutex:
            runs = authorization_id in self._underway
        if runs and "answer" not in found:
            return _said(503, "The release is being carried out.")

        def known() -> Tuple[int, bytes]:
            # Once more: it may have been answered between the two looks, and what was answered stays.
            entry = self._journal.find(authorization_id)
            return self._known(entry) or _said(503, "It was begun, and its outcome is unknown.")

        return self._shared(authorization_id, known)

    def _shared(self, authorization_id: str, answering: Callable[[], Tuple[int, bytes]]) -> Tuple[int, bytes]:
        """The same answer for all who ask for one release at a time."""
        with self._mutex:
            running = self._underway.get(authorization_id)
            mine = running is None
            if running is None:
                running = self._underway[authorization_id] = _Shared()
        if mine:
            try:
                running.answer = answering()
            finally:
                with self._mutex:
                    del self._underway[authorization_id]
                running.done.set()
        running.done.wait()
        return running.answer

    def _verified(self, text: bytes, member: str) -> Tuple[Dict[str, Any], Optional[Tuple[int, bytes]]]:
        """Returns what was signed, and the answer where it is refused before anything is done: the service counts all these statuses as failed for certain."""
        try:
            # JSON with exactly one reading: of two equal keys a signature could hold for the one and the effect follow the other.
            sent = parse(text)
            signed = sent.get(member) if isinstance(sent, dict) else None
            canonical = canonicalize(signed)
        except NotCanonical:
            return {}, _said(400, "The body is not unambiguous JSON: it does not parse, or repeats a member.")
        of = sent if isinstance(sent, dict) else {}
        key_id, signature = of.get("keyId"), of.get("signature")
        known = of.get("algorithm") == "ed25519" and isinstance(key_id, str) and isinstance(signature, str)
        key = self._keys.find(key_id) if known else None
        if key is None:
            return {}, _said(401, "Unknown key.")
        try:
            holds = key.verifies(pre_auth_encoding(f"connector-{member}", canonical), base64.b64decode(signature))
        except (ValueError, binascii.Error):
            holds = False
        if not holds:
            return {}, _said(401, "The signature does not hold.")
        refused = self._why_not(signed)
        return signed, refused

    def _why_not(self, signed: Mapping[str, Any]) -> Optional[Tuple[int, bytes]]:
        if signed.get("version") != 1:
            return _said(400, "Unknown version.")
        if signed.get("audience") != self.audience:
            return _said(403, "The release is for another receiver.")
        if signed.get("capability") not in self._capabilities:
            return _said(403, "The release is for another capability.")
        try:
            if instant(signed.get("issuedAt")) > _now_ms() + _CLOCKS_DIFFER_MS:
                return _said(403, "Not issued yet.")
            return None if _now_ms() < instant(signed.get("expiresAt")) else _said(403, "Expired.")
        except Unreadable:
            return _said(403, "Expired.")


class Listening:
    """A server of a receiver. ``close`` takes no more, and returns when what runs has been answered."""

    def __init__(self, receiver: Receiver, host: str, port: int) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 60

            def _answer(self) -> None:
                length = self.headers.get("Content-Length", "0")
                # One request for each connection: a thread that waited for the next one would hold up the end.
                self.close_connection = True
                if not length.isdigit() or "Transfer-Encoding" in self.headers:
                    status, content = _said(411, "Content-Length is missing.")
                elif int(length) > _BODY_BYTES_MAX:
                    status, content = _said(413, "Too large.")
                else:
                    body = self.rfile.read(int(length))
                    question = self.headers.get("Countersign-Question")
                    status, content = receiver.answer(self.command, question=question, body=body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

            def log_message(self, format: str, *args: Any) -> None:
                _LOGGER.debug(format, *args)

        class Server(ThreadingHTTPServer):
            # Closing the server waits for the requests that are running.
            daemon_threads = False

        self._server = Server((host, port), Handler)
        self.port: int = self._server.server_address[1]
        self.origin = f"http://{host}:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, name="countersign receiver", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Returns when it is closed, by another thread or Ctrl C."""
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Shared:
    def __init__(self) -> None:
        self.done = threading.Event()
        self.answer: Tuple[int, bytes] = _said(500, "The outcome is unknown.")


def _evidence(result: Any) -> Any:
    """The result as evidence. What cannot be sent is told of: the effect has happened, and an answer that cannot be read would put it in doubt."""
    try:
        text = canonicalize(result)
        parse(text, depth_max=_RESULT_DEPTH_MAX)
    except NotCanonical as error:
        return {"notKept": f"The result is not JSON that evidence can hold: {error}."}
    if len(text) <= _RESULT_BYTES_MAX:
        return result
    return {"sha256": hashlib.sha256(text).hexdigest(), "bytes": len(text)}


def _json(status: int, value: Mapping[str, Any]) -> Tuple[int, bytes]:
    return status, canonicalize(value)


def _said(status: int, error: str) -> Tuple[int, bytes]:
    return _json(status, {"error": error})


def _now_ms() -> int:
    return int(time.time() * 1000)
