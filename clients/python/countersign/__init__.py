"""Countersign: a client of the service, and an offline verifier of its evidence. Python's standard library only."""

from .approval_request import action_code, request_hash
from .canonical import NotCanonical, canonicalize, parse
from .client import Client, deterministic_id
from .errors import AnswerError, ClosedWithoutRecordError, ConnectionLostError, CountersignError, ExecutionFailedError
from .errors import IdUsedForAnotherIntentError, InDoubtError, LogContradictionError, NotApprovedError, OtherRequestError
from .key_set import PublicKey, UnusableKeySet, read_key_set
from .evidence import Check, Unreadable
from .governance_change import check_governance_change
from .intent_transition import check_intent_transition
from .kinds import NOT_PROVEN, check_evidence, evidence_in
from .http import ProvenRequest
from .log import LogError
from .report import Report, verify_evidence, verify_text
from .verifier import check_audit_event, check_receipt, check_refusal_record, check_trust_record

__version__ = "0.4.0"

__all__ = [
    "NOT_PROVEN",
    "AnswerError",
    "Check",
    "Client",
    "ClosedWithoutRecordError",
    "ConnectionLostError",
    "CountersignError",
    "ExecutionFailedError",
    "IdUsedForAnotherIntentError",
    "InDoubtError",
    "LogContradictionError",
    "LogError",
    "NotApprovedError",
    "NotCanonical",
    "OtherRequestError",
    "ProvenRequest",
    "PublicKey",
    "Report",
    "Unreadable",
    "UnusableKeySet",
    "action_code",
    "canonicalize",
    "check_audit_event",
    "check_evidence",
    "check_governance_change",
    "check_intent_transition",
    "check_receipt",
    "check_refusal_record",
    "check_trust_record",
    "deterministic_id",
    "evidence_in",
    "parse",
    "read_key_set",
    "request_hash",
    "verify_evidence",
    "verify_text",
]
