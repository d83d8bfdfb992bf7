"""What examples/verifier says: a line of JSON in, a line out, in one process (test/vectors/answers.ts)."""

import functools
import json
import sys

import bundle
import verify
from reading import WRONG_FORM, read_json, read_keys

read_log = functools.lru_cache(maxsize=None)(bundle.read_log)
keys = {}


def read(files):
    global keys
    try:
        keys = read_keys(*(file.encode("utf-8", "surrogatepass") for file in files))
        return {"keyIds": sorted(keys)}
    except WRONG_FORM:
        return {"refused": True}


def verified(text, log):
    try:
        trusted = None if log is None else read_log(log.encode())
        reports = verify.verify_all(read_json(text.encode("utf-8", "surrogatepass")), keys, trusted)
    except WRONG_FORM:
        return {"exitCode": 2, "reports": []}
    return {"exitCode": verify.exit_code(reports, True), "reports": [said(*report) for report in reports]}


def said(artifact, failing, unchecked):
    checks = [[name, "fails"] for name in failing] + list(unchecked.items())
    return {
        "artifact": artifact,
        "subject": "",
        "verdict": verify.verdict_of((artifact, failing, unchecked)),
        "checks": checks,
        "notes": [],
    }


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps(read(asked["files"]) if "files" in asked else verified(asked["text"], asked.get("log"))))
