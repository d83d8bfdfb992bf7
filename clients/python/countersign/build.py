"""Builds the Business Transaction of an action: every id and link of interface §2.1, so that a caller says only what is to be done."""

from __future__ import annotations

import uuid
from datetime import datetime, timezone
from typing import Any, Callable, Mapping

from . import shapes

_MEMBERS = frozenset(shapes.ExecutionRequest.__annotations__)

#: The namespace of all keys, the same in every client of Countersign. Below it each caller has a namespace of its own.
_KEYS = uuid.UUID("2d5e3a52-0f5c-4f0e-9a0c-5c1f4a3f7b61")


def is_request(submitted: Mapping[str, Any]) -> bool:
    """A whole transaction has no ``action`` of its own: that stands in its intent."""
    return "action" in submitted


def build_transaction(request: Mapping[str, Any], caller_id: Callable[[], str]) -> shapes.BusinessTransaction:
    """The transaction of a request, with new ids but for its own where ``key`` or ``businessTransactionId`` says which.

    ``caller_id`` is called only where the request does not say what follows from it.

    Raises ValueError for an unknown or missing member, an empty key, and ``key`` and ``businessTransactionId`` together.
    """
    unknown = sorted(set(request) - _MEMBERS)
    if unknown:
        raise ValueError(f"An execution request has no member '{unknown[0]}'.")
    missing = [name for name in ("action", "target", "policy") if name not in request]
    if missing:
        raise ValueError(f"An execution request needs '{missing[0]}'.")
    key, given_id = request.get("key"), request.get("businessTransactionId")
    if key is not None and given_id is not None:
        raise ValueError("An execution request has a key or a businessTransactionId, not both.")
    if key == "":
        raise ValueError("The key of an execution request is empty.")
    principal_id = request.get("principalId") or caller_id()
    if key is not None:
        transaction_id = str(uuid.uuid5(uuid.uuid5(_KEYS, caller_id()), key))
    else:
        transaction_id = given_id or str(uuid.uuid4())
    authority_id, authorization_id = str(uuid.uuid4()), str(uuid.uuid4())
    now = datetime.now(timezone.utc).isoformat()
    return {
        "businessTransactionId": transaction_id,
        "metadata": {"businessTransactionId": transaction_id},
        "authority": {
            "authorityId": authority_id,
            "authorityType": "SERVICE",
            "principalId": principal_id,
            "issuedAt": now,
        },
        "authorization": {"authorizationId": authorization_id, "authorityId": authority_id, "issuedAt": now},
        "intent": {
            "intentId": str(uuid.uuid4()),
            "authorizationId": authorization_id,
            "action": request["action"],
            "target": request["target"],
            "parameters": request.get("parameters") or {},
            "createdAt": now,
        },
        "policy": request["policy"],
        "signals": request.get("signals") or {},
    }
