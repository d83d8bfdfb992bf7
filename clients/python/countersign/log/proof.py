"""C2SP tlog-proof: a file that proves, without any further answer of the log, that an entry is in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional, Tuple, Union

from ..base64_text import from_base64
from ..merkle import leaf_hash, root_of_inclusion
from .checkpoint import parse_integer
from .note import LogError, well_formed_text
from .policy import LogPolicy, TrustedCheckpoint, open_by_policy


@dataclass(frozen=True)
class LogProof:
    #: Index of the entry, from 0.
    index: int
    #: From the leaf up, 32 bytes each.
    path: Tuple[bytes, ...]
    #: The signed note, as the log published it.
    checkpoint: str
    #: Nothing signs it: what it says has to be proven otherwise, as an entry is by the path.
    extra: Optional[bytes] = None


@dataclass(frozen=True)
class ProvenEntry(TrustedCheckpoint):
    index: int


_HEADER = "c2sp.org/tlog-proof@v1"
#: A tree with more levels has more leaves than every implementation can count.
_MAX_PATH = 53


def parse_proof(file: Union[str, bytes]) -> LogProof:
    """Raises LogError that says why it is no proof; what it proves is not looked at."""
    text = well_formed_text(file, "the proof")
    blank = text.find("\n\n")
    if blank == -1:
        raise LogError("the proof has no blank line before its checkpoint")
    header, *lines = text[:blank].split("\n")
    if header != _HEADER:
        raise LogError(f"the first line of the proof is not '{_HEADER}'")
    extra = _extra_of(lines.pop(0)) if lines and lines[0].startswith("extra ") else None
    index = re.fullmatch("index (.*)", lines.pop(0)) if lines else None
    if index is None:
        raise LogError("the proof has no index line where it belongs")
    if len(lines) > _MAX_PATH:
        raise LogError(f"the path of the proof has {len(lines)} hashes; at most {_MAX_PATH} are read")
    return LogProof(
        index=parse_integer(index[1], "the index of the proof"),
        path=tuple(_hash_of(line, height) for height, line in enumerate(lines)),
        checkpoint=text[blank + 2 :],
        extra=extra,
    )


def _extra_of(line: str) -> bytes:
    extra = from_base64(line[len("extra ") :])
    if not extra:
        raise LogError("the extra line of the proof is not canonical base64")
    return extra


def _hash_of(line: str, height: int) -> bytes:
    found = from_base64(line)
    if found is None or len(found) != 32:
        raise LogError(f"path hash {height} of the proof is not 32 bytes of base64")
    return found


def verify_proof(entry: bytes, proof: Union[str, bytes, LogProof], policy: LogPolicy) -> ProvenEntry:
    """Checks that an entry is in a log, by RFC 9162 §2.1.3.2 and a checkpoint that the policy accepts. ``entry`` is its bytes as they are
    logged: the leaf of the tree, not its hash. A policy that lists only the log's ML-DSA-44 key rests on that signature alone, whatever
    other lines the checkpoint has.

    Raises Unreadable, mostly LogError, that names what is wrong: the proof, its checkpoint, who signed it, or that its path does not lead
    to its root.
    """
    parsed = proof if isinstance(proof, LogProof) else parse_proof(proof)
    trusted = open_by_policy(parsed.checkpoint, policy)
    root = root_of_inclusion(leaf_hash(entry), index=parsed.index, size=trusted.size, path=parsed.path)
    if root != trusted.root:
        raise LogError(f"the entry is not at index {parsed.index} of the log: its path does not lead to the root")
    return ProvenEntry(trusted.origin, trusted.size, trusted.root, trusted.signed_by, trusted.cosigned_by, parsed.index)
