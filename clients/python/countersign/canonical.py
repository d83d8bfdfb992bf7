"""RFC 8785 (JCS) canonical JSON, and a reader of JSON that has exactly one reading (decisions §4 "Canonical bytes")."""

from __future__ import annotations

import json
import math
import re
from json.encoder import encode_basestring
from typing import Any, Dict, List, Tuple, Union

#: The greatest integer below which every integer is a double of its own (ECMA-262 Number.MAX_SAFE_INTEGER).
SAFE_INTEGER_MAX = 2**53 - 1

#: A body may be 64 deep (decisions §3); a record holds its parts deeper, and a file of records one deeper again.
DEPTH_MAX = 80
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)|[\[\]{}]', re.DOTALL)


class NotCanonical(ValueError):
    """A value that has no canonical form, or a text with more than one reading: refused, never repaired."""


def canonicalize(value: Any) -> bytes:
    """The canonical bytes of a value made of None, bool, int, float, str, list, tuple and dict.

    Raises NotCanonical for anything else, NaN, Infinity, integers beyond 2^53, lone surrogates and ``__proto__`` keys.
    """
    try:
        return _text(value).encode("utf-8")
    except UnicodeEncodeError:
        raise NotCanonical("a string holds a lone surrogate") from None
    except RecursionError:
        raise NotCanonical("nested too deeply") from None


def parse(text: Union[str, bytes], *, depth_max: int = DEPTH_MAX) -> Any:
    """The value of a JSON text. Numbers are doubles as everywhere in JCS: 1E2 and 100 are the same value.

    Raises NotCanonical for syntax errors, bad UTF-8, a byte order mark, duplicate or ``__proto__`` keys, lone
    surrogates, NaN, Infinity, numbers that overflow to it, numbers that underflow to 0, and what is nested deeper than ``depth_max``.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        _refuse_deep(text, depth_max)
        value = json.loads(
            text,
            object_pairs_hook=_members,
            parse_int=_integer,
            parse_float=_double,
            parse_constant=_constant,
        )
    except NotCanonical:
        raise
    except RecursionError:
        raise NotCanonical("nested too deeply") from None
    except ValueError as error:
        raise NotCanonical(f"not JSON: {error}") from None
    canonicalize(value)  # finds what only a walk finds: lone surrogates
    return value


def _refuse_deep(text: str, depth_max: int) -> None:
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        first = token.group()[0]
        depth += (first in "[{") - (first in "]}")
        if depth > depth_max:
            raise NotCanonical(f"deeper than {depth_max}")


def number_text(value: float) -> str:
    """ECMA-262 §6.1.6.1.20 Number::toString, radix 10. ``repr`` gives the same shortest digits; only the layout differs."""
    if math.isnan(value) or math.isinf(value):
        raise NotCanonical(f"{value} is not a finite number")
    if value == 0:
        return "0"
    sign, digits, n = _decimal(value)
    k = len(digits)
    if k <= n <= 21:
        return sign + digits + "0" * (n - k)
    if 0 < n <= 21:
        return f"{sign}{digits[:n]}.{digits[n:]}"
    if -6 < n <= 0:
        return f"{sign}0.{'0' * -n}{digits}"
    exponent = f"e{n - 1:+d}"
    return sign + digits[0] + (f".{digits[1:]}" if k > 1 else "") + exponent


def _decimal(value: float) -> Tuple[str, str, int]:
    """Sign, shortest digits and n of the value 0.digits * 10^n."""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    n = len(whole) + int(exponent or "0")
    digits = whole + fraction
    stripped = digits.lstrip("0")
    n -= len(digits) - len(stripped)
    return ("-" if value < 0 else ""), stripped.rstrip("0"), n


def json_string(value: str) -> str:
    """A string as JSON. Python escapes what JSON.stringify escapes, in the same spelling."""
    return encode_basestring(value)


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return json_string(value)
    if isinstance(value, int):
        if abs(value) > SAFE_INTEGER_MAX:
            raise NotCanonical(f"{value} is beyond 2^53")
        return str(value)
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, dict):
        return _object_text(value)
    raise NotCanonical(f"{type(value).__name__} has no canonical form")


def _object_text(value: Dict[Any, Any]) -> str:
    members: List[str] = []
    for key in value:
        if not isinstance(key, str) or key == "__proto__":
            raise NotCanonical("a key cannot be signed")
    # By UTF-16 code units (RFC 8785 §3.2.3): a code point beyond U+FFFF sorts before U+E000.
    keys = sorted(value) if all(map(str.isascii, value)) else sorted(value, key=lambda name: name.encode("utf-16-be"))
    for key in keys:
        members.append(f"{json_string(key)}:{_text(value[key])}")
    return "{" + ",".join(members) + "}"


def _members(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotCanonical("duplicate key")
    if "__proto__" in members:
        raise NotCanonical("__proto__ key")
    return members


def _integer(digits: str) -> Union[int, float]:
    # Beyond 2^53 a literal is the double nearest to it, as in every other reader of JCS.
    if len(digits) < 17 and abs(int(digits)) <= SAFE_INTEGER_MAX:
        return int(digits)
    return _double(digits)


def _double(digits: str) -> float:
    value = float(digits)
    # A zero with another digit in it was too small for a double: it is refused like one that was too large.
    underflows = value == 0 and re.search("[1-9]", re.split("[eE]", digits)[0]) is not None
    if math.isinf(value) or underflows:
        raise NotCanonical("number out of range")
    return value


def _constant(name: str) -> float:
    raise NotCanonical(f"{name} is not JSON")
