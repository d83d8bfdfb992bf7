"""Text of evidence on a terminal: no line break, escape code or change of direction of its own reaches it."""

from __future__ import annotations

import re

#: Control characters (C0, DEL, C1), format characters (bidi, zero width, soft hyphen, tags), line and paragraph separators,
#: surrogates and private use. By number, not by property: the same set in every version, and in the project's TypeScript verifier.
_NOT_PRINTABLE = re.compile(
    "[\0-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\uf8ff\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)


def printable(line: str) -> str:
    """One line of text, with each such character replaced."""
    return _NOT_PRINTABLE.sub("\ufffd", line)
