"""Every published vector of evidence, valid and broken, each with the names of the checks that fail (its README has the format)."""

from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any, Dict, Optional, Set

from countersign import NotCanonical, Unreadable, check_evidence, parse, read_key_set

FOLDER = Path(__file__).resolve().parents[3] / "test" / "vectors" / "countersign"
KINDS = {
    "trust-record": "Execution Trust Record",
    "receipt": "Receipt",
    "refusal-record": "Refusal Record",
    "audit-event": "audit event",
    "governance-change": "governance change",
    "intent-transition": "intent transition",
}


@unittest.skipUnless(FOLDER.exists(), "the project's vectors are not beside the package")
class Vectors(unittest.TestCase):
    def test_every_case_fails_exactly_the_checks_it_names(self) -> None:
        keys = read_key_set([parse((FOLDER / name).read_bytes()) for name in ("keys.json", "approver-keys.json")])
        ran: Dict[str, Set[str]] = {artifact: set() for artifact in KINDS}
        for file in sorted(FOLDER.glob("*.json")):
            if file.name == "approver-keys.json":
                continue
            for case in json.loads(file.read_text(encoding="utf-8")).get("cases", []):
                text = case["text"] if "text" in case else json.dumps(case["evidence"])
                due = "unusable" if case.get("unusable") else "valid" if case["valid"] else "invalid"
                with self.subTest(case["id"], what=case["what"]):
                    self.assertEqual(failing(text, case["artifact"], keys), None if due == "unusable" else set(case["failing"]))
                    self.assertEqual(due == "valid", case["failing"] == [] and "unusable" not in case)
                ran[case["artifact"]].add(due)
        self.assertEqual(ran, {artifact: {"valid", "invalid", "unusable"} for artifact in KINDS})


def failing(text: str, artifact: str, keys: Any) -> Optional[Set[str]]:
    """None for what is no such evidence at all."""
    try:
        kind, checks = check_evidence(parse(text.encode("utf-8")), keys)
    except (NotCanonical, Unreadable):
        return None
    return {check.name for check in checks if check.problem is not None} if kind == KINDS[artifact] else None


if __name__ == "__main__":
    unittest.main()
