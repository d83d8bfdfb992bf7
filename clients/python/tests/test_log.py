"""Signed notes, checkpoints, proofs and policies of logs: those that others published, and what is refused of them."""

from __future__ import annotations

import re
import unittest
from pathlib import Path
from typing import List, Tuple

from countersign.log import (
    LogError,
    VerifierKey,
    format_vkey,
    open_by_policy,
    open_checkpoint,
    parse_checkpoint,
    parse_note,
    parse_policy,
    parse_proof,
    parse_vkey,
    policy_of_keys,
    verify_proof,
)
from countersign.instant import Unreadable
from countersign.log.checkpoint import signers_of
from countersign.log.note import verified_lines
from logs import Log, NoteSigner

NOTES = Path(__file__).resolve().parents[3] / "test" / "vectors" / "notes"


def published(name: str) -> Tuple[bytes, List[VerifierKey]]:
    vkeys = (NOTES / f"{name}.vkeys").read_text("utf-8").splitlines()
    return (NOTES / f"{name}.note").read_bytes(), [parse_vkey(vkey) for vkey in vkeys]


@unittest.skipUnless(NOTES.exists(), "the vectors of the repository are not here")
class Published(unittest.TestCase):
    def test_notes_hold_and_none_over_another_text(self) -> None:
        for name in ("signed-note", "go", "sum.golang.org"):
            note, keys = published(name)
            found = self.signers(note, keys)
            self.assertEqual(found, [key.name for key in keys])
            with self.assertRaisesRegex(LogError, f"the signature of .* \\(key id {keys[0].key_id}\\) does not hold"):
                self.signers(re.sub(b"[a-z]", b"X", note, count=1), keys)

    def signers(self, note: bytes, keys: List[VerifierKey]) -> List[str]:
        parsed = parse_note(note)
        lines = verified_lines(parsed, keys, lambda _, line: (parsed.text.encode("utf-8"), line.signature))
        return [key.name for key, _ in lines]

    def test_keys_are_read_and_written_as_they_were_published(self) -> None:
        for file in sorted(NOTES.glob("*.vkeys")):
            for vkey in file.read_text("utf-8").splitlines():
                self.assertEqual(format_vkey(parse_vkey(vkey)), vkey)

    def test_a_checkpoint_with_cosignatures_opens_and_not_with_another_size(self) -> None:
        note, (log, *witnesses) = published("arche2025h1")
        opened = open_checkpoint(note, logs=[log], witnesses=witnesses)
        self.assertEqual((opened.origin, opened.size), (log.name, 1_432_088_532))
        self.assertEqual([(one.key, one.time_seconds) for one in opened.cosigned_by], [(key, 1_779_573_024) for key in witnesses])
        other = parse_note(note.replace(b"1432088532", b"1432088533"))
        for key in (log, *witnesses):
            with self.assertRaisesRegex(LogError, f"key id {key.key_id}"):
                signers_of(other, parse_checkpoint(other.text), [key])
        with self.assertRaisesRegex(LogError, f"is not signed by a trusted key of the log '{log.name}'"):
            open_checkpoint(note, logs=witnesses)

    def test_an_ml_dsa_44_cosignature_of_a_public_witness_holds_and_not_of_another_size_or_with_a_bit_changed(self) -> None:
        note, keys = published("coachandhorses2026h1")
        parsed = parse_note(note)
        checkpoint = parse_checkpoint(parsed.text)
        self.assertEqual([one.time_seconds for one in signers_of(parsed, checkpoint, keys)], [1_785_704_691])
        other = parse_note(note.replace(b"185550722", b"185550723"))
        with self.assertRaisesRegex(LogError, "does not hold"):
            signers_of(other, parse_checkpoint(other.text), keys)
        (line,) = [one for one in parsed.lines if one.key_id == keys[0].key_id]
        self.assertEqual(len(line.signature), 8 + 2420)

    def test_four_witnesses_meet_a_quorum_of_four(self) -> None:
        note, (log, *witnesses) = published("arche2025h1")
        lines = "".join(f"witness {i} {format_vkey(key)}\n" for i, key in enumerate(witnesses))
        policy = parse_policy(f"log {format_vkey(log)}\n{lines}group g all 0 1 2 3\nquorum g\n")
        self.assertEqual([one.name for one in open_by_policy(note, policy).cosigned_by], ["0", "1", "2", "3"])
        without = b"".join(line for line in note.splitlines(True) if b"remora.n621.de" not in line)
        with self.assertRaisesRegex(LogError, "the quorum 'g' is not met: the checkpoint is cosigned by '"):
            open_by_policy(without, policy)


