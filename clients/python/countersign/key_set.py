"""The public keys that evidence is checked with: a saved GET /.well-known/jwks.json, a standard JWKS (RFC 7517), or the keys of
humans as GET /keys/{approverId}:{keyId} answers each."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from . import ed25519, p256
from .base64_text import from_base64
from .instant import Unreadable, instant
from .ml_dsa import ML_DSA_65
from .passkey import Passkey, read_passkey


class UnusableKeySet(ValueError):
    """Not a key set, or one that contradicts itself: nothing can be checked with it."""


@dataclass(frozen=True)
class PublicKey:
    algorithm: str
    raw: bytes
    #: RFC 3339: what it signed for later executions counts for nothing. None: in effect, when the key was saved.
    revoked_at: Optional[str] = None
    #: A key with it verifies ``webauthn-*`` only, and one without it never does.
    passkey: Optional[Passkey] = None

    def verifies(self, message: bytes, signature: bytes) -> bool:
        verify = {"ed25519": ed25519.verify, "ml-dsa-65": ML_DSA_65.verify, "es256": p256.verify}[self.algorithm]
        return verify(message=message, signature=signature, public_key=self.raw)


#: The DER of a SubjectPublicKeyInfo before the key's own bytes (RFC 8410 §4, RFC 9881 §4, RFC 5480 §2).
_SPKI_PREFIX = {
    "ed25519": bytes.fromhex("302a300506032b6570032100"),
    "ml-dsa-65": bytes.fromhex("308207b2300b0609608648016503040312038207a100"),
    "es256": bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004"),
}
_KEY_BYTES = {"ed25519": ed25519.PUBLIC_KEY_BYTES, "ml-dsa-65": ML_DSA_65.public_key_bytes, "es256": p256.PUBLIC_KEY_BYTES}
#: A signature of another length is refused before it is looked at.
SIGNATURE_BYTES = {"ed25519": ed25519.SIGNATURE_BYTES, "ml-dsa-65": ML_DSA_65.signature_bytes}

#: RFC 7468 §13: whole lines of base64 between the two, then white space at most.
_PEM = re.compile(
    r"-----BEGIN PUBLIC KEY-----\r?\n((?:[A-Za-z0-9+/=]+\r?\n)+)-----END PUBLIC KEY-----[ \t\r\n]*",
)


def read_key_set(value: Any) -> Dict[str, PublicKey]:
    """Keys by their id, of a key set, of a single key, or of a list of such, which are one set together. Keys of other
    algorithms are left out, as RFC 7517 §5 asks: what they signed is then by a key that is not given.

    Raises UnusableKeySet where an entry is malformed, contradicts itself or another one, holds a private key or one that no
    private key has, or where no key is left.
    """
    found: List[Tuple[str, PublicKey]] = []
    for number, entry in enumerate(_entries(value), 1):
        which = f"key {number} of the key set"
        if not isinstance(entry, dict):
            raise UnusableKeySet(f"{which} is not an object")
        key = _material_of(entry, which)
        if key is None:
            continue
        found.append((_name_of(entry, which), replace(key, revoked_at=_revoked_at(entry, which))))
    if not found:
        raise UnusableKeySet("the key set holds no key of an algorithm that this verifier knows")
    return _one_of_each(found)


def combined_keys(first: Mapping[str, PublicKey], second: Mapping[str, PublicKey]) -> Dict[str, PublicKey]:
    """The keys of both sets. Raises UnusableKeySet where one contradicts the other."""
    return _one_of_each([*first.items(), *second.items()])


def _one_of_each(found: Sequence[Tuple[str, PublicKey]]) -> Dict[str, PublicKey]:
    keys: Dict[str, PublicKey] = {}
    for key_id, key in found:
        same = keys.get(key_id, key)
        # The same public key as a passkey and as a raw one, or for another site, is two keys.
        if not is_same_key(same, key):
            raise UnusableKeySet(f"two keys are called {key_id}: one of them is false")
        keys[key_id] = replace(key, revoked_at=_earlier(same.revoked_at, key.revoked_at))
    _refuse_shared_keys(keys)
    return keys


def is_same_key(one: PublicKey, other: PublicKey) -> bool:
    return (one.algorithm, one.raw, one.passkey) == (other.algorithm, other.raw, other.passkey)


def _refuse_shared_keys(keys: Dict[str, PublicKey]) -> None:
    """One key under the names of two approvers would make two of one person; under the service's, a human of the service.
    A human who resolves changes may well approve by the same key: a caller and an approver are named apart."""
    first: Dict[bytes, str] = {}
    for key_id, key in keys.items():
        if key_id.endswith(":step-up"):
            continue
        other = first.setdefault(key.raw, key_id)
        if _owner(other) != _owner(key_id):
            raise UnusableKeySet(f"one key is called {other} and {key_id}: one of them is false")


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


def _revoked_at(entry: Dict[str, Any], which: str) -> Optional[str]:
    if "revokedAt" not in entry:
        return None
    try:
        instant(entry["revokedAt"])
    except Unreadable:
        raise UnusableKeySet(f"{which} has a revokedAt that is no time") from None
    return str(entry["revokedAt"])


def _earlier(one: Optional[str], other: Optional[str]) -> Optional[str]:
    """A copy that was saved before the key was revoked does not undo that."""
    if one is None or other is None:
        return one or other
    return min(one, other, key=instant)


def _material_of(entry: Dict[str, Any], which: str) -> Optional[PublicKey]:
    """The one key that every part of an entry holds; None for a key of another kind."""
    _refuse_private(entry, which)
    if isinstance(entry.get("jwk"), dict):
        _refuse_difference(entry, entry["jwk"], which)
    jwks = _jwks_of(entry)
    if "pem" not in entry and not jwks:
        raise UnusableKeySet(f"{which} has neither a pem, a jwk nor a kty")
    claimed = entry.get("algorithm")
    # A standard JWKS may hold P-256 keys for other purposes, which are left out.
    may_be_es256 = "passkey" in entry or claimed == "es256"
    pems = [_from_pem(entry["pem"], may_be_es256, which)] if "pem" in entry else []
    found = pems + [_from_jwk(jwk, may_be_es256, which) for jwk in jwks]
    material = next((key for key in found if key is not None), None)
    if material is None:
        if isinstance(claimed, str) and claimed in _KEY_BYTES:
            raise UnusableKeySet(f"{which} is called {claimed} but holds a key of another kind")
        return None
    if "algorithm" in entry and claimed != material.algorithm:
        raise UnusableKeySet(f"{which} is called another algorithm than its key has")
    if any(key != material for key in found):
        raise UnusableKeySet(f"{which} holds different keys in its pem and its jwk")
    return replace(material, passkey=_passkey_of(entry, material, which))


_JWK_MEMBERS = ("kty", "crv", "x", "y", "pub", "alg")


def _refuse_difference(entry: Dict[str, Any], jwk: Dict[str, Any], which: str) -> None:
    """The entries of a key set have the members of their jwk beside it too. A reader may take either."""
    for member in _JWK_MEMBERS:
        if member in entry and member in jwk and not (isinstance(jwk[member], str) and entry[member] == jwk[member]):
            raise UnusableKeySet(f"{which} has another {member} beside its jwk than in it")


def _passkey_of(entry: Dict[str, Any], key: PublicKey, which: str) -> Optional[Passkey]:
    if "passkey" not in entry:
        if key.algorithm == "es256":
            raise UnusableKeySet(f"{which} is an es256 key and no passkey: none is used here")
        return None
    if key.algorithm == "ml-dsa-65":
        raise UnusableKeySet(f"{which} is an ml-dsa-65 key, and no passkey is one")
    try:
        return read_passkey(entry["passkey"])
    except Unreadable as error:
        raise UnusableKeySet(f"{which} is no usable passkey: {error}") from None


def _jwks_of(entry: Dict[str, Any]) -> List[Any]:
    return ([entry["jwk"]] if "jwk" in entry else []) + ([entry] if "kty" in entry else [])


def _name_of(entry: Dict[str, Any], which: str) -> str:
    """The one name that every part of the entry gives the key."""
    parts = [entry, *(jwk for jwk in _jwks_of(entry) if isinstance(jwk, dict))]
    names = [part[member] for part in parts for member in ("keyId", "kid") if member in part]
    if not names or not isinstance(names[0], str) or names[0] == "":
        raise UnusableKeySet(f"{which} has no keyId or kid")
    if any(name != names[0] for name in names):
        raise UnusableKeySet(f"{which} has two different names")
    if any(part["use"] != "sig" for part in parts if "use" in part):
        raise UnusableKeySet(f"{which} is not for signatures: its use is not 'sig'")
    return str(names[0])


def _from_jwk(jwk: Any, may_be_es256: bool, which: str) -> Optional[PublicKey]:
    """RFC 8037 §2 for Ed25519, RFC 9964 §3 for ML-DSA-65, RFC 7518 §6.2.1 for P-256; None for other algorithms."""
    if not isinstance(jwk, dict):
        raise UnusableKeySet(f"{which} has a jwk that is not an object")
    _refuse_private(jwk, which)
    if jwk.get("kty") == "OKP" and jwk.get("crv") == "Ed25519":
        if "alg" in jwk and jwk["alg"] not in ("EdDSA", "Ed25519"):
            raise UnusableKeySet(f"{which} is an Ed25519 key with an alg that is not Ed25519's")
        return _checked(PublicKey("ed25519", _base64url(jwk.get("x"), which)), which)
    if jwk.get("kty") == "AKP" and jwk.get("alg") == "ML-DSA-65":
        return _checked(PublicKey("ml-dsa-65", _base64url(jwk.get("pub"), which)), which)
    if may_be_es256 and jwk.get("kty") == "EC" and jwk.get("crv") == "P-256":
        if "alg" in jwk and jwk["alg"] != "ES256":
            raise UnusableKeySet(f"{which} is a P-256 key with an alg that is not ES256")
        coordinates = [_base64url(jwk.get(name), which) for name in ("x", "y")]
        if any(len(coordinate) != 32 for coordinate in coordinates):
            raise UnusableKeySet(f"{which} has coordinates that do not have 32 bytes")
        return _checked(PublicKey("es256", b"".join(coordinates)), which)
    return None


def _refuse_private(part: Dict[str, Any], which: str) -> None:
    """``d`` of RFC 8037 §2, ``priv`` of RFC 9964 §3."""
    if "d" in part or "priv" in part:
        raise UnusableKeySet(f"{which} holds a private key: treat it as compromised, and save the public keys only")


def _from_pem(pem: Any, may_be_es256: bool, which: str) -> Optional[PublicKey]:
    """One SPKI block and nothing else; None for a key of another kind."""
    block = _PEM.fullmatch(pem) if isinstance(pem, str) else None
    der = None if block is None else from_base64(block.group(1).replace("\r\n", "\n").replace("\n", ""))
    if not der:
        raise UnusableKeySet(f"{which} has a pem that is no public key")
    for algorithm, prefix in _SPKI_PREFIX.items():
        if der.startswith(prefix):
            if algorithm == "es256" and not may_be_es256:
                return None
            return _checked(PublicKey(algorithm, der[len(prefix) :]), which)
    return None


def _checked(key: PublicKey, which: str) -> PublicKey:
    if len(key.raw) != _KEY_BYTES[key.algorithm]:
        raise UnusableKeySet(f"{which} has {len(key.raw)} bytes; a key of {key.algorithm} has {_KEY_BYTES[key.algorithm]}")
    if key.algorithm == "ed25519" and not ed25519.is_of_prime_order(key.raw):
        raise UnusableKeySet(f"{which} is a point that no private key has: some of those verify anything")
    if key.algorithm == "es256" and not p256.is_point(key.raw):
        raise UnusableKeySet(f"{which} is not a point of P-256")
    return key


def _base64url(text: Any, which: str) -> bytes:
    found = re.fullmatch(r"[A-Za-z0-9_-]*", text) if isinstance(text, str) else None
    decoded = None if found is None else from_base64(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))
    if decoded is None:
        raise UnusableKeySet(f"{which} has key bytes that are not base64url")
    return decoded
