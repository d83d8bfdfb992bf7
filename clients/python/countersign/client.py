"""Every route of the service's HTTP interface (interface §4), one method each, and the rules by which a call may be repeated."""

from __future__ import annotations

import logging
import re
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union, cast
from urllib.parse import parse_qs, quote, urlsplit

from . import shapes
from .approval_request import action_code, request_hash
from .build import build_transaction, is_request
from .canonical import canonicalize
from .errors import AnswerError, ClosedWithoutRecordError, ConnectionLostError, ExecutionFailedError
from .errors import IdUsedForAnotherIntentError, InDoubtError, NotApprovedError, OtherRequestError
from .http import Answer, Exchange, ProvenRequest
from .witness import LogWitness

_LOGGER = logging.getLogger("countersign")

Submitted = Union[shapes.ExecutionRequest, shapes.BusinessTransaction]

#: Why a piece of work is looked for: what was answered, or None.
_Why = TypeVar("_Why", AnswerError, None)

#: Left out, which is something else than a variable of the environment that is not set.
_NO_KEY: Any = object()

#: A wait before a repeat that the service did not name.
_WAIT_SECONDS = 1.0

#: As long as the service waits for an entry to be under a checkpoint.
_LOG_WAIT_SECONDS = 10

#: A check of the log is not waited for longer: it comes before a call that somebody waits for.
_LOG_TIMEOUT_SECONDS = 5.0

#: How long a page of events is waited for.
_EVENT_WAIT_SECONDS = 20

#: The events that end an execution.
_ENDS = ("execution.completed", "execution.failed", "execution.closed")

#: The service's own, where no page size is asked for.
_PAGE_SIZE = 25


def deterministic_id(namespace: Union[uuid.UUID, str], name: str) -> str:
    """The UUIDv5 of your own key for the work, e.g. ``deterministic_id(NAMESPACE, 'invoice-4711')`` (interface §7 Idempotency).

    The same work gets the same id, whoever repeats it, so the service executes it at most once.
    """
    return str(uuid.uuid5(namespace if isinstance(namespace, uuid.UUID) else uuid.UUID(namespace), name))


