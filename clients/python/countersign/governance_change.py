"""The checks of a maker/checker change (decisions §7), as it was proposed or as it was resolved, from its text alone."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional

from .canonical import canonicalize
from .evidence import (
    Check,
    Given,
    Keys,
    canonical_members,
    carried_signature,
    checked,
    checked_signed,
    object_of,
    sha256_hex,
    string_of,
    verifies_ed25519,
)
from .instant import instant
from .step_up import is_stepped_up, missing_step_up_key_of, note_on_step_up

_SHOWN = ("changeId", "kind", "target", "proposed", "reason", "proposedBy", "proposedAt")
#: The action that the resolving human signed, by the status of the change.
_ACTIONS = {"APPROVED": "approve", "REJECTED": "reject"}


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
    """Returns the signed and logged members; not ``warnings`` and ``diff``: advice, computed when it was proposed."""
    return {name: value for name, value in change.items() if name not in ("signature", "warnings", "diff")}


def missing_step_up_key(change: Any, keys: Keys) -> Optional[str]:
    """The id of the key by which the step-up would be checked, where no such key is given."""
    if not isinstance(change, dict):
        return None
    return missing_step_up_key_of(change, "stepUpAuthorization", "resolvedBy", keys)


def notes_on_change(change: Any, keys: Keys) -> List[str]:
    """Returns the notes for the reader of a change; no check fails because of them."""
    notes = note_on_step_up(missing_step_up_key(change, keys))
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
    due = {"changeId": change.get("changeId"), "changeHash": change.get("changeHash"), "action": _ACTIONS.get(status)}
    resolved_at = instant(change.get("resolvedAt"))
    return is_stepped_up(change.get("stepUpAuthorization"), change.get("resolvedBy"), resolved_at, due, given)
