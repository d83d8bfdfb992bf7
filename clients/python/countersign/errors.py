"""Errors of a call: one family, told apart by ``code``. Branch on the class or on status and code, never on the message (interface §7)."""

from __future__ import annotations

import re
from typing import Any, Mapping, Optional


class CountersignError(Exception):
    """Everything that a call of this client can raise; what was asked for wrongly is a ValueError."""

    #: The service's own in an AnswerError; otherwise one for each class, and ``TIMEOUT``.
    code = "COUNTERSIGN_ERROR"
    #: HTTP status of an AnswerError; None otherwise.
    status: Optional[int] = None
    #: An execution that approvals would let through: ``request_approval`` asks for them.
    needs_approval = False


class AnswerError(CountersignError):
    """The service answered with another status than success. Where the answer names no code, it is ``HTTP_`` and the status."""

    status: int

    def __init__(
        self,
        status: int,
        code: Optional[str],
        message: str,
        request_id: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        needs_approval: bool = False,
    ) -> None:
        super().__init__(f"{status} {code or ''} {message}".replace("  ", " "))
        self.status = status
        self.code = code or f"HTTP_{status}"
        self.message = message
        #: Quote it to the operator: it finds the log line.
        self.request_id = request_id
        #: Names in lower case.
        self.headers = dict(headers or {})
        linked = re.search(r';\s*rel="?approval-request"?', self.headers.get("link", ""))
        self.needs_approval = needs_approval or linked is not None


class ExecutionFailedError(AnswerError):
    """The execution was approved, and its connector refused or failed for certain: nothing happened, and ``record`` is the evidence.

    Raised whether the service answers it now or the record is read later. The id is used: to try again is new work.
    """

    def __init__(self, record: Any) -> None:
        execution: Mapping[str, Any] = next(iter(record.get("executions", ())), {})
        result = execution.get("evidence", {}).get("result")
        reason = result.get("reason") if isinstance(result, dict) else None
        super().__init__(500, "RUNTIME_ERROR", f"Execution failed: {reason or 'no reason was given'}.")
        self.record = record


class ConnectionLostError(CountersignError):
    """No whole answer arrived: the service is away, the connection broke, or the time was over (``TIMEOUT``). Whether the service saw
    the request is not known. The message names method, address and cause."""

    code = "CONNECTION_LOST"

    def __init__(self, message: str, *, timed_out: bool = False) -> None:
        super().__init__(message)
        if timed_out:
            self.code = "TIMEOUT"


class LogContradictionError(CountersignError):
    """The evidence log is not the one that this client saw before. Nothing was sent to be executed: the log is checked before each call.

    ``file`` holds both checkpoints, signed by the log, and the answer that does not join them; None where it could not be written.
    """

    code = "LOG_CONTRADICTION"

    def __init__(self, reason: str, seen: str, received: str, consistency: Any, file: Optional[str]) -> None:
        super().__init__(reason if file is None else f"{reason} Both sides are kept in {file}.")
        self.reason = reason
        #: Signed notes.
        self.seen = seen
        self.received = received
        self.consistency = consistency
        self.file = file


class InDoubtError(CountersignError):
    """The outcome of the transaction is not known here: it is stored without a record and nobody has closed it, or nothing could be read.
    It was not sent again.

    It may still be running, be in doubt at the service, or have ended before its connector: ask again with ``execute_or_read``, or ask the
    operator. ``__cause__`` is what went wrong.
    """

    code = "IN_DOUBT"

    def __init__(self, business_transaction_id: str, cause: Optional[BaseException] = None) -> None:
        why = f" {cause}" if isinstance(cause, ConnectionLostError) else ""
        super().__init__(f"What became of Business Transaction '{business_transaction_id}' is not known.{why}")
        self.business_transaction_id = business_transaction_id


class ClosedWithoutRecordError(InDoubtError):
    """The execution was in doubt, and a human, a provider or its connector has closed it: ``executed`` is their word, and there is no
    record and no result. Final: the id is used.

    It is an InDoubtError because a program that does not know it must not repeat the work either. The last of the ``intent``'s transitions
    is signed, and says who closed it and how they know.
    """

    code = "CLOSED_WITHOUT_RECORD"

    def __init__(self, intent: Any, cause: Optional[BaseException] = None) -> None:
        super().__init__(intent["businessTransactionId"], cause)
        self.executed: bool = intent.get("resolution") == "EXECUTED"
        self.intent = intent

    def __str__(self) -> str:
        last: Mapping[str, Any] = self.intent["transitions"][-1]["transition"] if self.intent["transitions"] else {}
        executed = "executed" if self.executed else "not executed"
        said = f"Business Transaction '{self.business_transaction_id}' was {executed}, as {last.get('by', 'the service')} says."
        return f"{said} {last.get('note', '')}".strip()


class IdUsedForAnotherIntentError(CountersignError):
    """The id was used before, for another action, target or parameters: the record read is not what was asked for now.

    ``record`` is None where the other execution was closed without one.
    """

    code = "ID_USED_FOR_ANOTHER_INTENT"

    def __init__(self, business_transaction_id: str, record: Any) -> None:
        how = "used" if record is None else "executed"
        super().__init__(f"Business Transaction '{business_transaction_id}' was {how} for another intent.")
        self.record = record


class NotApprovedError(CountersignError):
    """Approvals were asked for, and the request ended without them: declined, withdrawn, expired, ended with its policy version, or used
    up by another execution."""

    code = "NOT_APPROVED"

    def __init__(self, approval_request: Any) -> None:
        closed = approval_request.get("closed") or {}
        why = f" by {closed['by']}: {closed['reason']}" if closed.get("reason") else ""
        if "endedBy" in approval_request:
            why = f": its policy version was retired by change {approval_request['endedBy']['changeId']}"
        super().__init__(f"The approval request is {approval_request['status']}{why}")
        self.approval_request = approval_request


class OtherRequestError(CountersignError):
    """The approval request in the answer of the service is not the request that was sent to it. Nobody should approve it."""

    code = "OTHER_REQUEST"

    def __init__(self, approval_request: Any, what: str) -> None:
        super().__init__(f"The service asks approvers for something else than was sent to it: {what}.")
        self.approval_request = approval_request
