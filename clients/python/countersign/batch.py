"""Batch signatures: one signature over the head of a Merkle tree (RFC 9162 §2.1) of many artifacts, each of which carries where it
stands in the tree and the hashes from there to its root."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from .base64_text import from_base64
from .canonical import SAFE_INTEGER_MAX
from .instant import Unreadable
from .merkle import leaf_hash, root_of_inclusion

_SUFFIX = "-batch"

#: Artifacts that are signed by batch, with the algorithm names. A receipt's own signature never is: `openssl` alone checks it.
_SIGNED_BY_BATCH = {
    "trust-record": ("ed25519-batch", "ml-dsa-65-batch"),
    "execution-authorization": ("ed25519-batch",),
    "receipt": ("ml-dsa-65-batch",),
}

#: Printable ASCII without space and plus sign: no head begins as a DSSE encoding does, and each name is one of a C2SP note.
_ORIGIN = re.compile("[!-*,-~]{1,200}/batch/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Batch:
    """The member ``batch`` of a signature."""

    #: The first line of the signed head.
    origin: str
    #: How many artifacts the batch holds.
    size: int
    #: From 0.
    index: int
    #: From the leaf up.
    path: Tuple[bytes, ...]


def family_of(algorithm: str) -> str:
    """The algorithm whose key signs under this name: ``ed25519`` for ``ed25519-batch``, and any other name as it is."""
    return algorithm[: -len(_SUFFIX)] if algorithm.endswith(_SUFFIX) else algorithm


def signed_message(artifact: str, encoded: bytes, algorithm: str, batch: Optional[Batch]) -> bytes:
    """The bytes that a signature is of: the encoded artifact itself, or the head of its batch.

    Raises Unreadable where this artifact can have no such signature.
    """
    if not algorithm.endswith(_SUFFIX):
        if batch is not None:
            raise Unreadable(f"a signature of '{algorithm}' stands in no batch")
        return encoded
    if algorithm not in _SIGNED_BY_BATCH.get(artifact, ()):
        raise Unreadable(f"'{algorithm}' does not sign this kind of artifact")
    if batch is None:
        raise Unreadable(f"a signature of '{algorithm}' has no batch")
    root = root_of_inclusion(leaf_hash(encoded), index=batch.index, size=batch.size, path=batch.path)
    return f"{batch.origin}\n{batch.size}\n{base64.b64encode(root).decode('ascii')}\n".encode("utf-8")


def batch_of(signature: Mapping[str, Any]) -> Optional[Batch]:
    """None where the signature has no such member. Raises Unreadable for one that is not a place in a batch."""
    if "batch" not in signature:
        return None
    value = signature["batch"]
    batch = value if isinstance(value, dict) else {}
    size, index, path = _integer(batch.get("size")), _integer(batch.get("index")), batch.get("path")
    if not _is_origin(batch.get("origin")):
        raise Unreadable("the origin of the batch is not a name, /batch/ and a UUID")
    if size is None or size < 2:
        raise Unreadable("the size of the batch is not an integer of 2 or more")
    if index is None or index < 0:
        raise Unreadable("the index in the batch is not an integer of 0 or more")
    if not isinstance(path, list) or not all(isinstance(text, str) for text in path):
        raise Unreadable("the path of the batch is not a list of hashes")
    if batch.keys() - {"origin", "size", "index", "path"}:
        raise Unreadable("the batch has an unknown member")
    return Batch(batch["origin"], size, index, tuple(_hashes(path)))


def _is_origin(value: Any) -> bool:
    return isinstance(value, str) and _ORIGIN.fullmatch(value) is not None


def _integer(value: Any) -> Optional[int]:
    """5.0 is 5 in JSON; None for what is no integer, or one that not every reader of JSON tells from the next."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= SAFE_INTEGER_MAX else None


def _hashes(path: Sequence[str]) -> List[bytes]:
    hashes = [from_base64(text) or b"" for text in path]
    if any(len(one) != 32 for one in hashes):
        raise Unreadable("a hash in the path of the batch is not 32 bytes of base64")
    return hashes
