"""A passkey signs an assertion in place of the bytes that a raw key signs (Web Authentication Level 3 §7.2): its challenge is the SHA-256
of those bytes. The same checks, in the same order, as the service makes."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Tuple

from .base64_text import from_base64
from .canonical import NotCanonical, parse
from .instant import Unreadable

#: The names under which passkeys sign, and the kind of key that each needs.
ALGORITHMS = {"webauthn-es256": "es256", "webauthn-ed25519": "ed25519"}


@dataclass(frozen=True)
class Passkey:
    """Properties of a passkey that are kept beside its public key and published with it."""

    rp_id: str
    #: Where it may sign.
    origins: Tuple[str, ...]
    #: Whether it was made to be copied to other devices.
    backup_eligible: bool


def read_passkey(value: Any) -> Passkey:
    """The three members that decide; others are left out. Raises Unreadable, which names the member that is wrong."""
    if not isinstance(value, dict):
        raise Unreadable("passkey is not an object")
    rp_id, origins, backup_eligible = value.get("rpId"), value.get("origins"), value.get("backupEligible")
    if not isinstance(rp_id, str) or rp_id == "":
        raise Unreadable("passkey.rpId is not a name")
    if not isinstance(origins, list) or not origins:
        raise Unreadable("passkey.origins is not a list")
    if not all(isinstance(origin, str) and origin != "" for origin in origins):
        raise Unreadable("passkey.origins holds something else than origins")
    if not isinstance(backup_eligible, bool):
        raise Unreadable("passkey.backupEligible is not true or false")
    return Passkey(rp_id, tuple(origins), backup_eligible)


#: Flags of the authenticator data (§6.1).
_UP, _UV, _BE, _BS, _AT, _ED = 0x01, 0x04, 0x08, 0x10, 0x40, 0x80
#: SHA-256 of the rpId, the flags and the counter; extensions and credentials would stand behind them.
_AUTHENTICATOR_DATA_BYTES = 37
#: Client data is flat; browsers may add members, and did.
_DEPTH_MAX = 8


def asserted_bytes(webauthn: Any, message: bytes, passkey: Optional[Passkey]) -> bytes:
    """The bytes that the passkey's signature must be of, after every check but the signature.

    ``message`` is what a raw key would sign. Without ``passkey`` only what is wrong by any key is found. Raises Unreadable, which says which
    check fails.
    """
    if not isinstance(webauthn, dict):
        raise Unreadable("webauthn is missing")
    authenticator_data = _bytes_of(webauthn, "authenticatorData")
    client_data_json = _bytes_of(webauthn, "clientDataJSON")
    _require_client_data(_client_data(client_data_json), _challenge_of(message), passkey)
    _require_authenticator_data(authenticator_data, passkey)
    return authenticator_data + hashlib.sha256(client_data_json).digest()


def _challenge_of(message: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(message).digest()).decode("ascii").rstrip("=")


def _bytes_of(webauthn: Mapping[str, Any], name: str) -> bytes:
    text = webauthn.get(name)
    decoded = from_base64(text) if isinstance(text, str) else None
    if decoded is None:
        raise Unreadable(f"webauthn.{name} is not canonical base64")
    return decoded


def _client_data(text: bytes) -> Mapping[str, Any]:
    try:
        value = parse(text, depth_max=_DEPTH_MAX)
    except NotCanonical:
        raise Unreadable("the client data is not JSON with exactly one reading") from None
    if not isinstance(value, dict):
        raise Unreadable("the client data is not an object")
    return value


def _require_client_data(data: Mapping[str, Any], due: str, passkey: Optional[Passkey]) -> None:
    if data.get("type") != "webauthn.get":
        raise Unreadable("the passkey was not asked to sign: the type is another one")
    if data.get("challenge") != due:
        raise Unreadable("the passkey signed another challenge")
    origin = data.get("origin")
    if not isinstance(origin, str):
        raise Unreadable("the client data has no origin")
    if passkey is not None and origin not in passkey.origins:
        raise Unreadable("the passkey signed at an origin that is not one of the key's")
    if data.get("crossOrigin", False) is not False or "topOrigin" in data:
        raise Unreadable("the passkey signed inside another site's page")


def _require_authenticator_data(data: bytes, passkey: Optional[Passkey]) -> None:
    if len(data) != _AUTHENTICATOR_DATA_BYTES:
        raise Unreadable(f"the authenticator data has {len(data)} bytes, and must have {_AUTHENTICATOR_DATA_BYTES}")
    if passkey is not None and data[:32] != hashlib.sha256(passkey.rp_id.encode("utf-8")).digest():
        raise Unreadable("the passkey signed for another rpId than the key's")
    flags = data[32]
    if not flags & _UP:
        raise Unreadable("nobody was present when the passkey signed (UP)")
    if not flags & _UV:
        raise Unreadable("the passkey did not verify its user (UV)")
    if flags & (_AT | _ED):
        raise Unreadable("the authenticator data announces more than it may hold")
    if passkey is not None and bool(flags & _BE) != passkey.backup_eligible:
        raise Unreadable("whether the passkey can be copied is not as it was enrolled (BE)")
    if flags & _BS and not flags & _BE:
        raise Unreadable("the passkey was copied and says that it cannot be (BS without BE)")
