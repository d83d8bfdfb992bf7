"""The signature counters of passkeys over all that is verified in one run: what the service says in its event
``approval.counter_went_back`` is said here from the evidence alone. A copy of a passkey counts beside the first one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from .base64_text import from_base64
from .instant import Unreadable, instant


@dataclass(frozen=True)
class PasskeyUse:
    """An approval that a passkey signed."""

    key_id: str
    issued_at_ms: int
    #: The last four bytes of the authenticator data (Web Authentication Level 3 §6.1); 0 for a passkey that does not count.
    counter: int


def passkey_uses(artifact: str, evidence: Mapping[str, Any]) -> Tuple[PasskeyUse, ...]:
    """``evidence`` is what ``artifact`` names, and every check of it holds."""
    if artifact not in ("trust-record", "refusal-record", "bundle"):
        return ()
    uses = (
        _use_of(approval)
        for decision in _decisions_in(evidence["record"] if artifact == "bundle" else evidence)
        for verified in decision.get("verifiedSignals", {}).values()
        for approval in verified.get("approvals", [])
        if "webauthn" in approval
    )
    return tuple(use for use in uses if use is not None)


def _decisions_in(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    executions = record.get("executions")
    for one in [record, *(executions if isinstance(executions, list) else [])]:
        decision = one.get("decision")
        if isinstance(decision, dict):
            yield decision


def _use_of(approval: Mapping[str, Any]) -> Optional[PasskeyUse]:
    payload, data = approval["payload"], from_base64(approval["webauthn"]["authenticatorData"])
    try:
        issued_at_ms = instant(payload.get("issuedAt"))
    except Unreadable:
        # A refusal may rest on the time that cannot be read.
        return None
    return PasskeyUse(f"{payload['approverId']}:{payload['keyId']}", issued_at_ms, int.from_bytes((data or b"")[-4:], "big"))


class Counters:
    def __init__(self) -> None:
        self._uses: Dict[str, List[PasskeyUse]] = {}

    def add(self, uses: Sequence[PasskeyUse]) -> None:
        for use in uses:
            self._uses.setdefault(use.key_id, []).append(use)

    def went_back(self) -> List[str]:
        """Ids of the passkeys that signed with a counter that an earlier approval had reached already, in the order in which they came."""
        return [key_id for key_id, uses in self._uses.items() if _is_behind(uses)]


def _is_behind(uses: Sequence[PasskeyUse]) -> bool:
    """The same approval may stand in several files; those of one moment have no order."""
    earlier = highest = 0
    at = None
    for use in sorted(uses, key=lambda use: use.issued_at_ms):
        if at is None or use.issued_at_ms > at:
            earlier, at = highest, use.issued_at_ms
        if 0 < earlier and use.counter <= earlier:
            return True
        highest = max(highest, use.counter)
    return False
