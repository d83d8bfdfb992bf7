"""Times that humans' tools write (RFC 3339), as milliseconds: read alike by every implementation, or not at all."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any


class Unreadable(ValueError):
    """A member that a check needs is missing or of another type: the check fails."""


_TIMESTAMP = re.compile(
    r"([1-9][0-9]{3}-[0-9]{2}-[0-9]{2})[Tt]((?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
)


def instant(text: Any) -> int:
    """Milliseconds since 1970; what is finer is cut off. Raises Unreadable for what is no such time, leap seconds among it."""
    match = _TIMESTAMP.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise Unreadable("a time is not one")
    date, time, fraction, sign, hours, minutes = match.groups()
    try:
        since = datetime.strptime(f"{date}T{time}", "%Y-%m-%dT%H:%M:%S") - datetime(1970, 1, 1)
    except ValueError:
        raise Unreadable("a time is on no day of the calendar") from None
    offset = int(f"{sign}1") * (int(hours) * 60 + int(minutes)) if sign else 0
    seconds = since.days * 86400 + since.seconds - offset * 60
    return seconds * 1000 + int((fraction or "").ljust(3, "0")[:3])
