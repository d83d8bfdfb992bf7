"""The checks of a bundle: one execution with everything that shows that it was allowed, and that the log holds it. Keys of approvers count
where a governance change enrolled them, which the service signed; everything else rests on the reader's own key set and log."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, TypeVar

from .approvals import Membership, approvals_of, memberships_of
from .bundle_log import DueProofs, LoggedPart, check_proofs
from .canonical import NotCanonical, canonicalize, json_string
from .evidence import Check, Given, Keys, checked, checked_signed, list_of, object_of, objects_of, sha256_hex, string_of
from .governance_change import check_governance_change, notes_on_change, signed_members_of
from .instant import Unreadable, instant
from .key_set import PublicKey, UnusableKeySet, combined_keys, is_same_key, read_key_set
from .log.trust import LogTrust
from .notes import notes_on_record
from .verifier import check_trust_record

_VERSION = "countersign/1"


def inspect_bundle(bundle: Mapping[str, Any], keys: Keys, log: Optional[LogTrust]) -> Tuple[List[Check], List[str]]:
    """Its checks, at least one, and what a reader should know besides. ``keys`` and ``log`` are the reader's.

    Raises Unreadable for a bundle of another version.
    """
    if bundle.get("bundle") != _VERSION:
        said = json.dumps(bundle.get("bundle"), ensure_ascii=False, separators=(",", ":"))
        raise Unreadable(f"The bundle is of version {said}; only '{_VERSION}' is known.")
    record = bundle["record"] if isinstance(bundle.get("record"), dict) else {}

    @_lazy
    def execution() -> _Execution:
        return _read_execution(record)

    @_lazy
    def changes() -> List[_Change]:
        return [_read_change(change, execution()) for change in objects_of(bundle, "changes")]

    def are_changes_valid(given: Given) -> bool:
        problems = [problem for change in list_of(bundle, "changes") for problem in _problems_of(change, given)]
        if problems:
            raise Unreadable("; ".join(problems))
        asked = _groups_asked_for(bundle.get("policy"), execution())
        return _are_in_force(changes()) and _are_members(_read_approved_signals(record), changes(), asked)

    record_keys = dict(keys)

    def are_keys_enrolled() -> bool:
        carried = _carried_keys(bundle)
        # A change that is not shown to be the service's enrols nobody.
        if changes_check.problem is None:
            record_keys.update(_combined(keys, _enrolled_keys(changes(), carried)))
        return _are_enrolled(execution(), changes(), carried)

    changes_check = checked_signed(
        "governance changes",
        "A governance change is not one that put the policy, or the key, group or stand-in of an approver into force",
        keys,
        are_changes_valid,
    )
    keys_check = checked("approver keys", "The keys of approvers are not those that were enrolled", are_keys_enrolled)
    proof_checks, proof_notes = check_proofs(bundle.get("proofs"), lambda: _due_proofs(execution(), changes()), log)
    checks = [
        *check_trust_record(record, record_keys),
        checked(
            "policy document",
            "The policy document is not the one whose hash is signed",
            lambda: sha256_hex(string_of(bundle, "policy").encode("utf-8")) == execution().policy_hash,
        ),
        changes_check,
        keys_check,
        *proof_checks,
    ]
    notes = [*notes_on_record(record, promise=False), *_notes_on_authority(bundle, execution, changes, keys), *proof_notes]
    return checks, notes


_Made = TypeVar("_Made")


def _lazy(make: Callable[[], _Made]) -> Callable[[], _Made]:
    """Made at the first call; where that raises, each call does."""
    return lru_cache(maxsize=1)(make)


@dataclass(frozen=True)
class _UsedApproval:
    """An approval in the record, and the name of the key that it says to be signed by."""

    part: LoggedPart
    key_id: str
    #: Hash of the request that it is for; None: for none.
    request_hash: Any


@dataclass(frozen=True)
class _ApprovedSignal:
    """A signal that approvals stand for, as a decision states it."""

    signal: str
    evaluated_at: str
    approver_ids: List[str]
    #: In the order of the approvers; None: it states none.
    memberships: Optional[List[Membership]]


@dataclass(frozen=True)
class _Execution:
    """The execution and the authority for it, as the record states them."""

    policy_name: str
    policy_version: str
    policy_hash: str
    authorization: LoggedPart
    #: The approval requests, as the approvers signed them.
    requests: List[LoggedPart]
    approvals: List[_UsedApproval]
    #: The changes that its decisions state groups and stand-ins by: the group, or the member who is away, and the changeId. Of any shape.
    stated_changes: List[Tuple[Any, Any]]
    #: The newest.
    receipt: Optional[LoggedPart]
    #: The log that the receipt was promised to.
    promised_to: Optional[str]
    confirmations: List[LoggedPart]


def _read_execution(record: Mapping[str, Any]) -> _Execution:
    id = string_of(record, "businessTransactionId")
    payload = object_of(object_of(record, "authorization"), "payload")
    receipts = list_of(record, "receipts")
    receipt, promised_to = _read_receipt(receipts[-1], id) if receipts else (None, None)
    return _Execution(
        policy_name=string_of(payload, "policyName"),
        policy_version=string_of(payload, "policyVersion"),
        policy_hash=string_of(payload, "policyContentHash"),
        authorization=LoggedPart("authorization", id, "authorization", sha256_hex(canonicalize(payload))),
        requests=_read_requests(record),
        approvals=_read_approvals(record),
        stated_changes=_read_stated_changes(record),
        receipt=receipt,
        promised_to=promised_to,
        confirmations=_read_confirmations(record),
    )


def _read_confirmations(record: Mapping[str, Any]) -> List[LoggedPart]:
    confirmations = objects_of(record, "confirmations") if "confirmations" in record else []
    found = []
    for one in confirmations:
        confirmation = object_of(one, "confirmation")
        digest = sha256_hex(canonicalize(confirmation))
        found.append(LoggedPart("confirmation", string_of(confirmation, "confirmationId"), "provider-confirmation", digest))
    return found


def _read_approvals(record: Mapping[str, Any]) -> List[_UsedApproval]:
    """Each once, however often the record has it: whether it may is what the check of the record's approvals says."""
    found: Dict[str, _UsedApproval] = {}
    for verified in _verified_signals_of(record):
        for approval in approvals_of(verified):
            payload = object_of(approval, "payload")
            digest = sha256_hex(canonicalize(payload))
            part = LoggedPart("approval", string_of(payload, "approvalId"), "approval", digest)
            key_id = f"{string_of(payload, 'approverId')}:{string_of(payload, 'keyId')}"
            found.setdefault(digest, _UsedApproval(part, key_id, payload.get("requestHash")))
    return list(found.values())


