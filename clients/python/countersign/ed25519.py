"""Ed25519 verification (RFC 8032 §5.1.7), verify only, in plain integers; as strict as libsodium, which the service uses.

Verification handles public data alone, so nothing here needs to run in constant time.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import List, Optional, Tuple

PUBLIC_KEY_BYTES = 32
SIGNATURE_BYTES = 64

_P = 2**255 - 19
#: The order of the base point.
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_2D = 2 * _D % _P
_SQRT_MINUS_1 = pow(2, (_P - 1) // 4, _P)

#: Extended coordinates (X, Y, Z, T): x = X/Z, y = Y/Z, x*y = T/Z.
_Point = Tuple[int, int, int, int]
_NEUTRAL: _Point = (0, 1, 1, 0)

#: Hexadecimal digits of a scalar.
_DIGITS = 64


def verify(*, message: bytes, signature: bytes, public_key: bytes) -> bool:
    """Whether the signature is the key's for the message. Never raises for bytes of any length. About 1 ms, and 5 ms more for the
    first signature of a key.

    Refuses what other verifiers disagree about: S not below L, coordinates not below p, and keys or R of small order.
    """
    if len(public_key) != PUBLIC_KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    encoded_r, s = signature[:32], int.from_bytes(signature[32:], "little")
    if s >= _L:
        return False
    digest = hashlib.sha512(encoded_r + public_key + message).digest()
    return _holds(encoded_r, s, public_key, int.from_bytes(digest, "little") % _L)


@lru_cache(maxsize=4096)
def _holds(encoded_r: bytes, s: int, public_key: bytes, h: int) -> bool:
    """Kept, because much evidence repeats the same signed parts, such as the changes of a policy in each bundle. ``h`` stands for the
    message, as it does in the signature."""
    a, r = _decode(public_key), _decode(encoded_r)
    if a is None or r is None or _has_small_order(a) or _has_small_order(r):
        return False
    # Without the cofactor, as libsodium: S*B must be R + h*A exactly.
    return _equal(_multiply(s, _BASE), _add(r, _multiply(h, a)))


@lru_cache(maxsize=64)
def _decode(encoded: bytes) -> Optional[_Point]:
    """RFC 8032 §5.1.3; None for what is not the one encoding of a point."""
    bits = int.from_bytes(encoded, "little")
    sign, y = bits >> 255, bits & (2**255 - 1)
    if y >= _P:
        return None
    u, v = (y * y - 1) % _P, (_D * y * y + 1) % _P
    x = u * v**3 * pow(u * v**7, (_P - 5) // 8, _P) % _P
    if (v * x * x - u) % _P != 0:
        x = x * _SQRT_MINUS_1 % _P
    if (v * x * x - u) % _P != 0 or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = _P - x
    return (x, y, 1, x * y % _P)


def _add(p: _Point, q: _Point) -> _Point:
    a = (p[1] - p[0]) * (q[1] - q[0]) % _P
    b = (p[1] + p[0]) * (q[1] + q[0]) % _P
    c = p[3] * q[3] * _2D % _P
    d = 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _multiply(scalar: int, point: _Point) -> _Point:
    product = _NEUTRAL
    for place, multiples in enumerate(_multiples(point)):
        product = _add(product, multiples[scalar >> 4 * place & 15])
    return product


@lru_cache(maxsize=64)
def _multiples(point: _Point) -> List[List[_Point]]:
    """For each hexadecimal digit of a scalar, the sixteen points that it may stand for. Kept, because a key is used again: a product
    then takes 64 additions in place of 380."""
    table = []
    for _ in range(_DIGITS):
        multiples = [_NEUTRAL]
        for _ in range(15):
            multiples.append(_add(multiples[-1], point))
        table.append(multiples)
        point = _add(multiples[-1], point)
    return table


def _equal(p: _Point, q: _Point) -> bool:
    return (p[0] * q[2] - q[0] * p[2]) % _P == 0 and (p[1] * q[2] - q[1] * p[2]) % _P == 0


def _has_small_order(point: _Point) -> bool:
    for _ in range(3):
        point = _add(point, point)
    return _equal(point, _NEUTRAL)


def is_of_prime_order(public_key: bytes) -> bool:
    """False for another encoding, and for points of small or mixed order: no private key has them, and some verify anything."""
    point = _decode(public_key) if len(public_key) == PUBLIC_KEY_BYTES else None
    return point is not None and not _equal(point, _NEUTRAL) and _equal(_multiply(_L, point), _NEUTRAL)


def _base_point() -> _Point:
    point = _decode((4 * pow(5, _P - 2, _P) % _P).to_bytes(32, "little"))
    assert point is not None
    return point


_BASE = _base_point()
