"""A log in memory, for tests: its tree by the definitions of RFC 9162 §2.1 as they stand there, recursive and slow, and its signed notes."""

from __future__ import annotations

import base64
import hashlib
from typing import List, Sequence

from countersign import ed25519
from countersign.log import VerifierKey, format_vkey, verifier_key
from countersign.log.cosignature import ed25519_cosigned_message


def text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


class NoteSigner:
    """An Ed25519 key under a name. The package only verifies, so the signing of RFC 8032 §5.1.6 stands here."""

    def __init__(self, name: str, seed: int = 1, type: str = "ed25519") -> None:
        digest = hashlib.sha512(bytes([seed]) * 32).digest()
        scalar = int.from_bytes(digest[:32], "little")
        self._scalar = scalar & ((1 << 254) - 8) | 1 << 254
        self._prefix = digest[32:]
        self._public = _encoded(self._scalar)
        self.key: VerifierKey = verifier_key(name, type, self._public)
        self.vkey = format_vkey(self.key)

    def sign(self, message: bytes) -> bytes:
        r = int.from_bytes(hashlib.sha512(self._prefix + message).digest(), "little") % ed25519._L
        encoded_r = _encoded(r)
        h = int.from_bytes(hashlib.sha512(encoded_r + self._public + message).digest(), "little")
        return encoded_r + ((r + h * self._scalar) % ed25519._L).to_bytes(32, "little")

    def line(self, note_text: str, time_seconds: int = 1_795_000_000) -> str:
        if self.key.type == "ed25519":
            signature = self.sign(note_text.encode("utf-8"))
        else:
            message = ed25519_cosigned_message(time_seconds, note_text)
            signature = time_seconds.to_bytes(8, "big") + self.sign(message)
        return f"— {self.key.name} {text(bytes.fromhex(self.key.key_id) + signature)}\n"


def _encoded(scalar: int) -> bytes:
    x, y, z, _ = ed25519._multiply(scalar % ed25519._L, ed25519._BASE)
    inverse = pow(z, -1, ed25519._P)
    x, y = x * inverse % ed25519._P, y * inverse % ed25519._P
    return (y | (x & 1) << 255).to_bytes(32, "little")


class Log:
    """Entries under an origin; another ``fork`` is another history under the same keys."""

    def __init__(self, origin: str = "countersign.example/log/1", seed: int = 1, fork: str = "") -> None:
        self.origin = origin
        self.signer = NoteSigner(origin, seed)
        self._fork = fork

    def entries(self, size: int) -> List[bytes]:
        return [f"entry {i}{self._fork if i > 2 else ''}".encode("ascii") for i in range(size)]

    def root(self, size: int) -> bytes:
        return root_of(self.entries(size))

    def checkpoint(self, size: int, *cosigners: NoteSigner) -> str:
        signed = f"{self.origin}\n{size}\n{text(self.root(size))}\n"
        return f"{signed}\n{''.join(one.line(signed) for one in (self.signer, *cosigners))}"

    def proof(self, index: int, size: int, *cosigners: NoteSigner) -> str:
        path = "".join(f"{text(one)}\n" for one in inclusion_path(index, self.entries(size)))
        return f"c2sp.org/tlog-proof@v1\nindex {index}\n{path}\n{self.checkpoint(size, *cosigners)}"

    def consistency(self, before: int, after: int) -> dict:
        hashes = consistency_path(before, self.entries(after), True)
        return {"from": before, "to": after, "hashes": [text(one) for one in hashes]}

    def description(self) -> dict:
        return {
            "logs": [
                {
                    "origin": self.origin,
                    "vkeys": [self.signer.vkey],
                    "validFrom": "2026-11-21T01:00:00.000Z",
                    "maximumDelaySeconds": 60,
                }
            ]
        }


def root_of(entries: Sequence[bytes]) -> bytes:
    """MTH, §2.1.1."""
    if not entries:
        return hashlib.sha256(b"").digest()
    if len(entries) == 1:
        return hashlib.sha256(b"\0" + entries[0]).digest()
    k = _split(len(entries))
    return hashlib.sha256(b"\1" + root_of(entries[:k]) + root_of(entries[k:])).digest()


def inclusion_path(m: int, entries: Sequence[bytes]) -> List[bytes]:
    """PATH, §2.1.3.1."""
    if len(entries) == 1:
        return []
    k = _split(len(entries))
    if m < k:
        return [*inclusion_path(m, entries[:k]), root_of(entries[k:])]
    return [*inclusion_path(m - k, entries[k:]), root_of(entries[:k])]


def consistency_path(m: int, entries: Sequence[bytes], complete: bool) -> List[bytes]:
    """SUBPROOF, §2.1.4.1."""
    if m == len(entries):
        return [] if complete else [root_of(entries)]
    k = _split(len(entries))
    if m <= k:
        return [*consistency_path(m, entries[:k], complete), root_of(entries[k:])]
    return [*consistency_path(m - k, entries[k:], False), root_of(entries[:k])]


def _split(size: int) -> int:
    return 1 << (size - 1).bit_length() - 1
