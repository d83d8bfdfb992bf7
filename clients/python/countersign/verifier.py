"""The offline checks of every artifact, from its text and saved public keys alone: the checks, by name, of the service's own
verifier (decisions §4), written a second time. Keys never come from the evidence."""

from __future__ import annotations

from typing import Any, List, Mapping

from .approvals import check_approvals, check_refused_approvals
from .batch import family_of
from .caller_authentication import check_caller_authentication
from .canonical import canonicalize
from .evidence import (
    Carried,
    Check,
    Given,
    Keys,
    Unreadable,
    canonical_members,
    carried_signature,
    checked,
    checked_beside,
    checked_signed,
    list_of,
    member_of,
    object_of,
    objects_of,
    sha256_hex,
    signature_beside,
    string_of,
    verifies,
    verifies_authorization,
    verifies_ed25519,
)
from .provider_confirmation import check_provider_confirmation


def check_trust_record(evidence: Any, keys: Keys) -> List[Check]:
    """Every check of a saved Execution Trust Record, with what was appended to it. Never raises for evidence of any shape."""
    record = evidence if isinstance(evidence, dict) else {}
    signed = canonical_members(record, _signed_names(record))
    checks = [
        checked(
            "canonical hash",
            "The trust record hash does not match the canonical record",
            lambda: signed is not None and sha256_hex(signed) == record.get("trustRecordHash"),
        ),
        checked_signed(
            "record signature",
            "The trust record signature is not valid",
            keys,
            lambda given: signed is not None
            and all(
                verifies("trust-record", signed, one, given)
                for one in _required_signatures(record, carried_signature(object_of(record, "signature")))
            ),
        ),
        checked_signed(
            "authorization signature",
            "The execution authorization signature is not valid",
            keys,
            lambda given: verifies_authorization(object_of(record, "authorization"), given),
        ),
        checked(
            "transaction binding",
            "The execution authorization is not bound to this transaction",
            lambda: _bound_to_transaction(record),
        ),
        *check_caller_authentication(record.get("authorization")),
        checked(
            "decision binding",
            "The execution authorization is not bound to this decision",
            lambda: _bound_to_decision(record),
        ),
        check_approvals(record, keys),
        checked(
            "verifications",
            "A verification is not one of this record",
            lambda: _left_out(record, "verifications", "verificationCount") >= 0
            and all(_is_of(record, one) and _is_verification(one) for one in objects_of(record, "verifications")),
        ),
        checked_signed(
            "receipts",
            "A receipt is not a valid one of this record",
            keys,
            lambda given: _left_out(record, "receipts", "receiptCount") >= 0
            and all(_is_of(record, one) and _is_receipted(record, one, given) for one in objects_of(record, "receipts")),
        ),
    ]
    if "confirmations" in record or "confirmationCount" in record:
        checks.append(
            checked_signed(
                "confirmations",
                "A confirmation is not a valid one of this record",
                keys,
                lambda given: _left_out(record, "confirmations", "confirmationCount") >= 0
                and all(_is_confirmed(record, one, given) for one in objects_of(record, "confirmations")),
            )
        )
    return checks


def check_receipt(evidence: Any, keys: Keys) -> List[Check]:
    """Every check of a Receipt. Whether it is a certain record's is asked by ``check_trust_record`` of that record."""
    receipt = evidence if isinstance(evidence, dict) else {}
    hashed = canonical_members(receipt, receipt.keys() - {"receiptHash", "signature", "signatures"})
    signed = canonical_members(receipt, receipt.keys() - {"signature", "signatures"})
    return [
        checked(
            "receipt hash",
            "The receipt hash does not match the canonical receipt",
            lambda: hashed is not None and sha256_hex(hashed) == receipt.get("receiptHash"),
        ),
        checked_signed(
            "receipt signature",
            "The receipt signature is not valid",
            keys,
            lambda given: signed is not None
            and all(
                verifies("receipt", signed, one, given)
                for one in _required_signatures(receipt, signature_beside(receipt))
            ),
        ),
    ]


