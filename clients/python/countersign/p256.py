"""ECDSA verification on P-256 (FIPS 186-5 §6.4.2) of SHA-256, verify only, in plain integers.

Verification handles public data alone, so nothing here needs to run in constant time.
"""

from __future__ import annotations

import hashlib
from typing import Optional, Tuple

#: The two coordinates, 32 bytes each.
PUBLIC_KEY_BYTES = 64

_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
#: The order of the base point.
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)

#: Jacobian coordinates (X, Y, Z): x = X/Z², y = Y/Z³. Z = 0 is the neutral element.
_Point = Tuple[int, int, int]
_NEUTRAL: _Point = (1, 1, 0)


def verify(*, message: bytes, signature: bytes, public_key: bytes) -> bool:
    """Whether the signature, in DER, is the key's for the message. Never raises for bytes of any length. About 10 ms.

    Takes an ``s`` above half the order too, as passkeys make every second time.
    """
    scalars = read_der(signature)
    key = _decode(public_key)
    if scalars is None or key is None:
        return False
    r, s = scalars
    w = pow(s, -1, _N)
    e = int.from_bytes(hashlib.sha256(message).digest(), "big")
    x, _, z = _sum_of_multiples(e * w % _N, _G, r * w % _N, key)
    if z == 0:
        return False
    return x * pow(z, -2, _P) % _P % _N == r


def is_point(public_key: bytes) -> bool:
    """Whether 64 bytes are the coordinates of a point of the curve."""
    return _decode(public_key) is not None


def read_der(signature: bytes) -> Optional[Tuple[int, int]]:
    """r and s of an ECDSA-Sig-Value (RFC 3279 §2.2.3), each from 1 to the order less one.

    None for any other encoding than the one of X.690 §10, such as one with a needless zero.
    """
    if len(signature) < 2 or signature[0] != 0x30 or signature[1] != len(signature) - 2 or signature[1] > 0x7F:
        return None
    r, rest = _read_integer(signature[2:])
    s, rest = _read_integer(rest)
    if r is None or s is None or rest or not (0 < r < _N and 0 < s < _N):
        return None
    return r, s


def _read_integer(der: bytes) -> Tuple[Optional[int], bytes]:
    """The first INTEGER, where it is positive and in its shortest form, and what stands behind it."""
    if len(der) < 3 or der[0] != 0x02 or not 0 < der[1] <= len(der) - 2:
        return None, b""
    value, rest = der[2 : 2 + der[1]], der[2 + der[1] :]
    is_negative = value[0] > 0x7F
    is_padded = len(value) > 1 and value[0] == 0 and value[1] < 0x80
    return (None, b"") if is_negative or is_padded else (int.from_bytes(value, "big"), rest)


def _decode(public_key: bytes) -> Optional[Tuple[int, int]]:
    if len(public_key) != PUBLIC_KEY_BYTES:
        return None
    x, y = int.from_bytes(public_key[:32], "big"), int.from_bytes(public_key[32:], "big")
    if x >= _P or y >= _P or (y * y - (x * x - 3) * x - _B) % _P != 0:
        return None
    return x, y


def _sum_of_multiples(a: int, p: Tuple[int, int], b: int, q: Tuple[int, int]) -> _Point:
    """a·p + b·q, both at once (Shamir's trick)."""
    both = _add((*p, 1), (*q, 1))
    table = {(1, 0): (*p, 1), (0, 1): (*q, 1), (1, 1): both}
    result = _NEUTRAL
    for bit in range(255, -1, -1):
        result = _double(result)
        digits = (a >> bit & 1, b >> bit & 1)
        if digits != (0, 0):
            result = _add(result, table[digits])
    return result


def _double(point: _Point) -> _Point:
    x, y, z = point
    if z == 0:
        return point
    delta, gamma = z * z % _P, y * y % _P
    beta = x * gamma % _P
    alpha = 3 * (x - delta) * (x + delta) % _P
    x3 = (alpha * alpha - 8 * beta) % _P
    z3 = ((y + z) * (y + z) - gamma - delta) % _P
    return x3, (alpha * (4 * beta - x3) - 8 * gamma * gamma) % _P, z3


def _add(one: _Point, other: _Point) -> _Point:
    (x1, y1, z1), (x2, y2, z2) = one, other
    if z1 == 0:
        return other
    if z2 == 0:
        return one
    zz1, zz2 = z1 * z1 % _P, z2 * z2 % _P
    u1, u2 = x1 * zz2 % _P, x2 * zz1 % _P
    s1, s2 = y1 * z2 * zz2 % _P, y2 * z1 * zz1 % _P
    if u1 == u2:
        return _double(one) if s1 == s2 else _NEUTRAL
    h, r = u2 - u1, s2 - s1
    hh = h * h % _P
    hhh, v = h * hh % _P, u1 * hh % _P
    x3 = (r * r - hhh - 2 * v) % _P
    return x3, (r * (v - x3) - s1 * hhh) % _P, h * z1 * z2 % _P
