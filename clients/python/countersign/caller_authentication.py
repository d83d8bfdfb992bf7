"""How a caller by token was authenticated, as the signed authorization of its execution says it."""

from __future__ import annotations

import re
from typing import Any, List, Mapping

from .evidence import Check, checked, object_of, string_of


def check_caller_authentication(authorization: Any) -> List[Check]:
    """No check where it does not say how the caller was authenticated: evidence of callers with API keys does not.

    Nobody can check the token from its hash; what is checked is that one issuer alone can have named this caller.
    """
    payload = authorization.get("payload") if isinstance(authorization, dict) else None
    if not isinstance(payload, dict) or "callerAuthentication" not in payload:
        return []
    return [
        checked(
            "caller authentication",
            "The caller is not one that its authentication can name",
            lambda: _can_name(object_of(payload, "callerAuthentication"), string_of(payload, "callerId")),
        )
    ]


_KINDS = {
    "access-token": "access token",
    "dpop": "access token that is bound to a key",
    "jwt-svid": "JWT-SVID",
}


def authentication_text(authorization: Any) -> str:
    """``access token of <issuer> for <subject>, used by <actor>``; empty where it says nothing."""
    payload = authorization.get("payload") if isinstance(authorization, dict) else None
    said = payload.get("callerAuthentication") if isinstance(payload, dict) else None
    method, issuer, subject, actor = (_text_at(said, name) for name in ("method", "issuer", "subject", "actor"))
    if method == "":
        return ""
    token = f"{_KINDS.get(method, method)} of {issuer} for {subject}"
    return token if actor == "" else f"{token}, used by {actor}"


def _text_at(value: Any, name: str) -> str:
    text = value.get(name) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


def _can_name(authentication: Mapping[str, Any], caller_id: str) -> bool:
    method = authentication.get("method")
    issuer = string_of(authentication, "issuer")
    subject = string_of(authentication, "subject")
    is_trust_domain = issuer.startswith("spiffe://")
    if method == "jwt-svid":
        is_named = is_trust_domain and caller_id == subject
    else:
        is_named = method in ("access-token", "dpop") and not is_trust_domain and "#" not in issuer
    names = f"{issuer}/" if is_trust_domain else f"{issuer}#"
    return (
        is_named
        and issuer != ""
        and subject != ""
        and ("actor" not in authentication or string_of(authentication, "actor") != "")
        and len(caller_id) > len(names)
        and caller_id.startswith(names)
        and re.fullmatch("[0-9a-f]{64}", string_of(authentication, "tokenHash")) is not None
        and (_is_bound(authentication) if method == "dpop" else "keyThumbprint" not in authentication)
    )


def _is_bound(authentication: Mapping[str, Any]) -> bool:
    return re.fullmatch("[A-Za-z0-9_-]{43}", string_of(authentication, "keyThumbprint")) is not None
