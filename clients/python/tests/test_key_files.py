"""Key sets and keys of humans, given together; and who may sign what."""

from __future__ import annotations

import json
import unittest
from typing import Any, Dict, List

from countersign import Unreadable, UnusableKeySet, check_evidence, evidence_in, parse, read_key_set, verify_text
from vectors import FOLDER, evidence_of


def failing(evidence: Any, keys: Any) -> List[str]:
    return [check.name for check in check_evidence(evidence, keys)[1] if check.problem is not None]


@unittest.skipUnless(FOLDER.exists(), "the project's vectors are not beside the package")
class KeyFiles(unittest.TestCase):
    def setUp(self) -> None:
        self.service: Dict[str, Any] = parse((FOLDER / "keys.json").read_bytes())
        self.humans: List[Dict[str, Any]] = parse((FOLDER / "approver-keys.json").read_bytes())
        self.record = evidence_of("trust-records.json", "trust-record/approved-valid-quorum")

    def test_the_service_s_set_and_single_keys_are_one_set_together(self) -> None:
        self.assertEqual(failing(self.record, read_key_set([self.service, *self.humans])), [])
        self.assertEqual(failing(self.record, read_key_set([self.service, self.humans])), [])

    def test_without_the_key_of_an_approver_the_approvals_fail(self) -> None:
        erik = [key for key in self.humans if not key["keyId"].startswith("erik:")]
        self.assertEqual(failing(self.record, read_key_set(self.service)), ["approvals"])
        self.assertEqual(failing(self.record, read_key_set([self.service, erik])), ["approvals"])

    def test_two_files_that_contradict_each_other_are_unusable(self) -> None:
        false = {**self.humans[1], "keyId": self.humans[0]["keyId"], "jwk": {**self.humans[1]["jwk"], "kid": self.humans[0]["keyId"]}}
        with self.assertRaises(UnusableKeySet):
            read_key_set([self.service, self.humans[0], false])

    def test_one_key_under_two_names_is_unusable(self) -> None:
        def named(key_id: str) -> Dict[str, Any]:
            return {"keyId": key_id, "algorithm": "ed25519", "pem": self.humans[0]["pem"]}

        for other in ("bob:1", "20261121T010000Z-ed25519"):
            with self.assertRaises(UnusableKeySet):
                read_key_set([named("alice:1"), named(other)])
        self.assertEqual(len(read_key_set([named("alice:1"), named("alice:2"), named("dana:step-up")])), 3)

    def test_a_revocation_holds_whatever_else_was_saved_and_has_a_time(self) -> None:
        dana = {**self.humans[0], "revokedAt": "2026-11-21T01:00:00.011Z"}
        later = {**dana, "revokedAt": "2026-11-21T01:00:00.012Z"}
        for given in ([dana, self.humans], [self.humans, dana], [later, dana, later]):
            self.assertEqual(failing(self.record, read_key_set([self.service, *given])), ["approvals"])
        self.assertEqual(failing(self.record, read_key_set([self.service, self.humans, later])), [])
        for no_time in (None, 0, "", "2026-02-30T00:00:00Z"):
            with self.assertRaises(UnusableKeySet):
                read_key_set([self.service, {**dana, "revokedAt": no_time}])

    def test_the_key_of_a_human_signs_nothing_of_the_service_under_any_other_check(self) -> None:
        keys = read_key_set([self.service, self.humans])
        event = evidence_of("audit-events.json", "audit-event/valid")
        renamed = dict(keys)
        renamed["agent:key"] = keys[event["signature"]["keyId"]]
        event["signature"]["keyId"] = "agent:key"
        self.assertEqual(failing(event, renamed), ["event signature"])

    def test_a_page_of_changes_is_its_entries_and_nothing_in_it_goes_unread(self) -> None:
        change = evidence_of("governance-changes.json", "governance-change/valid-approved")
        self.assertEqual(evidence_in({"changes": [change, change]}), [change, change])
        self.assertEqual(evidence_in([change]), [change])
        self.assertEqual(evidence_in(change), [change])
        self.assertEqual(evidence_in({**change, "events": []}), [{**change, "events": []}])
        for empty in ([], {"changes": []}):
            with self.assertRaises(Unreadable):
                evidence_in(empty)
        keys = read_key_set([self.service, self.humans])
        for beside in ({"events": [1]}, {"note": "x"}, {"trustRecordHash": "x"}, {"next": 1}):
            reports = verify_text(json.dumps({"changes": [change], **beside}), keys)
            self.assertIn("unchecked", [report.verdict for report in reports], beside)
        with self.assertRaises(Unreadable):
            verify_text(json.dumps({"changes": {}}), keys)


if __name__ == "__main__":
    unittest.main()
