"""``python3 -m countersign verify FILE --jwks FILE...``: exit status 0 valid, 1 invalid, 2 unusable."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, List, Optional

from .canonical import NotCanonical, parse
from .key_set import UnusableKeySet, read_key_set
from .evidence import Check, Unreadable
from .governance_change import notes_on_change
from .verifier import NOT_PROVEN, check_evidence, evidence_in

VALID, INVALID, UNUSABLE = 0, 1, 2


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="countersign", description="Checks evidence of Countersign without the service.")
    commands = parser.add_subparsers(dest="command", required=True)
    verify = commands.add_parser("verify", help="check saved evidence, or a page of it")
    verify.add_argument("file", help="the evidence, as the service answered it")
    verify.add_argument(
        "--jwks",
        required=True,
        action="append",
        help="saved keys, from a source you trust: the answer of GET /.well-known/jwks.json, or of GET /keys/{keyId} for an "
        "approver; may be repeated",
    )
    options = parser.parse_args(arguments)
    return verify_file(options.file, options.jwks)


def verify_command() -> int:
    """The console script ``countersign-verify FILE --jwks FILE...``."""
    return main(["verify", *sys.argv[1:]])


def verify_file(file: str, jwks_files: List[str]) -> int:
    try:
        keys = read_key_set([_read(jwks_file) for jwks_file in jwks_files])
        pieces = evidence_in(_read(file))
        reports = [(*check_evidence(evidence, keys), notes_on_change(evidence, keys)) for evidence in pieces]
    except (OSError, NotCanonical, UnusableKeySet, Unreadable) as error:
        print(f"unusable: {error}", file=sys.stderr)
        return UNUSABLE
    for report in reports:
        _print_report(*report)
    if not all(check.problem is None for _, checks, _ in reports for check in checks):
        return INVALID
    print("This does not prove:")
    for sentence in NOT_PROVEN:
        print(f"  - {sentence}")
    return VALID


def _print_report(kind: str, checks: List[Check], notes: List[str]) -> None:
    valid = all(check.problem is None for check in checks)
    print(f"{'valid' if valid else 'INVALID'}: {kind}, {len(checks)} checks")
    for check in checks:
        print(f"  ok    {check.name}" if check.problem is None else f"  FAIL  {check.name}: {check.problem}")
    for note in notes:
        print(f"  note  {note}")


def _read(file: str) -> Any:
    try:
        return parse(Path(file).read_bytes())
    except NotCanonical as error:
        raise NotCanonical(f"{file}: {error}") from None


if __name__ == "__main__":
    sys.exit(main())
