"""Every published vector: evidence, key sets and whole files, each with what a verifier must say of it (their README has the format)."""

from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any, Dict, List, Set

from countersign import NotCanonical, Unreadable, UnusableKeySet, check_evidence, parse, read_key_set, verify_text
from countersign.report import exit_status
from countersign.verifier import KINDS as ALL_KINDS

FOLDER = Path(__file__).resolve().parents[3] / "test" / "vectors" / "countersign"


#: What each artifact is called.
KINDS = {kind.artifact: kind.title for kind in ALL_KINDS}


def cases(name: str) -> List[Dict[str, Any]]:
    found: List[Dict[str, Any]] = json.loads((FOLDER / name).read_text(encoding="utf-8"))["cases"]
    if len(found) < 10:
        raise AssertionError(f"{name} holds {len(found)} cases")
    return found


@unittest.skipUnless(FOLDER.exists(), "the project's vectors are not beside the package")
class Vectors(unittest.TestCase):
    maxDiff = None

    def setUp(self) -> None:
        self.keys = read_key_set([parse((FOLDER / name).read_bytes()) for name in ("keys.json", "approver-keys.json")])

    def test_every_case_fails_exactly_the_checks_it_names(self) -> None:
        ran: Dict[str, Set[str]] = {}
        for name in sorted(f"{artifact}s.json" for artifact in KINDS):
            for case in cases(name):
                text = case["text"] if "text" in case else json.dumps(case["evidence"])
                with self.subTest(case["id"], what=case["what"]):
                    said = self.said(text)
                    if case.get("unusable"):
                        self.assertIsNone(said)
                        ran.setdefault(case["artifact"], set()).add("unusable")
                        continue
                    failing, unchecked = set(case["failing"]), set(case.get("unchecked", []))
                    verdict = "invalid" if failing else "unchecked" if unchecked else "valid"
                    self.assertEqual(said, (KINDS[case["artifact"]], failing, unchecked))
                    report = verify_text(text, self.keys)[0]
                    self.assertEqual((report.verdict, case["valid"]), (verdict, verdict == "valid"))
                    self.assertEqual(list(report.notes) if "notes" in case else None, case.get("notes"))
                    ran.setdefault(case["artifact"], set()).add(verdict)
        self.assertEqual(ran, {artifact: {"valid", "invalid", "unchecked", "unusable"} for artifact in KINDS})

    def said(self, text: str) -> Any:
        """None for what is no such evidence at all."""
        try:
            kind, checks = check_evidence(parse(text.encode("utf-8")), self.keys)
        except (NotCanonical, Unreadable):
            return None
        problems = [check for check in checks if check.problem is not None]
        return (
            kind,
            {check.name for check in problems if not check.missing_keys},
            {check.name for check in problems if check.missing_keys},
        )

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


if __name__ == "__main__":
    unittest.main()
