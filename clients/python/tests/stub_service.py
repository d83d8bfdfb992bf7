"""A service that answers by script: what the client may meet on the wire and a real service does not show on demand."""

from __future__ import annotations

import json
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Callable, Dict, List, NamedTuple, Optional


class Scripted(NamedTuple):
    #: `METHOD /path` that must be asked next.
    asked: str
    #: None: the connection is closed without an answer.
    status: Optional[int]
    #: JSON, or bytes as they are sent.
    body: Any = None
    headers: Dict[str, str] = {}
    #: So many bytes of the body are sent, and the connection is closed.
    cut_at: Optional[int] = None


class Seen(NamedTuple):
    asked: str
    headers: Dict[str, str]
    body: Any


class StubService:
    def __init__(self, script: List[Scripted], otherwise: Optional[Callable[[str], Scripted]] = None) -> None:
        """``otherwise`` answers what is asked when the script is at its end."""
        self._script = list(script)
        self.seen: List[Seen] = []
        stub = self
        unscripted = otherwise or (lambda _: Scripted("nothing", None))

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                content = self.rfile.read(int(self.headers.get("content-length", 0)))
                asked = f"{self.command} {self.path}"
                headers = {name.lower(): value for name, value in self.headers.items()}
                stub.seen.append(Seen(asked, headers, json.loads(content) if content else None))
                due = stub._script.pop(0) if stub._script else unscripted(asked)
                if due.status is None:
                    self.close_connection = True
                    return
                status = due.status if due.asked == asked else 599
                body = due.body if isinstance(due.body, bytes) else json.dumps(due.body).encode("utf-8")
                self.send_response(status)
                for name, value in {**due.headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body[: due.cut_at])
                self.close_connection = due.cut_at is not None

            do_GET = do_POST = _answer

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def asked(self) -> List[str]:
        return [seen.asked for seen in self.seen]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class DrippingService:
    """Sends the checkpoint of its log byte by byte for as long as somebody listens, from its headers or from its body on."""

    def __init__(self, part: str) -> None:
        before = "HTTP/1.1 200 OK\r\n" + ("X-Endless: " if part == "headers" else "\r\n")
        self._stopped = Event()
        stopped = self._stopped

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.close_connection = True
                if self.path != "/log/checkpoint":
                    self.wfile.write(b'HTTP/1.1 200 OK\r\n\r\n{"api":"v1"}')
                    return
                self.wfile.write(before.encode("ascii"))
                with suppress(OSError):
                    while not stopped.wait(0.02):
                        self.wfile.write(b"x")

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> DrippingService:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
