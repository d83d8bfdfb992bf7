"""What the Python verifier says: a line of JSON in, a line out, in one process (test/vectors/answers.ts)."""

import functools
import json
import sys

from countersign import NotCanonical, Unreadable, UnusableKeySet, ed25519, ml_dsa_65, parse, read_key_set, verify_text
from countersign.report import exit_status

# The same signature is asked for in many changed copies of one piece of evidence; these are functions of their arguments alone.
ed25519.verify = functools.lru_cache(maxsize=None)(ed25519.verify)
ed25519.is_of_prime_order = functools.lru_cache(maxsize=None)(ed25519.is_of_prime_order)
ml_dsa_65.verify = functools.lru_cache(maxsize=None)(ml_dsa_65.verify)

keys = {}


def read(files):
    global keys
    try:
        keys = read_key_set([parse(file.encode("utf-8", "surrogatepass")) for file in files])
        return {"keyIds": sorted(keys)}
    except (NotCanonical, UnusableKeySet):
        return {"refused": True}


def verify(text):
    try:
        reports = verify_text(text.encode("utf-8", "surrogatepass"), keys)
    except (NotCanonical, Unreadable):
        return {"exitCode": 2, "reports": []}
    return {"exitCode": exit_status(reports), "reports": [said(report) for report in reports]}


def said(report):
    return {
        "artifact": report.artifact,
        "subject": report.subject,
        "verdict": report.verdict,
        "checks": [[check.name, outcome(check)] for check in report.checks],
        "notes": list(report.notes),
    }


def outcome(check):
    return "holds" if check.problem is None else list(check.missing_keys) or "fails"


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps(read(asked["files"]) if "files" in asked else verify(asked["text"])))
