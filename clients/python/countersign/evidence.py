"""Parts that all checks of evidence share: the outcome, the signatures, and the reading of members that may be missing or of any
type (decisions §4)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from .base64_text import from_base64
from .batch import Batch, batch_of, family_of, signed_message
from .canonical import NotCanonical, canonicalize, json_string
from .instant import Unreadable
from .key_set import SIGNATURE_BYTES, PublicKey
from .p256 import read_der
from .passkey import ALGORITHMS as PASSKEY_ALGORITHMS
from .passkey import asserted_bytes
from .revoked import judge_revoked

Keys = Mapping[str, PublicKey]


@dataclass(frozen=True)
class Check:
    name: str
    #: None: it holds. Otherwise the sentence that says what does not, or why nobody can say.
    problem: Optional[str]
    #: Ids of keys that are not given. Only where nothing else in the check fails: with them it may hold or fail.
    missing_keys: Tuple[str, ...] = ()
    #: As ``missing_keys``: the origin of the log whose keys are not given.
    missing_log: Optional[str] = None
    #: As ``missing_keys``: paths of members that no signature covers and this verifier does not know.
    unknown_members: Tuple[str, ...] = ()
    #: Only where the check holds: notes for the reader on how it holds.
    notes: Tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it cannot be made: with more keys, or by a newer verifier, it may hold or fail."""
        return bool(self.missing_keys) or self.missing_log is not None or bool(self.unknown_members)


@dataclass
class Given:
    """The keys within a check. A signature by a key that is not given counts as true there, and the check knows of it."""

    keys: Keys
    missing: List[str] = field(default_factory=list)
    #: Notes for the reader on the keys of signatures that hold.
    notes: List[str] = field(default_factory=list)


@dataclass(frozen=True)
class Carried:
    """One signature as the artifacts carry it."""

    algorithm: str
    key_id: str
    value: str
    #: Where the artifact stands in its batch, where ``value`` signs the head of one.
    batch: Optional[Batch] = None
    #: The data that a passkey signed around the artifact, of any shape.
    webauthn: Any = None


def pre_auth_encoding(artifact: str, canonical: bytes) -> bytes:
    """Returns the bytes that are signed (DSSE v1): they name their artifact, so that no signature passes for another."""
    payload_type = f"application/vnd.countersign.{artifact}.v1+json".encode("ascii")
    return b"DSSEv1 %d %s %d %s" % (len(payload_type), payload_type, len(canonical), canonical)


def checked(name: str, problem: str, holds: Callable[[], bool]) -> Check:
    try:
        return Check(name, None if holds() else problem)
    except (Unreadable, NotCanonical) as error:
        return Check(name, f"{problem} ({error})")


def checked_signed(name: str, problem: str, keys: Keys, holds: Callable[[Given], bool]) -> Check:
    """As ``checked``, of signatures. A key that is not given leaves the check open, but hides nothing: everything else in it is
    still looked at, and whatever fails makes it fail."""
    given = Given(keys)
    made = checked(name, problem, lambda: holds(given))
    if made.problem is not None:
        return made
    if not given.missing:
        return replace(made, notes=tuple(dict.fromkeys(given.notes)))
    missing = tuple(dict.fromkeys(given.missing))
    return Check(name, f"It cannot be checked: key {', '.join(map(json_string, missing))} is not given.", missing)


def canonical_members(value: Mapping[str, Any], names: Any) -> Optional[bytes]:
    """None where a member is missing or has no canonical form: no hash and no signature is of that."""
    try:
        return canonicalize({name: value[name] for name in names})
    except (KeyError, NotCanonical):
        return None


def verifies_ed25519(artifact: str, canonical: bytes, carried: Carried, given: Given) -> bool:
    """Everything but records and receipts is always Ed25519 (decisions §4), whatever else is published."""
    require_ed25519(carried.algorithm)
    return verifies(artifact, canonical, carried, given)


def verifies_human(artifact: str, canonical: bytes, carried: Carried, given: Given) -> bool:
    """Checks the signature of a human, made by a raw Ed25519 key or by a passkey."""
    require_human_algorithm(carried.algorithm)
    return verifies(artifact, canonical, carried, given)


def require_human_algorithm(algorithm: str) -> None:
    """Raises Unreadable for any other name."""
    if algorithm not in PASSKEY_ALGORITHMS:
        require_ed25519(algorithm)


def checked_beside(name: str, problem: str, keys: Keys, artifact: str, evidence: Mapping[str, Any], member: str) -> Check:
    """As ``checked_signed``, of the Ed25519 signature that stands beside what it signs: ``{<member>, signature}``."""
    return checked_signed(
        name,
        problem,
        keys,
        lambda given: verifies_ed25519(
            artifact,
            canonicalize(object_of(evidence, member)),
            carried_signature(object_of(evidence, "signature")),
            given,
        ),
    )


def verifies_authorization(authorization: Mapping[str, Any], given: Given) -> bool:
    """An authorization is always Ed25519 too, but may be signed by batch."""
    carried = replace(signature_beside(authorization), batch=batch_of(authorization))
    canonical = canonicalize(authorization.get("payload"))
    require_ed25519(carried.algorithm, "ed25519", "ed25519-batch")
    return verifies("execution-authorization", canonical, carried, given)


def require_ed25519(algorithm: str, *names: str) -> None:
    """Raises Unreadable for any other name, which says whether it is known."""
    known_family(algorithm)
    if algorithm not in (names or ("ed25519",)):
        raise Unreadable(f"'{algorithm}' does not sign this kind of artifact")


