"""The parameters that a signed approval covers (decisions §7 "SignedApproval"): exactly these, or all within limits."""

from __future__ import annotations

import math
from typing import Any

from .canonical import canonicalize
from .evidence import sha256_hex

_PREFIX = "intent.parameters."


def scope_covers(scope: Any, parameters: Any) -> bool:
    """Whether parameters stand within a scope. Whatever it does not know covers nothing: a member that it does not read may be
    the one that restricts."""
    if not isinstance(scope, dict) or not isinstance(parameters, dict):
        return False
    if scope.keys() == {"parametersHash"}:
        return bool(sha256_hex(canonicalize(parameters)) == scope["parametersHash"])
    limits = scope["limits"] if scope.keys() == {"limits"} else None
    return isinstance(limits, list) and len(limits) > 0 and all(_is_within(limit, parameters) for limit in limits)


def _is_within(limit: Any, parameters: Any) -> bool:
    if not isinstance(limit, dict) or limit.keys() != {"path", "max"}:
        return False
    path, greatest = limit["path"], limit["max"]
    if not isinstance(path, str) or not _is_number(greatest):
        return False
    value = _value_at(parameters, path)
    return _is_number(value) and bool(value <= greatest)


def _value_at(parameters: Any, path: str) -> Any:
    """A member by its path, ``invoice.total``; no list is entered. None where there is none."""
    value = parameters
    for name in (path[len(_PREFIX) :] if path.startswith(_PREFIX) else path).split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _is_number(value: Any) -> bool:
    """Never a text that looks like one, nor a boolean, which Python counts among the integers."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