class Client:
    """A caller of one service. May be shared by threads.

    api_key              the caller's raw key or access token, or a function that gives one, asked before each request: a token expires
    proof                for an access token that is bound to a key (DPoP, RFC 9449): gives the proof of one request, which that key signs.
                         Asked before each request, and once more where the service asks for its nonce
    attempts             how often one call is sent at most, the first included
    wait_max_seconds     a longer Retry-After is not waited for: the error is raised at once
    log_checkpoint_file  makes this client a witness of the evidence log, which remembers there the newest checkpoint that it saw. Before
                         a call is sent the log is checked, and LogContradictionError raised where it is not the one that was seen, grown
    log_check_interval   seconds between two checks; 0 checks before each call
    log                  whom to trust: the saved answer of GET /.well-known/countersign-log, as text or parsed, or the text of a C2SP
                         tlog-policy. Without it the keys that the service names at the first check, which the file keeps
    """

    def __init__(
        self,
        base_url: str,
        api_key: Union[str, Callable[[], str], None] = _NO_KEY,
        *,
        proof: Optional[Callable[[ProvenRequest], str]] = None,
        timeout_seconds: float = 30.0,
        attempts: int = 4,
        wait_max_seconds: float = 60.0,
        log_checkpoint_file: Union[str, Path, None] = None,
        log_check_interval: float = 60.0,
        log: Any = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if api_key is not _NO_KEY and not api_key:
            found = "None" if api_key is None else "empty"
            raise ValueError(f"api_key is {found}: pass the caller's key, or leave api_key out for the open routes alone")
        if attempts < 1:
            raise ValueError("attempts must be 1 or more")
        key = None if api_key is _NO_KEY else api_key
        self._exchange = Exchange(base_url, api_key=key, timeout_seconds=timeout_seconds, proof=proof)
        self._event_wait_seconds = min(_EVENT_WAIT_SECONDS, int(timeout_seconds / 2))
        self._attempts = attempts
        self._wait_max_seconds = wait_max_seconds
        self._sleep = sleep
        self._caller_id: Optional[str] = None
        self._witness: Optional[LogWitness] = None
        if log_checkpoint_file is not None:
            timeout = min(timeout_seconds, _LOG_TIMEOUT_SECONDS)
            exchange = Exchange(base_url, api_key=None, timeout_seconds=timeout)
            self._witness = LogWitness(exchange, log_checkpoint_file, log=log, interval_seconds=log_check_interval)
        elif log is not None:
            raise ValueError("log says by which keys the log is checked: it needs a log_checkpoint_file")

    # System, interface §4.1

    def root(self) -> Mapping[str, str]:
        """GET /"""
        return self._read("/").value()

    def health(self) -> Mapping[str, str]:
        """GET /health"""
        return self._read("/health", open_route=True).value()

    def ready(self) -> Mapping[str, Any]:
        """GET /ready: NOT_READY is an answer too, with its ``reason``, and is not waited out."""
        return self._read("/ready", open_route=True, answers=(200, 503)).value()

    def version(self) -> Mapping[str, str]:
        """GET /version"""
        return self._read("/version").value()

    def openapi_yaml(self) -> str:
        """GET /openapi.yaml"""
        return self._read("/openapi.yaml", open_route=True).text()

    def openapi_json(self) -> Mapping[str, Any]:
        """GET /openapi.json"""
        return self._read("/openapi.json", open_route=True).value()

    def api_manifest(self) -> Mapping[str, Any]:
        """GET /api-manifest.json"""
        return self._read("/api-manifest.json", open_route=True).value()

    def key(self, key_id: str) -> shapes.PublicKey:
        """GET /keys/{keyId}"""
        return self._read(f"/keys/{_part(key_id)}", open_route=True).value()

    def key_set(self) -> shapes.KeySet:
        """GET /.well-known/jwks.json: save it, it is what offline verification stands on."""
        return self._read("/.well-known/jwks.json", open_route=True).value()

    def approver_key_set(self) -> shapes.KeySet:
        """GET /.well-known/approver-keys.json: the keys of approvers, revoked ones with ``revokedAt``; verifies approvals offline."""
        return self._read("/.well-known/approver-keys.json", open_route=True).value()

    def caller_identity(self) -> shapes.CallerIdentity:
        """GET /callers/me"""
        return self._read("/callers/me").value()

    def documentation(self) -> str:
        """GET /documentation"""
        return self._read("/documentation", open_route=True).text()

    def documentation_asset(self, asset: str) -> bytes:
        """GET /documentation/{asset}"""
        return self._read(f"/documentation/{_part(asset)}", open_route=True).content

    def reference(self) -> str:
        """GET /reference"""
        return self._read("/reference", open_route=True).text()

    def reference_asset(self, asset: str) -> bytes:
        """GET /reference/{asset}"""
        return self._read(f"/reference/{_part(asset)}", open_route=True).content

    def handbook(self) -> str:
        """GET /handbook"""
        return self._read("/handbook", open_route=True).text()

    def handbook_page(self, page: str) -> str:
        """GET /handbook/{page}"""
        return self._read(f"/handbook/{_part(page)}", open_route=True).text()

    def verifier_page(self) -> str:
        """GET /verifier"""
        return self._read("/verifier", open_route=True).text()

    def verifier_command(self) -> bytes:
        """GET /verifier/countersign-verify.mjs: a program for Node, in one file."""
        return self._read("/verifier/countersign-verify.mjs", open_route=True).content

    def signer_page(self) -> str:
        """GET /signer: the offline signer, in one file."""
        return self._read("/signer", open_route=True).text()

    # Execution and transactions, interface §4.2

    def build(self, request: shapes.ExecutionRequest) -> shapes.BusinessTransaction:
        """The transaction that ``execute`` sends for a request, with all its linked ids: for ``evaluate``, or to keep it."""
        return build_transaction(request, self._caller)

    def execute(
        self,
        transaction: Submitted,
        *,
        on_approval_needed: str = "fail",
        note: Optional[str] = None,
        expires_in_seconds: Optional[int] = None,
        on_asked: Optional[Callable[[shapes.ApprovalRequest], None]] = None,
    ) -> shapes.ExecutionTrustRecord:
        """POST /execute: at most one execution, whatever happens to the connection.

        Takes what is to be done (``action``, ``target``, ``parameters``, ``policy``, ``signals``, ``key``), or a whole transaction.

        A 429 stored nothing and is repeated. After a lost connection, 502, 503 or 504 the record is read before
        anything is sent again: it is returned where it exists; only a transaction that the service does not know is sent again.

        on_approval_needed  ``"ask"``: where humans must approve, asks them (``note``, ``expires_in_seconds``), waits, and executes under a
                            new id that follows from the refused one; repeated with the same ``key`` or id, also after a crash, it goes on
                            where it stopped and reads the record that there is. ``"fail"``: their absence is the service's 403
        on_asked            is called with the request once they are asked: tell an approver its ``actionCode`` over another channel. ``None``:
                            the logger ``countersign`` shows the code

        Returns the record of an execution that completed. Raises ExecutionFailedError where the connector refused or failed for certain,
        also where that is read from a record, AnswerError 409 where the id was used before this call, unless it may ask (see
        ``execute_or_read``), InDoubtError where the outcome cannot be known, ClosedWithoutRecordError where it could not and somebody has
        said since how it ended, IdUsedForAnotherIntentError where the record that is read is of another intent, and NotApprovedError where
        humans were asked and did not approve.
        """
        if on_approval_needed not in ("ask", "fail"):
            raise ValueError("on_approval_needed must be 'ask' or 'fail'")
        whole = self._whole(transaction)
        if on_approval_needed == "fail":
            return _completed(self._execute("/execute", whole))
        try:
            return _completed(self._execute("/execute", whole))
        except AnswerError as error:
            if not (_is_duplicate(error) or error.needs_approval):
                raise
            record, following, why = self._standing(whole if _is_duplicate(error) else _following(whole), error)
        if record is not None:
            return _completed(record)
        if not why.needs_approval:
            raise why
        # An id that is unknown is used with approvals only: sent without, it would be refused and used up.
        asked = self.request_approval(following, note=note, expires_in_seconds=expires_in_seconds)
        (on_asked or _show_code)(asked)
        ended = self.wait_for_approval(asked["request"]["requestId"])
        if ended["status"] != "APPROVED":
            raise NotApprovedError(ended)
        return _completed(self._execute_or_read(following))

    def _standing(
        self, transaction: shapes.BusinessTransaction, why: _Why
    ) -> Tuple[Optional[shapes.ExecutionTrustRecord], shapes.BusinessTransaction, Union[_Why, AnswerError]]:
        """How far a piece of work has come under its id and those that follow from it: its record, or None, the work under the first id
        that the service does not know, and the last refusal.

        Nothing is sent: what was refused may have been approved since, and executed under the id that follows.
        """
        found: Union[_Why, AnswerError] = why
        while True:
            try:
                return self._settled(transaction), transaction, found
            except AnswerError as refusal:
                transaction, found = _following(transaction), refusal

    def submit_transaction(self, transaction: Submitted) -> shapes.ExecutionTrustRecord:
        """POST /transactions: as ``execute``."""
        return _completed(self._execute("/transactions", self._whole(transaction)))

    def execute_or_read(self, transaction: Submitted) -> shapes.ExecutionTrustRecord:
        """Executes, or reads the record of the execution that this id, or the id of this ``key``, already had: 409 means
        'already submitted; read it'.

        Raises IdUsedForAnotherIntentError where that record is of another intent, ExecutionFailedError where it is of an execution that
        failed, InDoubtError where there is none yet, ClosedWithoutRecordError where there will be none, and AnswerError for a refusal, or
        the 409 itself where the id is another caller's.
        """
        return _completed(self._execute_or_read(self._whole(transaction)))

    def standing(
        self, transaction: Submitted
    ) -> Tuple[Optional[shapes.ExecutionTrustRecord], shapes.BusinessTransaction, Optional[AnswerError]]:
        """Looks how far a piece of work has come, and sends nothing: under its id, and under those that follow from it where it was refused.

        Returns its record, also of an execution that failed, or None; the work under the first id that the service does not know; and the
        last refusal, or None where nothing was refused.
        """
        return self._standing(self._whole(transaction), None)

    def _execute_or_read(self, whole: shapes.BusinessTransaction) -> shapes.ExecutionTrustRecord:
        try:
            return self._execute("/execute", whole)
        except AnswerError as error:
            if not _is_duplicate(error):
                raise
            record, _, why = self._standing(whole, error)
        if record is None:
            raise why
        return record

    def _whole(self, submitted: Submitted) -> shapes.BusinessTransaction:
        if is_request(submitted):
            return build_transaction(submitted, self._caller)
        return cast(shapes.BusinessTransaction, submitted)

    def _caller(self) -> str:
        """Where authentication is disabled nobody has an identity, and the service calls every caller ``anonymous``."""
        if self._caller_id is None:
            answer = self._read("/callers/me", answers=(200, 404))
            self._caller_id = answer.value()["callerId"] if answer.status == 200 else "anonymous"
        return self._caller_id

    def transactions(
        self, *, page: Optional[int] = None, page_size: Optional[int] = None, caller_id: Optional[str] = None
    ) -> List[shapes.BusinessTransaction]:
        """GET /transactions: newest first."""
        return self._page("/transactions", {"page": page, "pageSize": page_size, "callerId": caller_id})

    def transaction(self, business_transaction_id: str) -> shapes.BusinessTransaction:
        """GET /transactions/{id}"""
        return self._read(f"/transactions/{_part(business_transaction_id)}").value()

    # Verification, receipts, replay, records, interface §4.3

    def verify(self, business_transaction_id: str) -> shapes.Verification:
        """POST /verify: appends a fresh verification, so it is not repeated after a lost connection."""
        return self._write("/verify", {"businessTransactionId": business_transaction_id}).value()

    def verification(self, business_transaction_id: str) -> shapes.Verification:
        """GET /verification/{id}"""
        return self._read(f"/verification/{_part(business_transaction_id)}").value()

    def verifications(self, business_transaction_id: str, *, page_size: int = 100) -> Iterator[shapes.Verification]:
        """GET /verifications/{id}: all of them, newest first, a page at a time; a record holds the newest 100."""
        return self._every(f"/verifications/{_part(business_transaction_id)}", {"pageSize": page_size})

    def receipt(self, business_transaction_id: str) -> shapes.Receipt:
        """POST /receipt: generates a new receipt, so it is not repeated after a lost connection."""
        return self._write("/receipt", {"businessTransactionId": business_transaction_id}).value()

    def latest_receipt(self, business_transaction_id: str) -> shapes.Receipt:
        """GET /receipt/latest/{id}"""
        return self._read(f"/receipt/latest/{_part(business_transaction_id)}").value()

    def receipts(self, business_transaction_id: str, *, page_size: int = 100) -> Iterator[shapes.Receipt]:
        """GET /receipts/{id}: all of them, newest first, a page at a time; a record holds the newest 100."""
        return self._every(f"/receipts/{_part(business_transaction_id)}", {"pageSize": page_size})

    def replay(self, business_transaction_id: str) -> shapes.ReplayResult:
        """POST /replay"""
        return self._ask("/replay", {"businessTransactionId": business_transaction_id}).value()

    def trust_records(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        cursor: Optional[str] = None,
        caller_id: Optional[str] = None,
    ) -> List[shapes.ExecutionTrustRecord]:
        """GET /trust-records: one page, newest first."""
        within = {"since": since, "until": until, "cursor": cursor, "callerId": caller_id}
        return self._page("/trust-records", {"page": page, "pageSize": page_size, **within})

    def export_trust_records(
        self,
        *,
        page_size: int = 100,
        since: Optional[str] = None,
        until: Optional[str] = None,
        caller_id: Optional[str] = None,
    ) -> Iterator[shapes.ExecutionTrustRecord]:
        """Every record, newest first, a page at a time by the ``Link`` header's next page."""
        query = {"pageSize": page_size, "since": since, "until": until, "callerId": caller_id}
        return self._every("/trust-records", query)

    def trust_record(self, business_transaction_id: str) -> shapes.ExecutionTrustRecord:
        """GET /trust-records/{id}"""
        return self._read(f"/trust-records/{_part(business_transaction_id)}").value()

    # The evidence log, and proofs from it

    def log_description(self) -> shapes.LogDescription:
        """GET /.well-known/countersign-log: save it, it is what proofs are verified by."""
        return self._read("/.well-known/countersign-log", open_route=True).value()

    def log_checkpoint(self) -> str:
        """GET /log/checkpoint: the newest, a signed note; ``countersign.log.open_checkpoint`` reads it."""
        return self._read("/log/checkpoint", open_route=True).text()

    def log_consistency(self, from_size: int, to_size: Optional[int] = None) -> shapes.LogConsistency:
        """GET /log/consistency: that the log of ``to_size`` entries, all of them where left out, begins with the first ``from_size``."""
        return self._read("/log/consistency", {"from": from_size, "to": to_size}, open_route=True).value()

    def log_proof(self, kind: str, id: str) -> str:
        """GET /log/proofs/{kind}/{id}: the text of a ``.tlog-proof``, whose extra line is the entry; ``countersign.log.verify_proof``
        checks it. What was just stored is waited for; AnswerError 202 where it is not under a checkpoint after all attempts."""
        return self._await_logged(f"/log/proofs/{_part(kind)}/{_part(id)}")

    def bundle(self, business_transaction_id: str) -> str:
        """An execution with everything that shows that it was allowed, and that the log holds it, as GET /trust-records/{id}?bundle
        answers it: save it, ``verify_evidence`` checks it. Waits as ``log_proof`` does."""
        return self._await_logged(f"/trust-records/{_part(business_transaction_id)}", {"bundle": ""})

    # Policies, interface §4.4

    def validate_policy(self, policy_id: str, policy_version: str) -> shapes.Validity:
        """POST /policies/validate: 400 and 404 are answers too, with their ``errors``."""
        body = {"policyId": policy_id, "policyVersion": policy_version}
        return self._ask("/policies/validate", body, answers=(200, 400, 404)).value()

    def policies(self, *, page: Optional[int] = None, page_size: Optional[int] = None) -> List[shapes.PolicySummary]:
        """GET /policies: every version that is loaded, by name, the highest first."""
        return self._read("/policies", {"page": page, "pageSize": page_size}).value()["policies"]

    def policies_in_effect(
        self, *, capability: Optional[str] = None, page: Optional[int] = None, page_size: Optional[int] = None
    ) -> List[shapes.PolicySummary]:
        """GET /policies/in-effect: what is approved, of a capability where one is given."""
        query = {"capability": capability, "page": page, "pageSize": page_size}
        return self._read("/policies/in-effect", query).value()["policies"]

    def policy(self, name: str, version: str) -> shapes.PolicyDetail:
        """GET /policies/{name}/{version}: the document, and what a caller declares under it (``toSend``)."""
        return self._read(f"/policies/{_part(name)}/{_part(version)}").value()

    def policy_text(self, name: str, version: str) -> str:
        """GET /policies/{name}/{version}/policy.yaml: the document as YAML, to write the next version from."""
        return self._read(f"/policies/{_part(name)}/{_part(version)}/policy.yaml").text()

    # Changes that two humans make, decisions §7. The calls of this section are for humans: 403 NON_HUMAN_CALLER_DENIED for others.
    # A step-up holds once, so a resolution is not repeated after a lost connection: look at the change.

    def propose_policy_change(
        self,
        name: str,
        version: str,
        *,
        reason: str,
        proposed_content: Optional[Mapping[str, Any]] = None,
        retires: Optional[Sequence[str]] = None,
    ) -> shapes.Change:
        """
        POST /policies/{name}/{version}/pending-changes: of the loaded version where no content is given. The versions that it ``retires``
        end in the moment in which it takes effect.
        """
        body = _given({"reason": reason, "proposedContent": proposed_content, "retires": retires and list(retires)})
        return self._create(f"/policies/{_part(name)}/{_part(version)}/pending-changes", body).value()

    def propose_policy_retirement(self, name: str, version: str, *, reason: str) -> shapes.Change:
        """POST /policies/{name}/{version}/pending-changes: ends an approved version, which then rejects every execution."""
        body = {"action": "retire", "reason": reason}
        return self._create(f"/policies/{_part(name)}/{_part(version)}/pending-changes", body).value()

    def policy_changes(
        self, *, status: Optional[str] = None, page: Optional[int] = None, page_size: Optional[int] = None
    ) -> List[shapes.Change]:
        """GET /policies/pending-changes: newest first."""
        return self._changes("/policies/pending-changes", status, page, page_size)

    def policy_change(self, change_id: str) -> shapes.Change:
        """GET /policies/pending-changes/{id}"""
        return self._read(f"/policies/pending-changes/{_part(change_id)}").value()

    def approve_policy_change(
        self, change_id: str, step_up: shapes.StepUpAuthorization, *, impact_report: Optional[shapes.ImpactReport] = None
    ) -> shapes.Change:
        """POST /policies/pending-changes/{id}/approve: by another human than who proposed it.

        impact_report  the one whose hash the step-up covers (``impactHash``)
        """
        return self._approve("/policies/pending-changes", change_id, step_up, impact_report)

    def reject_policy_change(
        self,
        change_id: str,
        step_up: shapes.StepUpAuthorization,
        *,
        rejection_reason: str,
        impact_report: Optional[shapes.ImpactReport] = None,
    ) -> shapes.Change:
        """POST /policies/pending-changes/{id}/reject"""
        return self._reject("/policies/pending-changes", change_id, step_up, rejection_reason, impact_report)

    def changes(
        self,
        *,
        kind: Optional[str] = None,
        status: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
    ) -> List[shapes.Change]:
        """GET /changes: of every kind, newest first."""
        query = {"kind": kind, "status": status, "page": page, "pageSize": page_size}
        return self._page("/changes", query, "changes")

    def approvers(self) -> List[shapes.Approver]:
        """GET /approvers: every key, revoked ones included."""
        return list(self._every("/approvers", {}, "approvers"))

    def propose_approver_change(self, proposal: Mapping[str, Any]) -> shapes.Change:
        """POST /approvers/changes: ``{action, approverId, keyId, publicKeyPem, reason}``."""
        return self._create("/approvers/changes", proposal).value()

    def approver_changes(
        self, *, status: Optional[str] = None, page: Optional[int] = None, page_size: Optional[int] = None
    ) -> List[shapes.Change]:
        """GET /approvers/changes: newest first."""
        return self._changes("/approvers/changes", status, page, page_size)

    def approver_change(self, change_id: str) -> shapes.Change:
        """GET /approvers/changes/{id}"""
        return self._read(f"/approvers/changes/{_part(change_id)}").value()

    def approve_approver_change(self, change_id: str, step_up: shapes.StepUpAuthorization) -> shapes.Change:
        """POST /approvers/changes/{id}/approve"""
        return self._approve("/approvers/changes", change_id, step_up)

    def reject_approver_change(
        self, change_id: str, step_up: shapes.StepUpAuthorization, *, rejection_reason: str
    ) -> shapes.Change:
        """POST /approvers/changes/{id}/reject"""
        return self._reject("/approvers/changes", change_id, step_up, rejection_reason)

    def external_connectors(self) -> List[shapes.ExternalConnector]:
        """GET /external-connectors: what is in effect."""
        return list(self._every("/external-connectors", {}, "externalConnectors"))

    def propose_external_connector_change(self, proposal: Mapping[str, Any]) -> shapes.Change:
        """POST /external-connectors/changes: ``{action, capability, endpointUrl, policy, allowedParameters, timeoutMs, reason}``."""
        return self._create("/external-connectors/changes", proposal).value()

    def external_connector_changes(
        self, *, status: Optional[str] = None, page: Optional[int] = None, page_size: Optional[int] = None
    ) -> List[shapes.Change]:
        """GET /external-connectors/changes: newest first."""
        return self._changes("/external-connectors/changes", status, page, page_size)

    def external_connector_change(self, change_id: str) -> shapes.Change:
        """GET /external-connectors/changes/{id}"""
        return self._read(f"/external-connectors/changes/{_part(change_id)}").value()

    def approve_external_connector_change(
        self, change_id: str, step_up: shapes.StepUpAuthorization
    ) -> shapes.Change:
        """POST /external-connectors/changes/{id}/approve"""
        return self._approve("/external-connectors/changes", change_id, step_up)

    def reject_external_connector_change(
        self, change_id: str, step_up: shapes.StepUpAuthorization, *, rejection_reason: str
    ) -> shapes.Change:
        """POST /external-connectors/changes/{id}/reject"""
        return self._reject("/external-connectors/changes", change_id, step_up, rejection_reason)

    def webhook_rules(self) -> List[shapes.WebhookRules]:
        """GET /webhook-rules: every list that was ever in effect, by provider, the newest first."""
        return list(self._every("/webhook-rules", {}, "webhookRules"))

    def propose_webhook_rules_change(self, proposal: Mapping[str, Any]) -> shapes.Change:
        """POST /webhook-rules/changes: ``{provider, rules, reason}``; of what the provider's file holds without ``rules``."""
        return self._create("/webhook-rules/changes", proposal).value()

    def webhook_rules_changes(
        self, *, status: Optional[str] = None, page: Optional[int] = None, page_size: Optional[int] = None
    ) -> List[shapes.Change]:
        """GET /webhook-rules/changes: newest first."""
        return self._changes("/webhook-rules/changes", status, page, page_size)

    def webhook_rules_change(self, change_id: str) -> shapes.Change:
        """GET /webhook-rules/changes/{id}"""
        return self._read(f"/webhook-rules/changes/{_part(change_id)}").value()

    def approve_webhook_rules_change(self, change_id: str, step_up: shapes.StepUpAuthorization) -> shapes.Change:
        """POST /webhook-rules/changes/{id}/approve"""
        return self._approve("/webhook-rules/changes", change_id, step_up)

    def reject_webhook_rules_change(
        self, change_id: str, step_up: shapes.StepUpAuthorization, *, rejection_reason: str
    ) -> shapes.Change:
        """POST /webhook-rules/changes/{id}/reject"""
        return self._reject("/webhook-rules/changes", change_id, step_up, rejection_reason)

    def caller_keys(self) -> List[shapes.CallerKey]:
        """GET /caller-keys: every key, revoked and configured ones included; of humans and auditors."""
        return list(self._every("/caller-keys", {}, "callerKeys"))

    def propose_caller_key_change(self, proposal: Mapping[str, Any]) -> shapes.Change:
        """POST /caller-keys/changes: ``{action, callerId, keyHash, allowedCapabilities, reason}``; of a key only its SHA-256 is sent."""
        return self._create("/caller-keys/changes", proposal).value()

    def caller_key_changes(
        self, *, status: Optional[str] = None, page: Optional[int] = None, page_size: Optional[int] = None
    ) -> List[shapes.Change]:
        """GET /caller-keys/changes: newest first."""
        return self._changes("/caller-keys/changes", status, page, page_size)

    def caller_key_change(self, change_id: str) -> shapes.Change:
        """GET /caller-keys/changes/{id}"""
        return self._read(f"/caller-keys/changes/{_part(change_id)}").value()

    def approve_caller_key_change(self, change_id: str, step_up: shapes.StepUpAuthorization) -> shapes.Change:
        """POST /caller-keys/changes/{id}/approve"""
        return self._approve("/caller-keys/changes", change_id, step_up)

    def reject_caller_key_change(
        self, change_id: str, step_up: shapes.StepUpAuthorization, *, rejection_reason: str
    ) -> shapes.Change:
        """POST /caller-keys/changes/{id}/reject"""
        return self._reject("/caller-keys/changes", change_id, step_up, rejection_reason)

    def approver_groups(self) -> List[shapes.ApproverGroup]:
        """GET /approver-groups: the groups in effect, and their members; of humans and auditors."""
        return list(self._every("/approver-groups", {}, "approverGroups"))

    def propose_approver_group_change(self, proposal: Mapping[str, Any]) -> shapes.Change:
        """POST /approver-groups/changes: ``{action, group, members, reason}``."""
        return self._create("/approver-groups/changes", proposal).value()

    def approver_group_changes(
        self, *, status: Optional[str] = None, page: Optional[int] = None, page_size: Optional[int] = None
    ) -> List[shapes.Change]:
        """GET /approver-groups/changes: newest first."""
        return self._changes("/approver-groups/changes", status, page, page_size)

    def approver_group_change(self, change_id: str) -> shapes.Change:
        """GET /approver-groups/changes/{id}"""
        return self._read(f"/approver-groups/changes/{_part(change_id)}").value()

    def approve_approver_group_change(self, change_id: str, step_up: shapes.StepUpAuthorization) -> shapes.Change:
        """POST /approver-groups/changes/{id}/approve"""
        return self._approve("/approver-groups/changes", change_id, step_up)

    def reject_approver_group_change(
        self, change_id: str, step_up: shapes.StepUpAuthorization, *, rejection_reason: str
    ) -> shapes.Change:
        """POST /approver-groups/changes/{id}/reject"""
        return self._reject("/approver-groups/changes", change_id, step_up, rejection_reason)

    def stand_ins(self) -> List[shapes.StandIn]:
        """GET /stand-ins: those that were set and not removed; of humans and auditors."""
        return list(self._every("/stand-ins", {}, "standIns"))

    def propose_stand_in_change(self, proposal: Mapping[str, Any]) -> shapes.Change:
        """POST /stand-ins/changes: ``{action, for, by, from, until, reason}``."""
        return self._create("/stand-ins/changes", proposal).value()

    def stand_in_changes(
        self, *, status: Optional[str] = None, page: Optional[int] = None, page_size: Optional[int] = None
    ) -> List[shapes.Change]:
        """GET /stand-ins/changes: newest first."""
        return self._changes("/stand-ins/changes", status, page, page_size)

    def stand_in_change(self, change_id: str) -> shapes.Change:
        """GET /stand-ins/changes/{id}"""
        return self._read(f"/stand-ins/changes/{_part(change_id)}").value()

    def approve_stand_in_change(self, change_id: str, step_up: shapes.StepUpAuthorization) -> shapes.Change:
        """POST /stand-ins/changes/{id}/approve"""
        return self._approve("/stand-ins/changes", change_id, step_up)

    def reject_stand_in_change(
        self, change_id: str, step_up: shapes.StepUpAuthorization, *, rejection_reason: str
    ) -> shapes.Change:
        """POST /stand-ins/changes/{id}/reject"""
        return self._reject("/stand-ins/changes", change_id, step_up, rejection_reason)

    def event_endpoints(self) -> List[shapes.EventEndpoint]:
        """GET /event-endpoints: what is in effect, and how far each endpoint has been served."""
        return list(self._every("/event-endpoints", {}, "eventEndpoints"))

    def event_endpoint(self, endpoint_id: str) -> shapes.EventEndpoint:
        """GET /event-endpoints/{id}: one of them, with its last attempts to deliver."""
        return self._read(f"/event-endpoints/{_part(endpoint_id)}").value()

    def propose_event_endpoint_change(self, proposal: Mapping[str, Any]) -> shapes.Change:
        """POST /event-endpoints/changes: ``{action, url, types, withParameters, callerIds, reason}``."""
        return self._create("/event-endpoints/changes", proposal).value()

    def event_endpoint_changes(
        self, *, status: Optional[str] = None, page: Optional[int] = None, page_size: Optional[int] = None
    ) -> List[shapes.Change]:
        """GET /event-endpoints/changes: newest first."""
        return self._changes("/event-endpoints/changes", status, page, page_size)

    def event_endpoint_change(self, change_id: str) -> shapes.Change:
        """GET /event-endpoints/changes/{id}"""
        return self._read(f"/event-endpoints/changes/{_part(change_id)}").value()

    def approve_event_endpoint_change(self, change_id: str, step_up: shapes.StepUpAuthorization) -> shapes.Change:
        """POST /event-endpoints/changes/{id}/approve"""
        return self._approve("/event-endpoints/changes", change_id, step_up)

    def reject_event_endpoint_change(
        self, change_id: str, step_up: shapes.StepUpAuthorization, *, rejection_reason: str
    ) -> shapes.Change:
        """POST /event-endpoints/changes/{id}/reject"""
        return self._reject("/event-endpoints/changes", change_id, step_up, rejection_reason)

    def make_event_endpoint_secret(self, endpoint_id: str, *, step_up: Optional[shapes.EndpointStepUp] = None) -> Dict[str, str]:
        """POST /event-endpoints/{id}/secret: the only reply that ever shows ``secret``.

        ``step_up`` is needed while an earlier secret still signs: what ``countersign approver sign-endpoint`` prints.
        """
        body = {} if step_up is None else {"stepUpAuthorization": step_up}
        return self._write(f"/event-endpoints/{_part(endpoint_id)}/secret", body).value()

    def redeliver_events(
        self, endpoint_id: str, *, after: Optional[str] = None, step_up: Optional[shapes.EndpointStepUp] = None
    ) -> Dict[str, str]:
        """POST /event-endpoints/{id}/redeliver: from where delivery stopped, or behind the cursor ``after``.

        ``step_up`` is needed to skip events: what ``countersign approver sign-endpoint`` prints.
        """
        body: Dict[str, Any] = {} if after is None else {"after": after}
        if step_up is not None:
            body["stepUpAuthorization"] = step_up
        return self._write(f"/event-endpoints/{_part(endpoint_id)}/redeliver", body).value()

    # Approvals of single actions, decisions §7

    def deliver_approval(self, signed_approval: shapes.SignedApproval) -> shapes.Approval:
        """POST /approvals: an approver's signature under one action, for the one execution that it covers."""
        return self._create("/approvals", signed_approval).value()

    def approvals(
        self, *, status: Optional[str] = None, page: Optional[int] = None, page_size: Optional[int] = None
    ) -> List[shapes.Approval]:
        """GET /approvals: newest first; for humans."""
        return self._read("/approvals", {"status": status, "page": page, "pageSize": page_size}).value()["approvals"]

    def approval(self, approval_id: str) -> shapes.Approval:
        """GET /approvals/{id}: for humans."""
        return self._read(f"/approvals/{_part(approval_id)}").value()

    # Asking humans to approve an execution

    def request_approval(
        self,
        transaction: Union[Submitted, Mapping[str, str]],
        *,
        note: Optional[str] = None,
        expires_in_seconds: Optional[int] = None,
    ) -> shapes.ApprovalRequest:
        """POST /approval-requests: asks humans to approve exactly this execution, whose id is not used.

        Takes what ``execute`` takes, or ``{"fromRefusal": businessTransactionId}`` of one that was refused. The same content while a
        request is open gets that request, so this is safe to repeat.

        Raises AnswerError 409 NOT_APPROVABLE where no approval would help, and OtherRequestError where the reply is not what was sent.
        """
        is_refused = "fromRefusal" in transaction
        whole = None if is_refused else self._whole(cast(Submitted, transaction))
        asked: Mapping[str, Any] = transaction if whole is None else {"transaction": whole}
        body = {**asked, **_given({"note": note, "expiresInSeconds": expires_in_seconds})}
        reply: shapes.ApprovalRequest = self._ask("/approval-requests", body, answers=(200, 201)).value()
        _require_same(reply, whole, self._caller())
        return reply

    def approval_request(self, request_id: str) -> shapes.ApprovalRequest:
        """GET /approval-requests/{id}: as it stands now. APPROVED is advice: the execution checks the approvals again."""
        return self._read(f"/approval-requests/{_part(request_id)}").value()

    def approval_request_judgement(self, request_id: str) -> shapes.ApprovalRequestJudgement:
        """GET /approval-requests/{id}/judgement: the decision that the requester would get now, if the approvals were given."""
        return self._read(f"/approval-requests/{_part(request_id)}/judgement").value()

    def wait_for_approval(self, request_id: str, *, timeout_seconds: Optional[float] = None) -> shapes.ApprovalRequest:
        """Waits until a request is no longer PENDING, and answers it as it stands then; after ``timeout_seconds`` it may be PENDING.

        The service holds each reply for up to 20 seconds.
        """
        until = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        while True:
            began = time.monotonic()
            left = self._event_wait_seconds if until is None else max(0, int(until - began))
            request = self._held_request(request_id, min(self._event_wait_seconds, left))
            now = time.monotonic()
            if request["status"] != "PENDING" or (until is not None and now >= until):
                return request
            # A service that does not hold its replies is not asked without a pause.
            next_at = began + request["intervalSeconds"]
            pause_seconds = (next_at if until is None else min(next_at, until)) - now
            if pause_seconds > 0:
                self._sleep(pause_seconds)

    def _held_request(self, request_id: str, wait_seconds: int) -> shapes.ApprovalRequest:
        path = f"/approval-requests/{_part(request_id)}"

        def send() -> Answer:
            return self._send("GET", path, answers=(200,), prefer=f"wait={wait_seconds}")

        self._check_log()
        return self._repeat(send, repeatable=_is_passing).value()

    def approval_requests(
        self,
        *,
        status: Optional[str] = None,
        waiting_for: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **filters: str,
    ) -> List[shapes.ApprovalRequest]:
        """GET /approval-requests: newest first; of a human ``waiting_for="me"``: what this human could sign.

        ``filters`` are further parameters of the route, such as ``target`` and ``q``; with ``order="ending_soon"`` what expires first
        comes first.
        """
        query = {"status": status, "waitingFor": waiting_for, "page": page, "pageSize": page_size, **filters}
        return self._page("/approval-requests", query, "requests")

    def decline_approval_request(self, request_id: str, reason: str) -> shapes.ApprovalRequest:
        """POST /approval-requests/{id}/decline: by a human who could sign it; final."""
        return self._write(f"/approval-requests/{_part(request_id)}/decline", {"reason": reason}).value()

    def note_approval_request(self, request_id: str, text: str) -> shapes.ApprovalRequest:
        """POST /approval-requests/{id}/notes: by the caller that asked, and by a human who could sign it, while it is open; at most 20 for
        a request. A repetition after a lost reply writes the note again."""
        return self._write(f"/approval-requests/{_part(request_id)}/notes", {"text": text}, answers=(201,)).value()

    def withdraw_approval_request(self, request_id: str) -> shapes.ApprovalRequest:
        """POST /approval-requests/{id}/withdraw: by the caller that asked; final."""
        return self._write(f"/approval-requests/{_part(request_id)}/withdraw", {}).value()

    # Execution intents, decisions §8

    def execution_intent(self, business_transaction_id: str) -> shapes.ExecutionIntent:
        """GET /execution-intents/{id}: how far an execution came, and whether it is ``inDoubt``."""
        return self._read(f"/execution-intents/{_part(business_transaction_id)}").value()

    def unfinalized_intents(
        self, *, page: Optional[int] = None, page_size: Optional[int] = None
    ) -> List[shapes.ExecutionIntent]:
        """GET /execution-intents/unfinalized: those in doubt, newest first; for humans."""
        return self._page("/execution-intents/unfinalized", {"page": page, "pageSize": page_size}, "intents")

    def finalize_intent(self, business_transaction_id: str) -> shapes.ExecutionIntent:
        """POST /execution-intents/{id}/finalize: closes by the evidence that is stored; for humans."""
        return self._write(f"/execution-intents/{_part(business_transaction_id)}/finalize", {}).value()

    def resolve_intent(
        self,
        business_transaction_id: str,
        *,
        resolution: str,
        note: str,
        step_up_authorization: Optional[Mapping[str, Any]] = None,
    ) -> shapes.ExecutionIntent:
        """POST /execution-intents/{id}/resolve: closes by a human's word, ``EXECUTED`` or ``NOT_EXECUTED``.

        Where it takes two humans, the first word leaves it in doubt and is its ``firstWord``. ``step_up_authorization`` is the
        human's own signature for exactly this, which stays in the evidence.
        """
        body: Dict[str, Any] = {"resolution": resolution, "note": note}
        if step_up_authorization is not None:
            body["stepUpAuthorization"] = step_up_authorization
        return self._write(f"/execution-intents/{_part(business_transaction_id)}/resolve", body).value()

    # Confirmations and webhook events of payment providers

    def confirmations(
        self, business_transaction_id: str, *, page_size: int = 100
    ) -> Iterator[shapes.SignedProviderConfirmation]:
        """GET /confirmations/{id}: all of them, newest first, a page at a time; a record holds the newest 100."""
        path = f"/confirmations/{_part(business_transaction_id)}"
        return self._every(path, {"pageSize": page_size}, "confirmations")

    def webhook_events(
        self,
        *,
        provider: Optional[str] = None,
        outcome: Optional[str] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        page_size: int = 100,
    ) -> Iterator[shapes.WebhookEvent]:
        """GET /webhook-events: what was delivered and what became of it, newest first, a page at a time."""
        query = {"provider": provider, "outcome": outcome, "since": since, "until": until, "pageSize": page_size}
        return self._every("/webhook-events", query, "events")

    def webhook_event(self, webhook_event_id: str) -> shapes.WebhookEvent:
        """GET /webhook-events/{id}: with its headers and its body."""
        return self._read(f"/webhook-events/{_part(webhook_event_id)}").value()

    def process_webhook_event(self, webhook_event_id: str) -> shapes.WebhookEvent:
        """POST /webhook-events/{id}/process: again, for example after the rules of its provider have changed."""
        return self._write(f"/webhook-events/{_part(webhook_event_id)}/process", {}).value()

    # The feed of events

    def event_page(
        self,
        *,
        after: Optional[str] = None,
        types: Optional[Sequence[str]] = None,
        limit: Optional[int] = None,
        wait_seconds: int = 0,
    ) -> shapes.EventPage:
        """GET /events: what happened, oldest first, and ``next``, the cursor to keep; ``after="now"`` begins at the end.

        wait_seconds  how long an empty page waits for an event
        """
        query = {"after": after, "types": None if types is None else ",".join(types), "limit": limit}

        def send() -> Answer:
            return self._send("GET", "/events", query=query, answers=(200,), prefer=f"wait={wait_seconds}")

        self._check_log()
        return self._repeat(send, repeatable=_is_passing).value()

    def events(self, *, after: Optional[str] = None, types: Optional[Sequence[str]] = None) -> Iterator[shapes.Event]:
        """Follows GET /events for good: each event once and in order, as it comes. To go on after a restart, keep a page's ``next``."""
        while True:
            page = self.event_page(after=after, types=types, wait_seconds=self._event_wait_seconds)
            yield from page["events"]
            after = page["next"]

    def wait_for_closed(self, business_transaction_id: str) -> shapes.ExecutionIntent:
        """Waits until an execution in doubt is closed, by whomever, and answers its intent: FINALIZED, ERRORED or RESOLVED.

        Raises AnswerError 404 where the transaction has no intent.
        """
        # Before the intent is read: what closes it after that is behind the cursor.
        after = self._newest_cursor()
        while True:
            intent = self.execution_intent(business_transaction_id)
            if intent["state"] not in ("PREPARED", "RELEASED"):
                return intent
            is_about = False
            while not is_about:
                if after is None:
                    self._sleep(_WAIT_SECONDS)
                    break
                page = self.event_page(after=after, types=_ENDS, wait_seconds=self._event_wait_seconds)
                after = page["next"]
                ids = [event.get("businessTransactionId") for event in page["events"]]
                is_about = not ids or business_transaction_id.lower() in ids

    def _newest_cursor(self) -> Optional[str]:
        """None where the service has no feed, with LOG=off."""
        try:
            return self.event_page(after="now")["next"]
        except AnswerError as error:
            if error.status == 409:
                return None
            raise

    # Sandbox, decisions §9

    def evaluate(self, transaction: Mapping[str, Any]) -> Mapping[str, Any]:
        """POST /sandbox/evaluate: what ``execute`` would answer and why, without executing."""
        return self._ask("/sandbox/evaluate", transaction).value()

    def simulate_policy(
        self,
        policy: Optional[Mapping[str, Any]] = None,
        *,
        policy_id: Optional[str] = None,
        retires: Optional[Sequence[str]] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        cursor: Optional[str] = None,
    ) -> Mapping[str, Any]:
        """
        POST /sandbox/policies/simulate: a chunk; ``next`` is the cursor of the one after, until it is ``complete``.

        With ``retires``, ``retired`` lists the executions that the end of these versions would have refused; ``policy_id`` takes the place
        of a document where nothing else changes.
        """
        asked = {"policy": policy, "policyId": policy_id, "retires": retires and list(retires)}
        body = _given({**asked, "since": since, "until": until, "cursor": cursor})
        return self._ask("/sandbox/policies/simulate", body).value()

    def check_policy(
        self, policy: str, *, cases: Optional[str] = None, retires: Optional[Sequence[str]] = None
    ) -> Mapping[str, Any]:
        """
        POST /sandbox/policies/check: the mistakes of a policy as YAML text, each with its line; where there is none, its ``document`` and
        what its proposal would be answered. For humans.
        """
        body = _given({"policy": policy, "cases": cases, "retires": retires and list(retires)})
        return self._ask("/sandbox/policies/check", body).value()

    # Executions as people look for them

    def executions(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        cursor: Optional[str] = None,
        **filters: str,
    ) -> Mapping[str, Any]:
        """GET /executions: one page of the catalogue, newest first, and how far it reaches.

        ``filters`` are parameters of the route: ``status``, ``approvable``, ``contradicted``, ``capability``, ``target``, ``policy``, ``minAmount``, ``q`` and so on.
        """
        query = {"page": page, "pageSize": page_size, "cursor": cursor, **filters}
        return self._read("/executions", query).value()

    def statistics(self, **query: str) -> Mapping[str, Any]:
        """GET /statistics: executions counted, and their amounts summed, by ``bucket`` and ``by``, between ``since`` and ``until``."""
        return self._read("/statistics", query).value()

    def approval_statistics(self, **query: str) -> Mapping[str, Any]:
        """GET /statistics/approvals: how requests ended, and how long decisions took, between ``since`` and ``until``."""
        return self._read("/statistics/approvals", query).value()

    def search(self, q: str) -> Mapping[str, Any]:
        """GET /search: at most five hits of each kind for a part of a word, or the beginning of an id."""
        return self._read("/search", {"q": q}).value()

    # Refusals and audit, decisions §9

    def refusal(self, business_transaction_id: str) -> shapes.RefusalRecord:
        """GET /refusal/{businessTransactionId}"""
        return self._read(f"/refusal/{_part(business_transaction_id)}").value()

    def refusals(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        cursor: Optional[str] = None,
        **filters: str,
    ) -> List[shapes.RefusalRecord]:
        """GET /refusals: one page, newest first; ``filters`` are further parameters of the route, such as ``target``."""
        query = {"page": page, "pageSize": page_size, "since": since, "until": until, "cursor": cursor, **filters}
        return self._page("/refusals", query, "refusals")

    def verify_refusal(self, refusal: shapes.RefusalRecord) -> Mapping[str, Any]:
        """POST /refusal/verify"""
        return self._ask("/refusal/verify", refusal, open_route=True).value()

    def audit_events(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        event_type: Optional[str] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
    ) -> List[shapes.SignedAuditEvent]:
        """GET /audit/events"""
        query = {"page": page, "pageSize": page_size, "type": event_type, "since": since, "until": until}
        return self._page("/audit/events", query, "events")

    def verify_audit_event(self, signed_event: shapes.SignedAuditEvent) -> Mapping[str, Any]:
        """POST /audit/verify"""
        return self._ask("/audit/verify", signed_event, open_route=True).value()

    # Helpers that all kinds of changes share

    def _changes(
        self, path: str, status: Optional[str], page: Optional[int], page_size: Optional[int]
    ) -> List[shapes.Change]:
        return self._page(path, {"status": status, "page": page, "pageSize": page_size}, "changes")

    def _approve(
        self,
        path: str,
        change_id: str,
        step_up: shapes.StepUpAuthorization,
        impact_report: Optional[shapes.ImpactReport] = None,
    ) -> shapes.Change:
        body = _given({"stepUpAuthorization": step_up, "impactReport": impact_report})
        return self._write(f"{path}/{_part(change_id)}/approve", body).value()

    def _reject(
        self,
        path: str,
        change_id: str,
        step_up: shapes.StepUpAuthorization,
        rejection_reason: str,
        impact_report: Optional[shapes.ImpactReport] = None,
    ) -> shapes.Change:
        body = _given({"rejectionReason": rejection_reason, "stepUpAuthorization": step_up, "impactReport": impact_report})
        return self._write(f"{path}/{_part(change_id)}/reject", body).value()

    # Lists: a page ends early where its bytes reach 4 MiB, and its Link leads on

    def _every(self, path: str, query: Mapping[str, Any], member: Optional[str] = None) -> Iterator[Any]:
        """Every item, a page at a time by the ``Link`` header's next page."""
        following: Optional[Mapping[str, Any]] = query
        while following is not None:
            answer = self._read(path, following)
            yield from answer.value() if member is None else answer.value()[member]
            following = _next_page(answer.headers.get("link", ""))

    def _page(self, path: str, query: Mapping[str, Any], member: Optional[str] = None) -> List[Any]:
        """The page that was asked for, put together from the parts in which the service sent it."""
        items: List[Any] = []
        following: Optional[Mapping[str, Any]] = query
        while following is not None:
            answer = self._read(path, following)
            items += answer.value() if member is None else answer.value()[member]
            missing = (query.get("pageSize") or _PAGE_SIZE) - len(items)
            rest = _next_page(answer.headers.get("link", "")) if missing > 0 else None
            following = None if rest is None else {**rest, "pageSize": missing}
        return items

    # How often a request is sent

    def _read(
        self,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        *,
        open_route: bool = False,
        answers: Tuple[int, ...] = (200,),
    ) -> Answer:
        self._check_log()
        return self._fetch(path, query, open_route=open_route, answers=answers)

    def _fetch(
        self,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        *,
        open_route: bool = False,
        answers: Tuple[int, ...] = (200,),
    ) -> Answer:
        """A read within a call, which must come to its end: the log was checked before it."""

        def send() -> Answer:
            return self._send("GET", path, query=query or {}, open_route=open_route, answers=answers)

        return self._repeat(send, repeatable=_is_passing)

    def _await_logged(self, path: str, query: Optional[Mapping[str, Any]] = None) -> str:
        def send() -> Answer:
            return self._send("GET", path, query=query, answers=(200,), prefer=f"wait={_LOG_WAIT_SECONDS}")

        self._check_log()
        return self._repeat(send, repeatable=lambda error: _is_passing(error) or _status(error) == 202).text()

    def _ask(self, path: str, body: Any, *, open_route: bool = False, answers: Tuple[int, ...] = (200,)) -> Answer:
        """A POST that stores nothing: as safe to repeat as a GET."""

        def send() -> Answer:
            return self._send("POST", path, body=body, open_route=open_route, answers=answers)

        self._check_log()
        return self._repeat(send, repeatable=_is_passing)

    def _write(self, path: str, body: Any, *, answers: Tuple[int, ...] = (200,)) -> Answer:
        self._check_log()
        return self._repeat(lambda: self._send("POST", path, body=body, answers=answers), repeatable=_stored_nothing)

    def _create(self, path: str, body: Any) -> Answer:
        return self._write(path, body, answers=(201,))

    def _execute(self, path: str, transaction: shapes.BusinessTransaction) -> shapes.ExecutionTrustRecord:
        self._check_log()
        unanswered = False
        for attempt in range(1, self._attempts + 1):
            try:
                return self._send("POST", path, body=transaction, answers=(200, 201)).value()
            except (ConnectionLostError, AnswerError) as error:
                failure = error
            # A 409 after an unanswered first try is our own first try.
            if _is_unanswered(failure) or (unanswered and _status(failure) == 409):
                unanswered = True
                # A read that fails ends the call: nothing is sent again on a guess.
                record = self._settled(transaction)
                if record is not None:
                    return record
            if _may_have_failed(failure):
                # The answer alone does not tell a failed execution from a refusal, and a failure's record is its evidence.
                with suppress(AnswerError, ConnectionLostError):
                    found = self._found(f"/trust-records/{_part(transaction['businessTransactionId'])}")
                    if found is not None:
                        return _of_intent(cast(shapes.ExecutionTrustRecord, found), transaction)
            if not (_is_unanswered(failure) or _stored_nothing(failure)):
                raise failure
            self._wait(failure, attempt)
        raise AssertionError("unreachable")

    def _settled(self, sent: shapes.BusinessTransaction) -> Optional[shapes.ExecutionTrustRecord]:
        """The record of what was sent; None where the service does not know the id.

        Raises AnswerError where it was refused, which is what the lost answer said, ClosedWithoutRecordError, InDoubtError where the
        transaction stays without a record for as many reads as there are attempts, or cannot be read, and IdUsedForAnotherIntentError.
        """
        business_transaction_id = sent["businessTransactionId"]
        part = _part(business_transaction_id)
        try:
            for attempt in range(self._attempts):
                if attempt > 0:
                    self._sleep(_WAIT_SECONDS)
                record = self._found(f"/trust-records/{part}")
                if record is not None:
                    return _of_intent(cast(shapes.ExecutionTrustRecord, record), sent)
                refusal = self._found(f"/refusal/{part}")
                if refusal is not None:
                    break
                stored = self._found(f"/transactions/{part}")
                if stored is None:
                    return None
                # Without an intent it proves nothing: after a restored backup the ids of what was executed are stored like that.
                intent = self._found(f"/execution-intents/{part}")
                if intent is not None and _is_closed_without_record(intent):
                    if _bound_intent(stored) != _bound_intent(sent):
                        raise IdUsedForAnotherIntentError(business_transaction_id, None)
                    raise ClosedWithoutRecordError(intent)
            else:
                raise InDoubtError(business_transaction_id)
        except (AnswerError, ConnectionLostError) as error:
            raise InDoubtError(business_transaction_id, error) from error
        raise _refused(refusal)

    def _found(self, path: str) -> Optional[Any]:
        answer = self._fetch(path, answers=(200, 404))
        return answer.value() if answer.status == 200 else None

    def _check_log(self) -> None:
        """Before anything is sent, so that nothing is lost where it raises."""
        if self._witness is not None:
            self._witness.check()

    def _repeat(self, send: Callable[[], Answer], *, repeatable: Callable[[Exception], bool]) -> Answer:
        for attempt in range(1, self._attempts + 1):
            try:
                return send()
            except (ConnectionLostError, AnswerError) as error:
                if not repeatable(error):
                    raise
                self._wait(error, attempt)
        raise AssertionError("unreachable")

    def _wait(self, failure: Exception, attempt: int) -> None:
        """Raises the failure where this was the last attempt or the wait is too long."""
        wait_seconds = _wait_seconds(failure)
        if attempt == self._attempts or wait_seconds > self._wait_max_seconds:
            raise failure
        self._sleep(wait_seconds)

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        open_route: bool = False,
        answers: Tuple[int, ...],
        prefer: Optional[str] = None,
    ) -> Answer:
        answer = self._exchange.send(method, path, query=query or {}, body=body, open_route=open_route, prefer=prefer)
        if answer.status not in answers:
            raise answer.error()
        return answer


