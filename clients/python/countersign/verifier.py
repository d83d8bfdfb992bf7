"""The offline checks of every artifact, from its text and saved public keys alone: the checks, by name, of the service's own
verifier (decisions §4), written a second time. Keys never come from the evidence."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from .canonical import NotCanonical, canonicalize
from .key_set import PublicKey

Keys = Mapping[str, PublicKey]


@dataclass(frozen=True)
class Check:
    name: str
    #: None: it holds. Otherwise the sentence that says what does not.
    problem: Optional[str]


class Unreadable(ValueError):
    """A member that a check needs is missing or of another type: the check fails."""


@dataclass(frozen=True)
class _Carried:
    """One signature as the artifacts carry it."""

    algorithm: str
    key_id: str
    value: str


#: What no check of a file can say, whatever passes.
NOT_PROVEN = (
    "that the keys are the service's: compare the key set with one from a source you trust",
    "when it was signed: the times are the service's own, and signedAt is not signed",
    "that nothing else happened: a missing record or event leaves no trace in the others",
    "that what a connector reported is what happened outside",
)


def check_trust_record(evidence: Any, keys: Keys) -> List[Check]:
    """Every check of a saved Execution Trust Record, with what was appended to it. Never raises for evidence of any shape."""
    record = evidence if isinstance(evidence, dict) else {}
    signed = _canonical_members(record, _signed_names(record))
    authorization: Callable[[], Dict[str, Any]] = lambda: _object(record, "authorization")
    return [
        _check(
            "canonical hash",
            "The trust record hash does not match the canonical record",
            lambda: signed is not None and _sha256_hex(signed) == record.get("trustRecordHash"),
        ),
        _check(
            "record signature",
            "The trust record signature is not valid",
            lambda: signed is not None
            and all(
                _verifies("trust-record", signed, one, keys)
                for one in _required_signatures(record, _carried(_object(record, "signature")))
            ),
        ),
        _check(
            "authorization signature",
            "The execution authorization signature is not valid",
            lambda: _verifies_ed25519(
                "execution-authorization",
                canonicalize(authorization().get("payload")),
                _carried(authorization(), "signature"),
                keys,
            ),
        ),
        _check(
            "transaction binding",
            "The execution authorization is not bound to this transaction",
            lambda: _bound_to_transaction(record),
        ),
        _check(
            "decision binding",
            "The execution authorization is not bound to this decision",
            lambda: _bound_to_decision(record),
        ),
        # A record that claims to have been verified against state claims what nothing here can check.
        _check(
            "approvals",
            "The verified signals cannot be verified",
            lambda: all(
                len(_object(_object(execution, "decision"), "verifiedSignals")) == 0
                for execution in _objects(record, "executions")
            ),
        ),
        _check(
            "verifications",
            "A verification is not one of this record",
            lambda: all(_is_of(record, one) and _is_verification(one) for one in _objects(record, "verifications")),
        ),
        _check(
            "receipts",
            "A receipt is not a valid one of this record",
            lambda: all(_is_of(record, one) and _is_receipted(record, one, keys) for one in _objects(record, "receipts")),
        ),
    ]


def check_receipt(evidence: Any, keys: Keys) -> List[Check]:
    """Every check of a Receipt. Whether it is a certain record's is asked by ``check_trust_record`` of that record."""
    receipt = evidence if isinstance(evidence, dict) else {}
    hashed = _canonical_members(receipt, receipt.keys() - {"receiptHash", "signature", "signatures"})
    signed = _canonical_members(receipt, receipt.keys() - {"signature", "signatures"})
    return [
        _check(
            "receipt hash",
            "The receipt hash does not match the canonical receipt",
            lambda: hashed is not None and _sha256_hex(hashed) == receipt.get("receiptHash"),
        ),
        _check(
            "receipt signature",
            "The receipt signature is not valid",
            lambda: signed is not None
            and all(
                _verifies("receipt", signed, one, keys)
                for one in _required_signatures(receipt, _carried(receipt, "signature"))
            ),
        ),
    ]


def check_refusal_record(evidence: Any, keys: Keys) -> List[Check]:
    """Every check of a Refusal Record."""
    refusal = evidence if isinstance(evidence, dict) else {}
    signed = _canonical_members(refusal, refusal.keys() - {"refusalRecordHash", "signature"})
    return [
        _check(
            "refusal hash",
            "The refusal record hash does not match the canonical record",
            lambda: signed is not None and _sha256_hex(signed) == refusal.get("refusalRecordHash"),
        ),
        _check(
            "refusal signature",
            "The refusal record signature is not valid",
            lambda: signed is not None
            and _verifies_ed25519("refusal-record", signed, _carried(_object(refusal, "signature")), keys),
        ),
        _check(
            "decision binding",
            "The decision is not a refusal of this intent",
            lambda: _refused_by_decision(refusal),
        ),
    ]


