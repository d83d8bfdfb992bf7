"""Base64 with one text for one value (RFC 4648 §4): a signature that could be spelled another way could be changed and still pass."""

from __future__ import annotations

import base64
import binascii
from typing import Optional


def from_base64(text: str) -> Optional[bytes]:
    """None for anything but the canonical text of the bytes, padding included."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded if base64.b64encode(decoded).decode("ascii") == text else None
