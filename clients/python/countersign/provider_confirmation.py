"""The checks of a payment provider's confirmation with the signature beside it: ``{confirmation, signature}``."""

from __future__ import annotations

import re
from typing import Any, List, Mapping

from .evidence import Check, Keys, checked, checked_beside, object_of, objects_of, string_of

_SAYS = ("executed", "not_executed", "pending")
_TEXTS = ("confirmationId", "businessTransactionId", "provider", "eventId", "ruleId", "receivedAt")


def check_provider_confirmation(evidence: Any, keys: Keys) -> List[Check]:
    """Every check of a confirmation. Never raises for evidence of any shape."""
    signed = evidence if isinstance(evidence, dict) else {}
    return [
        checked_beside(
            "confirmation signature", "The signature of the confirmation is not valid", keys, "provider-confirmation", signed, "confirmation"
        ),
        checked(
            "confirmation",
            "The confirmation is not one that the service makes",
            lambda: _is_whole(object_of(signed, "confirmation")),
        ),
    ]


def _is_whole(confirmation: Mapping[str, Any]) -> bool:
    return (
        confirmation.get("says") in _SAYS
        and all(string_of(confirmation, name) != "" for name in _TEXTS)
        and all(
            re.fullmatch("[0-9a-f]{64}", string_of(confirmation, name)) is not None for name in ("deliveryHash", "rulesHash")
        )
        and all(
            string_of(one, "expression") != "" and isinstance(one.get("holds"), bool)
            for one in objects_of(confirmation, "comparisons")
        )
    )
