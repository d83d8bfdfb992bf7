"""A caller as a witness of the evidence log: it remembers the newest checkpoint that it saw, and has the service prove that each later one
holds the same entries."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import tempfile
import threading
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Iterator, List, Mapping, Optional, Tuple, Union

from .canonical import NotCanonical, parse
from .base64_text import from_base64
from .errors import ConnectionLostError, LogContradictionError
from .http import Exchange, TooLong
from .instant import Unreadable
from .log.checkpoint import Checkpoint, open_checkpoint, parse_checkpoint
from .log.note import LogError, VerifierKey, format_vkey, parse_note, parse_vkey, verifier_key
from .log.trust import is_successor, numbered, read_log_trust
from .merkle import require_consistent

_LOGGER = logging.getLogger("countersign")

#: Attempts at a check: another process may have remembered a checkpoint meanwhile, against which the own one is then checked.
_ATTEMPTS = 3
#: A checkpoint with 32 signatures has 110 KB.
_ANSWER_BYTES_MAX = 256 * 1024
#: A caller that goes on after a contradiction would fill the disk with it.
_CONTRADICTIONS_MAX = 100


@dataclass(frozen=True)
class _Remembered:
    """The content of the file."""

    vkeys: Tuple[str, ...]
    note: str
    checkpoint: Checkpoint


class _Skipped(Exception):
    """The service did not answer, or has no log: nothing can be said of it."""


class _TooLong(_Skipped):
    """An answer that is longer than any that is true."""


class LogWitness:
    """May be shared by threads; processes may share its file."""

    def __init__(
        self,
        exchange: Exchange,
        file: Union[str, Path],
        *,
        log: Any,
        interval_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._exchange = exchange
        self._file = Path(file)
        if not self._file.parent.is_dir():
            raise ValueError(f"there is no folder {self._file.parent} for the log_checkpoint_file")
        self._pinned = None if log is None else [one.key for one in read_log_trust(log).policy.logs]
        self._interval_seconds = interval_seconds
        self._clock = clock
        self._due = clock()
        self._mutex = threading.Lock()

    def check(self) -> None:
        """Does nothing before the interval is over. Where the log cannot be reached, a warning of the logger ``countersign`` says so.

        Raises LogContradictionError, and LogError where the checkpoint is none or no trusted key signed it; the next call checks again.
        """
        with self._mutex:
            if self._clock() < self._due:
                return
            try:
                self._check()
            except _Skipped as skipped:
                _LOGGER.warning("The evidence log was not checked: %s.", skipped)
            self._due = self._clock() + self._interval_seconds

    def _check(self) -> None:
        for _ in range(_ATTEMPTS):
            # Before the newest is asked for: another process may remember a later one while the answer is on its way.
            seen = self._read()
            note = self._text("/log/checkpoint")
            keys = self._keys_of(note, seen)
            received = open_checkpoint(note, logs=keys)
            if seen is not None:
                self._compare(seen, note, received, keys)
                if (received.origin, received.size) == (seen.checkpoint.origin, seen.checkpoint.size):
                    return
            vkeys = tuple(format_vkey(key) for key in keys if key.name == received.origin)
            if self._remember(_Remembered(vkeys, note, received), instead_of=seen):
                return
        raise _Skipped("other processes remembered checkpoints at the same time")

    def _keys_of(self, note: str, seen: Optional[_Remembered]) -> List[VerifierKey]:
        """The keys that may sign it: those that were given or else remembered, and on first use those that the service names. They sign
        for the logs that continue a closed one too, of which a description that was saved before them does not know."""
        origin = parse_checkpoint(parse_note(note).text).origin
        if self._pinned is not None:
            keys = self._pinned
        elif seen is not None:
            keys = [parse_vkey(vkey) for vkey in seen.vkeys]
        else:
            return [one.key for one in read_log_trust(self._value("/.well-known/countersign-log")).policy.logs]
        if seen is None:
            return keys
        before = seen.checkpoint.origin
        if origin == before:
            return keys + _inherited_keys(before, keys)
        if is_successor(origin, before):
            return keys + _inherited_keys(before, keys) + _inherited_keys(origin, keys)
        return keys

    def _compare(self, seen: _Remembered, note: str, received: Checkpoint, keys: List[VerifierKey]) -> None:
        """Raises LogContradictionError where the newest checkpoint is not of the log that was seen, grown."""
        before = seen.checkpoint
        if received.origin == before.origin:
            self._require_growth(seen, note, received, "/log")
        elif is_successor(received.origin, before.origin):
            # It says nothing of what the closed log held: the closed one must still hold what was seen.
            closed = f"/log/{(numbered(before.origin) or ('', 0))[1]}"
            closed_note = self._text(f"{closed}/checkpoint")
            end = open_checkpoint(closed_note, logs=keys)
            if end.origin != before.origin:
                self._contradict(seen, closed_note, f"The log '{end.origin}' is shown in place of the closed log '{before.origin}'.")
            self._require_growth(seen, closed_note, end, closed)
            _LOGGER.warning("The evidence log is now '%s'; '%s' is closed.", received.origin, before.origin)
        else:
            self._contradict(seen, note, f"The log is '{received.origin}' now, and was '{before.origin}'.")

    def _require_growth(self, seen: _Remembered, note: str, received: Checkpoint, path: str) -> None:
        before = seen.checkpoint
        if received.size < before.size:
            reason = f"The log '{before.origin}' had {before.size} entries, and has {received.size} now."
            self._contradict(seen, note, reason)
        if received.size == before.size:
            if received.root != before.root:
                reason = f"Two checkpoints of the log '{before.origin}' have {before.size} entries and different roots."
                self._contradict(seen, note, reason)
            return
        # All logs begin with no entries.
        if before.size == 0:
            return
        answer: Any = None
        try:
            content = self._content(f"{path}/consistency?from={before.size}&to={received.size}")
            answer = content.decode("utf-8", "replace")
            answer = parse(content)
            require_consistent(
                end=before.size,
                size=received.size,
                part_root=before.root,
                root=received.root,
                path=_hashes_of(answer),
            )
        except (_TooLong, NotCanonical, Unreadable) as error:
            # Without an answer nothing is known. Any other answer than the proof is one that hides what the log held.
            reason = f"The log '{before.origin}' is not shown to begin with the {before.size} entries that it had: {error}."
            self._contradict(seen, note, reason, answer)

    def _contradict(self, seen: _Remembered, received: str, reason: str, consistency: Any = None) -> None:
        held = {"seen": seen.note, "received": received, "consistency": consistency, "reason": reason}
        raise LogContradictionError(reason, seen.note, received, consistency, self._keep(held))

    def _keep(self, held: Mapping[str, Any]) -> Optional[str]:
        """The file that holds both sides; None where it cannot be written, which hides no contradiction."""
        before = f"{self._file.name}.contradiction-"
        try:
            if sum(one.name.startswith(before) for one in self._file.parent.iterdir()) >= _CONTRADICTIONS_MAX:
                return None
            now = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
            file = self._file.with_name(f"{before}{now}.json")
            _write(file, held)
            return str(file)
        except OSError as error:
            _LOGGER.warning("The contradiction of the evidence log cannot be written: %s.", error)
            return None

    # The remembered checkpoint

    def _read(self) -> Optional[_Remembered]:
        """Raises LogError for a file that holds something else: what was seen is lost, and nobody must overlook that. Also where its own
        keys did not sign its checkpoint: what was edited or damaged here would accuse an honest log."""
        try:
            content = self._file.read_bytes()
        except FileNotFoundError:
            return None
        try:
            value = parse(content)
            vkeys, note = tuple(value["vkeys"]), value["checkpoint"]
            signed = open_checkpoint(note, logs=[parse_vkey(vkey) for vkey in vkeys])
            return _Remembered(vkeys, note, Checkpoint(signed.origin, signed.size, signed.root))
        except (NotCanonical, Unreadable, KeyError, TypeError, AttributeError) as error:
            raise LogError(f"{self._file} does not hold the checkpoint of a log ({error}): move it away to begin anew") from None

    def _remember(self, made: _Remembered, *, instead_of: Optional[_Remembered]) -> bool:
        """False where another process has remembered something meanwhile."""
        try:
            with _locked(self._file.with_name(f"{self._file.name}.lock")):
                if self._read() != instead_of:
                    return False
                origin = made.checkpoint.origin
                _write(self._file, {"origin": origin, "vkeys": list(made.vkeys), "checkpoint": made.note})
        except OSError as error:
            # A place where nothing can ever be remembered is a mistake that the first call shows.
            if instead_of is None:
                raise
            raise _Skipped(f"{self._file} cannot be written: {error}") from None
        return True

    # Answers of the service

    def _text(self, target: str) -> str:
        content = self._content(target)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            raise LogError(f"the answer to GET {target} is not UTF-8 text") from None

    def _value(self, target: str) -> Any:
        try:
            return parse(self._content(target))
        except NotCanonical as error:
            raise LogError(f"the answer to GET {target} is not JSON: {error}") from None

    def _content(self, target: str) -> bytes:
        try:
            answer = self._exchange.send("GET", target, query={}, body=None, open_route=True, bytes_max=_ANSWER_BYTES_MAX)
        except TooLong as error:
            raise _TooLong(str(error)) from None
        except ConnectionLostError as error:
            raise _Skipped(str(error)) from None
        if answer.status != 200:
            raise _Skipped(f"GET {target} was answered {answer.status}")
        return answer.content


def _inherited_keys(origin: str, keys: List[VerifierKey]) -> List[VerifierKey]:
    """The keys of the newest log before it, under its name; none where it has keys of its own."""
    if any(key.name == origin for key in keys):
        return []
    earlier = [key.name for key in keys if is_successor(origin, key.name)]
    closed = max(earlier, key=lambda name: (numbered(name) or ("", 0))[1], default=None)
    return [verifier_key(origin, key.type, key.public_key) for key in keys if key.name == closed]


def _hashes_of(answer: Any) -> List[bytes]:
    hashes = answer.get("hashes") if isinstance(answer, dict) else None
    if not isinstance(hashes, list) or not all(isinstance(one, str) for one in hashes):
        raise Unreadable("the answer has no list of hashes")
    # Text that is not base64 becomes an empty hash, whose length is refused.
    return [from_base64(one) or b"" for one in hashes]


def _write(file: Path, value: Mapping[str, Any]) -> None:
    """The whole file or none of it, whatever happens in between."""
    handle, temporary = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump(value, out, ensure_ascii=False, indent=2)
            out.write("\n")
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Among the processes of a machine. The lock ends with its process, and the empty file stays."""
    with open(file, "a+b") as held:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(held.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX)
        # Closing the file gives the lock back.
        yield