def check_audit_event(evidence: Any, keys: Keys) -> List[Check]:
    """The check of an audit event with the signature beside it: ``{event, signature}``."""
    signed_event = evidence if isinstance(evidence, dict) else {}
    return [
        _check(
            "event signature",
            "The audit event signature is not valid",
            lambda: _verifies_ed25519(
                "audit-event",
                canonicalize(_object(signed_event, "event")),
                _carried(_object(signed_event, "signature")),
                keys,
            ),
        )
    ]


#: What each artifact is called, by the member that only it has.
_KINDS: Tuple[Tuple[str, str, Callable[[Any, Keys], List[Check]]], ...] = (
    ("trustRecordId", "Execution Trust Record", check_trust_record),
    ("receiptId", "Receipt", check_receipt),
    ("refusalRecordId", "Refusal Record", check_refusal_record),
    ("event", "audit event", check_audit_event),
)


def check_evidence(evidence: Any, keys: Keys) -> Tuple[str, List[Check]]:
    """What kind of evidence it is, and its checks.

    Raises Unreadable for what is no evidence of any kind, or claims to be of two.
    """
    kinds = [row for row in _KINDS if isinstance(evidence, dict) and row[0] in evidence]
    if len(kinds) != 1:
        raise Unreadable("not a trust record, receipt, refusal record or audit event")
    _, kind, check = kinds[0]
    return kind, check(evidence, keys)


def pre_auth_encoding(artifact: str, canonical: bytes) -> bytes:
    """What is signed (DSSE v1): it names its artifact, so that no signature passes for another."""
    payload_type = f"application/vnd.countersign.{artifact}.v1+json".encode("ascii")
    return b"DSSEv1 %d %s %d %s" % (len(payload_type), payload_type, len(canonical), canonical)


def _check(name: str, problem: str, holds: Callable[[], bool]) -> Check:
    try:
        return Check(name, None if holds() else problem)
    except (Unreadable, NotCanonical) as error:
        return Check(name, f"{problem} ({error})")


def _signed_names(record: Mapping[str, Any]) -> List[str]:
    """The members that trustRecordHash and the signature cover (decisions §4 "Hash")."""
    names = "trustRecordId businessTransactionId transaction authorization executions overrides createdAt".split()
    return names + (["requiredAlgorithms"] if "requiredAlgorithms" in record else [])


def _canonical_members(value: Mapping[str, Any], names: Any) -> Optional[bytes]:
    """None where a member is missing or has no canonical form: no hash and no signature is of that."""
    try:
        return canonicalize({name: value[name] for name in names})
    except (KeyError, NotCanonical):
        return None


def _required_signatures(evidence: Mapping[str, Any], first: _Carried) -> List[_Carried]:
    """The signatures that must all hold: the one, or exactly one for each required algorithm, so that none can be stripped."""
    if "requiredAlgorithms" not in evidence:
        if "signatures" in evidence:
            raise Unreadable("signatures that nothing requires")
        return [first]
    required = _list(evidence, "requiredAlgorithms")
    carried = [_carried(one) for one in _objects(evidence, "signatures")]
    distinct = [name for i, name in enumerate(required) if name not in required[:i]]
    if len(required) < 2 or distinct != required or [one.algorithm for one in carried] != required:
        raise Unreadable("a required signature is missing")
    # `signature` repeats the first, for readers that know one algorithm only: it must not be another one.
    if first != carried[0]:
        raise Unreadable("signature is not the first of signatures")
    return carried


def _verifies_ed25519(artifact: str, canonical: bytes, carried: _Carried, keys: Keys) -> bool:
    """Everything but records and receipts is always Ed25519 (decisions §4), whatever else is published."""
    return carried.algorithm == "ed25519" and _verifies(artifact, canonical, carried, keys)


def _verifies(artifact: str, canonical: bytes, carried: _Carried, keys: Keys) -> bool:
    key = keys.get(carried.key_id)
    if key is None:
        raise Unreadable(f"no key {carried.key_id} in the key set")
    if key.algorithm != carried.algorithm:
        raise Unreadable(f"key {carried.key_id} is not one of {carried.algorithm}")
    try:
        signature = base64.b64decode(carried.value, validate=True)
    except (binascii.Error, ValueError):
        raise Unreadable("the signature is not base64") from None
    # Only one text stands for the bytes, so that a signature cannot be rewritten and still pass.
    if base64.b64encode(signature).decode("ascii") != carried.value:
        raise Unreadable("the signature is not canonical base64")
    return key.verifies(pre_auth_encoding(artifact, canonical), signature)


