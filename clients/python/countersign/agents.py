"""The tools of agents as executions, in any framework: propose, wait for humans, resume, and read the record.

``governed`` puts a function under the authority of the service: policy and humans decide each call, and the connector carries it out. Nothing
is kept here: where a call stands is read from the service each time, so a run goes on in any process.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Tuple, TypeVar, Union, cast

from . import shapes
from .canonical import canonicalize
from .client import Client, is_unanswered
from .errors import AnswerError, ClosedWithoutRecordError, ConnectionLostError, CountersignError, ExecutionFailedError
from .errors import InDoubtError, NotApprovedError

Arguments = Mapping[str, Any]
_Said = TypeVar("_Said")
#: One value for every call, or a function of the arguments that the model gives.
Given = Union[_Said, Callable[[Arguments], _Said]]

_CALL: ContextVar[Tuple[str, str]] = ContextVar("countersign_tool_call")


@dataclass(frozen=True)
class Standing:
    """Where a call stands at the service.

    state     ``executed``: ``record`` is its evidence, and ``result`` what the connector answered. ``closed``: executed, as the word says
              that closed it when it was in doubt; there is no record and no result. ``approved``: policy and approvers would let it through
              now; executing checks again. ``waits``: for the humans of ``approval_request``. ``refused``: for good, by the policy, by the
              approvers or by the connector; nothing happened, and ``error`` is why
    reason    what a model may read; empty for ``executed`` and ``approved``
    """

    state: str
    reason: str = ""
    record: Optional[shapes.ExecutionTrustRecord] = None
    result: Any = None
    approval_request: Optional[shapes.ApprovalRequest] = None
    error: Optional[CountersignError] = None


class CallNotExecutedError(CountersignError):
    """The call must not run (yet): ``standing`` says whether it waits or is refused, and the message is what the model may read."""

    code = "CALL_NOT_EXECUTED"

    def __init__(self, standing: Standing) -> None:
        super().__init__(standing.reason)
        self.standing = standing


class RunInDoubtError(CountersignError):
    """It is not known what became of a call, so its run makes no other call of this tool: a model would repeat it as a new one, and that would
    be executed too. Make the call (``run``, ``call``, ``arguments``) again until its outcome is known; ``__cause__`` is why it is not."""

    code = "RUN_IN_DOUBT"

    def __init__(self, run: str, call: str, arguments: Arguments, cause: BaseException) -> None:
        told = f"The outcome of the call '{call}' is not known. Do not repeat it in another call: that could do it twice. {cause}"
        super().__init__(told)
        self.run, self.call, self.arguments = run, call, arguments
        self.__cause__ = cause


@contextmanager
def tool_call(run: str, call: str) -> Iterator[None]:
    """Names the call that a governed function is called for within the block, in this thread or task.

    run   your id of the run, thread or conversation, the same when it is resumed
    call  the framework's id of the call within the run; never one that a model writes
    """
    for name, value in (("run", run), ("call", call)):
        if not value:
            raise ValueError(f"{name} is empty.")
    token = _CALL.set((run, call))
    try:
        yield
    finally:
        _CALL.reset(token)


def governed(
    client: Client,
    *,
    action: str,
    target: Given[str],
    policy: Mapping[str, str],
    parameters: Optional[Callable[[Arguments], Mapping[str, Any]]] = None,
    signals: Optional[Given[Mapping[str, Any]]] = None,
    principal_id: Optional[str] = None,
    note: Given[str] = "",
    expires_in_seconds: Optional[int] = None,
) -> Callable[[Callable[..., Any]], Any]:
    """Makes a function a tool whose calls are executions. The function itself is never called: its name, signature and text say what the tool is.

    action, target, policy  as in every execution; ``target`` may be a function of the arguments, which are a mapping by their names
    parameters              of the intent; the arguments where left out
    signals                 what your own program declares to be so: what a model says is no evidence
    note                    for the approvers, at most 900 characters
    expires_in_seconds      how long a request for approval stays open, 60 to 86,400; 3,600 where left out

    The resulting tool is called within ``tool_call``. The id of the call follows from run, call, action, target and parameters, as in the
    TypeScript client: the same call is executed once, in whichever process and however often, and with other arguments it is other work, which is
    judged and approved anew. It returns the connector's answer, or the reason where a word closed the execution, and raises CallNotExecutedError
    where the call waits or is refused, RunInDoubtError while another call of the run is in doubt, and what ``Client.execute`` raises where
    the outcome is not known or the service is away.

    It has two methods with the same arguments, which return a Standing: ``propose``, which asks humans where they must approve and executes
    nothing, and ``execute``.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        tool = _Tool(
            client=client,
            signature=inspect.signature(function),
            action=action,
            target=target,
            policy=policy,
            parameters=parameters,
            signals=signals,
            principal_id=principal_id,
            note=note,
            expires_in_seconds=expires_in_seconds,
        )

        @functools.wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            standing = tool.execute(*given, **named)
            if standing.state == "executed":
                return standing.result
            if standing.state == "closed":
                return standing.reason
            raise CallNotExecutedError(standing)

        # A function of its own and no object that can be called: frameworks look at the signature and the text of functions.
        called = cast(Any, call)
        called.propose, called.execute = tool.propose, tool.execute
        return called

    return decorate


