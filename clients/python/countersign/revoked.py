"""A key of the service that was revoked, perhaps because somebody else has it: what it signed counts where the time that it signed is
before that. ``signedAt`` is not signed, so the artifact's own time decides."""

from __future__ import annotations

import json
from typing import Tuple

from .canonical import json_string
from .instant import Unreadable, instant

#: The signed member that says when; the first that is there.
_TIMES = {
    "trust-record": ("createdAt",),
    "execution-authorization": ("authorizedAt",),
    "receipt": ("issuedAt",),
    "refusal-record": ("createdAt",),
    "audit-event": ("occurredAt",),
    "governance-change": ("resolvedAt", "proposedAt"),
    "intent-transition": ("at",),
    "provider-confirmation": ("receivedAt",),
    "approval-request": ("createdAt",),
    "approval-request-close": ("closedAt",),
    "approval-request-note": ("notedAt",),
}


def judge_revoked(artifact: str, canonical: bytes, key_id: str, revoked_at: str) -> Tuple[bool, str]:
    """Whether what a revoked key of the service signed counts, and the sentence that says why it does not, or by which time it does."""
    members = json.loads(canonical)
    names = _TIMES[artifact]
    name = next((one for one in names if one in members), names[0])
    at = members.get(name)
    revoked = f"key {json_string(key_id)} was revoked at {revoked_at}"
    try:
        counts = instant(at) < instant(revoked_at)
    except Unreadable:
        counts = False
    if counts:
        return True, f"The {revoked}: its signature of the {artifact} counts by its {name} {at}, which nothing but that key says."
    return False, f"{revoked}, and the {name} of the {artifact} is not before that"
