"""Members of evidence that no signature covers. Anybody can put one there, and a reader may take it for part of what was verified: one
that this verifier does not know cannot be checked, and one that it knows must look as the service writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Union

from .canonical import json_string
from .evidence import Check
from .instant import Unreadable, instant

#: Checks a member of an object, given the other members of that object.
Leaf = Callable[[Any, Mapping[str, Any]], bool]


@dataclass(frozen=True)
class _Object:
    known: Mapping[str, "Shape"]
    #: Whether a signature covers every other member.
    others_signed: bool = False


@dataclass(frozen=True)
class _Each:
    shape: _Object


Shape = Union[Leaf, _Object, _Each]


def _checked(_value: Any, _beside: Mapping[str, Any]) -> bool:
    """A signature covers it, or another check reads all of it."""
    return True


def _advice(_value: Any, _beside: Mapping[str, Any]) -> bool:
    """A note says that nothing signs it."""
    return True


def _text(value: Any, _beside: Mapping[str, Any]) -> bool:
    return isinstance(value, str)


def _cursor_or_null(value: Any, _beside: Mapping[str, Any]) -> bool:
    """The service writes a cursor in base64url; any other text beside evidence could be read as part of it."""
    return value is None or isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,200}", value) is not None


def _count(value: Any, _beside: Mapping[str, Any]) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _time(value: Any, _beside: Mapping[str, Any]) -> bool:
    try:
        instant(value)
    except Unreadable:
        return False
    return True


def _texts(value: Any, _beside: Mapping[str, Any]) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _list_of(shape: _Object) -> Leaf:
    """A list that no check reads."""
    return lambda value, _: isinstance(value, list) and all(
        isinstance(one, dict) and next(_unknown_in(one, shape), None) is None for one in value
    )


def _one(shape: _Object, *needed: str) -> Leaf:
    """An object that no check reads. The service leaves out any member but those that are `needed`."""
    return lambda value, _: isinstance(value, dict) and value.keys() >= set(needed) and next(_unknown_in(value, shape), None) is None


def _message(value: Any, beside: Mapping[str, Any]) -> bool:
    """The service says one sentence of a verification that holds; of one that failed a note says that nothing signs it."""
    return beside.get("status") != "VERIFIED" or value == "Execution Trust Record verified successfully."


_STATUSES = ("PENDING", "APPROVED", "DECLINED", "EXPIRED", "ENDED", "USED", "WITHDRAWN")


def _status(value: Any, _beside: Mapping[str, Any]) -> bool:
    """How an approval request stands. Where it is no text, the check of how it stands fails."""
    return not isinstance(value, str) or value in _STATUSES


def _all(shape: Shape, names: str) -> Dict[str, Shape]:
    return {name: shape for name in names.split()}


_SIGNATURE = _Object({**_all(_checked, "algorithm keyId value batch"), "signedAt": _time})
_VERIFICATION = _Object(
    {
        **_all(_checked, "businessTransactionId status trustRecordHash"),
        "verificationId": _text,
        "message": _message,
        "verifiedAt": _time,
    }
)
_RECEIPT = _Object({"signatures": _Each(_SIGNATURE)}, others_signed=True)
_CONFIRMATION = _Object({"confirmation": _checked, "signature": _SIGNATURE})
_RECORD = _Object(
    {
        **_all(
            _checked,
            "trustRecordId businessTransactionId transaction authorization executions overrides createdAt requiredAlgorithms "
            "trustRecordHash verificationCount receiptCount confirmationCount",
        ),
        "signature": _SIGNATURE,
        "signatures": _Each(_SIGNATURE),
        "verifications": _Each(_VERIFICATION),
        "receipts": _Each(_RECEIPT),
        "confirmations": _Each(_CONFIRMATION),
    }
)
_CHANGE = _Object({"signature": _SIGNATURE, "warnings": _texts, "diff": _advice}, others_signed=True)
_CLOSE = _Object({"signature": _SIGNATURE}, others_signed=True)
_NOTE = _Object({"signature": _SIGNATURE}, others_signed=True)
_REQUEST = _Object(
    {
        **_all(_checked, "request requestHash actionCode expiresAt"),
        "status": _status,
        "missing": _count,
        "intervalSeconds": _count,
        "url": _text,
        "eligible": _texts,
        "compared": _advice,
        "usual": _advice,
        "ask": _one(_Object({"remindAt": _time, "escalateAt": _time, "escalateTo": _text})),
        "signals": _list_of(
            _Object({"signal": _text, "quorum": _count, **_all(_texts, "from approvedBy eligible")})
        ),
        "endedBy": _one(_Object({"changeId": _text}), "changeId"),
        "approvals": _list_of(_Object({**_all(_text, "approvalId approverId keyId reason"), "approvedAt": _time})),
        "usedBy": _one(_Object(_all(_text, "businessTransactionId outcome")), "businessTransactionId"),
        "notCounted": _list_of(
            _Object({**_all(_text, "approvalId approverId keyId because"), **_all(_time, "approvedAt since")})
        ),
        "notes": _Each(_NOTE),
        "closed": _CLOSE,
        "signature": _SIGNATURE,
    }
)
_JWK = _all(_checked, "kty crv x y pub alg kid use")
_KEY = _Object(
    {
        **_JWK,
        **_all(_checked, "keyId algorithm pem revokedAt"),
        "jwk": _Object(_JWK),
        "passkey": _Object(_all(_checked, "rpId origins backupEligible")),
    }
)

_OF_KIND: Mapping[str, _Object] = {
    "trust-record": _RECORD,
    "receipt": _RECEIPT,
    "refusal-record": _Object({"signature": _SIGNATURE}, others_signed=True),
    "audit-event": _Object({"event": _checked, "signature": _SIGNATURE}),
    "governance-change": _CHANGE,
    "intent-transition": _Object({"transition": _checked, "signature": _SIGNATURE}),
    "provider-confirmation": _CONFIRMATION,
    "approval-request": _REQUEST,
    "approval-request-close": _CLOSE,
    "approval-request-note": _NOTE,
    "bundle": _Object(
        {
            **_all(_checked, "bundle policy"),
            "record": _RECORD,
            "approverKeys": _Each(_KEY),
            "changes": _Each(_CHANGE),
            "proofs": _Each(_Object(_all(_checked, "kind id proof"))),
        }
    ),
}

_PAGE: Mapping[str, Shape] = {
    "next": _cursor_or_null,
    "completeUntil": _time,
    "verificationCount": _count,
    "receiptCount": _count,
    "publicKeys": _list_of(_KEY),
}

#: Lists of evidence as the service pages them.
_PAGE_LISTS = ("events", "changes", "confirmations", "requests", "refusals")


def page_list(page: Mapping[str, Any]) -> Optional[str]:
    """The first list of evidence that stands in an object of no kind."""
    return next((name for name in _PAGE_LISTS if isinstance(page.get(name), list)), None)


def check_members(artifact: str, evidence: Mapping[str, Any]) -> Check:
    """The check that every kind of evidence has."""
    unknown = _in_order(_unknown_in(evidence, _OF_KIND[artifact]))
    if not unknown:
        return Check("members", None)
    return Check("members", f"It cannot be checked: {_sentence_on(unknown)}", unknown_members=tuple(unknown))


def problem_of_page(page: Mapping[str, Any], name: str) -> Optional[str]:
    """The sentence on the members of a page that no evidence in it accounts for. None: there are none."""
    unknown = _in_order(_unknown_in(page, _Object({**_PAGE, name: _checked})))
    return f"This is a page of {name}: {_sentence_on(unknown)}" if unknown else None


#: A stranger's file may have as many as it likes.
_NAMED_MAX = 20


def _sentence_on(unknown: List[str]) -> str:
    named, more = ", ".join(json_string(path) for path in unknown[:_NAMED_MAX]), len(unknown) - _NAMED_MAX
    others = f" and {more} more" if more > 0 else ""
    return (
        f"no signature covers {named}{others}, and this verifier does not know what is there. "
        "It was added, or takes a newer verifier."
    )


def _in_order(paths: Iterator[str]) -> List[str]:
    """By UTF-16 code units."""
    return sorted(paths, key=lambda path: path.encode("utf-16-be"))


def _unknown_in(value: Mapping[str, Any], shape: _Object, prefix: str = "") -> Iterator[str]:
    """Their paths, such as ``signature.approvedBy``. What is no object or no list where one belongs fails the check that reads it."""
    for name, member in value.items():
        known, path = shape.known.get(name), prefix + name
        if known is None:
            if not shape.others_signed:
                yield path
        elif isinstance(known, _Object):
            if isinstance(member, dict):
                yield from _unknown_in(member, known, f"{path}.")
        elif isinstance(known, _Each):
            for i, one in enumerate(member if isinstance(member, list) else []):
                if isinstance(one, dict):
                    yield from _unknown_in(one, known.shape, f"{path}.{i}.")
        elif not known(member, value):
            yield path