def _require_same(reply: Mapping[str, Any], sent: Optional[Mapping[str, Any]], caller_id: str) -> None:
    """Computes hash and code from what is here, and not from what the service says of it."""
    request = reply["request"]
    if request_hash(request) != reply["requestHash"]:
        raise OtherRequestError(reply, "the requestHash is not the hash of its request")
    if request["requestedBy"] != caller_id:
        raise OtherRequestError(reply, "another caller asks")
    coded = request
    if sent is not None:
        coded = {
            "capability": sent["intent"]["action"],
            "target": sent["intent"]["target"],
            "parameters": sent["intent"].get("parameters") or {},
            "policy": sent["policy"],
            "principalId": sent["authority"]["principalId"],
            "requestedBy": caller_id,
        }
    if {action_code(coded), action_code(request)} != {reply["actionCode"]}:
        raise OtherRequestError(reply, "its action code is not that of the action")


def _status(error: Exception) -> Optional[int]:
    return error.status if isinstance(error, AnswerError) else None


def _is_duplicate(error: Exception) -> bool:
    return _status(error) == 409


def _refused(refusal: Mapping[str, Any]) -> AnswerError:
    """Signals that do not match are a 403, a rejection by the rules is a 500 (decisions §3 "Outcomes")."""
    status, code = (403, "POLICY_DENIED") if refusal["mismatches"] else (500, "RUNTIME_ERROR")
    message = f"Execution rejected: {refusal['decision']['reason']}"
    return AnswerError(status, code, message, needs_approval=refusal.get("approvable") is True)


