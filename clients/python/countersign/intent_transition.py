"""The checks of an execution intent's transition (decisions §8) with the signature beside it: ``{transition, signature}``."""

from __future__ import annotations

import re
from typing import Any, List, Mapping

from .evidence import Check, Given, Keys, checked, checked_beside, checked_signed, object_of, string_of
from .instant import instant
from .step_up import is_stepped_up, missing_step_up_key_of, note_on_step_up

#: The states that may follow a state; the other three states are final.
_FOLLOWING = {"PREPARED": ("RELEASED", "ERRORED"), "RELEASED": ("FINALIZED", "ERRORED", "RESOLVED")}


def check_intent_transition(evidence: Any, keys: Keys) -> List[Check]:
    """Every check of a transition. Never raises for evidence of any shape."""
    signed = evidence if isinstance(evidence, dict) else {}
    return [
        checked_beside(
            "transition signature", "The signature of the transition is not valid", keys, "intent-transition", signed, "transition"
        ),
        checked(
            "transition",
            "The transition is not one that an intent can make",
            lambda: _is_legal(object_of(signed, "transition")),
        ),
        *_step_up_checks(signed.get("transition"), keys),
    ]


def notes_on_transition(evidence: Any, keys: Keys) -> List[str]:
    """Returns the notes for the reader of a transition; no check fails because of them."""
    transition = evidence.get("transition") if isinstance(evidence, dict) else None
    if not isinstance(transition, dict):
        return []
    return [
        *note_on_step_up(missing_step_up_key_of(transition, "stepUpAuthorization", "by", keys)),
        *note_on_step_up(missing_step_up_key_of(transition, "agreedStepUpAuthorization", "agreedWith", keys)),
    ]


def _step_up_checks(transition: Any, keys: Keys) -> List[Check]:
    """None where no human signed: the word of a caller's key is what the service says it heard."""
    if not isinstance(transition, dict) or not transition.keys() & {"stepUpAuthorization", "agreedStepUpAuthorization"}:
        return []

    def holds(given: Given) -> bool:
        due = {"action": "resolve", **{name: transition.get(name) for name in ("businessTransactionId", "resolution")}}
        if transition.get("to") != "RESOLVED":
            return False
        if "stepUpAuthorization" in transition:
            at, said = instant(transition.get("at")), {**due, "note": transition.get("note")}
            if not is_stepped_up(transition["stepUpAuthorization"], transition.get("by"), at, said, given):
                return False
        if "agreedStepUpAuthorization" not in transition:
            return True
        # The first human to speak gave a note of their own, so the note is not compared.
        return "agreedWith" in transition and is_stepped_up(
            transition["agreedStepUpAuthorization"], transition["agreedWith"], None, due, given
        )

    return [
        checked_signed("step-up authorization", "A step-up authorization is not one of this resolution", keys, holds),
    ]


def _is_legal(transition: Mapping[str, Any]) -> bool:
    before, after, by = (string_of(transition, name) for name in ("from", "to", "by"))
    # Only somebody outside may say what the service does not know: a human, a provider or the connector; and says which.
    is_closed = transition.get("resolution") in ("EXECUTED", "NOT_EXECUTED") and by != "service"
    # Finalizing by hand is from a stored record, which it names; an error may have left one.
    record_hash = transition.get("trustRecordHash")
    is_proven = isinstance(record_hash, str) and re.fullmatch("[0-9a-f]{64}", record_hash) is not None
    names_none = "trustRecordHash" not in transition
    is_confirmed = (
        after == "RESOLVED" and by.startswith("webhook:") and string_of(transition, "confirmationId") != ""
        if "confirmationId" in transition
        else True
    )
    # Two humans, and not the same one twice.
    is_agreed = (
        after == "RESOLVED" and string_of(transition, "agreedWith") not in ("", by) if "agreedWith" in transition else True
    )
    return (
        is_confirmed
        and is_agreed
        and after in _FOLLOWING.get(before, ())
        and by != ""
        and (is_closed if after == "RESOLVED" else "resolution" not in transition)
        and (is_proven if after == "FINALIZED" else names_none or (after == "ERRORED" and is_proven))
    )