def _bound_to_transaction(record: Mapping[str, Any]) -> bool:
    transaction = _object(record, "transaction")
    payload = _object(_object(record, "authorization"), "payload")
    business_transaction_id = _string(record, "businessTransactionId")
    bound = _bound(business_transaction_id, _object(transaction, "intent"))
    return (
        _string(transaction, "businessTransactionId") == business_transaction_id
        and _string(payload, "businessTransactionId") == business_transaction_id
        and _string(payload, "businessTransactionHash") == _sha256_hex(bound)
        and _string(payload, "signalsHash") == _sha256_hex(canonicalize(_member(transaction, "signals")))
        and _string(payload, "callerId") == _string(_object(transaction, "metadata"), "submittedBy")
        and all(
            _string(execution, "businessTransactionId") == business_transaction_id
            and _bound(_member(_object(execution, "evidence"), "businessTransactionId"), _object(execution, "evidence"))
            == bound
            for execution in _objects(record, "executions")
        )
    )


def _bound(business_transaction_id: Any, intent: Mapping[str, Any]) -> bytes:
    members = {name: _member(intent, name) for name in ("action", "target", "parameters")}
    return canonicalize({"businessTransactionId": business_transaction_id, **members})


def _bound_to_decision(record: Mapping[str, Any]) -> bool:
    payload = _object(_object(record, "authorization"), "payload")
    transaction = _object(record, "transaction")
    executions = _objects(record, "executions")
    return len(executions) > 0 and all(_is_decided(execution, payload, transaction) for execution in executions)


def _is_decided(execution: Mapping[str, Any], payload: Mapping[str, Any], transaction: Mapping[str, Any]) -> bool:
    decision = _object(execution, "decision")
    policy = _object(decision, "policy")
    return (
        _string(decision, "outcome") == "APPROVED"
        and _string(decision, "decisionId") == _string(payload, "decisionId")
        and _string(decision, "policyContentHash") == _string(payload, "policyContentHash")
        and _string(policy, "name") == _string(payload, "policyName")
        and _string(policy, "version") == _string(payload, "policyVersion")
        and _string(decision, "intentId") == _string(_object(transaction, "intent"), "intentId")
        and canonicalize(policy) == canonicalize(_member(transaction, "policy"))
        and canonicalize(_member(decision, "signals")) == canonicalize(_member(transaction, "signals"))
        and _string(_object(execution, "metadata"), "authorizationId") == _string(payload, "authorizationId")
    )


def _is_of(record: Mapping[str, Any], appended: Mapping[str, Any]) -> bool:
    return all(_string(appended, name) == record.get(name) for name in ("businessTransactionId", "trustRecordHash"))


def _is_verification(verification: Mapping[str, Any]) -> bool:
    for name in ("verificationId", "message", "verifiedAt"):
        _string(verification, name)
    return _string(verification, "status") in ("VERIFIED", "FAILED")


def _is_receipted(record: Mapping[str, Any], receipt: Mapping[str, Any], keys: Keys) -> bool:
    problems = [check.problem for check in check_receipt(receipt, keys) if check.problem is not None]
    if problems:
        raise Unreadable("; ".join(problems))
    verification_id = _string(receipt, "verificationId")
    return any(
        one.get("verificationId") == verification_id and one.get("status") == "VERIFIED"
        for one in _objects(record, "verifications")
    )


def _refused_by_decision(refusal: Mapping[str, Any]) -> bool:
    """A denial (403) is REJECTED too: it has mismatches besides, each of a signal as the decision was given it."""
    decision = _object(refusal, "decision")
    signals = _object(decision, "signals")
    return (
        _string(decision, "outcome") == "REJECTED"
        and _string(decision, "intentId") == _string(_object(refusal, "evaluatedIntent"), "intentId")
        and all(
            canonicalize(signals.get(_string(mismatch, "signal"))) == canonicalize(_member(mismatch, "declared"))
            for mismatch in _objects(refusal, "mismatches")
        )
    )


def _carried(value: Mapping[str, Any], value_name: str = "value") -> _Carried:
    return _Carried(_string(value, "algorithm"), _string(value, "keyId"), _string(value, value_name))


def _sha256_hex(canonical: bytes) -> str:
    return hashlib.sha256(canonical).hexdigest()


def _member(value: Mapping[str, Any], name: str) -> Any:
    if name not in value:
        raise Unreadable(f"{name} is missing")
    return value[name]


def _object(value: Mapping[str, Any], name: str) -> Dict[str, Any]:
    member = value.get(name)
    if not isinstance(member, dict):
        raise Unreadable(f"{name} is not an object")
    return member


def _list(value: Mapping[str, Any], name: str) -> List[Any]:
    member = value.get(name)
    if not isinstance(member, list):
        raise Unreadable(f"{name} is not a list")
    return member


def _objects(value: Mapping[str, Any], name: str) -> List[Dict[str, Any]]:
    members = _list(value, name)
    if not all(isinstance(member, dict) for member in members):
        raise Unreadable(f"{name} holds something else than objects")
    return members


def _string(value: Mapping[str, Any], name: str) -> str:
    member = value.get(name)
    if not isinstance(member, str):
        raise Unreadable(f"{name} is not a string")
    return member
