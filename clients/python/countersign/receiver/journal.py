"""The journal of the releases that a receiver took: a file that survives a crash of the process and a loss of power."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Union

from ..instant import Unreadable, instant

#: The release that the service signed, as it came: ``authorizationId``, ``businessTransactionId``, ``capability``, ``target``, ``parameters``, …
Release = Mapping[str, Any]

#: The service asks what became of a release for days at most.
_KEPT_MS = 90 * 24 * 60 * 60 * 1000


class Journal:
    """The releases that were begun, and their answers, in a file: a line for each, on the disk before it counts. In the format of the TypeScript client.

    A release that was answered more than 90 days ago is left out when the file is opened; one that was begun and never ended stays. May be shared by
    threads. Receivers that share a capability share a table instead, whose authorizationId is unique: a class with ``find``, ``begin`` and ``end``.
    """

    def __init__(self, path: Union[str, Path]) -> None:
        """Raises BlockingIOError where another process has it open, ValueError where a line before the last cannot be read."""
        self._path = Path(path)
        self._lock = _only_one(self._path.with_name(f"{self._path.name}.lock"))
        self._mutex = threading.Lock()
        self._failed = False
        try:
            self._entries = self._read()
            self._leave_out_old()
            self._file = open(self._path, "ab", buffering=0, opener=_private)
            _sync_folder(self._path.parent)
        except BaseException:
            self._lock.close()
            raise

    def find(self, authorization_id: str) -> Optional[Mapping[str, Any]]:
        """None: never begun. Else an object; without ``answer`` it has not ended as far as is known."""
        with self._mutex:
            return self._entries.get(authorization_id)

    def begin(self, release: Release) -> bool:
        """Remembers, before the effect, that it may happen; False where it was begun before. An exception means that nothing may be done."""
        with self._mutex:
            if release["authorizationId"] in self._entries:
                return False
            self._append(release["authorizationId"], {"release": release})
            return True

    def end(self, authorization_id: str, answer: Mapping[str, Any]) -> None:
        """Remembers the answer, before anybody is told."""
        with self._mutex:
            self._append(authorization_id, {"answer": answer})

    def close(self) -> None:
        """Lets another process have the file."""
        self._file.close()
        self._lock.close()

    def _append(self, authorization_id: str, entry: Mapping[str, Any]) -> None:
        if self._failed:
            raise OSError(f"{self._path} could not be written before: open the journal again")
        line = _line(authorization_id, entry)
        # Until it is opened again, which cuts off half a line, nothing may be written behind one.
        self._failed = True
        if self._file.write(line) != len(line):
            raise OSError(f"{self._path} was written in part: the disk is full")
        os.fsync(self._file.fileno())
        self._failed = False
        self._entries.setdefault(authorization_id, {}).update(entry)

    def _read(self) -> Dict[str, Dict[str, Any]]:
        content = self._path.read_bytes() if self._path.exists() else b""
        # A last line without its end was being written when the power went: what it was to allow or to tell did not happen.
        end = content.rfind(b"\n") + 1
        if end != len(content):
            os.truncate(self._path, end)
        entries: Dict[str, Dict[str, Any]] = {}
        for number, line in enumerate(content[:end].split(b"\n")[:-1], 1):
            try:
                entry = json.loads(line)
                entries.setdefault(entry.pop("authorizationId"), {}).update(entry)
            except (ValueError, KeyError, AttributeError):
                raise ValueError(f"line {number} of {self._path} cannot be read: mend it by hand, it says what was done") from None
        return entries

    def _leave_out_old(self) -> None:
        before = _now_ms() - _KEPT_MS
        kept = {name: entry for name, entry in self._entries.items() if "answer" not in entry or _expiry(entry) >= before}
        if len(kept) == len(self._entries):
            return
        following = self._path.with_name(f"{self._path.name}.next")
        with open(following, "wb", opener=_private) as file:
            for name, entry in kept.items():
                file.write(_line(name, entry))
            file.flush()
            os.fsync(file.fileno())
        os.replace(following, self._path)
        self._entries = kept


def _line(authorization_id: str, entry: Mapping[str, Any]) -> bytes:
    return json.dumps({"authorizationId": authorization_id, **entry}, separators=(",", ":")).encode("ascii") + b"\n"


def _expiry(entry: Mapping[str, Any]) -> int:
    try:
        return instant(entry.get("release", {}).get("expiresAt"))
    except Unreadable:
        return _now_ms()


def _now_ms() -> int:
    return int(time.time() * 1000)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sync_folder(path: Path) -> None:
    """A new file is only there after a power cut when its folder was written too. Windows has no such call."""
    if os.name == "nt":
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _only_one(path: Path) -> Any:
    """Two processes that append to one file would each do what the other has done. The lock ends with its process, and the empty file stays."""
    held = open(path, "ab")
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(held.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.close()
        raise BlockingIOError(f"another process has this journal open: it holds {path}") from None
    return held
