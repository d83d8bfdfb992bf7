"""C2SP tlog-cosignature: what a cosigner signs, and how the time stands in its signature. The log's own ML-DSA-44 line is one too."""

from __future__ import annotations

from typing import Tuple

from ..canonical import SAFE_INTEGER_MAX
from .note import LogError

_LABEL = b"subtree/v1\n\0"


def cosigned_message(*, cosigner: str, time_seconds: int, origin: str, start: int, end: int, hash: bytes) -> bytes:
    """The message of an ML-DSA-44 cosignature (type 0x06), the structure ``cosigned_message``: who states since when (seconds since
    1970; 0 states no time) that the leaves from start to end of which log have this root.

    Raises LogError that names the member that the structure cannot hold.
    """
    if start != 0 and time_seconds != 0:
        raise LogError("a cosignature of a later part of the tree has no time")
    if len(hash) != 32:
        raise LogError(f"the hash of a cosignature has {len(hash)} bytes, not 32")
    names = _length_and_name(cosigner, "cosigner"), _length_and_name(origin, "origin")
    return b"".join(
        (
            _LABEL,
            names[0],
            _uint64(time_seconds, "time"),
            names[1],
            _uint64(start, "start"),
            _uint64(end, "end"),
            hash,
        )
    )


def ed25519_cosigned_message(time_seconds: int, checkpoint_text: str) -> bytes:
    """The message of an Ed25519 cosignature (type 0x04), of the text of the note with its extension lines and its last newline."""
    _uint64(time_seconds, "time")
    return f"cosignature/v1\ntime {time_seconds}\n{checkpoint_text}".encode("utf-8")


def timestamped_signature(signature: bytes) -> Tuple[int, bytes]:
    """Reads the structure ``timestamped_signature``: the time, and the signature after its 8 bytes.

    Raises LogError where they are missing, or the time is one that not every implementation can hold exactly.
    """
    if len(signature) < 8:
        raise LogError("the cosignature is shorter than its time")
    time_seconds = int.from_bytes(signature[:8], "big")
    if time_seconds > SAFE_INTEGER_MAX:
        raise LogError("the time of the cosignature is too great")
    return time_seconds, signature[8:]


def _length_and_name(name: str, what: str) -> bytes:
    encoded = name.encode("utf-8")
    if not 1 <= len(encoded) <= 255:
        raise LogError(f"the {what} of a cosignature has {len(encoded)} bytes; it may have 1 to 255")
    return bytes([len(encoded)]) + encoded


def _uint64(value: int, what: str) -> bytes:
    if not isinstance(value, int) or not 0 <= value <= SAFE_INTEGER_MAX:
        raise LogError(f"the {what} of a cosignature is not an integer of 0 or more")
    return value.to_bytes(8, "big")
