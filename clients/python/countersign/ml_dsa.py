"""ML-DSA verification (FIPS 204 Algorithm 3, pure), verify only, in plain integers; names and numbers are the standard's."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import List, NamedTuple, Optional, Tuple

_Q = 8380417
_D = 13
_N = 256
_T1_BYTES = 32 * 10

_Poly = List[int]

#: Appendix B: zeta^BitRev8(i) mod q, zeta = 1753.
_ZETAS = [pow(1753, int(f"{i:08b}"[::-1], 2), _Q) for i in range(_N)]
#: For each layer of the transform, the factors of its 128 pairs.
_LAYERS = [[_ZETAS[(1 << layer) + pair % (1 << layer)] for pair in range(_N // 2)] for layer in range(8)]
_INVERSE_LAYERS = [[pow(zeta, -1, _Q) for zeta in zetas] for zetas in reversed(_LAYERS)]
_N_INVERSE = pow(_N, _Q - 2, _Q)


class MlDsa:
    """Verification by one parameter set of FIPS 204 §4, Table 1, whose columns are the arguments."""

    def __init__(
        self, *, tau: int, challenge_bytes: int, gamma1: int, gamma2: int, k: int, l: int, eta: int, omega: int
    ) -> None:
        self._tau = tau
        self._challenge_bytes = challenge_bytes
        self._gamma1 = gamma1
        self._gamma2 = gamma2
        self._k = k
        self._l = l
        self._beta = tau * eta
        self._omega = omega
        self._z_bits = gamma1.bit_length()
        self._w1_bits = ((_Q - 1) // (2 * gamma2) - 1).bit_length()
        self.public_key_bytes = 32 + k * _T1_BYTES
        self.signature_bytes = challenge_bytes + l * 32 * self._z_bits + omega + k

    def verify(self, *, message: bytes, signature: bytes, public_key: bytes, context: bytes = b"") -> bool:
        """Whether the signature is the key's for the message. Never raises for bytes of any length. About 4 ms with ML-DSA-65, and
        10 ms more for the first signature of a key; less with ML-DSA-44."""
        if len(public_key) != self.public_key_bytes or len(signature) != self.signature_bytes or len(context) > 255:
            return False
        decoded = self._decode_signature(signature)
        if decoded is None:
            return False
        challenge, z, hints = decoded
        z_max = self._gamma1 - self._beta
        if any(abs(coefficient) >= z_max for poly in z for coefficient in poly):
            return False
        key = _expand(public_key, self._k, self._l)
        mu = hashlib.shake_256(key.tr + bytes([0, len(context)]) + context + message).digest(64)
        w1 = self._commitment(key=key, z=z, c=_sample_in_ball(challenge, self._tau), hints=hints)
        return hashlib.shake_256(mu + w1).digest(self._challenge_bytes) == challenge

    def _commitment(self, *, key: _ExpandedKey, z: List[_Poly], c: _Poly, hints: List[_Poly]) -> bytes:
        """w1Encode(UseHint(h, A*z - c*t1*2^d)), lines 8 to 10 of Algorithm 8."""
        z_ntt = [_ntt(poly) for poly in z]
        c_ntt = _ntt(c)
        encoded = b""
        for row, t1, hint in zip(key.a, key.t1, hints):
            total = [-a * b for a, b in zip(c_ntt, t1)]
            for entry, poly in zip(row, z_ntt):
                total = [sum_ + a * b for sum_, a, b in zip(total, entry, poly)]
            w = _ntt_inverse([coefficient % _Q for coefficient in total])
            encoded += _pack(_use_hints(hint, w, self._gamma2), self._w1_bits)
        return encoded

    def _decode_signature(self, signature: bytes) -> Optional[Tuple[bytes, List[_Poly], List[_Poly]]]:
        """Algorithm 27; None where the hint is not in its one encoding."""
        challenge = signature[: self._challenge_bytes]
        z_bytes = 32 * self._z_bits
        z_end = self._challenge_bytes + self._l * z_bytes
        z = [
            [self._gamma1 - value for value in _unpack(signature[at : at + z_bytes], self._z_bits)]
            for at in range(self._challenge_bytes, z_end, z_bytes)
        ]
        hints = self._unpack_hints(signature[z_end:])
        return None if hints is None else (challenge, z, hints)

    def _unpack_hints(self, packed: bytes) -> Optional[List[_Poly]]:
        """Algorithm 21: positions rise within a polynomial, counts never fall, and what is left is zero."""
        hints = []
        index = 0
        for i in range(self._k):
            end = packed[self._omega + i]
            if end < index or end > self._omega:
                return None
            poly = [0] * _N
            for at in range(index, end):
                if at > index and packed[at - 1] >= packed[at]:
                    return None
                poly[packed[at]] = 1
            hints.append(poly)
            index = end
        return None if any(packed[index : self._omega]) else hints


class _ExpandedKey(NamedTuple):
    """The part of a verification that depends on the public key alone."""

    tr: bytes
    #: The matrix A, transformed, by rows.
    a: List[List[_Poly]]
    #: t1*2^d, transformed.
    t1: List[_Poly]


@lru_cache(maxsize=16)
def _expand(public_key: bytes, k: int, l: int) -> _ExpandedKey:
    """Kept, because a key is used again: this takes most of the time of a verification."""
    rho, t1 = _decode_public_key(public_key)
    return _ExpandedKey(
        tr=hashlib.shake_256(public_key).digest(64),
        a=[[_reject_ntt(rho, i, j) for j in range(l)] for i in range(k)],
        t1=[_ntt([coefficient << _D for coefficient in poly]) for poly in t1],
    )


def _decode_public_key(public_key: bytes) -> Tuple[bytes, List[_Poly]]:
    """Algorithm 23."""
    rho, packed = public_key[:32], public_key[32:]
    return rho, [_unpack(packed[i : i + _T1_BYTES], 10) for i in range(0, len(packed), _T1_BYTES)]


def _sample_in_ball(seed: bytes, tau: int) -> _Poly:
    """Algorithm 29: tau coefficients that are 1 or -1."""
    # A byte is refused with probability below 1/5 (i >= 207): 1016 bytes are always enough for 49, or something is badly wrong.
    stream = hashlib.shake_256(seed).digest(8 + 1016)
    signs = int.from_bytes(stream[:8], "little")
    at = 8
    c = [0] * _N
    for i in range(_N - tau, _N):
        while stream[at] > i:
            at += 1
        j = stream[at]
        at += 1
        c[i] = c[j]
        c[j] = 1 - 2 * (signs & 1)
        signs >>= 1
    return c


def _reject_ntt(rho: bytes, row: int, column: int) -> _Poly:
    """Algorithm 30: one entry of the matrix A, already transformed."""
    shake = hashlib.shake_128(rho + bytes([column, row]))
    length = 5 * 168  # 280 candidates, of which one in a thousand is refused
    while True:
        stream = shake.digest(length)
        found = []
        for at in range(0, length, 3):
            value = stream[at] | stream[at + 1] << 8 | (stream[at + 2] & 0x7F) << 16
            if value < _Q:
                found.append(value)
        if len(found) >= _N:
            return found[:_N]
        length += 168


def _use_hints(hints: _Poly, w: _Poly, gamma2: int) -> _Poly:
    """Algorithm 40 for each coefficient, with Decompose (Algorithm 36) inside it."""
    step = 2 * gamma2
    count = (_Q - 1) // step
    high = []
    for hint, r in zip(hints, w):
        r1, r0 = divmod(r, step)
        if r0 > gamma2:
            r1, r0 = r1 + 1, r0 - step
        # The last step is the one around zero, moved down by one.
        if r1 == count:
            r1, r0 = 0, r0 - 1
        high.append((r1 + (1 if r0 > 0 else -1)) % count if hint else r1)
    return high


def _ntt(poly: _Poly) -> _Poly:
    """Algorithm 41. Each layer pairs the first half with the second and leaves the results side by side, so that the next layer does
    the same: after eight layers the order is the standard's."""
    w = poly
    half = _N // 2
    for zetas in _LAYERS:
        first = w[:half]
        second = [zeta * b % _Q for zeta, b in zip(zetas, w[half:])]
        w = [0] * _N
        w[0::2] = [a + b for a, b in zip(first, second)]
        w[1::2] = [a - b for a, b in zip(first, second)]
    return [coefficient % _Q for coefficient in w]


