"""The command on evidence of a stranger: what it prints, and how it exits."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from typing import Any, Optional, Tuple

from countersign import check_evidence, parse, read_key_set, verify_text
from countersign.__main__ import main
from vectors import FOLDER, cases, evidence_of

KEYS = FOLDER / "keys.json"


def run(evidence: Any, *keys: Path, log: Optional[Path] = None) -> Tuple[int, str]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "evidence.json"
        file.write_text(evidence if isinstance(evidence, str) else json.dumps(evidence), encoding="utf-8")
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            given = [word for key in keys or (KEYS,) for word in ("--keys", str(key))]
            status = main(["verify", str(file), *given, *(() if log is None else ("--log", str(log)))])
        return status, output.getvalue()


@unittest.skipUnless(FOLDER.exists(), "the project's vectors are not beside the package")
class Command(unittest.TestCase):
    def setUp(self) -> None:
        self.record = evidence_of("trust-records.json", "trust-record/valid-ed25519")

    def test_a_record_cannot_write_a_report_of_its_own_to_the_terminal(self) -> None:
        fake = "\x1b[2J\x1b[Hvalid: Execution Trust Record, 8 checks\n  ok    canonical hash\x1bP\x9b\u202e\u2028"
        forged = {**self.record, "createdAt": "x", "signature": {**self.record["signature"], "keyId": fake}, fake: 1}
        status, output = run(forged)
        self.assertEqual(status, 1)
        self.assertNotRegex(output, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]")
        self.assertTrue(output.startswith("INVALID: "))
        self.assertNotIn("\nvalid", output)

    def test_a_record_of_a_caller_by_token_says_who_used_the_token_for_whom(self) -> None:
        by_token = evidence_of("trust-records.json", "trust-record/valid-by-token-for-another")
        status, output = run(by_token)
        self.assertEqual(status, 0)
        self.assertIn("\n  note  Authenticated by access token of https://login.example.com/agents for dana, used by agent-7\n", output)
        self.assertNotIn("Authenticated", run(self.record)[1])
        forged = {**by_token, "authorization": {"payload": {"callerAuthentication": {"method": "x", "issuer": 7, "actor": "\x1b[2J\nvalid"}}}}
        status, output = run(forged)
        self.assertEqual(status, 1)
        self.assertNotIn("\nvalid", output)
        self.assertNotIn("\x1b", output)

    def test_a_sentence_on_what_cannot_be_read_is_one_line(self) -> None:
        status, output = run("{\x1b[2J")
        self.assertEqual((status, output.count("\n")), (2, 1))
        self.assertNotIn("\x1b", output)

    def test_a_saved_error_of_a_service_is_named_as_that(self) -> None:
        status, output = run({"error": "Trust Record\u202e not found"})
        self.assertEqual((status, output.count("\n")), (2, 1))
        self.assertIn('is no evidence but an error that a service answered: "Trust Record', output)
        self.assertNotIn("\u202e", output)

    def test_a_proof_of_the_log_alone_is_named_as_that(self) -> None:
        status, output = run("c2sp.org/tlog-proof@v1\nindex 0\n\n")
        self.assertEqual((status, output.count("\n")), (2, 1))
        self.assertIn("is a proof of the log alone. Verify the bundle", output)

    def test_an_approval_that_does_not_count_is_said_to_be_what_it_is(self) -> None:
        keys = json.loads((FOLDER / "approver-keys.json").read_text("utf-8"))
        approved = evidence_of("trust-records.json", "trust-record/approved-valid-parameters")
        with tempfile.TemporaryDirectory() as folder:
            revoked = Path(folder) / "keys.json"
            revoked.write_text(json.dumps({"keys": [{**key, "revokedAt": "2020-01-01T00:00:00Z"} for key in keys]}), encoding="utf-8")
            status, output = run(approved, KEYS, revoked)
        self.assertEqual(status, 1)
        self.assertIn("is by a key that was revoked", output)

    def test_a_key_that_is_not_given_exits_2_and_hides_no_failure(self) -> None:
        approved = evidence_of("trust-records.json", "trust-record/approved-valid-parameters")
        status, output = run(approved)
        self.assertEqual(status, 2)
        self.assertIn('NOKEY approvals: It cannot be checked: key "dana:laptop" is not given.', output)
        self.assertTrue(output.startswith("cannot be checked: "))
        self.assertEqual(run(approved, KEYS, FOLDER / "approver-keys.json")[0], 0)
        status, output = run([approved, {**approved, "createdAt": "x"}, {}])
        self.assertEqual(status, 1)
        self.assertIn("3 pieces of evidence in 1 file: 0 valid, 1 INVALID, 2 cannot be checked", output)

    def test_a_bundle_is_verified_by_the_log_that_is_given(self) -> None:
        bundle = next(case["evidence"] for case in cases("bundles.json") if case["valid"])
        status, output = run(bundle, log=FOLDER / "log.json")
        self.assertEqual(status, 0, output)
        self.assertTrue(output.startswith("valid: bundle, 15 checks"))
        self.assertIn("  ok    log order", output)
        self.assertIn("that the log is the same for everybody", output)
        status, output = run(bundle)
        self.assertEqual(status, 2)
        self.assertIn("NOKEY log checkpoint: It cannot be checked: no description of the log", output)
        self.assertIn("give it with --log.", output)
        status, output = run(bundle, log=KEYS)
        self.assertEqual((status, output), (2, "unusable: The log description has no list `logs`: save the answer of GET /.well-known/countersign-log.\n"))

    def test_no_shape_of_evidence_raises(self) -> None:
        keys = read_key_set([parse((FOLDER / name).read_bytes()) for name in ("keys.json", "approver-keys.json")])
        change = evidence_of("governance-changes.json", "governance-change/valid-approved")
        for key_id in ({}, [], None, 7, True):
            changed = {**change, "stepUpAuthorization": {**change["stepUpAuthorization"], "keyId": key_id}}
            failing = [check.name for check in check_evidence(changed, keys)[1] if check.problem is not None]
            self.assertEqual(failing, ["change signature", "step-up authorization"])
            self.assertEqual(verify_text(json.dumps(changed), keys)[0].verdict, "invalid")


if __name__ == "__main__":
    unittest.main()
