"""The step-up of a human within other evidence: what a verifier checks of it (decisions §7)."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional

from .canonical import canonicalize, json_string
from .evidence import Carried, Given, Keys, object_of, require_human_algorithm, signature_beside, string_of, verifies_human
from .instant import instant

_LIFETIME_MAX_MS = 120_000


def is_stepped_up(step_up: Any, by: Any, at: Optional[int], due: Mapping[str, Any], given: Given) -> bool:
    """Whether a step-up is for this act, in time, and signed by a key of this human that is given.

    Without such a key its signature is not checked, and ``missing_step_up_key_of`` names the key. ``at`` is when it was used,
    milliseconds; None: nothing says when, and it is taken for the moment at which it was signed. ``due`` holds the members of its
    payload that say what it is for. Raises where a member is not of its type.
    """
    beside = object_of({"stepUp": step_up}, "stepUp")
    payload = object_of(beside, "payload")
    begin, end = instant(payload.get("authorizedAt")), instant(payload.get("expiresAt"))
    used_at = begin if at is None else at
    carried = signature_beside(beside)
    is_bound = (
        payload.get("version") == 1
        and payload.get("version") is not True
        and string_of(payload, "nonce") != ""
        and all(string_of(payload, name) == value for name, value in due.items())
        and 0 < end - begin <= _LIFETIME_MAX_MS
        and used_at < end
    )
    if not is_bound:
        return False
    require_human_algorithm(carried.algorithm)
    known = _step_up_keys(step_up, by, given.keys)
    return not known or any(
        verifies_human(
            "step-up",
            canonicalize(payload),
            Carried(carried.algorithm, key_id, carried.value, webauthn=beside.get("webauthn")),
            given,
        )
        for key_id in known
        if not _is_revoked(key_id, used_at, given.keys)
    )


def missing_step_up_key_of(signed: Mapping[str, Any], step_up: str, by: str, keys: Keys) -> Optional[str]:
    """The id of the key by which the step-up in a member would be checked, where no such key is given."""
    human = signed.get(by)
    if step_up not in signed or not isinstance(human, str) or _step_up_keys(signed[step_up], human, keys):
        return None
    return f"{human}:step-up"


def note_on_step_up(due: Optional[str]) -> List[str]:
    """The note on a step-up whose signature nothing could check."""
    if due is None:
        return []
    return [f"The signature of the step-up authorization was not checked: no key {json_string(due)} is given."]


def _is_revoked(key_id: str, at: int, keys: Keys) -> bool:
    revoked_at = keys[key_id].revoked_at
    return revoked_at is not None and instant(revoked_at) <= at


def _step_up_keys(step_up: Any, by: Any, keys: Keys) -> List[str]:
    """Returns the ids of the given keys by which the step-up may be signed: its keyId is informative, so there are two names."""
    if not isinstance(by, str):
        return []
    named = step_up.get("keyId") if isinstance(step_up, dict) else None
    names = ["step-up", named] if isinstance(named, str) and named != "step-up" else ["step-up"]
    return [key_id for key_id in (f"{by}:{name}" for name in names) if key_id in keys]
