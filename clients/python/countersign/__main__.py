"""``python3 -m countersign verify FILE --jwks FILE...``: exit status 0 valid, 1 invalid, 2 cannot be checked."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, List, Optional

from .canonical import NotCanonical, parse
from .evidence import Unreadable
from .key_set import UnusableKeySet, read_key_set
from .kinds import NOT_PROVEN, NOT_PROVEN_BY_A_LOG
from .printable import printable
from .report import INVALID, UNCHECKED, VALID, Report, exit_status, verify_text

_VERDICTS = {VALID: "valid", INVALID: "INVALID", UNCHECKED: "cannot be checked"}


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="countersign", description="Checks evidence of Countersign without the service.")
    commands = parser.add_subparsers(dest="command", required=True)
    verify = commands.add_parser("verify", help="check saved evidence, or a page of it")
    verify.add_argument("file", help="the evidence, as the service answered it")
    verify.add_argument(
        "--jwks",
        "--keys",
        dest="jwks",
        required=True,
        action="append",
        help="saved keys, from a source you trust: the answer of GET /.well-known/jwks.json, or of GET /keys/{keyId} for an "
        "approver; may be repeated",
    )
    verify.add_argument(
        "--log",
        help="for a bundle: the saved answer of GET /.well-known/countersign-log, or a C2SP tlog-policy, from a source you trust",
    )
    options = parser.parse_args(arguments)
    return verify_file(options.file, options.jwks, options.log)


def verify_command() -> int:
    """The console script ``countersign-verify FILE --jwks FILE...``."""
    return main(["verify", *sys.argv[1:]])


def verify_file(file: str, jwks_files: List[str], log_file: Optional[str] = None) -> int:
    try:
        keys = read_key_set([_read(jwks_file) for jwks_file in jwks_files])
        reports = _reports(file, keys, None if log_file is None else Path(log_file).read_bytes())
    except (OSError, NotCanonical, UnusableKeySet, Unreadable) as error:
        print(printable(f"unusable: {error}"), file=sys.stderr)
        return 2
    for report in reports:
        _print_report(report)
    verdicts = [report.verdict for report in reports]
    if len(reports) > 1:
        valid, invalid, unchecked = (verdicts.count(verdict) for verdict in (VALID, INVALID, UNCHECKED))
        print(f"{len(reports)} pieces of evidence: {valid} valid, {invalid} INVALID, {unchecked} cannot be checked")
    if any(check.missing_keys for report in reports for check in report.checks):
        print("A key that is not given is at GET /keys/{keyId} of the service: save it, and give it with --jwks.")
    if any(check.missing_log for report in reports for check in report.checks):
        print("The keys of a log are at GET /.well-known/countersign-log of the service: save the answer, and give it with --log.")
    status = exit_status(reports)
    if status == 0:
        print("This does not prove:")
        is_bundle = any(report.artifact == "bundle" for report in reports)
        for sentence in (*NOT_PROVEN, *((NOT_PROVEN_BY_A_LOG,) if is_bundle else ())):
            print(f"  - {sentence}")
    return status


def _print_report(report: Report) -> None:
    """Evidence is anybody's text: none of its lines reaches the terminal as it stands."""
    _print(f"{_VERDICTS[report.verdict]}: {report.title}, {len(report.checks)} checks")
    for check in report.checks:
        if check.problem is None:
            _print(f"  ok    {check.name}")
        else:
            _print(f"  {'NOKEY' if check.is_open else 'FAIL '} {check.name}: {check.problem}")
    for note in report.notes:
        _print(f"  note  {note}")


def _print(line: str) -> None:
    print(printable(line))


def _reports(file: str, keys: Any, log: Optional[bytes]) -> List[Report]:
    try:
        return verify_text(Path(file).read_bytes(), keys, log=log)
    except NotCanonical as error:
        raise NotCanonical(f"{file}: {error}") from None


def _read(file: str) -> Any:
    try:
        return parse(Path(file).read_bytes())
    except NotCanonical as error:
        raise NotCanonical(f"{file}: {error}") from None


if __name__ == "__main__":
    sys.exit(main())
