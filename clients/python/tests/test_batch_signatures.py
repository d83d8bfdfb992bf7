"""Signatures by batch: valid ones in every place, and every change of one."""

from __future__ import annotations

import base64
import copy
import json
import unittest
from typing import Any, Callable, Dict, List, Tuple

from batches import CAN_SIGN, ORIGIN, Signer, digest, resign, signed_part, text
from countersign import check_evidence, verify_text
from countersign.canonical import canonicalize

Members = Dict[str, Any]


REMOVED = object()


def changed(value: Members, path: str, to: Any) -> Members:
    """A copy with one member changed by a function, or replaced; ``REMOVED`` removes it."""
    copied = copy.deepcopy(value)
    *way, last = (int(name) if name.isdigit() else name for name in path.split("."))
    holder: Any = copied
    for name in way:
        holder = holder[name]
    if to is REMOVED:
        del holder[last]
    else:
        holder[last] = to(holder[last]) if callable(to) else to
    return copied


def flipped(value: str) -> str:
    data = base64.b64decode(value)
    return text(bytes([data[0] ^ 1]) + data[1:])


#: The change to the ``batch`` of the second of three artifacts, and the problem that the check states; "" where only the signature can tell.
BATCH_CHANGES: List[Tuple[str, str, Any, str]] = [
    ("null", "", None, "the origin of the batch is not a name, /batch/ and a UUID"),
    ("a list", "", [], "the origin of the batch is not a name, /batch/ and a UUID"),
    ("no origin", "origin", REMOVED, "the origin of the batch is not a name, /batch/ and a UUID"),
    ("another batch", "origin", ORIGIN[:-1] + "0", ""),
    ("another service", "origin", f"x{ORIGIN}", ""),
    ("no batch in the origin", "origin", "countersign", "the origin of the batch is not a name, /batch/ and a UUID"),
    ("no name in the origin", "origin", ORIGIN[len("countersign") :], "the origin of the batch is not a name, /batch/ and a UUID"),
    ("a name of 200 characters", "origin", "x" * 189 + ORIGIN, ""),
    ("a name of 201 characters", "origin", "x" * 190 + ORIGIN, "the origin of the batch is not a name, /batch/ and a UUID"),
    ("a space", "origin", f"DSSEv1 {ORIGIN}", "the origin of the batch is not a name, /batch/ and a UUID"),
    ("a line before it", "origin", f"x\n{ORIGIN}", "the origin of the batch is not a name, /batch/ and a UUID"),
    ("a line after it", "origin", f"{ORIGIN}\n", "the origin of the batch is not a name, /batch/ and a UUID"),
    ("a letter that is not ASCII", "origin", f"\u00e9{ORIGIN}", "the origin of the batch is not a name, /batch/ and a UUID"),
    ("a control character", "origin", f"\x1f{ORIGIN}", "the origin of the batch is not a name, /batch/ and a UUID"),
    ("a plus sign", "origin", f"a+{ORIGIN}", "the origin of the batch is not a name, /batch/ and a UUID"),
    ("capital letters in the uuid", "origin", "countersign/batch/" + ORIGIN[18:].upper(), "the origin of the batch is not a name, /batch/ and a UUID"),
    # The second of four leaves has a path of the same length and sides: only the size in the signed head tells them apart.
    ("another size", "size", 4, ""),
    ("half a size", "size", 3.5, "the size of the batch is not an integer of 2 or more"),
    ("a size of one", "size", 1, "the size of the batch is not an integer of 2 or more"),
    ("a size as text", "size", "3", "the size of the batch is not an integer of 2 or more"),
    ("a size of true", "size", True, "the size of the batch is not an integer of 2 or more"),
    ("a size beyond 2^53", "size", 2.0**53, "the size of the batch is not an integer of 2 or more"),
    ("the greatest size", "size", 2**53 - 1, "the path is too short for the index and the size"),
    ("no size", "size", REMOVED, "the size of the batch is not an integer of 2 or more"),
    ("its neighbour's index", "index", 0, ""),
    ("the last index", "index", 2, "the path is too long for the index and the size"),
    ("an index of the size", "index", 3, "the index 3 is not below the size 3"),
    ("a negative index", "index", -1, "the index in the batch is not an integer of 0 or more"),
    ("half an index", "index", 0.5, "the index in the batch is not an integer of 0 or more"),
    ("an index of null", "index", None, "the index in the batch is not an integer of 0 or more"),
    ("an index of true", "index", True, "the index in the batch is not an integer of 0 or more"),
    ("no path", "path", REMOVED, "the path of the batch is not a list of hashes"),
    ("a path as text", "path", "", "the path of the batch is not a list of hashes"),
    ("a number in the path", "path.0", 7, "the path of the batch is not a list of hashes"),
    ("an empty path", "path", [], "the path is too short for the index and the size"),
    ("a shorter path", "path", lambda path: path[:1], "the path is too short for the index and the size"),
    ("a longer path", "path", lambda path: [*path, path[0]], "the path is too long for the index and the size"),
    ("a path in another order", "path", lambda path: path[::-1], ""),
    ("a bit of the path", "path.0", flipped, ""),
    ("a hash without padding", "path.0", lambda one: one.rstrip("="), "a hash in the path of the batch is not 32 bytes of base64"),
    ("a hash of 31 bytes", "path.1", text(bytes(31)), "a hash in the path of the batch is not 32 bytes of base64"),
    ("an empty hash", "path.1", "", "a hash in the path of the batch is not 32 bytes of base64"),
    ("unused bits", "path.0", lambda one: one[:-2] + "B=", "a hash in the path of the batch is not 32 bytes of base64"),
    ("a further member", "root", "", "the batch has an unknown member"),
]