@dataclass(frozen=True)
class _Tool:
    client: Client
    signature: inspect.Signature
    action: str
    target: Given[str]
    policy: Mapping[str, str]
    parameters: Optional[Callable[[Arguments], Mapping[str, Any]]]
    signals: Optional[Given[Mapping[str, Any]]]
    principal_id: Optional[str]
    note: Given[str]
    expires_in_seconds: Optional[int]
    #: By run, and by the key of the call. In this process alone: another one has the same run only where it resumes it.
    doubts: Dict[str, Dict[str, RunInDoubtError]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def propose(self, *given: Any, **named: Any) -> Standing:
        return self._remembered(self._arguments(given, named), False)

    def execute(self, *given: Any, **named: Any) -> Standing:
        return self._remembered(self._arguments(given, named), True)

    def _arguments(self, given: Tuple[Any, ...], named: Mapping[str, Any]) -> Arguments:
        """By their names, with what the signature says where one is left out."""
        bound = self.signature.bind(*given, **named)
        bound.apply_defaults()
        arguments: Dict[str, Any] = {}
        for name, value in bound.arguments.items():
            further = self.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
            arguments.update(value if further else {name: value})
        return arguments

    def _request(self, run: str, call: str, arguments: Arguments) -> Dict[str, Any]:
        target = _of(self.target, arguments)
        parameters = dict(arguments if self.parameters is None else self.parameters(arguments))
        named = canonicalize([run, call, self.action, target, parameters])
        request = {
            "action": self.action,
            "target": target,
            "parameters": parameters,
            "policy": self.policy,
            "signals": dict(_of(self.signals, arguments) or {}),
            "key": f"tool-call-{hashlib.sha256(named).hexdigest()}",
        }
        return request if self.principal_id is None else {**request, "principalId": self.principal_id}

    def _remembered(self, arguments: Arguments, may_execute: bool) -> Standing:
        """Looks at a call or makes it, and remembers that its outcome is in doubt until it has one."""
        named = _CALL.get(None)
        if named is None:
            raise RuntimeError("Call a governed function within tool_call(run=..., call=...): its id follows from both.")
        run, call = named
        request = self._request(run, call, arguments)
        key = request["key"]
        with self.lock:
            doubts = self.doubts.get(run, {})
            if doubts and key not in doubts:
                raise next(iter(doubts.values()))
        try:
            standing = self._carried_out(request, arguments) if may_execute else self._judged(request, arguments)[0]
        except ClosedWithoutRecordError as error:
            standing = Standing("closed", str(error)) if error.executed else _refused(error)
        except CountersignError as error:
            if may_execute and _is_doubt(error):
                with self.lock:
                    self.doubts.setdefault(run, {})[key] = RunInDoubtError(run, call, arguments, error)
            raise
        if standing.state not in ("approved", "waits"):
            with self.lock:
                doubts = self.doubts.get(run, {})
                doubts.pop(key, None)
                if not doubts:
                    self.doubts.pop(run, None)
        return standing

    def _judged(self, request: Dict[str, Any], arguments: Arguments) -> Tuple[Standing, shapes.BusinessTransaction]:
        work = self.client.build(cast(shapes.ExecutionRequest, request))
        record, following, why = self.client.standing(work)
        asked = self._request_of(following) if record is None and _may_be_asked(why) else None
        if asked is not None and asked["status"] == "USED":
            # By this call, in another process since the look above; or by a call with the same content, and then humans are asked for this one.
            record, following, why = self.client.standing(work)
            asked = None
        if record is not None:
            return _ended(record), following
        if not _may_be_asked(why):
            return _refused(cast(AnswerError, why)), following
        asked = asked or self._ask(following, arguments)
        return (self._evaluated(following) if asked is None else _standing_of(asked)), following

    def _request_of(self, transaction: shapes.BusinessTransaction) -> Optional[shapes.ApprovalRequest]:
        """The note names the transaction, so that an ended request is found again, and is not asked anew."""
        intent, name = transaction["intent"], transaction["policy"]["name"]
        requests = self.client.approval_requests(capability=intent["action"], target=intent["target"], policy=name, page_size=100)
        ending = _note_of(transaction)
        return next((one for one in requests if one["request"]["note"].endswith(ending)), None)

    def _ask(self, transaction: shapes.BusinessTransaction, arguments: Arguments) -> Optional[shapes.ApprovalRequest]:
        """None where no approval would help."""
        note = f"{_of(self.note, arguments)} {_note_of(transaction)}".strip()
        try:
            return self.client.request_approval(transaction, note=note, expires_in_seconds=self.expires_in_seconds)
        except AnswerError as error:
            if error.code == "NOT_APPROVABLE":
                return None
            raise

    def _evaluated(self, transaction: shapes.BusinessTransaction) -> Standing:
        would: Mapping[str, Any] = self.client.evaluate(transaction)["wouldAnswer"]
        if would["status"] < 300:
            return Standing("approved")
        return Standing("refused", would.get("error") or f"It would be answered {would['status']}.")

    def _carried_out(self, request: Dict[str, Any], arguments: Arguments) -> Standing:
        standing, transaction = self._judged(request, arguments)
        if standing.state != "approved":
            return standing
        try:
            return _ended(self._sent(transaction))
        except ExecutionFailedError as error:
            return _refused(error)
        except AnswerError as error:
            if error.status not in (403, 500):
                raise
            # Refused after all, for example because another execution used the approvals up: humans are asked again where that may help.
            again, _ = self._judged(request, arguments)
            return _refused(error) if again.state == "approved" else again

    def _sent(self, transaction: shapes.BusinessTransaction) -> shapes.ExecutionTrustRecord:
        """Sends the call. An error that is not the client's own, such as one of a function that gives the key, may come after it was sent."""
        try:
            return self.client.execute_or_read(transaction)
        except CountersignError:
            raise
        except Exception as error:
            raise InDoubtError(transaction["businessTransactionId"], error) from error


def _of(given: Any, arguments: Arguments) -> Any:
    return given(arguments) if callable(given) else given


def _may_be_asked(why: Optional[AnswerError]) -> bool:
    """Nothing was sent, or approvals would lift the refusal."""
    return why is None or why.needs_approval


def _is_doubt(error: CountersignError) -> bool:
    """Whether a call that failed with this error may have been executed."""
    if isinstance(error, AnswerError):
        return is_unanswered(error) and error.code != "OVERLOADED"
    return isinstance(error, (InDoubtError, ConnectionLostError))


def _refused(error: CountersignError) -> Standing:
    return Standing("refused", error.message if isinstance(error, AnswerError) else str(error), error=error)


def _ended(record: shapes.ExecutionTrustRecord) -> Standing:
    execution: Mapping[str, Any] = next(iter(record.get("executions", ())), {})
    if execution.get("status") == "COMPLETED":
        return Standing("executed", record=record, result=execution["evidence"].get("result"))
    return _refused(ExecutionFailedError(record))


def _standing_of(asked: shapes.ApprovalRequest) -> Standing:
    if asked["status"] == "APPROVED":
        return Standing("approved")
    if asked["status"] == "PENDING":
        missing = asked["missing"]
        approvals = "approval" if missing == 1 else "approvals"
        told = f"Waits for {missing} {approvals}: request {asked['request']['requestId']}, action code {asked['actionCode']}."
        return Standing("waits", told, approval_request=asked)
    return _refused(NotApprovedError(asked))


def _note_of(transaction: shapes.BusinessTransaction) -> str:
    return f"[{transaction['businessTransactionId']}]"