def _read_requests(record: Mapping[str, Any]) -> List[LoggedPart]:
    """As ``_read_approvals``."""
    found: Dict[str, LoggedPart] = {}
    for verified in _verified_signals_of(record):
        if "request" in verified:
            request = object_of(verified, "request")
            digest = sha256_hex(canonicalize(request))
            found.setdefault(digest, LoggedPart("approval-request", string_of(request, "requestId"), "approval-request", digest))
    return list(found.values())


def _read_stated_changes(record: Mapping[str, Any]) -> List[Tuple[Any, Any]]:
    found = [verified.get("groups") for verified in _verified_signals_of(record)]
    stated = [one for groups in found if isinstance(groups, list) for one in groups if isinstance(one, dict)]
    names = (("group", "changeId"), ("standsInFor", "standInChangeId"))
    return [(one.get(of), one.get(change)) for one in stated for of, change in names]


def _read_approved_signals(record: Mapping[str, Any]) -> List[_ApprovedSignal]:
    found = []
    for execution in objects_of(record, "executions"):
        decision = object_of(execution, "decision")
        verified_signals = object_of(decision, "verifiedSignals")
        for signal in verified_signals:
            verified = object_of(verified_signals, signal)
            approvers = [string_of(object_of(one, "payload"), "approverId") for one in approvals_of(verified)]
            if approvers:
                at = string_of(decision, "evaluatedAt")
                found.append(_ApprovedSignal(signal, at, approvers, memberships_of(verified)))
    return found


