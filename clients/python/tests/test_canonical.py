"""Canonical JSON against RFC 8785's own numbers and vectors, and what is refused."""

from __future__ import annotations

import struct
import unittest
from pathlib import Path

from countersign import NotCanonical, canonicalize, parse

VECTORS = Path(__file__).resolve().parents[4] / "shared" / "vectors" / "jcs"

# RFC 8785 appendix B: the bits of a double and its text.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


class Canonical(unittest.TestCase):
    def test_numbers_have_the_text_of_ecmascript(self) -> None:
        for bits, text in NUMBERS.items():
            with self.subTest(text=text):
                (value,) = struct.unpack(">d", bytes.fromhex(bits))
                self.assertEqual(canonicalize(value), text.encode())

    def test_integers_and_doubles_of_one_value_are_one_text(self) -> None:
        self.assertEqual(canonicalize([1, 1.0, 100.0, -7, True, False, None]), b"[1,1,100,-7,true,false,null]")
        self.assertEqual(canonicalize(parse("[1E2, 10000000000000000000000, 9007199254740993, -0]")), b"[100,1e+22,9007199254740992,0]")

    def test_members_are_in_the_order_of_utf16(self) -> None:
        self.assertEqual(canonicalize({"\ufb01": 1, "\U0001f600": 2, "a": 3}), '{"a":3,"\U0001f600":2,"\ufb01":1}'.encode())

    def test_strings_are_escaped_where_they_must_be_only(self) -> None:
        self.assertEqual(canonicalize('\b\f\n\r\t\x01"\\/\x7f\u2028é'), '"\\b\\f\\n\\r\\t\\u0001\\"\\\\/\x7f\u2028é"'.encode())

    def test_what_has_no_canonical_form_is_refused(self) -> None:
        for value in (float("nan"), float("inf"), 2**53, -(2**53), "\ud800", {"\udc00": 1}, {"__proto__": 1}, {1: 2}, b"", {1}):
            with self.subTest(value=repr(value)), self.assertRaises(NotCanonical):
                canonicalize(value)

    def test_what_has_more_than_one_reading_is_refused(self) -> None:
        deep = b"[" * 100_000
        for text in (
            b'{"a":1,"a":1}', b'{"a":{"b":1,"\\u0062":2}}', b'{"__proto__":1}', b'"\\ud800"', b'{"\\udc00":1}', b"NaN",
            b"-Infinity", b"1e999", b"\xff", b"\xef\xbb\xbf1", b"01", b"[1,]", b'"\n"', b"", b"1 2", deep,
        ):  # fmt: skip
            with self.subTest(text=text[:20]), self.assertRaises(NotCanonical):
                parse(text)

    def test_a_number_that_would_be_read_as_zero_is_refused(self) -> None:
        self.assertEqual(parse("[5e-324, 0, -0, 0e5, 0.000e-999]"), [5e-324, 0, 0, 0, 0])
        for text in ("1e-400", "[-1E-400]", "1.5e-330", "0." + "0" * 340 + "1"):
            with self.subTest(text=text[:10]), self.assertRaises(NotCanonical):
                parse(text)

    @unittest.skipUnless(VECTORS.exists(), "the folder of public vectors is not beside the project")
    def test_the_published_vectors(self) -> None:
        files = sorted((VECTORS / "input").iterdir())
        self.assertGreater(len(files), 0)
        for file in files:
            with self.subTest(file=file.name):
                expected = bytes.fromhex((VECTORS / "outhex" / f"{file.stem}.txt").read_text())
                self.assertEqual(canonicalize(parse(file.read_bytes())), expected)


if __name__ == "__main__":
    unittest.main()
