"""Notes for the reader of a report on facts that are no failure."""

from __future__ import annotations

from typing import Any, Iterable, List, Mapping

from .canonical import json_string, number_text
from .instant import Unreadable, instant


def notes_on_receipt(receipt: Any, subject: str = "It") -> List[str]:
    promised = receipt.get("transparency") if isinstance(receipt, dict) else None
    log, by = (promised.get("log"), promised.get("by")) if isinstance(promised, dict) else (None, None)
    try:
        instant(by)
    except Unreadable:
        return []
    if not isinstance(log, str):
        return []
    return [f"{subject} is promised to the log {json_string(log)} by {by}; no proof of inclusion was given."]


def notes_on_record(record: Mapping[str, Any], *, promise: bool = True) -> List[str]:
    """``promise``: whether to say what its latest receipt promises; not where the proof is given."""
    verifications, receipts = record.get("verifications"), record.get("receipts")
    latest = verifications[-1] if isinstance(verifications, list) and verifications else None
    notes = [] if isinstance(receipts, list) and receipts else ["The record carries no receipt."]
    if isinstance(latest, dict) and latest.get("status") == "FAILED":
        notes.append("The latest verification that was stored with it is FAILED.")
    if isinstance(verifications, list) and any(isinstance(one, dict) and one.get("status") == "FAILED" for one in verifications):
        notes.append("Nothing signs what a verification says that is FAILED.")
    counted = (("verifications", "verificationCount"), ("receipts", "receiptCount"), ("confirmations", "confirmationCount"))
    for name, count_name in counted:
        held, count = record.get(name), record.get(count_name)
        # Where the count is none, a check has failed.
        is_number = isinstance(count, (int, float)) and not isinstance(count, bool)
        if isinstance(held, list) and is_number and count > len(held):
            notes.append(f"It holds {len(held)} of the {number_text(float(count))} {name} that it says the record has.")
    if promise and isinstance(receipts, list) and receipts:
        notes += notes_on_receipt(receipts[-1], "Its latest receipt")
    executions = record.get("executions")
    decisions = [one.get("decision") for one in executions if isinstance(one, dict)] if isinstance(executions, list) else []
    return notes + _notes_on_confirmations(record) + notes_on_approvals(decisions)


def notes_on_approvals(decisions: Iterable[Any]) -> List[str]:
    """Returns the notes for the reader of approvals that pass their check."""
    if not any(_is_silent_on_persons(decision) for decision in decisions):
        return []
    return [
        "It does not say which approver names the caller and the principal have: "
        "whether one of them approved it under another name is not known."
    ]


def _is_silent_on_persons(decision: Any) -> bool:
    """Whether a decision rests on approvals and does not say which approverIds the persons behind the execution have."""
    verified_signals = decision.get("verifiedSignals") if isinstance(decision, dict) else None
    signals = verified_signals.values() if isinstance(verified_signals, dict) else ()
    return any(
        isinstance(one, dict) and isinstance(one.get("approvals"), list) and one["approvals"] and "notCounted" not in one
        for one in signals
    )


def _notes_on_confirmations(record: Mapping[str, Any]) -> List[str]:
    confirmations, executions = record.get("confirmations"), record.get("executions")
    execution = executions[0] if isinstance(executions, list) and executions else None
    status = execution.get("status") if isinstance(execution, dict) else None
    if not isinstance(confirmations, list):
        return []
    entries = [one for one in confirmations if isinstance(one, dict)]
    return [note for one in entries for note in notes_on_confirmation(one.get("confirmation"), status)]


def notes_on_confirmation(confirmation: Any, status: Any = None) -> List[str]:
    """Returns the notes on a confirmation that passes its checks. ``status`` is that of the execution in the record that it
    stands beside; None: it stands alone."""
    if not isinstance(confirmation, dict):
        return []
    provider, says, comparisons = (confirmation.get(name) for name in ("provider", "says", "comparisons"))
    if not isinstance(provider, str) or not isinstance(says, str):
        return []
    notes = []
    if (status, says) in (("COMPLETED", "not_executed"), ("FAILED", "executed")):
        notes.append(f"The provider {json_string(provider)} says {says}, and the record says {status}.")
    for one in comparisons if isinstance(comparisons, list) else []:
        expression = one.get("expression") if isinstance(one, dict) and one.get("holds") is False else None
        if isinstance(expression, str):
            notes.append(f"A comparison of the confirmation by {json_string(provider)} does not hold: {json_string(expression)}.")
    return notes
