"""An entry of the evidence log: one line of ASCII without a newline. It names nobody: an artifact stands in it by its hash, and whom it
concerns by salted tags."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional, Tuple

from ..canonical import SAFE_INTEGER_MAX
from .note import LogError

#: The streams of the log, in the order of an entry's text: an entry is counted in each that it names.
STREAMS = ("caller", "capability", "policy", "approver")


@dataclass(frozen=True)
class StreamNumber:
    """An entry's number in a stream."""

    stream: str
    #: 16 lowercase hex digits.
    tag: str
    #: From 1.
    n: int


@dataclass(frozen=True)
class LogEntry:
    #: Kind of the hashed content: ``receipt``, or ``heads`` for the entries that the log adds itself.
    kind: str
    #: SHA-256, 64 lowercase hex digits.
    hash: str
    #: In the order of ``STREAMS``.
    streams: Tuple[StreamNumber, ...] = ()


def parse_entry(text: str) -> LogEntry:
    """Raises LogError that names the part which is wrong. A kind that is not known here is none: later versions have more."""
    version, *rest = text.split(" ")
    kind, hash, *streams = [*rest, "", ""] if len(rest) < 2 else rest
    if version != "countersign/1":
        raise LogError("the entry does not begin with countersign/1")
    if re.fullmatch("[a-z]+(?:-[a-z]+)*", kind) is None:
        raise LogError("the kind of the entry is not in lowercase letters")
    if re.fullmatch("[0-9a-f]{64}", hash) is None:
        raise LogError("the hash of the entry is not 64 lowercase hex digits")
    numbers = tuple(_parse_stream(stream) for stream in streams if len(rest) > 2)
    order = [STREAMS.index(one.stream) for one in numbers]
    if sorted(set(order)) != order:
        raise LogError("the streams of the entry are not each once and in order")
    return LogEntry(kind, hash, numbers)


def _parse_stream(text: str) -> StreamNumber:
    match = re.fullmatch("([a-z]+)=([0-9a-f]{16}):([1-9][0-9]{0,15})", text)
    if match is None or match[1] not in STREAMS or int(match[3]) > SAFE_INTEGER_MAX:
        raise LogError("a stream of the entry is not a known name, a tag of 16 hex digits and a number")
    return StreamNumber(match[1], match[2], int(match[3]))


#: The prefix of the kind of an artifact that was logged when the log began after it, or had lost it.
_LATE = "late-"


def is_entry_of(logged: LogEntry, *, kind: str, hash: str) -> Optional[bool]:
    """None where the entry is not that of the artifact; else whether it is a late one, which shows nothing of when the artifact was made."""
    if logged.hash != hash or logged.kind not in (kind, _LATE + kind):
        return None
    return logged.kind != kind
