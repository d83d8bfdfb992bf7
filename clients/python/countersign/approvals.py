"""The check of a decision's verified signals (decisions §4 "Decision", §7): what a human approved, or a system of record said."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Set, Tuple

from .canonical import canonicalize
from .evidence import (
    Carried,
    Check,
    Given,
    Keys,
    Unreadable,
    checked_signed,
    list_of,
    member_of,
    object_of,
    objects_of,
    string_of,
    verifies_authorization,
    verifies_human,
)
from .approval_request import is_asked_for, request_hash
from .instant import instant
from .scope import scope_covers

#: The characters of a reason.
_REASON_MAX = 500


class Membership(NamedTuple):
    """Why an approval counts where the policy names groups."""

    group: str
    #: The change that set the group.
    change_id: str
    #: The member in whose place the approver counts, and the change that says so; None: they are a member.
    stands_in_for: Optional[str]
    stand_in_change_id: Optional[str]


def check_approvals(record: Mapping[str, Any], keys: Keys) -> Check:
    """The check of a record: every verified signal of every decision in it."""

    def holds(given: Given) -> bool:
        used: Set[str] = set()
        stood_for: Dict[str, Tuple[str, bool]] = {}
        in_place_of: Set[str] = set()
        for execution in objects_of(record, "executions"):
            decision = object_of(execution, "decision")
            verified_signals = object_of(decision, "verifiedSignals")
            for signal in verified_signals:
                _require_signal(signal, object_of(verified_signals, signal), decision, record, used, stood_for, in_place_of, given)
        return True

    return checked_signed("approvals", "The verified signals cannot be verified", keys, holds)


def check_refused_approvals(refusal: Mapping[str, Any], keys: Keys) -> Check:
    """The check of a Refusal Record: approvals that did not suffice stand in it, and each is a signed one, by another person
    than who asked. Whether they match is what was refused."""

    def holds(given: Given) -> bool:
        verified_signals = object_of(object_of(refusal, "decision"), "verifiedSignals")
        for signal in verified_signals:
            verified = object_of(verified_signals, signal)
            not_counted = _not_counted_in(verified)
            memberships_of(verified)
            for approval in approvals_of(verified):
                _require_signature(approval, given)
                approver = string_of(object_of(approval, "payload"), "approverId")
                if approver in not_counted:
                    raise Unreadable(f"the approval by {approver} is by who asked for it")
        return True

    return checked_signed("approvals", "The approvals in the decision are not signed ones", keys, holds)


def _require_signal(
    signal: str,
    verified: Mapping[str, Any],
    decision: Mapping[str, Any],
    record: Mapping[str, Any],
    used: Set[str],
    stood_for: Dict[str, Tuple[str, bool]],
    in_place_of: Set[str],
    given: Given,
) -> None:
    value, by = member_of(verified, "value"), verified.get("by")
    # One that was left out is decided on as it is verified.
    declared = object_of(decision, "signals")
    if signal in declared and canonicalize(declared[signal]) != canonicalize(value):
        raise Unreadable(f"signal {signal} is verified to be another value than was declared")
    if signal not in declared and not isinstance(value, (bool, int, float)):
        raise Unreadable(f"signal {signal} was left out, and what is filled in is no value of a signal")
    approvals = approvals_of(verified)
    not_counted = _not_counted_in(verified)
    if by == "approval" and value is True:
        if not approvals:
            raise Unreadable(f"signal {signal} has no approval")
        _require_approvals(approvals, not_counted, verified, decision, record, used, given)
        _require_one_signal_each(signal, approvals, verified, stood_for)
        _require_stand_ins(verified, not_counted, record, in_place_of)
        return
    if approvals or "request" in verified or "groups" in verified:
        raise Unreadable(f"signal {signal} has approvals that it does not claim")
    if by == "crm-deal":
        _require_authorized_read(verified, record, given)
        return
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (by == "approval" and value is False) and not (by == "history" and is_number):
        raise Unreadable(f"signal {signal} is verified by what nothing here can check")


def _require_approvals(
    approvals: List[Dict[str, Any]],
    not_counted: List[str],
    verified: Mapping[str, Any],
    decision: Mapping[str, Any],
    record: Mapping[str, Any],
    used: Set[str],
    given: Given,
) -> None:
    """As many approvers as approvals: the quorum itself stands in the policy."""
    transaction = object_of(record, "transaction")
    intent = object_of(transaction, "intent")
    at = instant(string_of(decision, "evaluatedAt"))
    asked_by = (
        string_of(object_of(transaction, "authority"), "principalId"),
        string_of(object_of(transaction, "metadata"), "submittedBy"),
        *not_counted,
    )
    request = object_of(verified, "request") if "request" in verified else None
    hash_of_request = None if request is None else request_hash(request)
    approvers: Set[str] = set()
    for approval in approvals:
        key_id, nonce = _require_signature(approval, given)
        payload = object_of(approval, "payload")
        approver = string_of(payload, "approverId")
        key = given.keys.get(key_id)
        revoked_at = None if key is None else key.revoked_at
        for problem, holds in (
            ("is of an unknown version", _is_version(payload, 1) or _is_for_request(payload)),
            ("has a reason that an approval of its version cannot have", "reason" not in payload or _is_reasoned(payload)),
            ("is for another request", _is_version(payload, 1) or payload.get("requestHash") == hash_of_request is not None),
            ("is for another capability", string_of(payload, "capability") == string_of(intent, "action")),
            ("is for another target", string_of(payload, "target") == string_of(intent, "target")),
            ("does not cover the parameters", scope_covers(payload.get("scope"), intent.get("parameters"))),
            ("was not yet valid", instant(payload.get("issuedAt")) <= at),
            ("was expired", at < instant(payload.get("expiresAt"))),
            ("is by who asked for it", approver not in asked_by),
            ("is by a key that was revoked", revoked_at is None or at < instant(revoked_at)),
        ):
            if not holds:
                raise Unreadable(f"the approval by {approver} {problem}")
        if approver in approvers or nonce in used:
            raise Unreadable(f"the approval by {approver} counts already")
        approvers.add(approver)
        used.add(nonce)
    if request is not None:
        _require_request(request, approvals, transaction, decision)


def _require_one_signal_each(
    signal: str,
    approvals: List[Dict[str, Any]],
    verified: Mapping[str, Any],
    stood_for: Dict[str, Tuple[str, bool]],
) -> None:
    """A person stands for one signal of an execution. Before there were groups, two approvals by one approver could stand for two."""
    has_groups = memberships_of(verified) is not None
    for approval in approvals:
        approver = string_of(object_of(approval, "payload"), "approverId")
        other = stood_for.get(approver)
        if other is not None and (has_groups or other[1]):
            raise Unreadable(f"the approval by {approver} stands for the signal {other[0]} too")
        stood_for[approver] = (signal, has_groups)


def _require_stand_ins(
    verified: Mapping[str, Any], not_counted: List[str], record: Mapping[str, Any], in_place_of: Set[str]
) -> None:
    """Nobody stands in for a person behind the execution, and one alone for each member."""
    transaction = object_of(record, "transaction")
    asked_by = (
        string_of(object_of(transaction, "authority"), "principalId"),
        string_of(object_of(transaction, "metadata"), "submittedBy"),
        *not_counted,
    )
    for membership in memberships_of(verified) or []:
        absent = membership.stands_in_for
        if absent is None:
            continue
        if absent in asked_by:
            raise Unreadable(f"an approval is in place of {absent}, who asked for it")
        if absent in in_place_of:
            raise Unreadable(f"two approvals are in place of {absent}")
        in_place_of.add(absent)


def _is_version(payload: Mapping[str, Any], version: int) -> bool:
    return payload.get("version") == version and payload.get("version") is not True


def _is_for_request(payload: Mapping[str, Any]) -> bool:
    """Whether an approval is for the execution that one request asked for, and for no other one."""
    return _is_version(payload, 2) or _is_version(payload, 3)


def _is_reasoned(payload: Mapping[str, Any]) -> bool:
    reason = payload.get("reason")
    return _is_version(payload, 3) and isinstance(reason, str) and 1 <= len(reason) <= _REASON_MAX


def _require_request(
    request: Mapping[str, Any],
    approvals: List[Dict[str, Any]],
    transaction: Mapping[str, Any],
    decision: Mapping[str, Any],
) -> None:
    """Approvals of version 2 and 3 are for the execution that this request asked for, and for no other one."""
    if not any(_is_for_request(object_of(approval, "payload")) for approval in approvals):
        raise Unreadable("there is a request that no approval is for")
    if not is_asked_for(request, transaction, decision):
        raise Unreadable("the approvals are for a request of another execution")
    verified_signals = object_of(decision, "verifiedSignals")
    count = sum(len(approvals_of(object_of(verified_signals, signal))) for signal in verified_signals)
    quorum = request.get("quorum")
    if isinstance(quorum, bool) or not isinstance(quorum, (int, float)) or not count >= quorum:
        raise Unreadable("there are fewer approvals than the request asked for")


def _require_signature(approval: Mapping[str, Any], given: Given) -> Tuple[str, str]:
    """The id of the key that signed it, and its nonce. Raises Unreadable where that is not the approver whom it names."""
    payload = object_of(approval, "payload")
    approver = string_of(payload, "approverId")
    # `a:b` with key `c` and `a` with key `b:c` are one name of a key, and must not be two approvers.
    if approver == "" or ":" in approver:
        raise Unreadable("an approverId is not one")
    key_id = f"{approver}:{string_of(payload, 'keyId')}"
    carried = Carried(
        string_of(approval, "algorithm"), key_id, string_of(approval, "signature"), webauthn=approval.get("webauthn")
    )
    if not verifies_human("approval", canonicalize(payload), carried, given):
        raise Unreadable(f"the approval by {approver} is not signed by that approver")
    return key_id, string_of(payload, "nonce")


def _require_authorized_read(verified: Mapping[str, Any], record: Mapping[str, Any], given: Given) -> None:
    """A read of a system of record is released by an authorization of its own, for the same transaction."""
    authorization = object_of(verified, "authorization")
    payload = object_of(authorization, "payload")
    released = object_of(object_of(record, "authorization"), "payload")
    if (
        not verifies_authorization(authorization, given)
        or string_of(payload, "businessTransactionId") != record.get("businessTransactionId")
        or string_of(payload, "authorizationId") == released.get("authorizationId")
    ):
        raise Unreadable("the read is not authorized for this transaction")


def _not_counted_in(verified: Mapping[str, Any]) -> List[str]:
    """The approverIds of the persons behind the execution; none in evidence of before decisions listed them."""
    names = list_of(verified, "notCounted") if "notCounted" in verified else []
    if not all(isinstance(name, str) for name in names):
        raise Unreadable("notCounted is not a list of names")
    return names


def approvals_of(verified: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """The approvals that a verified signal carries."""
    return objects_of(verified, "approvals") if "approvals" in verified else []


def memberships_of(verified: Mapping[str, Any]) -> Optional[List[Membership]]:
    """The membership that a verified signal states for each of its approvals; None where it states none. That they hold is shown by the
    changes, which a bundle brings.

    Raises Unreadable where they are not one for each approval.
    """
    if "groups" not in verified:
        return None
    stated = []
    for one in objects_of(verified, "groups"):
        is_stand_in = "standsInFor" in one or "standInChangeId" in one
        stand_in = (string_of(one, "standsInFor"), string_of(one, "standInChangeId")) if is_stand_in else (None, None)
        stated.append(Membership(string_of(one, "group"), string_of(one, "changeId"), *stand_in))
    if not stated or len(stated) != len(approvals_of(verified)):
        raise Unreadable("it does not state one group for each approval")
    return stated
