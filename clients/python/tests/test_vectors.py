"""Every published vector: evidence, key sets and whole files, each with what a verifier must say of it (their README has the format)."""

from __future__ import annotations

import json
import unittest
from typing import Any, Dict, Optional, Set

from countersign import NotCanonical, Report, Unreadable, UnusableKeySet, evidence_in, parse, read_key_set
from countersign import verify_evidence, verify_text
from countersign.log.trust import read_log_trust
from countersign.report import exit_status
from countersign.kinds import KINDS as ALL_KINDS
from countersign.many import Summary, reports_in
from vectors import FOLDER, cases

#: The title of each artifact.
KINDS = {kind.artifact: kind.title for kind in ALL_KINDS}


@unittest.skipUnless(FOLDER.exists(), "the project's vectors are not beside the package")
class Vectors(unittest.TestCase):
    maxDiff = None

    def setUp(self) -> None:
        self.keys = read_key_set([parse((FOLDER / name).read_bytes()) for name in ("keys.json", "approver-keys.json")])
        self.log = read_log_trust((FOLDER / "log.json").read_bytes())

    def test_every_case_fails_exactly_the_checks_it_names(self) -> None:
        ran: Dict[str, Set[str]] = {}
        for name in sorted(f"{artifact}s.json" for artifact in KINDS):
            for case in cases(name):
                text = case["text"] if "text" in case else json.dumps(case["evidence"])
                with self.subTest(case["id"], what=case["what"]):
                    log = case.get("log", self.log)
                    report = self.report(text, log)
                    if case.get("unusable"):
                        self.assertIsNone(report)
                        ran.setdefault(case["artifact"], set()).add("unusable")
                        continue
                    failing, unchecked = set(case["failing"]), set(case.get("unchecked", []))
                    verdict = "invalid" if failing else "unchecked" if unchecked else "valid"
                    assert report is not None
                    problems = [check for check in report.checks if check.problem is not None]
                    said = [{check.name for check in problems if check.is_open is is_open} for is_open in (False, True)]
                    self.assertEqual((report.title, *said), (KINDS[case["artifact"]], failing, unchecked))
                    self.assertEqual((report.verdict, case["valid"]), (verdict, verdict == "valid"))
                    self.assertEqual(list(report.notes) if "notes" in case else None, case.get("notes"))
                    ran.setdefault(case["artifact"], set()).add(verdict)
        self.assertEqual(ran, {artifact: {"valid", "invalid", "unchecked", "unusable"} for artifact in KINDS})

    def report(self, text: str, log: Any) -> Optional[Report]:
        """None for what is no such evidence at all, or several pieces of it."""
        try:
            value = parse(text.encode("utf-8"))
            return verify_text(text, self.keys, log=log)[0] if evidence_in(value) == [value] else None
        except (NotCanonical, Unreadable):
            return None

    def test_one_piece_of_evidence_is_verified_by_files_as_they_were_saved(self) -> None:
        bundle, *_ = [case for case in cases("bundles.json") if case["valid"] and "log" not in case]
        text = json.dumps(bundle["evidence"])
        key_set, log = (FOLDER / "keys.json").read_bytes(), (FOLDER / "log.json").read_text("utf-8")
        for given, trust, verdict in (
            (key_set, log, "valid"),
            ([json.loads(key_set), (FOLDER / "approver-keys.json").read_text("utf-8")], json.loads(log), "valid"),
            (key_set, None, "unchecked"),
        ):
            report = verify_evidence(text, given, log=trust)
            self.assertEqual((report.title, report.verdict), ("bundle", verdict))
        with self.assertRaisesRegex(Unreadable, "This is a file of several pieces of evidence"):
            verify_evidence(f"[{text}]", key_set, log=log)

    def test_every_key_set_is_read_or_refused(self) -> None:
        for case in cases("key-sets.json"):
            with self.subTest(case["id"], what=case["what"]):
                try:
                    read = sorted(read_key_set([parse(file.encode("utf-8")) for file in case["files"]]))
                except (NotCanonical, UnusableKeySet):
                    self.assertNotIn("keyIds", case)
                else:
                    self.assertEqual(read, case.get("keyIds"))

    def test_every_file_has_its_verdicts(self) -> None:
        for case in cases("files.json"):
            with self.subTest(case["id"], what=case["what"]):
                try:
                    reports = verify_text(case["text"].encode("utf-8"), self.keys)
                except (NotCanonical, Unreadable):
                    self.assertEqual((case["exitCode"], case["verdicts"]), (2, []))
                else:
                    self.assertEqual([report.verdict for report in reports], case["verdicts"])
                    self.assertEqual(exit_status(reports), case["exitCode"])

    def test_many_files_have_the_summary_of_the_table(self) -> None:
        for case in cases("summaries.json"):
            with self.subTest(case["id"], what=case["what"]):
                summary = Summary()
                for source in case["sources"]:
                    for _ in reports_in(source["name"], source["text"].encode("utf-8"), self.keys, summary):
                        pass
                self.assertEqual(summary.members(), case["summary"])
                self.assertEqual(summary.lines(), case["lines"])
                self.assertEqual(summary.exit_status(), case["exitCode"])


if __name__ == "__main__":
    unittest.main()