def _verified_signals_of(record: Mapping[str, Any]) -> List[Mapping[str, Any]]:
    found = []
    for execution in objects_of(record, "executions"):
        verified_signals = object_of(object_of(execution, "decision"), "verifiedSignals")
        found += [object_of(verified_signals, signal) for signal in verified_signals]
    return found


def _read_receipt(receipt: Any, id: str) -> Tuple[LoggedPart, Optional[str]]:
    if not isinstance(receipt, dict):
        raise Unreadable("receipts holds something else than objects")
    promise = receipt.get("transparency")
    log = promise.get("log") if isinstance(promise, dict) else None
    part = LoggedPart("receipt", id, "receipt", string_of(receipt, "receiptHash"))
    return part, log if isinstance(log, str) else None


@dataclass(frozen=True)
class _StandIn:
    away: str
    by: str
    since: str
    until: str


@dataclass(frozen=True)
class _Change:
    """A governance change: the key that it enrolled, the group or stand-in that it set, or that it put the policy into force; none
    where it is another change."""

    part: LoggedPart
    target: str
    enrolled: Optional[PublicKey] = None
    #: The approverIds of the group.
    group: Optional[List[str]] = None
    stand_in: Optional[_StandIn] = None
    resolved_at: str = ""
    is_of_policy: bool = False


def _problems_of(change: Any, given: Given) -> List[str]:
    checks = check_governance_change(change, given.keys)
    given.missing.extend(key_id for check in checks for key_id in check.missing_keys)
    given.notes.extend(note for check in checks for note in check.notes)
    return [check.problem for check in checks if check.problem is not None and not check.missing_keys]


def _read_change(change: Mapping[str, Any], execution: _Execution) -> _Change:
    target = string_of(change, "target")
    digest = sha256_hex(canonicalize(signed_members_of(change)))
    part = LoggedPart("change", string_of(change, "changeId"), "governance-change", digest)
    proposed = change.get("proposed")
    if change.get("status") != "APPROVED":
        return _Change(part, target)
    if change.get("kind") == "policy":
        named = f"{execution.policy_name}/{execution.policy_version}"
        # Beside the members of the document stand the versions that end with the change; no document has a member `retires`.
        document = {name: value for name, value in object_of(change, "proposed").items() if name != "retires"}
        is_this = target == named and sha256_hex(canonicalize(document)) == execution.policy_hash
        return _Change(part, target, is_of_policy=is_this)
    if change.get("kind") == "approver-group":
        set_here = object_of(change, "proposed")
        if (
            set_here.get("action") != "set"
            or set_here.get("group") != target
            or (target, part.id) not in execution.stated_changes
        ):
            return _Change(part, target)
        group = list_of(set_here, "members")
        if not all(isinstance(member, str) for member in group):
            raise Unreadable("members holds something else than names")
        return _Change(part, target, group=group, resolved_at=string_of(change, "resolvedAt"))
    if change.get("kind") == "stand-in":
        return _read_stand_in(change, part, target, execution)
    if change.get("kind") != "approver" or not isinstance(proposed, dict) or proposed.get("action") != "add":
        return _Change(part, target)
    is_of_approver = target == f"{string_of(proposed, 'approverId')}:{string_of(proposed, 'keyId')}" and any(
        approval.key_id == target for approval in execution.approvals
    )
    if not is_of_approver:
        return _Change(part, target)
    return _Change(part, target, enrolled=_enrolled_key(target, proposed))


def _read_stand_in(change: Mapping[str, Any], part: LoggedPart, target: str, execution: _Execution) -> _Change:
    put = object_of(change, "proposed")
    away, since = string_of(put, "for"), string_of(put, "from")
    if put.get("action") != "set" or target != f"{away}/{since}" or (away, part.id) not in execution.stated_changes:
        return _Change(part, target)
    stand_in = _StandIn(away, string_of(put, "by"), since, string_of(put, "until"))
    return _Change(part, target, stand_in=stand_in, resolved_at=string_of(change, "resolvedAt"))