class Proofs(unittest.TestCase):
    def setUp(self) -> None:
        self.log = Log()
        self.witness = NoteSigner("witness.example/w1", 2, "ed25519-cosignature")
        self.policy = policy_of_keys([self.log.signer.key])

    def test_every_entry_is_proven_and_no_other_by_its_proof(self) -> None:
        for size in (1, 2, 7, 8):
            entries = self.log.entries(size)
            for index in range(size):
                proof = self.log.proof(index, size)
                proven = verify_proof(entries[index], proof.encode("utf-8"), self.policy)
                self.assertEqual((proven.origin, proven.index, proven.size), (self.log.origin, index, size))
                with self.assertRaisesRegex(LogError, f"the entry is not at index {index} of the log"):
                    verify_proof(b"another", proof, self.policy)

    def test_a_proof_with_any_byte_changed_proves_nothing(self) -> None:
        entry, proof = self.log.entries(6)[4], self.log.proof(4, 6).encode("utf-8")
        verify_proof(entry, proof, self.policy)
        for at in range(len(proof)):
            for changed in (proof[at] ^ 1, proof[at] ^ 0x20, proof[at] ^ 0x80):
                with self.subTest(at=at), self.assertRaises(Unreadable):
                    verify_proof(entry, proof[:at] + bytes([changed]) + proof[at + 1 :], self.policy)
            with self.subTest(without=at), self.assertRaises(Unreadable):
                verify_proof(entry, proof[:at] + proof[at + 1 :], self.policy)

    def test_a_policy_may_ask_for_a_witness(self) -> None:
        policy = parse_policy(f"log {self.log.signer.vkey}\nwitness w1 {self.witness.vkey}\nquorum w1\n")
        entry = self.log.entries(6)[4]
        proven = verify_proof(entry, self.log.proof(4, 6, self.witness), policy)
        self.assertEqual([(one.name, one.time_seconds) for one in proven.cosigned_by], [("w1", 1_795_000_000)])
        with self.assertRaisesRegex(LogError, "the quorum 'w1' is not met: the checkpoint is cosigned by no witness"):
            verify_proof(entry, self.log.proof(4, 6), policy)

    def test_the_extra_line_is_read_and_signed_by_nothing(self) -> None:
        proof = self.log.proof(0, 1).replace("\nindex", "\nextra AAAA\nindex", 1)
        self.assertEqual(parse_proof(proof).extra, bytes(3))
        verify_proof(self.log.entries(1)[0], proof, self.policy)

    def test_a_chain_of_groups_as_long_as_it_may_be_is_followed(self) -> None:
        groups = "".join(f"group g{i} any {'w' if i == 0 else f'g{i - 1}'}\n" for i in range(511))
        policy = parse_policy(f"log {self.log.signer.vkey}\nwitness w {self.witness.vkey}\n{groups}quorum g510\n")
        self.assertEqual(len(open_by_policy(self.log.checkpoint(3, self.witness), policy).cosigned_by), 1)
        with self.assertRaisesRegex(LogError, "the quorum 'g510' is not met"):
            open_by_policy(self.log.checkpoint(3), policy)
        with self.assertRaisesRegex(LogError, "line 514 of the policy: there are too many witnesses and groups"):
            parse_policy(f"log {self.log.signer.vkey}\nwitness w {self.witness.vkey}\n{groups}group g511 any g510\nquorum w\n")

    def test_a_number_of_thousands_of_digits_is_refused(self) -> None:
        checkpoint = self.log.checkpoint(3).replace("\n3\n", f"\n{'9' * 10_000}\n", 1)
        with self.assertRaisesRegex(LogError, "the tree size of the checkpoint is above"):
            open_checkpoint(checkpoint, logs=[self.log.signer.key])


if __name__ == "__main__":
    unittest.main()
