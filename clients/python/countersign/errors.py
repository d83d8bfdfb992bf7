"""What a call can raise. Branch on ``status`` first, then on ``code``, never on the message (interface §7)."""

from __future__ import annotations

import re
from typing import Any, Mapping, Optional


class CountersignError(Exception):
    """The service answered with another status than success."""

    def __init__(
        self,
        status: int,
        code: Optional[str],
        message: str,
        request_id: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        super().__init__(f"{status} {code or ''} {message}".replace("  ", " "))
        self.status = status
        self.code = code
        self.message = message
        #: Quote it to the operator: it finds the log line.
        self.request_id = request_id
        #: Names in lower case.
        self.headers = dict(headers or {})

    @property
    def needs_approval(self) -> bool:
        """An execution that humans' approvals would let through: ``request_approval`` asks for them."""
        return re.search(r';\s*rel="?approval-request"?', self.headers.get("link", "")) is not None


class ConnectionLost(Exception):
    """No whole answer arrived. Whether the service saw the request is not known."""


class LogContradiction(Exception):
    """The evidence log is not the one that this client saw before. Nothing was sent to be executed: the log is checked before each call.

    ``file`` holds both checkpoints, signed by the log, and the answer that does not join them; None where it could not be written.
    """

    def __init__(self, reason: str, seen: str, received: str, consistency: Any, file: Optional[str]) -> None:
        super().__init__(reason if file is None else f"{reason} Both sides are kept in {file}.")
        self.reason = reason
        #: Signed notes.
        self.seen = seen
        self.received = received
        self.consistency = consistency
        self.file = file


class NoRecordError(Exception):
    """The transaction is stored, its id is used, and it has no Execution Trust Record: it must not be sent again.

    ``refusal`` holds the signed Refusal Record where the policy refused it, which is final. Without one the execution
    is still running, was ended before its connector, or is in doubt: read the record again later, or ask the operator.
    """

    def __init__(self, business_transaction_id: str, refusal: Optional[Any] = None) -> None:
        why = "it was refused" if refusal is not None else "it is still running, has no connector or policy, or is in doubt"
        super().__init__(f"Business Transaction '{business_transaction_id}' is stored without a record: {why}; do not send it again.")
        self.business_transaction_id = business_transaction_id
        self.refusal = refusal

    @property
    def needs_approval(self) -> bool:
        """It was refused for want of approvals, and of nothing else."""
        mismatches = (self.refusal or {}).get("mismatches") or []
        return bool(mismatches) and all(one["source"] == "approval" for one in mismatches)


class IdUsedForAnotherIntent(Exception):
    """The id was used before, for another action, target or parameters: the record read is not what was asked for now."""

    def __init__(self, record: Any) -> None:
        super().__init__(f"Business Transaction '{record['businessTransactionId']}' was executed for another intent.")
        self.record = record


class NotApproved(Exception):
    """Approvals were asked for, and the request ended without them: declined, withdrawn, expired, ended with its policy version, or used up by another execution."""

    def __init__(self, approval_request: Any) -> None:
        closed = approval_request.get("closed") or {}
        why = f" by {closed['by']}: {closed['reason']}" if closed.get("reason") else ""
        if "endedBy" in approval_request:
            why = f": its policy version was retired by change {approval_request['endedBy']['changeId']}"
        super().__init__(f"The approval request is {approval_request['status']}{why}")
        self.approval_request = approval_request


class OtherRequest(Exception):
    """What the service says it asks approvers for is not what was sent to it. Nobody should approve it."""

    def __init__(self, approval_request: Any, what: str) -> None:
        super().__init__(f"The service asks approvers for something else than was sent to it: {what}.")
        self.approval_request = approval_request
