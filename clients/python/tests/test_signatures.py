"""Every case of Project Wycheproof for the two algorithms, read in place."""

from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any

from countersign import ed25519
from countersign.ml_dsa import ML_DSA_65

VECTORS = Path(__file__).resolve().parents[3] / "test" / "vectors" / "wycheproof"


@unittest.skipUnless(VECTORS.exists(), "the vectors of the repository are not here")
class Wycheproof(unittest.TestCase):
    def run_all(self, name: str, algorithm: Any) -> None:
        valid = invalid = 0
        for group in json.loads((VECTORS / name).read_text())["testGroups"]:
            # Hex in the ML-DSA file, a structure in the Ed25519 one.
            key = group["publicKey"] if isinstance(group["publicKey"], str) else group["publicKey"]["pk"]
            for case in group["tests"]:
                context = {"context": bytes.fromhex(case["ctx"])} if "ctx" in case else {}
                with self.subTest(case["comment"], id=case["tcId"]):
                    holds = algorithm.verify(
                        message=bytes.fromhex(case["msg"]),
                        signature=bytes.fromhex(case["sig"]),
                        public_key=bytes.fromhex(key),
                        **context,
                    )
                    self.assertEqual(holds, case["result"] == "valid")
                valid, invalid = valid + (case["result"] == "valid"), invalid + (case["result"] == "invalid")
        self.assertGreater(valid, 0)
        self.assertGreater(invalid, 0)

    def test_ed25519(self) -> None:
        self.run_all("ed25519_test.json", ed25519)

    def test_ml_dsa_65(self) -> None:
        self.run_all("mldsa_65_verify_test.json", ML_DSA_65)


class Ed25519(unittest.TestCase):
    # RFC 8032 §7.1, test 2.
    KEY = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
    SIGNATURE = bytes.fromhex(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )

    def test_the_known_answer_holds_and_none_with_a_bit_changed(self) -> None:
        self.assertTrue(ed25519.verify(message=b"\x72", signature=self.SIGNATURE, public_key=self.KEY))
        for bit in range(0, 512, 37):
            changed = (int.from_bytes(self.SIGNATURE, "little") ^ 1 << bit).to_bytes(64, "little")
            self.assertFalse(ed25519.verify(message=b"\x72", signature=changed, public_key=self.KEY))

    def test_a_key_of_small_order_verifies_nothing(self) -> None:
        # With the neutral point as key and R, and S = 0, the equation holds for every message.
        neutral = bytes([1]) + bytes(31)
        self.assertFalse(ed25519.verify(message=b"any", signature=neutral + bytes(32), public_key=neutral))

    def test_other_lengths_are_false(self) -> None:
        self.assertFalse(ed25519.verify(message=b"\x72", signature=self.SIGNATURE + b"\0", public_key=self.KEY))
        self.assertFalse(ed25519.verify(message=b"\x72", signature=self.SIGNATURE, public_key=self.KEY[:-1]))


if __name__ == "__main__":
    unittest.main()
