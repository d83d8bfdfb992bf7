"""Members of evidence that no signature covers and no check reads: anybody can have put them there, and a reader may take them for part
of what was verified."""

from __future__ import annotations

from typing import Any, Iterator, List, Mapping

from .canonical import json_string

_SIGNATURE = frozenset({"algorithm", "keyId", "value", "signedAt", "batch"})
_VERIFICATION = frozenset({"verificationId", "businessTransactionId", "status", "message", "verifiedAt", "trustRecordHash"})
_RECORD = frozenset(
    "trustRecordId businessTransactionId transaction authorization executions overrides createdAt requiredAlgorithms "
    "trustRecordHash signature signatures verifications receipts verificationCount receiptCount confirmations confirmationCount".split()
)
#: What says how a request stands has a note of its own.
_REQUEST = frozenset(
    "request requestHash actionCode status missing intervalSeconds expiresAt url eligible approvals closed signature".split()
)
_BUNDLE = frozenset({"bundle", "record", "policy", "approverKeys", "changes", "proofs"})
_APPROVER_KEY = frozenset({"keyId", "algorithm", "use", "pem", "jwk", "revokedAt"})
_PROOF = frozenset({"kind", "id", "proof"})
#: What stands beside its signature under a name of its own.
_BESIDE = {"audit-event": "event", "intent-transition": "transition", "provider-confirmation": "confirmation"}


def notes_on_unsigned(artifact: str, evidence: Mapping[str, Any]) -> List[str]:
    """One sentence for each, in the order of their paths by UTF-16 code units."""
    paths = sorted(_unsigned(artifact, evidence), key=lambda path: path.encode("utf-16-be"))
    return [f"Nothing signs its member {json_string(path)}." for path in paths]


def _unsigned(artifact: str, evidence: Any, prefix: str = "") -> Iterator[str]:
    if not isinstance(evidence, dict):
        return
    if artifact == "bundle":
        yield from _unsigned_in_bundle(evidence)
        return
    if artifact == "approval-request":
        yield from _unknown(evidence, _REQUEST, prefix)
        yield from _unsigned("approval-request-close", evidence.get("closed"), f"{prefix}closed.")
    if artifact in _BESIDE:
        yield from _unknown(evidence, frozenset({_BESIDE[artifact], "signature"}), prefix)
    if artifact == "trust-record":
        yield from _unknown(evidence, _RECORD, prefix)
        yield from _unknown_in_each(evidence.get("verifications"), _VERIFICATION, f"{prefix}verifications")
        for i, receipt in enumerate(_entries(evidence.get("receipts"))):
            if isinstance(receipt, dict):
                yield from _unknown_in_each(receipt.get("signatures"), _SIGNATURE, f"{prefix}receipts.{i}.signatures")
        for i, confirmation in enumerate(_entries(evidence.get("confirmations"))):
            yield from _unsigned("provider-confirmation", confirmation, f"{prefix}confirmations.{i}.")
    if artifact in ("trust-record", "receipt"):
        yield from _unknown_in_each(evidence.get("signatures"), _SIGNATURE, f"{prefix}signatures")
    if artifact != "receipt":
        yield from _unknown(evidence.get("signature"), _SIGNATURE, f"{prefix}signature.")


def _unsigned_in_bundle(bundle: Mapping[str, Any]) -> Iterator[str]:
    yield from _unknown(bundle, _BUNDLE)
    yield from _unsigned("trust-record", bundle.get("record"), "record.")
    for i, change in enumerate(_entries(bundle.get("changes"))):
        yield from _unsigned("governance-change", change, f"changes.{i}.")
    yield from _unknown_in_each(bundle.get("approverKeys"), _APPROVER_KEY, "approverKeys")
    yield from _unknown_in_each(bundle.get("proofs"), _PROOF, "proofs")


def _unknown(value: Any, known: Any, prefix: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{prefix}{name}" for name in value if name not in known)


def _unknown_in_each(value: Any, known: Any, path: str) -> Iterator[str]:
    for i, one in enumerate(_entries(value)):
        yield from _unknown(one, known, f"{path}.{i}.")


def _entries(value: Any) -> List[Any]:
    return value if isinstance(value, list) else []