def _ntt_inverse(poly: _Poly) -> _Poly:
    """Algorithm 42: the layers of ``_ntt`` undone, the last one first."""
    w = poly
    for zetas in _INVERSE_LAYERS:
        first, second = w[0::2], w[1::2]
        w = [a + b for a, b in zip(first, second)]
        w += [zeta * (a - b) % _Q for zeta, a, b in zip(zetas, first, second)]
    return [coefficient * _N_INVERSE % _Q for coefficient in w]


def _unpack(packed: bytes, bits: int) -> _Poly:
    """Algorithm 18 (SimpleBitUnpack): little-endian fields of so many bits."""
    whole = int.from_bytes(packed, "little")
    mask = (1 << bits) - 1
    return [whole >> shift & mask for shift in range(0, bits * _N, bits)]


def _pack(poly: _Poly, bits: int) -> bytes:
    """Algorithm 16 (SimpleBitPack)."""
    whole = 0
    for i, coefficient in enumerate(poly):
        whole |= coefficient << (bits * i)
    return whole.to_bytes(32 * bits, "little")


ML_DSA_44 = MlDsa(tau=39, challenge_bytes=32, gamma1=1 << 17, gamma2=(_Q - 1) // 88, k=4, l=4, eta=2, omega=80)
ML_DSA_65 = MlDsa(tau=49, challenge_bytes=48, gamma1=1 << 19, gamma2=(_Q - 1) // 32, k=6, l=5, eta=4, omega=55)
