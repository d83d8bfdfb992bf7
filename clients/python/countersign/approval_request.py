"""Approval requests: their hash, the code that an approver compares over another channel, and which execution they asked for."""

from __future__ import annotations

from typing import Any, Mapping

from .canonical import canonicalize
from .evidence import object_of, sha256_hex, string_of
from .instant import instant

#: Crockford's base32: no I, L, O or U, which are misread and misheard.
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def request_hash(content: Mapping[str, Any]) -> str:
    """Returns the ``requestHash`` in a SignedApproval of version 2 or 3: SHA-256 of the canonical content of the request."""
    return sha256_hex(canonicalize(content))


def action_code(action: Mapping[str, Any]) -> str:
    """Three groups of four such as ``7H2K-Q4ZM-9TRW``: the first 60 bits of SHA-256 of the canonical ``capability``, ``target``,
    ``parameters``, ``policy`` (``name`` and ``version``), ``principalId`` and ``requestedBy``; other members are left out."""
    names = ("capability", "target", "parameters", "principalId", "requestedBy")
    policy = {name: action["policy"][name] for name in ("name", "version")}
    coded = {**{name: action[name] for name in names}, "policy": policy}
    bits = int(sha256_hex(canonicalize(coded))[:15], 16)
    text = "".join(_ALPHABET[bits >> (55 - 5 * i) & 31] for i in range(12))
    return "-".join((text[:4], text[4:8], text[8:]))


def is_asked_for(request: Mapping[str, Any], transaction: Mapping[str, Any], decision: Mapping[str, Any]) -> bool:
    """Whether an execution is the one that was asked for. Whether it was declined, and the quorum, is not compared here."""
    intent = object_of(transaction, "intent")
    asked, decided = object_of(request, "policy"), object_of(decision, "policy")
    at = instant(string_of(decision, "evaluatedAt"))
    return (
        request.get("requestedBy") == string_of(object_of(transaction, "metadata"), "submittedBy")
        and request.get("principalId") == string_of(object_of(transaction, "authority"), "principalId")
        and request.get("capability") == string_of(intent, "action")
        and request.get("target") == string_of(intent, "target")
        and _is_same(request.get("parameters"), object_of(intent, "parameters"))
        and asked.get("name") == string_of(decided, "name")
        and asked.get("version") == string_of(decided, "version")
        and asked.get("contentHash") == string_of(decision, "policyContentHash")
        and _has_signals(
            object_of(request, "signals"), object_of(decision, "signals"), object_of(decision, "verifiedSignals")
        )
        and instant(request.get("createdAt")) <= at < instant(request.get("expiresAt"))
    )


def _has_signals(asked: Mapping[str, Any], signals: Mapping[str, Any], verified: Mapping[str, Any]) -> bool:
    """Every signal that was asked with has the same value, and no other one was declared: the service fills in what it verifies."""
    return all(name in signals and _is_same(asked[name], signals[name]) for name in asked) and all(
        name in asked or name in verified for name in signals
    )


def _is_same(one: Any, other: Any) -> bool:
    return canonicalize(one) == canonicalize(other)