def _may_have_failed(error: Exception) -> bool:
    """A rejection by the rules, or an execution that failed for certain (decisions §3 "Outcomes")."""
    return isinstance(error, AnswerError) and error.status == 500 and not error.needs_approval


def _show_code(asked: shapes.ApprovalRequest) -> None:
    """Without it an approver would have no code to compare with the one that the service shows."""
    _LOGGER.warning("asked for an approval, and waits for it. Action code: %s", asked["actionCode"])


def _completed(record: shapes.ExecutionTrustRecord) -> shapes.ExecutionTrustRecord:
    """Lets the record of a completed execution pass, whether it was just executed or is read again."""
    if any(execution["status"] == "FAILED" for execution in record.get("executions", ())):
        raise ExecutionFailedError(record)
    return record


def _stored_nothing(error: Exception) -> bool:
    """The limiter comes before anything is parsed (decisions §3)."""
    return _status(error) == 429


def _is_passing(error: Exception) -> bool:
    return isinstance(error, ConnectionLostError) or _status(error) in (429, 502, 503, 504)


def _is_unanswered(error: Exception) -> bool:
    """The service, or a proxy before it, does not say what became of the request."""
    return isinstance(error, ConnectionLostError) or (isinstance(error, AnswerError) and is_unanswered(error))