def check_refusal_record(evidence: Any, keys: Keys) -> List[Check]:
    """Every check of a Refusal Record."""
    refusal = evidence if isinstance(evidence, dict) else {}
    signed = canonical_members(refusal, refusal.keys() - {"refusalRecordHash", "signature"})
    return [
        checked(
            "refusal hash",
            "The refusal record hash does not match the canonical record",
            lambda: signed is not None and sha256_hex(signed) == refusal.get("refusalRecordHash"),
        ),
        checked_signed(
            "refusal signature",
            "The refusal record signature is not valid",
            keys,
            lambda given: signed is not None
            and verifies_ed25519("refusal-record", signed, carried_signature(object_of(refusal, "signature")), given),
        ),
        checked(
            "decision binding",
            "The decision is not a refusal of this intent",
            lambda: _refused_by_decision(refusal),
        ),
        check_refused_approvals(refusal, keys),
    ]


def check_audit_event(evidence: Any, keys: Keys) -> List[Check]:
    """The check of an audit event with the signature beside it: ``{event, signature}``."""
    signed_event = evidence if isinstance(evidence, dict) else {}
    return [
        checked_beside(
            "event signature", "The audit event signature is not valid", keys, "audit-event", signed_event, "event"
        )
    ]


def _is_scalar(value: Any) -> bool:
    """A signal is no object and no list."""
    return not isinstance(value, (dict, list))


def _signed_names(record: Mapping[str, Any]) -> List[str]:
    """The members that trustRecordHash and the signature cover (decisions §4 "Hash")."""
    names = "trustRecordId businessTransactionId transaction authorization executions overrides createdAt".split()
    return names + (["requiredAlgorithms"] if "requiredAlgorithms" in record else [])


def _required_signatures(evidence: Mapping[str, Any], first: Carried) -> List[Carried]:
    """The signatures that must all hold: the one, or exactly one for each required algorithm, so that none can be stripped."""
    if "requiredAlgorithms" not in evidence:
        if "signatures" in evidence:
            raise Unreadable("signatures that nothing requires")
        return [first]
    required = list_of(evidence, "requiredAlgorithms")
    carried = [carried_signature(one) for one in objects_of(evidence, "signatures")]
    distinct = [name for i, name in enumerate(required) if name not in required[:i]]
    if len(required) < 2 or distinct != required or [family_of(one.algorithm) for one in carried] != required:
        raise Unreadable("a required signature is missing")
    # `signature` repeats the first, for readers that know one algorithm only: it must not be another one.
    if first != carried[0]:
        raise Unreadable("signature is not the first of signatures")
    return carried


def _bound_to_transaction(record: Mapping[str, Any]) -> bool:
    transaction = object_of(record, "transaction")
    payload = object_of(object_of(record, "authorization"), "payload")
    business_transaction_id = string_of(record, "businessTransactionId")
    bound = _bound(business_transaction_id, object_of(transaction, "intent"))
    return (
        string_of(transaction, "businessTransactionId") == business_transaction_id
        and string_of(payload, "businessTransactionId") == business_transaction_id
        and string_of(payload, "businessTransactionHash") == sha256_hex(bound)
        and string_of(payload, "signalsHash") == sha256_hex(canonicalize(member_of(transaction, "signals")))
        and string_of(payload, "callerId") == string_of(object_of(transaction, "metadata"), "submittedBy")
        and all(
            string_of(execution, "businessTransactionId") == business_transaction_id
            and _bound(member_of(object_of(execution, "evidence"), "businessTransactionId"), object_of(execution, "evidence"))
            == bound
            for execution in objects_of(record, "executions")
        )
    )


def _bound(business_transaction_id: Any, intent: Mapping[str, Any]) -> bytes:
    members = {name: member_of(intent, name) for name in ("action", "target", "parameters")}
    return canonicalize({"businessTransactionId": business_transaction_id, **members})


def _bound_to_decision(record: Mapping[str, Any]) -> bool:
    payload = object_of(object_of(record, "authorization"), "payload")
    transaction = object_of(record, "transaction")
    executions = objects_of(record, "executions")
    return len(executions) > 0 and all(_is_decided(execution, payload, transaction) for execution in executions)


