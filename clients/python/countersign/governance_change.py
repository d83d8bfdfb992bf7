"""The checks of a maker/checker change (decisions §7), as it was proposed or as it was resolved, from its text alone."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional

from .canonical import canonicalize, json_string
from .evidence import (
    Carried,
    Check,
    Given,
    Keys,
    canonical_members,
    carried_signature,
    checked,
    checked_signed,
    object_of,
    require_human_algorithm,
    sha256_hex,
    signature_beside,
    string_of,
    verifies_ed25519,
    verifies_human,
)
from .instant import instant

_SHOWN = ("changeId", "kind", "target", "proposed", "reason", "proposedBy", "proposedAt")
#: What the human said who resolved it, by its status.
_ACTIONS = {"APPROVED": "approve", "REJECTED": "reject"}
_STEP_UP_LIFETIME_MAX_MS = 120_000


def check_governance_change(evidence: Any, keys: Keys) -> List[Check]:
    """Every check of a change. Never raises for evidence of any shape."""
    change = evidence if isinstance(evidence, dict) else {}
    shown = canonical_members(change, _SHOWN)
    signed = canonical_members(change, signed_members_of(change))
    return [
        checked(
            "change hash",
            "The change hash does not match what was proposed",
            lambda: shown is not None and sha256_hex(shown) == change.get("changeHash"),
        ),
        checked_signed(
            "change signature",
            "The signature of the change is not valid",
            keys,
            lambda given: signed is not None
            and verifies_ed25519("governance-change", signed, carried_signature(object_of(change, "signature")), given),
        ),
        checked("resolution", "The change is not resolved as its status says", lambda: _is_resolved(change)),
        checked_signed(
            "step-up authorization",
            "The step-up authorization is not one of this resolution",
            keys,
            lambda given: _is_stepped_up(change, given),
        ),
        *_impact_checks(change),
    ]


def _impact_checks(change: Mapping[str, Any]) -> List[Check]:
    """None for a change whose resolution says nothing of its impact."""
    step_up = change.get("stepUpAuthorization")
    payload = step_up.get("payload") if isinstance(step_up, dict) else None
    impact_hash = payload.get("impactHash") if isinstance(payload, dict) else None
    is_covered = isinstance(payload, dict) and "impactHash" in payload
    if "impactReport" not in change and not is_covered:
        return []

    def holds() -> bool:
        report = object_of(change, "impactReport")
        return (
            change.get("kind") == "policy"
            and string_of(report, "changeId") == change.get("changeId")
            and string_of(report, "changeHash") == change.get("changeHash")
            and sha256_hex(canonicalize(report)) == impact_hash
        )

    return [checked("impact report", "The impact report is not the one that the step-up covers", holds)]


def signed_members_of(change: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is signed of a change, and logged: ``warnings`` and ``diff`` are advice, computed when it was proposed."""
    return {name: value for name, value in change.items() if name not in ("signature", "warnings", "diff")}


def missing_step_up_key(change: Any, keys: Keys) -> Optional[str]:
    """The id of the key by which the step-up would be checked, where no such key is given."""
    resolved_by = change.get("resolvedBy") if isinstance(change, dict) else None
    if not isinstance(resolved_by, str) or "stepUpAuthorization" not in change or _step_up_keys(change, keys):
        return None
    return f"{resolved_by}:step-up"


def notes_on_change(change: Any, keys: Keys) -> List[str]:
    """What no check fails on and a reader should know."""
    due = missing_step_up_key(change, keys)
    notes = [] if due is None else [f"The signature of the step-up authorization was not checked: no key {json_string(due)} is given."]
    if change.get("warnings", []) != [] or "diff" in change:
        notes.append("Nothing signs the warnings and the diff of a change: they are advice of when it was proposed.")
    return notes


def _is_resolved(change: Mapping[str, Any]) -> bool:
    status = string_of(change, "status")
    if status == "PENDING_APPROVAL":
        return not change.keys() & {"resolvedBy", "resolvedAt", "rejectionReason"}
    # Nobody checks what he made.
    if status not in _ACTIONS or string_of(change, "resolvedBy") == string_of(change, "proposedBy"):
        return False
    instant(change.get("resolvedAt"))
    return "rejectionReason" not in change or (status == "REJECTED" and isinstance(change["rejectionReason"], str))


def _is_stepped_up(change: Mapping[str, Any], given: Given) -> bool:
    status = string_of(change, "status")
    if status == "PENDING_APPROVAL":
        return "stepUpAuthorization" not in change
    step_up = object_of(change, "stepUpAuthorization")
    payload = object_of(step_up, "payload")
    begin, end = instant(payload.get("authorizedAt")), instant(payload.get("expiresAt"))
    resolved_at = instant(change.get("resolvedAt"))
    carried = signature_beside(step_up)
    is_bound = (
        payload.get("version") == 1
        and payload.get("version") is not True
        and string_of(payload, "nonce") != ""
        and string_of(payload, "changeId") == change.get("changeId")
        and string_of(payload, "changeHash") == change.get("changeHash")
        and string_of(payload, "action") == _ACTIONS.get(status)
        and 0 < end - begin <= _STEP_UP_LIFETIME_MAX_MS
        and resolved_at < end
    )
    if not is_bound:
        return False
    require_human_algorithm(carried.algorithm)
    known = _step_up_keys(change, given.keys)
    return not known or any(
        verifies_human(
            "step-up",
            canonicalize(payload),
            Carried(carried.algorithm, key_id, carried.value, webauthn=step_up.get("webauthn")),
            given,
        )
        for key_id in known
        if not _is_revoked(key_id, resolved_at, given.keys)
    )


def _is_revoked(key_id: str, at: int, keys: Keys) -> bool:
    revoked_at = keys[key_id].revoked_at
    return revoked_at is not None and instant(revoked_at) <= at


def _step_up_keys(change: Mapping[str, Any], keys: Keys) -> List[str]:
    """Of the keys that are given, those that the step-up may be signed by: its keyId is informative, so there are two names."""
    resolved_by, step_up = change.get("resolvedBy"), change.get("stepUpAuthorization")
    if not isinstance(resolved_by, str):
        return []
    named = step_up.get("keyId") if isinstance(step_up, dict) else None
    names = ["step-up", named] if isinstance(named, str) and named != "step-up" else ["step-up"]
    return [key_id for key_id in (f"{resolved_by}:{name}" for name in names) if key_id in keys]