def known_family(algorithm: str) -> str:
    """The algorithm of the key that signs under this name, by itself or by batch.

    Raises Unreadable for a name that this verifier does not know, such as one of a later version.
    """
    family = family_of(algorithm)
    if family not in SIGNATURE_BYTES:
        raise Unreadable(f"the algorithm '{algorithm}' is not known")
    return family


def _may_verify(artifact: str, key_id: str) -> bool:
    """Humans' keys are ``{approverId}:{keyId}`` and sign what humans say, the service's have no colon and sign the rest:
    neither ever passes for the other (decisions §7)."""
    return (":" in key_id) == (artifact in ("approval", "step-up"))


def verifies(artifact: str, canonical: bytes, carried: Carried, given: Given) -> bool:
    """Whether a signature is one of this text as this artifact; also true where its key is not given, which ``given`` then knows."""
    if ":" in carried.key_id and carried.algorithm in PASSKEY_ALGORITHMS:
        return _is_asserted(artifact, canonical, carried, given)
    if not _may_verify(artifact, carried.key_id):
        raise Unreadable(f"key '{carried.key_id}' is of no kind that signs as {artifact}")
    signature = from_base64(carried.value)
    if signature is None:
        raise Unreadable("the signature is not canonical base64")
    family = known_family(carried.algorithm)
    if len(signature) != SIGNATURE_BYTES[family]:
        raise Unreadable(f"the signature has {len(signature)} bytes; one of {family} has {SIGNATURE_BYTES[family]}")
    message = signed_message(artifact, pre_auth_encoding(artifact, canonical), carried.algorithm, carried.batch)
    key = given.keys.get(carried.key_id)
    # Last: what is wrong with the signature whatever the key says, is wrong without it too.
    if key is None:
        given.missing.append(carried.key_id)
        return True
    if key.algorithm != family:
        raise Unreadable(f"key '{carried.key_id}' is not an {family} key")
    if key.passkey is not None:
        raise Unreadable(f"key '{carried.key_id}' is a passkey, and signs as one only")
    if key.revoked_at is not None and ":" not in carried.key_id:
        counts, sentence = judge_revoked(artifact, canonical, carried.key_id, key.revoked_at)
        if not counts:
            raise Unreadable(sentence)
        given.notes.append(sentence)
    return key.verifies(message, signature)


def _is_asserted(artifact: str, canonical: bytes, carried: Carried, given: Given) -> bool:
    """A signature by a passkey: it is of an assertion, whose challenge is the hash of what a raw key would sign."""
    if not _may_verify(artifact, carried.key_id):
        raise Unreadable(f"key '{carried.key_id}' is of no kind that signs as {artifact}")
    signature = from_base64(carried.value)
    if signature is None:
        raise Unreadable("the signature is not canonical base64")
    kind = PASSKEY_ALGORITHMS[carried.algorithm]
    if kind == "es256" and read_der(signature) is None:
        raise Unreadable("the signature is not canonical DER")
    if kind == "ed25519" and len(signature) != SIGNATURE_BYTES[kind]:
        raise Unreadable(f"the signature has {len(signature)} bytes; one of {kind} has {SIGNATURE_BYTES[kind]}")
    key = given.keys.get(carried.key_id)
    if key is not None and key.passkey is None:
        raise Unreadable(f"key '{carried.key_id}' is no passkey")
    if key is not None and key.algorithm != kind:
        raise Unreadable(f"key '{carried.key_id}' is not an {kind} key")
    message = pre_auth_encoding(artifact, canonical)
    asserted = asserted_bytes(carried.webauthn, message, None if key is None else key.passkey)
    if key is None:
        given.missing.append(carried.key_id)
        return True
    return key.verifies(asserted, signature)


def carried_signature(value: Mapping[str, Any]) -> Carried:
    return Carried(string_of(value, "algorithm"), string_of(value, "keyId"), string_of(value, "value"), batch_of(value))


def signature_beside(value: Mapping[str, Any]) -> Carried:
    """One whose bytes are called ``signature``, such as a receipt's own. Such a one is never by batch, but an authorization's."""
    return Carried(string_of(value, "algorithm"), string_of(value, "keyId"), string_of(value, "signature"))


def sha256_hex(canonical: bytes) -> str:
    return hashlib.sha256(canonical).hexdigest()


def member_of(value: Mapping[str, Any], name: str) -> Any:
    if name not in value:
        raise Unreadable(f"{name} is missing")
    return value[name]


def object_of(value: Mapping[str, Any], name: str) -> Dict[str, Any]:
    member = value.get(name)
    if not isinstance(member, dict):
        raise Unreadable(f"{name} is not an object")
    return member


def list_of(value: Mapping[str, Any], name: str) -> List[Any]:
    member = value.get(name)
    if not isinstance(member, list):
        raise Unreadable(f"{name} is not a list")
    return member


def objects_of(value: Mapping[str, Any], name: str) -> List[Dict[str, Any]]:
    members = list_of(value, name)
    if not all(isinstance(member, dict) for member in members):
        raise Unreadable(f"{name} holds something else than objects")
    return members


def string_of(value: Mapping[str, Any], name: str) -> str:
    member = value.get(name)
    if not isinstance(member, str):
        raise Unreadable(f"{name} is not a string")
    return member
