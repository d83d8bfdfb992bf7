"""The public keys that evidence is checked with: a saved GET /.well-known/jwks.json, a standard JWKS (RFC 7517), or the keys of
humans as GET /keys/{approverId}:{keyId} answers each."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Optional

from . import ed25519, ml_dsa_65
from .instant import Unreadable, instant


class UnusableKeySet(ValueError):
    """Not a key set, or one that contradicts itself: nothing can be checked with it."""


@dataclass(frozen=True)
class PublicKey:
    algorithm: str
    raw: bytes
    #: RFC 3339: what it signed for later executions counts for nothing. None: in effect, when the key was saved.
    revoked_at: Optional[str] = None

    def verifies(self, message: bytes, signature: bytes) -> bool:
        verify = ed25519.verify if self.algorithm == "ed25519" else ml_dsa_65.verify
        return verify(message=message, signature=signature, public_key=self.raw)


#: The DER of a SubjectPublicKeyInfo before the key's own bytes (RFC 8410 §4, RFC 9881 §4).
_SPKI_PREFIX = {
    "ed25519": bytes.fromhex("302a300506032b6570032100"),
    "ml-dsa-65": bytes.fromhex("308207b2300b0609608648016503040312038207a100"),
}
_KEY_BYTES = {"ed25519": ed25519.PUBLIC_KEY_BYTES, "ml-dsa-65": ml_dsa_65.PUBLIC_KEY_BYTES}


def read_key_set(value: Any) -> Dict[str, PublicKey]:
    """Keys by their id, of a key set, of a single key, or of a list of such, which are one set together. Keys of other
    algorithms are left out: what they signed is then by an unknown key.

    Raises UnusableKeySet where an entry is malformed, two entries of an id differ, or no key is left.
    """
    keys: Dict[str, PublicKey] = {}
    for entry in _entries(value):
        if not isinstance(entry, dict):
            raise UnusableKeySet("a key is not an object")
        key_id = entry.get("keyId", entry.get("kid"))
        key = _read_key(entry)
        if key is None:
            continue
        if not isinstance(key_id, str) or key_id == "":
            raise UnusableKeySet("a key has no id")
        same = keys.get(key_id, key)
        if (same.algorithm, same.raw) != (key.algorithm, key.raw):
            raise UnusableKeySet(f"two keys are called {key_id}")
        keys[key_id] = replace(key, revoked_at=_earlier(same.revoked_at, _revoked_at(entry)))
    if not keys:
        raise UnusableKeySet("no key of an algorithm that this verifier knows")
    _refuse_shared_keys(keys)
    return keys


def _refuse_shared_keys(keys: Dict[str, PublicKey]) -> None:
    """One key under the names of two approvers would make two of one person; under the service's, a human of the service.
    Whoever resolves changes may well approve by the same key: a caller and an approver are named apart."""
    first: Dict[bytes, str] = {}
    for key_id, key in keys.items():
        if key_id.endswith(":step-up"):
            continue
        other = first.setdefault(key.raw, key_id)
        if _owner(other) != _owner(key_id):
            raise UnusableKeySet(f"one key is called {other} and {key_id}")


def _owner(key_id: str) -> str:
    """The approver whose key it is; empty for the service's own."""
    return key_id.partition(":")[0] if ":" in key_id else ""


def _entries(value: Any) -> List[Any]:
    if isinstance(value, list):
        return [entry for one in value for entry in _entries(one)]
    if isinstance(value, dict) and isinstance(value.get("keys"), list):
        return list(value["keys"])
    if isinstance(value, dict) and "keys" not in value and value.keys() & {"pem", "jwk", "kty"}:
        return [value]
    raise UnusableKeySet("a key set is an object with a list of keys, or a single key")


def _revoked_at(entry: Dict[str, Any]) -> Optional[str]:
    if "revokedAt" not in entry:
        return None
    try:
        instant(entry["revokedAt"])
    except Unreadable:
        raise UnusableKeySet("a revokedAt is no time") from None
    return str(entry["revokedAt"])


def _earlier(one: Optional[str], other: Optional[str]) -> Optional[str]:
    """A copy that was saved before the key was revoked does not undo that."""
    if one is None or other is None:
        return one or other
    return min(one, other, key=instant)


def _read_key(entry: Dict[str, Any]) -> Optional[PublicKey]:
    if "keyId" not in entry:
        return _from_jwk(entry)
    algorithm = entry.get("algorithm")
    if algorithm not in _KEY_BYTES:
        return None
    key = PublicKey(algorithm, _from_pem(entry.get("pem"), _SPKI_PREFIX[algorithm]))
    if "jwk" in entry and (not isinstance(entry["jwk"], dict) or _from_jwk(entry["jwk"]) != key):
        raise UnusableKeySet(f"the pem and the jwk of {entry['keyId']} are not the same key")
    return _checked(key)


def _from_jwk(jwk: Dict[str, Any]) -> Optional[PublicKey]:
    """RFC 8037 §2 for Ed25519, RFC 9964 §3 for ML-DSA-65; None for other algorithms."""
    if jwk.get("kty") == "OKP" and jwk.get("crv") == "Ed25519":
        return _checked(PublicKey("ed25519", _base64url(jwk.get("x"))))
    if jwk.get("kty") == "AKP" and jwk.get("alg") == "ML-DSA-65":
        return _checked(PublicKey("ml-dsa-65", _base64url(jwk.get("pub"))))
    return None


def _from_pem(pem: Any, prefix: bytes) -> bytes:
    """RFC 7468 §13."""
    lines = pem.strip().splitlines() if isinstance(pem, str) else []
    if len(lines) < 3 or lines[0] != "-----BEGIN PUBLIC KEY-----" or lines[-1] != "-----END PUBLIC KEY-----":
        raise UnusableKeySet("a pem is not a public key")
    der = _decoded("".join(lines[1:-1]))
    if not der.startswith(prefix):
        raise UnusableKeySet("a pem is not a key of its algorithm")
    return der[len(prefix) :]


def _checked(key: PublicKey) -> PublicKey:
    if len(key.raw) != _KEY_BYTES[key.algorithm]:
        raise UnusableKeySet(f"a key of {key.algorithm} has {len(key.raw)} bytes")
    return key


def _base64url(text: Any) -> bytes:
    if not isinstance(text, str) or set("+/=") & set(text):
        raise UnusableKeySet("a jwk is malformed")
    return _decoded(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise UnusableKeySet("a key is not base64") from None
