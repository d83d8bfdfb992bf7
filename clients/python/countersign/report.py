"""What the offline verifier says of a file: for each piece of evidence in it a verdict, its checks and what a reader should know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, List, Mapping, Sequence, Tuple, Union

from .canonical import json_string, number_text, parse
from .evidence import Check, Keys, Unreadable
from .governance_change import notes_on_change
from .instant import instant
from .verifier import evidence_in, kind_of

#: Every check holds, and there was at least one.
VALID = "valid"
#: A check fails, whatever cannot be checked beside it.
INVALID = "invalid"
#: No check fails, and at least one could not be made: a key is not given, or an entry of a file is no evidence.
UNCHECKED = "unchecked"


@dataclass(frozen=True)
class Report:
    #: As what it is signed, such as ``trust-record``; ``unknown`` for an entry that is no evidence.
    artifact: str
    title: str
    #: The id of the evidence, as it names itself; ``(no id)`` where it has none.
    subject: str
    verdict: str
    checks: Tuple[Check, ...]
    #: What a reader should know that is no failure, such as that a record carries no receipt.
    notes: Tuple[str, ...]


def verify_text(text: Union[str, bytes], keys: Keys) -> List[Report]:
    """A report on each piece of evidence in a file, in their order; never empty. An entry that is no evidence is one that cannot
    be checked, and hides no other.

    Raises NotCanonical for what is not JSON with exactly one reading, Unreadable for what is no evidence at all.
    """
    value = parse(text)
    entries = evidence_in(value)
    if len(entries) == 1 and entries[0] is value:
        return [_report_on(value, keys, "This")]
    return [_report_on_entry(entry, keys, f"Entry {number}") for number, entry in enumerate(entries, 1)]


def exit_status(reports: Sequence[Report]) -> int:
    """0: all are valid. 1: any is invalid. 2: none is, and any cannot be checked."""
    verdicts = [report.verdict for report in reports]
    return 1 if INVALID in verdicts else 2 if UNCHECKED in verdicts else 0


def _report_on_entry(entry: Any, keys: Keys, which: str) -> Report:
    try:
        return _report_on(entry, keys, which)
    except Unreadable as error:
        return Report("unknown", "no evidence", "(no id)", UNCHECKED, (), (str(error),))


def _report_on(evidence: Any, keys: Keys, which: str) -> Report:
    kind = kind_of(evidence, which)
    checks = tuple(kind.check(evidence, keys))
    notes = (*_notes(kind.artifact, evidence, keys), *_notes_on_unsigned(kind.artifact, evidence))
    return Report(kind.artifact, kind.title, _subject(kind.artifact, evidence), _verdict(checks), checks, notes)


def _verdict(checks: Sequence[Check]) -> str:
    """A failure decides: a key that is not given must not make one look like a gap in the key set."""
    problems = [check for check in checks if check.problem is not None]
    if any(not check.missing_keys for check in problems):
        return INVALID
    return VALID if checks and not problems else UNCHECKED


_ID = {
    "trust-record": ("trustRecordId",),
    "receipt": ("receiptId",),
    "refusal-record": ("refusalRecordId",),
    "audit-event": ("event", "eventId"),
    "governance-change": ("changeId",),
    "intent-transition": ("transition", "transitionId"),
}


def _subject(artifact: str, evidence: Any) -> str:
    for name in _ID[artifact]:
        evidence = evidence.get(name) if isinstance(evidence, dict) else None
    return evidence if isinstance(evidence, str) else "(no id)"


def _notes(artifact: str, evidence: Mapping[str, Any], keys: Keys) -> List[str]:
    if artifact == "governance-change":
        return notes_on_change(evidence, keys)
    if artifact == "receipt":
        return _notes_on_receipt(evidence)
    return _notes_on_record(evidence) if artifact == "trust-record" else []


def _notes_on_receipt(receipt: Any, subject: str = "It") -> List[str]:
    promised = receipt.get("transparency") if isinstance(receipt, dict) else None
    log, by = (promised.get("log"), promised.get("by")) if isinstance(promised, dict) else (None, None)
    try:
        instant(by)
    except Unreadable:
        return []
    if not isinstance(log, str):
        return []
    return [f"{subject} is promised to the log {json_string(log)} by {by}; no proof of inclusion was given."]


def _notes_on_record(record: Mapping[str, Any]) -> List[str]:
    verifications, receipts = record.get("verifications"), record.get("receipts")
    latest = verifications[-1] if isinstance(verifications, list) and verifications else None
    notes = [] if isinstance(receipts, list) and receipts else ["The record carries no receipt."]
    if isinstance(latest, dict) and latest.get("status") == "FAILED":
        notes.append("The latest verification that was stored with it is FAILED.")
    for name, count_name in (("verifications", "verificationCount"), ("receipts", "receiptCount")):
        held, count = record.get(name), record.get(count_name)
        # Where the count is none, a check has failed.
        is_number = isinstance(count, (int, float)) and not isinstance(count, bool)
        if isinstance(held, list) and is_number and count > len(held):
            notes.append(f"It holds {len(held)} of the {number_text(float(count))} {name} that it says the record has.")
    if isinstance(receipts, list) and receipts:
        notes += _notes_on_receipt(receipts[-1], "Its latest receipt")
    return notes


_SIGNATURE = frozenset({"algorithm", "keyId", "value", "signedAt", "batch"})
_VERIFICATION = frozenset({"verificationId", "businessTransactionId", "status", "message", "verifiedAt", "trustRecordHash"})
_RECORD = frozenset(
    "trustRecordId businessTransactionId transaction authorization executions overrides createdAt requiredAlgorithms "
    "trustRecordHash signature signatures verifications receipts verificationCount receiptCount".split()
)


def _notes_on_unsigned(artifact: str, evidence: Mapping[str, Any]) -> List[str]:
    """Members that no signature covers and no check reads: anybody can have put them there, and a reader may take them for part
    of what was verified. One sentence for each, in the order of their paths by UTF-16 code units."""
    paths = sorted(_unsigned(artifact, evidence), key=lambda path: path.encode("utf-16-be"))
    return [f"Nothing signs its member {json_string(path)}." for path in paths]


def _unsigned(artifact: str, evidence: Mapping[str, Any]) -> Iterator[str]:
    if artifact in ("audit-event", "intent-transition"):
        yield from _unknown(evidence, frozenset({"event" if artifact == "audit-event" else "transition", "signature"}))
    if artifact == "trust-record":
        yield from _unknown(evidence, _RECORD)
        yield from _unknown_in_each(evidence.get("verifications"), _VERIFICATION, "verifications")
        receipts = evidence.get("receipts")
        for i, receipt in enumerate(receipts if isinstance(receipts, list) else []):
            if isinstance(receipt, dict):
                yield from _unknown_in_each(receipt.get("signatures"), _SIGNATURE, f"receipts.{i}.signatures")
    if artifact in ("trust-record", "receipt"):
        yield from _unknown_in_each(evidence.get("signatures"), _SIGNATURE, "signatures")
    if artifact != "receipt":
        yield from _unknown(evidence.get("signature"), _SIGNATURE, "signature.")


def _unknown(value: Any, known: Any, prefix: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{prefix}{name}" for name in value if name not in known)


def _unknown_in_each(value: Any, known: Any, path: str) -> Iterator[str]:
    for i, one in enumerate(value if isinstance(value, list) else []):
        yield from _unknown(one, known, f"{path}.{i}.")
