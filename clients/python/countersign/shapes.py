"""The shapes of interface §2 as typed dictionaries. Within v1 members are added over time: read only what you know."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict, Union

Signals = Dict[str, Union[bool, float]]


class Metadata(TypedDict, total=False):
    businessTransactionId: str
    correlationId: str
    sourceSystem: str
    submittedBy: str
    submittedAt: str


class Authority(TypedDict, total=False):
    authorityId: str
    authorityType: str
    principalId: str
    displayName: str
    issuedAt: str


class Authorization(TypedDict, total=False):
    authorizationId: str
    authorityId: str
    purpose: str
    issuedAt: str


class Intent(TypedDict, total=False):
    intentId: str
    authorizationId: str
    action: str
    target: str
    parameters: Dict[str, Any]
    createdAt: str


class Policy(TypedDict, total=False):
    name: str
    version: str
    schemaVersion: str


class BusinessTransaction(TypedDict, total=False):
    businessTransactionId: str
    metadata: Metadata
    authority: Authority
    authorization: Authorization
    intent: Intent
    policy: Policy
    signals: Signals
    status: str
    createdAt: str


class ExecutionRequest(TypedDict, total=False):
    """The requested execution; ``action``, ``target`` and ``policy`` are needed. The client makes the transaction."""

    action: str
    target: str
    parameters: Dict[str, Any]
    policy: Policy
    signals: Signals
    #: Your own key for the work, e.g. ``invoice-4711``: the id is derived from it and the callerId, so that this caller
    #: executes the work at most once, whoever repeats it. Without a key or an id each call is new work.
    key: str
    #: The id itself, a UUID of version 1 to 5; not together with ``key``. See ``deterministic_id``.
    businessTransactionId: str
    #: On whose authority; the callerId where left out.
    principalId: str


class Decision(TypedDict, total=False):
    decisionId: str
    intentId: str
    policy: Policy
    policyContentHash: str
    signals: Signals
    outcome: str
    reason: str
    matchedRuleId: Optional[str]
    evaluatedRules: List[str]
    verifiedSignals: Dict[str, Any]
    evaluatedAt: str


class Execution(TypedDict, total=False):
    executionId: str
    businessTransactionId: str
    decision: Decision
    status: str
    mode: str
    startedAt: str
    completedAt: str
    evidence: Dict[str, Any]
    metadata: Dict[str, Any]


class BatchPosition(TypedDict):
    origin: str
    size: int
    index: int
    path: List[str]


class Signature(TypedDict, total=False):
    algorithm: str
    keyId: str
    value: str
    signedAt: str
    #: Present where ``value`` signs the head of a batch, and ``algorithm`` ends in ``-batch``.
    batch: BatchPosition


class Verification(TypedDict, total=False):
    verificationId: str
    businessTransactionId: str
    status: str
    message: str
    verifiedAt: str
    trustRecordHash: str


class Promised(TypedDict):
    #: Origin of the log.
    log: str
    by: str


class Receipt(TypedDict, total=False):
    receiptId: str
    businessTransactionId: str
    verificationId: str
    trustRecordHash: str
    receiptHash: str
    issuedAt: str
    algorithm: str
    keyId: str
    transparency: Promised
    signature: str
    requiredAlgorithms: List[str]
    signatures: List[Signature]


class ExecutionTrustRecord(TypedDict, total=False):
    trustRecordId: str
    businessTransactionId: str
    transaction: BusinessTransaction
    authorization: Dict[str, Any]
    overrides: List[Any]
    executions: List[Execution]
    trustRecordHash: str
    signature: Signature
    requiredAlgorithms: List[str]
    signatures: List[Signature]
    createdAt: str
    #: The newest 100, oldest first; the counts stand beside a list that was cut.
    verifications: List[Verification]
    receipts: List[Receipt]
    verificationCount: int
    receiptCount: int


class RefusalRecord(TypedDict, total=False):
    refusalRecordId: str
    businessTransactionId: str
    decision: Decision
    evaluatedIntent: Intent
    mismatches: List[Dict[str, Any]]
    #: Approvals would have made it approved; absent otherwise, and before release 0.2.0.
    approvable: bool
    submittedBy: str
    createdAt: str
    refusalRecordHash: str
    signature: Signature


class ReplayResult(TypedDict):
    businessTransactionId: str
    trustRecordHash: str
    verified: bool


class CallerIdentity(TypedDict):
    callerId: str
    allowedPrincipalIds: List[str]
    allowedCapabilities: List[str]
    unrestrictedCapabilities: bool


class _PublicKey(TypedDict):
    keyId: str
    algorithm: str
    use: str
    pem: str


class PublicKey(_PublicKey, total=False):
    jwk: Dict[str, Any]
    revokedAt: str


class KeySet(TypedDict):
    keys: List[PublicKey]


class _LogOfService(TypedDict):
    #: Its name, the first line of its checkpoints.
    origin: str
    #: Its keys, those that no longer sign included, as C2SP signed-note writes them.
    vkeys: List[str]
    validFrom: str
    maximumDelaySeconds: int


class LogOfService(_LogOfService, total=False):
    #: Only of a log that was closed.
    validUntil: str


class LogDescription(TypedDict):
    #: From the first to the newest.
    logs: List[LogOfService]


LogConsistency = TypedDict("LogConsistency", {"from": int, "to": int, "hashes": List[str]})


class Validity(TypedDict):
    valid: bool
    errors: List[str]


class SignedAuditEvent(TypedDict):
    event: Dict[str, Any]
    signature: Signature


class SignedProviderConfirmation(TypedDict):
    confirmation: Dict[str, Any]
    signature: Signature


class WebhookEvent(TypedDict, total=False):
    webhookEventId: str
    provider: str
    eventId: str
    bodySha256: str
    bodyBytes: int
    receivedAt: str
    reruns: int
    processedAt: str
    outcome: str
    ruleId: str
    businessTransactionId: str
    detail: str
    headers: Dict[str, str]
    #: ``utf-8`` or ``base64``: how ``body`` is written.
    bodyEncoding: str
    body: str


class _Event(TypedDict):
    eventId: str
    type: str
    occurredAt: str
    entry: Dict[str, int]


class Event(_Event, total=False):
    businessTransactionId: str
    callerId: str
    trustRecordHash: str
    receiptId: str
    receiptHash: str
    refusalRecordHash: str
    auditEventId: str
    transitionId: str
    state: str
    resolution: str
    confirmationId: str
    provider: str
    says: str
    deliveryHash: str
    changeId: str
    kind: str
    target: str
    changeHash: str
    status: str
    by: str


class EventPage(TypedDict):
    events: List[Event]
    next: str


class _PolicySummary(TypedDict):
    name: str
    version: str
    status: str
    contentHash: str
    description: str
    capabilities: List[str]


class PolicySummary(_PolicySummary, total=False):
    approvedBy: str
    approvedAt: str
    approvedByChange: str
    retiredBy: str
    retiredAt: str
    retiredByChange: str
    replacedBy: str
    replaces: List[str]


class PolicyDetail(PolicySummary):
    toSend: List[Dict[str, Any]]
    document: Dict[str, Any]


class StepUpAuthorization(TypedDict):
    payload: Dict[str, Any]
    keyId: str
    algorithm: str
    signature: str


class EndpointStepUp(StepUpAuthorization):
    """For what is done with an event endpoint; ``countersign approver sign-endpoint`` makes one."""


class _Reserved(TypedDict, total=False):
    unknown: int
    needApproval: int


class ImpactReport(_Reserved):
    version: int
    changeId: str
    changeHash: str
    since: str
    until: str
    madeAt: str
    examined: int
    decided: int
    skipped: int
    approvedToRejected: int
    rejectedToApproved: int
    refusedAsRetired: int
    flips: List[Dict[str, Any]]
    retired: List[Dict[str, Any]]


class _Change(TypedDict):
    changeId: str
    kind: str
    target: str
    proposed: Dict[str, Any]
    reason: str
    proposedBy: str
    proposedAt: str
    changeHash: str
    status: str
    warnings: List[str]
    signature: Signature


class Change(_Change, total=False):
    resolvedBy: str
    resolvedAt: str
    rejectionReason: str
    stepUpAuthorization: StepUpAuthorization
    impactReport: ImpactReport
    diff: Dict[str, Any]


class _Approver(TypedDict):
    approverId: str
    keyId: str
    publicKeyPem: str
    enrolledAt: str


class Approver(_Approver, total=False):
    revokedAt: str


class ExternalConnector(TypedDict):
    changeId: str
    capability: str
    endpointUrl: str
    policy: str
    allowedParameters: List[str]
    timeoutMs: int
    registeredAt: str


class _WebhookRules(TypedDict):
    provider: str
    rulesHash: str
    status: str
    rules: List[Dict[str, Any]]


class WebhookRules(_WebhookRules, total=False):
    approvedBy: str
    approvedAt: str
    approvedByChange: str


class ApproverGroup(TypedDict):
    group: str
    members: List[str]
    approvedBy: str
    approvedAt: str
    approvedByChange: str


StandIn = TypedDict(
    "StandIn",
    {"for": str, "by": str, "from": str, "until": str, "approvedBy": str, "approvedAt": str, "approvedByChange": str},
)


class _CallerKey(TypedDict):
    callerId: str
    keyId: str
    source: str
    status: str


class CallerKey(_CallerKey, total=False):
    allowedPrincipalIds: List[str]
    allowedCapabilities: List[str]
    credentialHolderType: str
    readAll: bool
    stepUpPublicKey: str
    stepUpPasskey: Dict[str, Any]
    approverId: str
    expiresAt: str
    issuedAt: str
    issuedBy: str
    issuedByChange: str
    revokedAt: str
    revokedBy: str
    revokedByChange: str


class _EventEndpoint(TypedDict):
    endpointId: str
    url: str
    types: List[str]
    withParameters: bool
    registeredAt: str
    state: str
    hasSecret: bool


class EventEndpoint(_EventEndpoint, total=False):
    callerIds: List[str]
    cursor: str
    lastSuccessAt: str
    lastFailureAt: str
    lastFailure: str
    failingSince: str
    nextAttemptAt: str


class SignedApproval(TypedDict):
    payload: Dict[str, Any]
    algorithm: str
    signature: str


class _Approval(TypedDict):
    approvalId: str
    status: str
    approval: Dict[str, Any]
    deliveredBy: str
    deliveredAt: str


class Approval(_Approval, total=False):
    consumedBy: str
    consumedAt: str


class _ApprovalRequest(TypedDict):
    request: Dict[str, Any]
    requestHash: str
    actionCode: str
    status: str
    missing: int
    intervalSeconds: int
    expiresAt: str
    url: str
    eligible: List[str]
    approvals: List[Dict[str, str]]
    signature: Dict[str, Any]


class ApprovalRequest(_ApprovalRequest, total=False):
    # When approvers are told again, and a further group is asked: remindAt, escalateAt and escalateTo.
    ask: Dict[str, str]
    closed: Dict[str, Any]


class ApprovalRequestJudgement(TypedDict):
    requestId: str
    evaluatedAt: str
    # None where the instance does not have the policy version.
    decision: Optional[Dict[str, Any]]


class _ExecutionIntent(TypedDict):
    businessTransactionId: str
    state: str
    inDoubt: bool
    callerId: str
    action: str
    target: str
    releasedAt: str
    deadline: str
    authorization: Dict[str, Any]
    transitions: List[Dict[str, Any]]


class ExecutionIntent(_ExecutionIntent, total=False):
    closedAt: str
    resolution: str
    # The statement of the first of two humans: resolution, note, by and at.
    firstWord: Dict[str, str]