def _enrolled_key(target: str, proposed: Mapping[str, Any]) -> PublicKey:
    """A human's key as a governance change enrolled it."""
    passkey = {"passkey": proposed["passkey"]} if "passkey" in proposed else {}
    return _read_keys([{"keyId": target, "pem": proposed.get("publicKeyPem"), **passkey}])[target]


def _are_in_force(changes: List[_Change]) -> bool:
    """Raises Unreadable for a change that put nothing of this execution into force, and for two that say they did the same."""
    targets = []
    for change in changes:
        which = f"change {json_string(change.part.id)}"
        if not change.is_of_policy and change.enrolled is None and change.group is None and change.stand_in is None:
            raise Unreadable(f"{which} put nothing into force that was used here")
        if change.target in targets:
            raise Unreadable(f"{which} is the second one of {json_string(change.target)}")
        targets.append(change.target)
    return True


def _groups_asked_for(policy: Any, execution: _Execution) -> Optional[Dict[str, Optional[List[str]]]]:
    """The groups that the policy asks for, by signal; None for a document that is not the one that was executed under, of which another
    check says so."""
    if not isinstance(policy, str) or sha256_hex(policy.encode("utf-8")) != execution.policy_hash:
        return None
    try:
        document = json.loads(policy)
    except ValueError:
        raise Unreadable("the policy document is no JSON") from None
    if not isinstance(document, dict):
        raise Unreadable("the policy document is not an object")
    verify = object_of(document, "verify") if "verify" in document else {}
    asked: Dict[str, Optional[List[str]]] = {}
    for signal in verify:
        verifier = object_of(verify, signal)
        asked[signal] = [string_of({"from": one}, "from") for one in list_of(verifier, "from")] if "from" in verifier else None
    return asked


def _are_members(
    approved_signals: List[_ApprovedSignal], changes: List[_Change], asked: Optional[Dict[str, Optional[List[str]]]]
) -> bool:
    """That no later change of a group was in effect by then is not shown by a bundle: ``countersign log audit`` compares with every change.

    Raises Unreadable where an approver is not in the group that a decision states, as its change set it, or the policy asks for another.
    """
    for one in approved_signals:
        named = f"signal {json_string(one.signal)}"
        groups = None if asked is None else asked.get(one.signal)
        if asked is not None and (groups is None) != (one.memberships is None):
            raise Unreadable(f"{named} does not state the groups that the policy asks for")
        for approver, membership in zip(one.approver_ids, one.memberships or []):
            group, absent, at = membership.group, membership.stands_in_for, instant(one.evaluated_at)
            whose = f"{named}: {json_string(approver)}"
            if groups is not None and group not in groups:
                raise Unreadable(f"{whose} is in {json_string(group)}, which the policy does not ask for")
            change = next((c for c in changes if c.part.id == membership.change_id and c.target == group), None)
            if change is None or change.group is None:
                raise Unreadable(f"{whose}: no governance change in it set the group {json_string(group)}")
            if (approver if absent is None else absent) not in change.group:
                raise Unreadable(f"{whose} is not in the group {json_string(group)} as it was set")
            if not instant(change.resolved_at) <= at:
                raise Unreadable(f"{whose}: the group {json_string(group)} was set after the decision")
            if absent is None:
                continue
            put = next((c for c in changes if c.part.id == membership.stand_in_change_id), None)
            if put is None or put.stand_in is None or (put.stand_in.away, put.stand_in.by) != (absent, approver):
                raise Unreadable(f"{whose}: no governance change in it has them stand in for {json_string(absent)}")
            since, until = instant(put.stand_in.since), instant(put.stand_in.until)
            if not (since <= at < until and instant(put.resolved_at) <= at):
                raise Unreadable(f"{whose} did not stand in for {json_string(absent)} at the decision")
    return True


