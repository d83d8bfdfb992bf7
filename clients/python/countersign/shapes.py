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


class Signature(TypedDict, total=False):
    algorithm: str
    keyId: str
    value: str
    signedAt: str


class Verification(TypedDict, total=False):
    verificationId: str
    businessTransactionId: str
    status: str
    message: str
    verifiedAt: str
    trustRecordHash: str


class Receipt(TypedDict, total=False):
    receiptId: str
    businessTransactionId: str
    verificationId: str
    trustRecordHash: str
    receiptHash: str
    issuedAt: str
    algorithm: str
    keyId: str
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
    verifications: List[Verification]
    receipts: List[Receipt]


class RefusalRecord(TypedDict, total=False):
    refusalRecordId: str
    businessTransactionId: str
    decision: Decision
    evaluatedIntent: Intent
    mismatches: List[Dict[str, Any]]
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


class KeySet(TypedDict):
    keys: List[PublicKey]


class Validity(TypedDict):
    valid: bool
    errors: List[str]


class SignedAuditEvent(TypedDict):
    event: Dict[str, Any]
    signature: Signature