def _is_decided(execution: Mapping[str, Any], payload: Mapping[str, Any], transaction: Mapping[str, Any]) -> bool:
    decision = object_of(execution, "decision")
    policy = object_of(decision, "policy")
    return (
        string_of(decision, "outcome") == "APPROVED"
        and string_of(decision, "decisionId") == string_of(payload, "decisionId")
        and string_of(decision, "policyContentHash") == string_of(payload, "policyContentHash")
        and string_of(policy, "name") == string_of(payload, "policyName")
        and string_of(policy, "version") == string_of(payload, "policyVersion")
        and string_of(decision, "intentId") == string_of(object_of(transaction, "intent"), "intentId")
        and canonicalize(policy) == canonicalize(member_of(transaction, "policy"))
        and canonicalize(member_of(decision, "signals")) == canonicalize(member_of(transaction, "signals"))
        and string_of(object_of(execution, "metadata"), "authorizationId") == string_of(payload, "authorizationId")
    )


def _is_of(record: Mapping[str, Any], appended: Mapping[str, Any]) -> bool:
    return all(string_of(appended, name) == record.get(name) for name in ("businessTransactionId", "trustRecordHash"))


def _is_verification(verification: Mapping[str, Any]) -> bool:
    for name in ("verificationId", "message", "verifiedAt"):
        string_of(verification, name)
    return string_of(verification, "status") in ("VERIFIED", "FAILED")


def _is_receipted(record: Mapping[str, Any], receipt: Mapping[str, Any], given: Given) -> bool:
    _require(check_receipt(receipt, given.keys), given)
    verification_id = string_of(receipt, "verificationId")
    named = [one for one in objects_of(record, "verifications") if one.get("verificationId") == verification_id]
    # A list that was cut may have left it out. Nothing is lost by that: verifications are not signed, the receipt is.
    if not named:
        return _left_out(record, "verifications", "verificationCount") > 0
    return any(one.get("status") == "VERIFIED" for one in named)


def _is_confirmed(record: Mapping[str, Any], confirmation: Mapping[str, Any], given: Given) -> bool:
    _require(check_provider_confirmation(confirmation, given.keys), given)
    named = object_of(confirmation, "confirmation").get("businessTransactionId")
    return named == string_of(record, "businessTransactionId")


def _require(checks: List[Check], given: Given) -> None:
    """Notes the keys that checks within evidence lack. Raises Unreadable where one of them fails."""
    problems = [check.problem for check in checks if check.problem is not None and not check.missing_keys]
    if problems:
        raise Unreadable("; ".join(problems))
    given.missing.extend(key_id for check in checks for key_id in check.missing_keys)
    given.notes.extend(note for check in checks for note in check.notes)


def _left_out(record: Mapping[str, Any], name: str, count_name: str) -> int:
    """How many the record has that its list leaves out (decisions §12).

    Raises Unreadable for a count that is none, or less than the list holds.
    """
    held = len(list_of(record, name))
    count = record.get(count_name, held)
    if isinstance(count, float) and count.is_integer():
        count = int(count)
    if not isinstance(count, int) or isinstance(count, bool) or not held <= count < 2**53:
        raise Unreadable(f"{count_name} is not the number of {name}")
    return count - held


def _refused_by_decision(refusal: Mapping[str, Any]) -> bool:
    """A denial (403) is REJECTED too: it has mismatches besides, each of a signal as the decision was given it."""
    decision = object_of(refusal, "decision")
    signals = object_of(decision, "signals")
    return (
        string_of(decision, "outcome") == "REJECTED"
        and refusal.get("approvable", True) is True
        and string_of(decision, "intentId") == string_of(object_of(refusal, "evaluatedIntent"), "intentId")
        and all(
            _is_scalar(signals.get(string_of(mismatch, "signal")))
            and canonicalize(signals.get(string_of(mismatch, "signal"))) == canonicalize(member_of(mismatch, "declared"))
            for mismatch in objects_of(refusal, "mismatches")
        )
    )
