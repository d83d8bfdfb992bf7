"""ECDSA on P-256: the signature of RFC 6979 §A.2.5 ("sample", SHA-256), and what must not pass for it."""

import unittest

from countersign import p256

KEY = bytes.fromhex(
    "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
    "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
)
R = 0xEFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716
S = 0xF7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def der(r: int, s: int, zeros: bytes = b"") -> bytes:
    body = b""
    for number in (r, s):
        digits = zeros + number.to_bytes(number.bit_length() // 8 + 1, "big")
        body += bytes([2, len(digits)]) + digits
    return bytes([0x30, len(body)]) + body


def verifies(signature: bytes, message: bytes = b"sample", key: bytes = KEY) -> bool:
    return p256.verify(message=message, signature=signature, public_key=key)


class P256(unittest.TestCase):
    def test_either_s_is_accepted(self) -> None:
        self.assertTrue(verifies(der(R, S)))
        self.assertTrue(verifies(der(R, N - S)))

    def test_another_message_or_any_changed_bit_is_refused(self) -> None:
        self.assertFalse(verifies(der(R, S), b"samplf"))
        signature = der(R, S)
        for place in range(len(signature) * 8):
            changed = bytearray(signature)
            changed[place // 8] ^= 1 << place % 8
            self.assertFalse(verifies(bytes(changed)), place)

    def test_another_encoding_is_refused(self) -> None:
        signature = der(R, S)
        for other in (b"", signature[:-1], signature + b"\0", der(R, S, b"\0"), b"\x30\x81" + signature[1:]):
            self.assertIsNone(p256.read_der(other), other.hex())
            self.assertFalse(verifies(other), other.hex())

    def test_numbers_out_of_range_are_refused(self) -> None:
        for r, s in ((0, S), (R, 0), (0, 0), (N, S), (R, N), (R + N, S), (R, S + N)):
            self.assertIsNone(p256.read_der(der(r, s)), (r, s))

    def test_a_key_that_is_no_point_is_refused(self) -> None:
        for key in (b"", bytes(64), KEY[:-1], KEY + b"\0", KEY[:-1] + bytes([KEY[-1] ^ 1]), b"\xff" * 64):
            self.assertFalse(p256.is_point(key), key.hex())
            self.assertFalse(verifies(der(R, S), key=key), key.hex())


if __name__ == "__main__":
    unittest.main()
