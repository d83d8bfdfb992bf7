"""The kinds of evidence that a file can hold, and how each is inspected."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable, List, Mapping, Optional, Tuple

from .approval_evidence import (
    check_approval_request,
    check_approval_request_close,
    check_approval_request_note,
    notes_on_approval_request,
)
from .bundle import inspect_bundle
from .evidence import Check, Keys, Unreadable
from .governance_change import check_governance_change, notes_on_change
from .intent_transition import check_intent_transition, notes_on_transition
from .known_members import check_members, page_list, problem_of_page
from .log.trust import LogTrust, read_log_trust
from .notes import notes_on_approvals, notes_on_confirmation, notes_on_receipt, notes_on_record
from .provider_confirmation import check_provider_confirmation
from .verifier import check_audit_event, check_receipt, check_refusal_record, check_trust_record

#: Facts that no check of a file can prove, even where all checks pass.
NOT_PROVEN = (
    "that the keys are the service's: compare the key set with one from a source you trust",
    "when it was signed: the times are the service's own, and signedAt is not signed",
    "that nothing else happened: a missing record or event leaves no trace in the others",
    "that what a connector reported is what happened outside",
)
#: Not proven of a bundle either.
NOT_PROVEN_BY_A_LOG = "that the log is the same for everybody: that takes witnesses, or two readers who compare its checkpoints"

Inspection = Tuple[List[Check], List[str]]


@dataclass(frozen=True)
class Kind:
    """A kind of evidence: as what it is signed, what it is called, the members that only it has, and where its id is."""

    artifact: str
    title: str
    marks: Tuple[str, ...]
    id: Tuple[str, ...]
    #: The checks, and what a reader should know besides.
    inspect: Callable[[Mapping[str, Any], Keys, Optional[LogTrust]], Inspection]


def _by(
    check: Callable[[Any, Keys], List[Check]], notes_on: Callable[[Any, Keys], List[str]] = lambda *_: []
) -> Callable[[Mapping[str, Any], Keys, Optional[LogTrust]], Inspection]:
    """The inspection of evidence that needs no log."""
    return lambda evidence, keys, _: (check(evidence, keys), notes_on(evidence, keys))


KINDS = (
    Kind(
        "trust-record",
        "Execution Trust Record",
        ("trustRecordId",),
        ("trustRecordId",),
        _by(check_trust_record, lambda record, _: notes_on_record(record)),
    ),
    Kind("receipt", "Receipt", ("receiptId",), ("receiptId",), _by(check_receipt, lambda receipt, _: notes_on_receipt(receipt))),
    Kind(
        "refusal-record",
        "Refusal Record",
        ("refusalRecordId",),
        ("refusalRecordId",),
        _by(check_refusal_record, lambda refusal, _: notes_on_approvals([refusal.get("decision")])),
    ),
    Kind("audit-event", "audit event", ("event", "signature"), ("event", "eventId"), _by(check_audit_event)),
    Kind(
        "governance-change",
        "governance change",
        ("changeId", "changeHash", "signature"),
        ("changeId",),
        _by(check_governance_change, notes_on_change),
    ),
    Kind(
        "intent-transition",
        "intent transition",
        ("transition", "signature"),
        ("transition", "transitionId"),
        _by(check_intent_transition, notes_on_transition),
    ),
    Kind(
        "provider-confirmation",
        "provider confirmation",
        ("confirmation", "signature"),
        ("confirmation", "confirmationId"),
        _by(check_provider_confirmation, lambda evidence, _: notes_on_confirmation(evidence.get("confirmation"))),
    ),
    Kind(
        "approval-request",
        "approval request",
        ("request", "requestHash", "signature"),
        ("request", "requestId"),
        _by(check_approval_request, lambda evidence, _: notes_on_approval_request(evidence)),
    ),
    Kind(
        "approval-request-close",
        "end of an approval request",
        ("closeId", "requestHash", "signature"),
        ("closeId",),
        _by(check_approval_request_close),
    ),
    Kind(
        "approval-request-note",
        "note on an approval request",
        ("noteId", "requestHash", "signature"),
        ("noteId",),
        _by(check_approval_request_note),
    ),
    Kind("bundle", "bundle", ("bundle",), ("record", "trustRecordId"), inspect_bundle),
)


def kind_of(evidence: Any, which: str = "This") -> Kind:
    """Raises Unreadable for what is no evidence of any kind, or claims to be of two."""
    # It may name a receipt as a receipt names itself, and would be accused of being an altered one.
    if isinstance(evidence, dict) and all(member in evidence for member in ("eventId", "occurredAt", "entry")):
        raise Unreadable(f"{which} is an event of GET /events, which is not signed: verify the evidence that it names.")
    kinds = [kind for kind in KINDS if isinstance(evidence, dict) and all(mark in evidence for mark in kind.marks)]
    if not kinds and isinstance(evidence, dict) and isinstance(evidence.get("error"), str):
        said = json.dumps(evidence["error"], ensure_ascii=False)
        raise Unreadable(f"{which} is no evidence but an error that a service answered: {said}.")
    if not kinds:
        raise Unreadable(
            f"{which} is no evidence of a known kind: a record has a trustRecordId, a receipt a receiptId, a refusal a "
            "refusalRecordId, a change a changeId, a changeHash and a signature, a bundle the member bundle; an audit event stands as "
            "{event, signature}, an intent's transition as {transition, signature}, "
            "a provider's confirmation as {confirmation, signature}; an approval request has a request, a requestHash and a signature, "
            "its end a closeId, a note on it a noteId."
        )
    if len(kinds) > 1:
        raise Unreadable(f"{which} claims to be several kinds of evidence: {', '.join(kind.artifact for kind in kinds)}.")
    return kinds[0]


def check_evidence(evidence: Any, keys: Keys, log: Any = None) -> Tuple[str, List[Check]]:
    """Returns the kind's title and the checks. ``log`` is whom to trust for the proofs of a bundle, as ``verify_evidence`` takes it.

    Raises Unreadable for what is no evidence of any kind, or claims to be of two.
    """
    kind = kind_of(evidence)
    return kind.title, inspect_evidence(kind, evidence, keys, None if log is None else read_log_trust(log))[0]


def inspect_evidence(kind: Kind, evidence: Mapping[str, Any], keys: Keys, log: Optional[LogTrust]) -> Inspection:
    checks, notes = kind.inspect(evidence, keys, log)
    return [*checks, check_members(kind.artifact, evidence)], notes


def evidence_in(value: Any) -> List[Any]:
    """The pieces of evidence in a file: the one, or those of a list, ``{"events": [...]}``, ``{"changes": [...]}``,
    ``{"confirmations": [...]}``, ``{"requests": [...]}`` or ``{"refusals": [...]}``.

    Raises Unreadable for an empty list: no evidence is not valid evidence.
    """
    name = _list_in(value)
    entries = value if isinstance(value, list) else [value] if name is None else value[name]
    if not entries:
        raise Unreadable(problem_of_file(value) or "there is no evidence in it")
    return entries


def problem_of_file(value: Any) -> Optional[str]:
    """Returns the sentence on the members of a page that no evidence in it accounts for. None: there are none."""
    name = _list_in(value)
    return None if name is None else problem_of_page(value, name)


def _list_in(value: Any) -> Optional[str]:
    """The name of the list of a page. None for what is evidence itself, whatever list it carries besides."""
    is_evidence = isinstance(value, dict) and any(all(mark in value for mark in kind.marks) for kind in KINDS)
    return page_list(value) if isinstance(value, dict) and not is_evidence else None
