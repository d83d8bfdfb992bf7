"""What the Python verifier says: a line of JSON in, a line out, in one process (test/vectors/answers.ts)."""

import functools
import json
import sys

from countersign import NotCanonical, Unreadable, UnusableKeySet, ed25519, parse, read_key_set, verify_text
from countersign.log.trust import read_log_trust
from countersign.ml_dsa import ML_DSA_65
from countersign.report import exit_status

# The same signature is asked for in many changed copies of one piece of evidence; these are functions of their arguments alone.
ed25519.verify = functools.lru_cache(maxsize=None)(ed25519.verify)
ed25519.is_of_prime_order = functools.lru_cache(maxsize=None)(ed25519.is_of_prime_order)
ML_DSA_65.verify = functools.lru_cache(maxsize=None)(ML_DSA_65.verify)
# Most files have the same.
read_log_trust = functools.lru_cache(maxsize=None)(read_log_trust)

keys = {}


def read(files):
    global keys
    try:
        keys = read_key_set([parse(file.encode("utf-8", "surrogatepass")) for file in files])
        return {"keyIds": sorted(keys)}
    except (NotCanonical, UnusableKeySet):
        return {"refused": True}


def verify(text, log):
    try:
        trust = None if log is None else read_log_trust(log)
        reports = verify_text(text.encode("utf-8", "surrogatepass"), keys, log=trust)
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
    if check.problem is None:
        return "holds"
    return list(check.missing_keys or check.unknown_members) or ([check.missing_log] if check.is_open else "fails")


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps(read(asked["files"]) if "files" in asked else verify(asked["text"], asked.get("log"))))
