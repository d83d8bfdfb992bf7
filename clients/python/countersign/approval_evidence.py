"""The checks of an approval request as GET /approval-requests/{id} answers it, and of how it was closed (decisions §7)."""

from __future__ import annotations

import re
from typing import Any, List, Mapping

from .approval_request import action_code
from .canonical import canonicalize
from .evidence import (
    Check,
    Given,
    Keys,
    carried_signature,
    checked,
    checked_beside,
    checked_signed,
    object_of,
    objects_of,
    sha256_hex,
    string_of,
    verifies_ed25519,
)
from .instant import instant

_HASH = re.compile("[0-9a-f]{64}")
_TEXTS = ("requestId", "requestedBy", "principalId", "capability", "target")
#: Beside the request, as the service answers when it is asked: no signature covers it.
_STANDING = (
    "status missing eligible signals ask compared usual approvals notCounted endedBy usedBy intervalSeconds url"
).split()


def check_approval_request(evidence: Any, keys: Keys) -> List[Check]:
    """Every check of ``{request, requestHash, …, signature}``, with ``closed`` where there is one. Never raises for evidence of any shape."""
    asked = evidence if isinstance(evidence, dict) else {}
    return [
        checked(
            "request hash",
            "The requestHash is not that of the request",
            lambda: sha256_hex(canonicalize(object_of(asked, "request"))) == asked.get("requestHash"),
        ),
        checked_beside("request signature", "The signature of the request is not valid", keys, "approval-request", asked, "request"),
        checked("request", "The request is not one that the service makes", lambda: _is_whole(object_of(asked, "request"))),
        checked(
            "action code",
            "The actionCode is not that of the action",
            lambda: action_code(_coded(object_of(asked, "request"))) == asked.get("actionCode"),
        ),
        *(check_approval_request_close(asked["closed"], keys) if "closed" in asked else []),
        *([_check_notes(asked, keys)] if "notes" in asked else []),
        checked("standing", "What it says beside the request is not what was signed", lambda: _is_as_signed(asked)),
    ]


def check_approval_request_close(evidence: Any, keys: Keys) -> List[Check]:
    """Every check of the member ``closed`` of a request. Never raises for evidence of any shape."""
    whole = evidence if isinstance(evidence, dict) else {}
    closed = {name: value for name, value in whole.items() if name != "signature"}
    return [
        checked_signed(
            "close signature",
            "The signature of its end is not valid",
            keys,
            lambda given: verifies_ed25519(
                "approval-request-close", canonicalize(closed), carried_signature(object_of(whole, "signature")), given
            ),
        ),
        checked("close", "Its end is not one that a request can have", lambda: _is_close(closed)),
    ]


def check_approval_request_note(evidence: Any, keys: Keys) -> List[Check]:
    """Every check of one of the ``notes`` of a request. Never raises for evidence of any shape."""
    whole = evidence if isinstance(evidence, dict) else {}
    return [
        checked_signed(
            "note signature", "The signature of the note is not valid", keys, lambda given: _is_note_signed(whole, given)
        ),
        checked("note", "The note is not one that the service makes", lambda: _is_note(whole)),
    ]


def _check_notes(asked: Mapping[str, Any], keys: Keys) -> Check:
    """Each is signed, and was written on this request after it was made."""
    return checked_signed(
        "notes",
        "One of its notes was not written on this request",
        keys,
        lambda given: all(
            _is_note_signed(note, given) and _is_note(note) and _is_note_of(asked, note) for note in objects_of(asked, "notes")
        ),
    )


def _is_note_signed(whole: Mapping[str, Any], given: Given) -> bool:
    note = {name: value for name, value in whole.items() if name != "signature"}
    carried = carried_signature(object_of(whole, "signature"))
    return verifies_ed25519("approval-request-note", canonicalize(note), carried, given)


def _is_note(note: Mapping[str, Any]) -> bool:
    if not all(_is_text(note.get(name)) for name in ("noteId", "requestId", "by", "text")):
        return False
    instant(note.get("notedAt"))
    return _HASH.fullmatch(string_of(note, "requestHash")) is not None


def _is_note_of(asked: Mapping[str, Any], note: Mapping[str, Any]) -> bool:
    request = object_of(asked, "request")
    return (
        note.get("requestId") == request.get("requestId")
        and note.get("requestHash") == asked.get("requestHash")
        and instant(request.get("createdAt")) <= instant(note.get("notedAt"))
    )


def notes_on_approval_request(asked: Mapping[str, Any]) -> List[str]:
    """Returns the notes for the reader of an approval request that passes its checks."""
    stands = [name for name in _STANDING if name in asked]
    if not stands:
        return []
    return [
        f"Nothing signs how it stands ({', '.join(stands)}): the service says so when it is asked. "
        "Its end is signed where it was declined or withdrawn."
    ]


def _is_whole(request: Mapping[str, Any]) -> bool:
    policy, quorum = object_of(request, "policy"), request.get("quorum")
    object_of(request, "parameters")
    object_of(request, "signals")
    return (
        all(_is_text(request.get(name)) for name in _TEXTS)
        and _is_text(policy.get("name"))
        and _is_text(policy.get("version"))
        and _HASH.fullmatch(string_of(policy, "contentHash")) is not None
        and isinstance(quorum, (int, float))
        and not isinstance(quorum, bool)
        and (isinstance(quorum, int) or quorum.is_integer())
        and quorum >= 1
        and isinstance(request.get("note"), str)
        and instant(request.get("createdAt")) < instant(request.get("expiresAt"))
    )


def _is_close(closed: Mapping[str, Any]) -> bool:
    status, reason = closed.get("status"), closed.get("reason")
    is_reasoned = _is_text(reason) if status == "DECLINED" else status == "WITHDRAWN" and reason == ""
    if not is_reasoned or not all(_is_text(closed.get(name)) for name in ("closeId", "requestId", "by")):
        return False
    instant(closed.get("closedAt"))
    return _HASH.fullmatch(string_of(closed, "requestHash")) is not None


def _is_as_signed(asked: Mapping[str, Any]) -> bool:
    """A request says that it was closed where its end says so, and only there; and the end is its own."""
    request, status = object_of(asked, "request"), asked.get("status")
    if string_of(asked, "expiresAt") != request.get("expiresAt"):
        return False
    if "closed" not in asked:
        return string_of(asked, "status") not in ("DECLINED", "WITHDRAWN")
    end = object_of(asked, "closed")
    return (
        string_of(end, "status") == status
        and string_of(end, "requestId") == request.get("requestId")
        and string_of(end, "requestHash") == asked.get("requestHash")
        and (status != "WITHDRAWN" or string_of(end, "by") == request.get("requestedBy"))
        and instant(request.get("createdAt")) <= instant(end.get("closedAt"))
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _coded(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raises Unreadable where a member is missing."""
    policy = object_of(request, "policy")
    return {
        "parameters": object_of(request, "parameters"),
        "policy": {name: string_of(policy, name) for name in ("name", "version")},
        **{name: string_of(request, name) for name in ("capability", "target", "principalId", "requestedBy")},
    }