@unittest.skipUnless(CAN_SIGN, "what signs for these tests is not here: the repository and Node")
class BatchSignatures(unittest.TestCase):
    signer: Signer

    @classmethod
    def setUpClass(cls) -> None:
        cls.signer = Signer()
        cls.keys = cls.signer.keys()
        cls.single = cls.signer.record()
        cls.hybrid = cls.signer.record(["ed25519", "ml-dsa-65"])

    @classmethod
    def tearDownClass(cls) -> None:
        cls.signer.close()

    def problems(self, evidence: Members, *without: str) -> Dict[str, str]:
        """Returns the problem of each check that does not hold, by the name of the check."""
        keys = {key_id: key for key_id, key in self.keys.items() if key_id not in without}
        return {check.name: check.problem for check in check_evidence(evidence, keys)[1] if check.problem is not None}

    def assertRefused(self, evidence: Members, check: str, why: str, *without: str) -> None:
        said = self.problems(evidence, *without)[check]
        self.assertTrue(said.endswith(f" ({why})") if why else said.endswith(" is not valid"), said)

    def resigned(self, signature: Members) -> Members:
        """The record of one algorithm with another signature: its hash does not cover that."""
        return {**self.single, "signature": {**signature, "signedAt": self.single["createdAt"]}}

    def test_every_place_in_batches_of_every_size_to_17_holds(self) -> None:
        signed = signed_part(self.single)
        for size in range(2, 18):
            for index in range(size):
                record = self.resigned(self.signer.by_batch("trust-record", signed, "ed25519", size=size, index=index))
                with self.subTest(size=size, index=index):
                    self.assertEqual(self.problems(record), {})

    def test_records_of_one_and_of_two_algorithms_hold_with_nothing_unsigned(self) -> None:
        for required in ([], ["ed25519", "ml-dsa-65"], ["ml-dsa-65", "ed25519"]):
            record = self.signer.record(required, size=5, index=4)
            with self.subTest(required=required):
                (report,) = verify_text(json.dumps(record), self.keys)
                self.assertEqual([check.problem for check in report.checks if check.problem], [])
                self.assertEqual((report.verdict, report.notes), ("valid", ()))

    def test_a_notation_of_the_same_number_holds(self) -> None:
        for index in ("1.0", "1e0", "0.1E1"):
            written = json.dumps(self.single).replace('"index": 1,', f'"index": {index},')
            self.assertNotIn('"index": 1,', written)
            # The authorization is part of the hash, and its canonical form is the same.
            self.assertEqual(verify_text(written, self.keys)[0].verdict, "valid")

    def test_every_change_of_a_batch_is_refused_with_the_key_and_without(self) -> None:
        for title, member, to, why in BATCH_CHANGES:
            with self.subTest(title):
                record = changed(self.single, f"signature.batch.{member}".rstrip("."), to)
                self.assertRefused(record, "record signature", why)
                if why:
                    self.assertRefused(record, "record signature", why, "ed25519")
                else:
                    self.assertIn('key "ed25519" is not given', self.problems(record, "ed25519")["record signature"])

    def test_a_change_of_what_is_signed_is_refused(self) -> None:
        record = changed(self.single, "createdAt", "2026-11-21T01:00:00.019Z")
        self.assertRefused(record, "record signature", "")
        record = changed(self.single, "authorization.payload.callerId", "agent-8")
        self.assertRefused(record, "authorization signature", "")

    def test_the_value_is_one_canonical_text_of_exactly_its_length(self) -> None:
        for title, to, why in (
            ("a bit", flipped, ""),
            ("a byte more", lambda value: text(base64.b64decode(value) + b"\0"), "the signature has 65 bytes; one of ed25519 has 64"),
            ("a byte less", lambda value: text(base64.b64decode(value)[:-1]), "the signature has 63 bytes; one of ed25519 has 64"),
            ("no padding", lambda value: value.rstrip("="), "the signature is not canonical base64"),
        ):
            with self.subTest(title):
                record = changed(self.single, "signature.value", to)
                self.assertRefused(record, "record signature", why)
        record = changed(self.hybrid, "signatures.1.value", lambda value: text(base64.b64decode(value)[:64]))
        self.assertRefused(record, "record signature", "the signature has 64 bytes; one of ml-dsa-65 has 3309")

    def test_a_name_and_a_batch_go_together(self) -> None:
        signed = signed_part(self.single)
        alone, by_batch = self.signer.alone("trust-record", signed, "ed25519"), self.single["signature"]
        for signature, why in (
            ({**alone, "batch": by_batch["batch"]}, "a signature of 'ed25519' stands in no batch"),
            ({**alone, "batch": None}, "the origin of the batch is not a name, /batch/ and a UUID"),
            ({**alone, "algorithm": "ed25519-batch"}, "a signature of 'ed25519-batch' has no batch"),
            ({**by_batch, "algorithm": "ed25519"}, "a signature of 'ed25519' stands in no batch"),
            ({**by_batch, "algorithm": "ed25519-batch-batch"}, "the algorithm 'ed25519-batch-batch' is not known"),
            ({**by_batch, "algorithm": "rsa-batch"}, "the algorithm 'rsa-batch' is not known"),
            ({**by_batch, "algorithm": "-batch"}, "the algorithm '-batch' is not known"),
            ({**by_batch, "keyId": "ml-dsa-65"}, "key 'ml-dsa-65' is not an ed25519 key"),
            ({**by_batch, "keyId": "dana:laptop"}, "key 'dana:laptop' is of no kind that signs as trust-record"),
        ):
            with self.subTest(why):
                self.assertRefused(self.resigned(signature), "record signature", why)

    def test_a_leaf_is_no_node_and_the_head_no_other_text(self) -> None:
        batch, value = self.single["signature"]["batch"], self.single["signature"]["value"]
        # A signature of the head does not sign the artifact itself, nor the artifact's the head.
        self.assertRefused(
            self.resigned({"algorithm": "ed25519", "keyId": "ed25519", "value": value}), "record signature", ""
        )
        alone = self.signer.alone("trust-record", signed_part(self.single), "ed25519")
        self.assertRefused(
            self.resigned({**alone, "algorithm": "ed25519-batch", "batch": batch}), "record signature", ""
        )
        # The same head without its last newline.
        root = self._root_of(batch)
        head = f"{batch['origin']}\n{batch['size']}\n{text(root)}".encode("utf-8")
        for signed, why in ((head, ""), (head + b"\n", None)):
            signature = {**self.single["signature"], "value": self.signer.sign("ed25519", signed)}
            record = self.resigned(signature)
            if why is None:
                self.assertEqual(self.problems(record), {})
            else:
                self.assertRefused(record, "record signature", why)

    def _root_of(self, batch: Members) -> bytes:
        canonical = canonicalize(signed_part(self.single))
        kind = b"application/vnd.countersign.trust-record.v1+json"
        left, right = (base64.b64decode(one) for one in batch["path"])
        leaf = digest(b"\0", b"DSSEv1 %d %s %d " % (len(kind), kind, len(canonical)), canonical)
        return digest(b"\1", digest(b"\1", left, leaf), right)

    def test_signatures_are_of_the_families_that_are_required(self) -> None:
        first, second = self.hybrid["signatures"]
        lists: List[Tuple[str, List[Any]]] = [
            ("the second is stripped", [first]),
            ("the first is stripped", [second]),
            ("the weaker twice", [first, first]),
            ("the stronger twice", [second, second]),
            ("in another order", [second, first]),
            ("one more", [first, second, first]),
        ]
        for title, signatures in lists:
            with self.subTest(title):
                self.assertRefused({**self.hybrid, "signatures": signatures}, "record signature", "a required signature is missing")
        alone = self.signer.alone("trust-record", signed_part(self.hybrid), "ml-dsa-65")
        self.assertEqual(self.problems({**self.hybrid, "signatures": [first, alone]}), {})
        required = ["ed25519-batch", "ml-dsa-65-batch"]
        record = {**copy.deepcopy(self.hybrid), "requiredAlgorithms": required}
        resign(record, [self.signer.by_batch("trust-record", signed_part(record), one) for one in self.hybrid["requiredAlgorithms"]])
        self.assertRefused(record, "record signature", "a required signature is missing")
        self.assertRefused(
            changed(self.hybrid, "signatures.1.batch.path.0", flipped), "record signature", ""
        )

    def test_signature_is_the_first_of_signatures_in_every_member(self) -> None:
        why = "signature is not the first of signatures"
        alone = self.signer.alone("trust-record", signed_part(self.hybrid), "ed25519")
        for title, signature in (
            ("signed by itself", alone),
            ("another key", {**self.hybrid["signature"], "keyId": "other"}),
            ("another value", changed(self.hybrid["signature"], "value", flipped)),
            ("another index", changed(self.hybrid["signature"], "batch.index", 0)),
            ("another size", changed(self.hybrid["signature"], "batch.size", 4)),
            ("another path", changed(self.hybrid["signature"], "batch.path.0", flipped)),
            ("another origin", changed(self.hybrid["signature"], "batch.origin", f"x{ORIGIN}")),
            ("no batch", changed(self.hybrid["signature"], "batch", REMOVED)),
            ("the second", self.hybrid["signatures"][1]),
        ):
            with self.subTest(title):
                self.assertRefused({**self.hybrid, "signature": signature}, "record signature", why)
        for to, path, why in (
            (True, "signature.batch.index", "the index in the batch is not an integer of 0 or more"),
            (None, "signature.batch", "the origin of the batch is not a name, /batch/ and a UUID"),
        ):
            self.assertRefused(changed(self.hybrid, path, to), "record signature", why)
        # Beside a first signature that is by no batch.
        record = {**self.hybrid, "signature": alone, "signatures": [alone, self.hybrid["signatures"][1]]}
        self.assertEqual(self.problems(record), {})
        record["signature"] = {**alone, "batch": None}
        self.assertRefused(record, "record signature", "the origin of the batch is not a name, /batch/ and a UUID")

    def test_an_authorization_is_signed_by_batch_of_ed25519_alone(self) -> None:
        def re_authorized(authorization: Members) -> Members:
            record = {**copy.deepcopy(self.single), "authorization": authorization}
            resign(record, [self.signer.by_batch("trust-record", signed_part(record), "ed25519")])
            return record

        authorization = self.single["authorization"]
        payload = authorization["payload"]
        alone = self.signer.alone("execution-authorization", payload, "ed25519")
        alone["signature"] = alone.pop("value")
        self.assertNotIn("authorization signature", self.problems(re_authorized({"payload": payload, **alone})))
        by_ml_dsa = self.signer.by_batch("execution-authorization", payload, "ml-dsa-65")
        by_ml_dsa["signature"] = by_ml_dsa.pop("value")
        for changes, why in (
            ({"payload": payload, **by_ml_dsa}, "'ml-dsa-65-batch' does not sign this kind of artifact"),
            ({**authorization, "algorithm": "rsa-batch"}, "the algorithm 'rsa-batch' is not known"),
            ({"payload": payload, **alone, "batch": authorization["batch"]}, "a signature of 'ed25519' stands in no batch"),
            (changed(authorization, "batch", REMOVED), "a signature of 'ed25519-batch' has no batch"),
            (changed(authorization, "batch.size", 1), "the size of the batch is not an integer of 2 or more"),
            (changed(authorization, "batch.path.1", flipped), ""),
        ):
            with self.subTest(why):
                self.assertRefused(re_authorized(changes), "authorization signature", why)

    def test_a_receipt_is_signed_by_batch_of_ml_dsa_65_in_signatures_alone(self) -> None:
        (receipt,) = self.hybrid["receipts"]
        self.assertEqual([one["algorithm"] for one in receipt["signatures"]], ["ed25519", "ml-dsa-65-batch"])
        self.assertEqual(self.problems(receipt), {})
        bare = {name: value for name, value in receipt.items() if name not in ("signature", "signatures")}
        alone = self.signer.alone("receipt", bare, "ml-dsa-65")
        self.assertEqual(self.problems(changed(receipt, "signatures.1", alone)), {})
        self.assertRefused(changed(receipt, "signatures.1.batch.path.0", flipped), "receipt signature", "")
        self.assertRefused(
            changed(receipt, "signatures.1.batch", REMOVED), "receipt signature", "a signature of 'ml-dsa-65-batch' has no batch"
        )

    def test_the_own_signature_of_a_receipt_is_never_by_batch(self) -> None:
        for required in ([], ["ed25519", "ml-dsa-65"], ["ml-dsa-65", "ed25519"]):
            first = (required or ["ed25519"])[0]
            bare = {
                "receiptId": "6985dde4-e4f5-40f1-a868-34ce6e578344",
                "algorithm": f"{first}-batch",
                "keyId": first,
                **({"requiredAlgorithms": required} if required else {}),
            }
            bare["receiptHash"] = digest(canonicalize(bare)).hex()
            signatures = [self.signer.by_batch("receipt", bare, one) for one in required or ["ed25519"]]
            receipt = {**bare, "signature": signatures[0]["value"], **({"signatures": signatures} if required else {})}
            with self.subTest(required=required):
                self.assertEqual(list(self.problems(receipt)), ["receipt signature"])
                if required:
                    without_batch = changed(receipt, "signatures.0.batch", REMOVED)
                    self.assertEqual(list(self.problems(without_batch)), ["receipt signature"])

    def test_nothing_else_is_signed_by_batch(self) -> None:
        event = {"eventId": "6985dde4-e4f5-40f1-a868-34ce6e578344"}
        transition = {"from": "PREPARED", "to": "RELEASED", "by": "service"}
        made: List[Tuple[str, str, Callable[[Members], Members], Any]] = [
            ("audit-event", "event signature", lambda signature: {"event": event, "signature": signature}, event),
            (
                "intent-transition",
                "transition signature",
                lambda signature: {"transition": transition, "signature": signature},
                transition,
            ),
        ]
        refusal = {"refusalRecordId": "6985dde4-e4f5-40f1-a868-34ce6e578344"}
        made.append(("refusal-record", "refusal signature", lambda signature: {**refusal, "signature": signature}, refusal))
        change = {"changeId": "1", "changeHash": ""}
        made.append(("governance-change", "change signature", lambda signature: {**change, "signature": signature}, change))
        for artifact, check, evidence, signed in made:
            with self.subTest(artifact):
                alone = self.signer.alone(artifact, signed, "ed25519")
                by_batch = self.signer.by_batch(artifact, signed, "ed25519")
                self.assertNotIn(check, self.problems(evidence(alone)))
                self.assertIn(check, self.problems(evidence(by_batch)))
                self.assertIn(check, self.problems(evidence({**alone, "batch": by_batch["batch"]})))

    def test_a_key_that_is_not_given_leaves_the_check_open(self) -> None:
        (report,) = verify_text(json.dumps(self.hybrid), {"ed25519": self.keys["ed25519"]})
        self.assertEqual(report.verdict, "unchecked")
        open_checks = [check.name for check in report.checks if check.missing_keys == ("ml-dsa-65",)]
        self.assertEqual(open_checks, ["record signature", "receipts"])

    def test_no_shape_of_a_batch_raises(self) -> None:
        for value in (None, True, 7, "x", [], [[]], {}, {"origin": {}, "size": [], "index": {}, "path": {}}, "\ud800"):
            for path in ("signature.batch", "authorization.batch", "signature.batch.origin", "signature.batch.path.0"):
                self.assertEqual(len(check_evidence(changed(self.single, path, value), self.keys)[1]), 9)
        surrogate = changed(self.single, "signature.batch.origin", f"\ud800{ORIGIN}")
        self.assertRefused(surrogate, "record signature", "the origin of the batch is not a name, /batch/ and a UUID")


if __name__ == "__main__":
    unittest.main()