def is_unanswered(error: AnswerError) -> bool:
    """Whether another success than the service's own, a redirect, or 502, 503 or 504 was answered: it may have done what was asked for."""
    return error.status < 400 or error.status in (502, 503, 504)


def _wait_seconds(error: Exception) -> float:
    named = error.headers.get("retry-after", "") if isinstance(error, AnswerError) else ""
    return float(named) if named.isascii() and named.isdigit() else _WAIT_SECONDS


def _following(transaction: shapes.BusinessTransaction) -> shapes.BusinessTransaction:
    """The same content under the id that every client derives where humans must approve it."""
    new_id = deterministic_id(transaction["businessTransactionId"], "approved")
    metadata = {**transaction["metadata"], "businessTransactionId": new_id}
    return cast(shapes.BusinessTransaction, {**transaction, "businessTransactionId": new_id, "metadata": metadata})


def _of_intent(record: shapes.ExecutionTrustRecord, whole: Mapping[str, Any]) -> shapes.ExecutionTrustRecord:
    if _bound_intent(record["transaction"]) != _bound_intent(whole):
        raise IdUsedForAnotherIntentError(record["businessTransactionId"], record)
    return record


def _is_closed_without_record(intent: Mapping[str, Any]) -> bool:
    """Somebody's word has ended it. Where evidence has, its record was stored after it was looked for, and the next look finds it."""
    if intent["state"] == "RESOLVED":
        return "resolution" in intent
    last = intent["transitions"][-1]["transition"] if intent["transitions"] else {}
    return intent["state"] == "ERRORED" and last.get("to") == "ERRORED" and "trustRecordHash" not in last


def _bound_intent(transaction: Mapping[str, Any]) -> bytes:
    intent = transaction["intent"]
    return canonicalize([intent["action"], intent["target"], intent.get("parameters") or {}])


def _given(members: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _next_page(link: str) -> Optional[Mapping[str, Any]]:
    """The query of ``<...>; rel="next"``. Only the query: the address stays the one this client was given."""
    found = re.search(r'<([^>]*)>[^,]*;\s*rel="?next"?', link)
    if found is None:
        return None
    query = parse_qs(urlsplit(found[1]).query)
    return {name: values[-1] for name, values in query.items()}


def _part(value: str) -> str:
    return quote(value, safe="")