def _carried_keys(bundle: Mapping[str, Any]) -> Dict[str, PublicKey]:
    """The keys that stand in the bundle: they say what was revoked since, and must be those that the changes enrolled."""
    keys = list_of(bundle, "approverKeys")
    return _read_keys(keys) if keys else {}


def _read_keys(value: List[Any]) -> Dict[str, PublicKey]:
    """Within a check a key set that is none is a problem of it."""
    try:
        return read_key_set(value)
    except UnusableKeySet as error:
        raise Unreadable(str(error)) from None


def _combined(first: Keys, second: Keys) -> Dict[str, PublicKey]:
    try:
        return combined_keys(first, second)
    except UnusableKeySet as error:
        raise Unreadable(str(error)) from None


def _enrolled_keys(changes: List[_Change], carried: Keys) -> Dict[str, PublicKey]:
    return {
        change.target: replace(
            change.enrolled, revoked_at=carried[change.target].revoked_at if change.target in carried else None
        )
        for change in changes
        if change.enrolled is not None
    }


def _are_enrolled(execution: _Execution, changes: List[_Change], carried: Keys) -> bool:
    """Raises Unreadable where a key of an approval is missing, is one that no change enrolled, or another one; and for one that approved
    nothing."""
    used = dict.fromkeys(approval.key_id for approval in execution.approvals)
    for key_id in used:
        named = json_string(key_id)
        enrolled = next((change.enrolled for change in changes if change.target == key_id), None)
        key = carried.get(key_id)
        if enrolled is None:
            raise Unreadable(f"no governance change in it enrolled the key {named}")
        if key is None:
            raise Unreadable(f"the key {named} is not among them")
        if not is_same_key(key, enrolled):
            raise Unreadable(f"the key {named} is another one than was enrolled")
    for key_id in carried:
        if key_id not in used:
            raise Unreadable(f"nothing is approved by the key {json_string(key_id)}")
    return True


def _due_proofs(execution: _Execution, changes: List[_Change]) -> DueProofs:
    """Authority comes before what is done by it, an approver's key and the request before the approval."""
    authorization, receipt = execution.authorization, execution.receipt
    order: List[Tuple[LoggedPart, LoggedPart]] = []
    for change in changes:
        if change.is_of_policy or change.group is not None or change.stand_in is not None:
            order.append((change.part, authorization))
        else:
            approvals = [approval for approval in execution.approvals if approval.key_id == change.target]
            order += [(change.part, approval.part) for approval in approvals]
    for request in execution.requests:
        of_request = [approval for approval in execution.approvals if approval.request_hash == request.entry_hash]
        order += [(request, approval.part) for approval in of_request] + [(request, authorization)]
    order += [(approval.part, authorization) for approval in execution.approvals]
    approvals = [approval.part for approval in execution.approvals]
    parts = [change.part for change in changes] + execution.requests + approvals + [authorization]
    promises: Dict[LoggedPart, str] = {}
    if receipt is not None:
        parts.append(receipt)
        order.append((authorization, receipt))
        if execution.promised_to is not None:
            promises[receipt] = execution.promised_to
    parts += execution.confirmations
    order += [(authorization, confirmation) for confirmation in execution.confirmations]
    return DueProofs(parts, order, promises)


def _notes_on_authority(
    bundle: Mapping[str, Any],
    execution: Callable[[], _Execution],
    changes: Callable[[], List[_Change]],
    keys: Keys,
) -> List[str]:
    """Returns the notes; no check fails because of them. A bundle that cannot be read has none: its checks say so."""
    try:
        read, read_changes = execution(), changes()
    except (Unreadable, NotCanonical):
        return []
    notes = []
    if read.receipt is None:
        notes.append("No entry of the log states the record: only a receipt does.")
    if not any(change.is_of_policy for change in read_changes):
        notes.append(
            f"It holds no governance change that put policy {json_string(read.policy_name)} version "
            f"{json_string(read.policy_version)} into force: the operator of the service did when it was first started, or "
            "the change was left out."
        )
    of_changes = [note for change in objects_of(bundle, "changes") for note in notes_on_change(change, keys)]
    return notes + list(dict.fromkeys(of_changes))
