"""``python3 -m countersign verify FILE --jwks FILE...``: exit status 0 valid, 1 invalid, 2 cannot be checked."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, List, Optional

from .canonical import NotCanonical, parse
from .evidence import Check, Unreadable
from .key_set import UnusableKeySet, read_key_set
from .kinds import NOT_PROVEN, NOT_PROVEN_BY_A_LOG, evidence_in
from .many import Summary, find_files, holds_lines, reports_in
from .printable import printable
from .report import INVALID, UNCHECKED, VALID, Report, exit_status, verify_text

_VERDICTS = {VALID: "valid", INVALID: "INVALID", UNCHECKED: "cannot be checked"}


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="countersign", description="Checks evidence of Countersign without the service.")
    commands = parser.add_subparsers(dest="command", required=True)
    verify = commands.add_parser("verify", help="check saved evidence, or a page of it")
    verify.add_argument(
        "file", nargs="+", help="the evidence, as the service answered it: pieces, pages, exports as NDJSON, or folders of them"
    )
    verify.add_argument("--quiet", action="store_true", help="print only what is not valid, and the summary")
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
    if len(options.file) == 1 and not options.quiet and _holds_one(Path(options.file[0])):
        return verify_file(options.file[0], options.jwks, options.log)
    return verify_files(options.file, options.jwks, options.log, quiet=options.quiet)


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


def verify_files(files: List[str], jwks_files: List[str], log_file: Optional[str] = None, *, quiet: bool = False) -> int:
    """One line for each piece of evidence, and the summary of all."""
    summary = Summary()
    try:
        keys = read_key_set([_read(jwks_file) for jwks_file in jwks_files])
        log = None if log_file is None else Path(log_file).read_bytes()
        for file in find_files(files):
            for line, report in reports_in(str(file), file.read_bytes(), keys, summary, log=log):
                if not quiet or report.verdict != VALID:
                    _print_short(report, str(file) if line is None else f"{file}:{line}")
    except (OSError, NotCanonical, UnusableKeySet, Unreadable) as error:
        print(printable(f"unusable: {error}"), file=sys.stderr)
        return 2
    for summed in summary.lines():
        print(summed)
    print("A pass does not prove that a policy was right, that an effect happened as reported, or that nothing is missing.")
    return summary.exit_status()


def _holds_one(file: Path) -> bool:
    """Whether it is a single piece of evidence, which is shown with all its checks, or cannot be read."""
    try:
        text = file.read_bytes()
        return not holds_lines(str(file), text) and len(evidence_in(parse(text))) == 1
    except IsADirectoryError:
        return False
    except (OSError, Unreadable, NotCanonical):
        return True


def _print_short(report: Report, place: str) -> None:
    """The verdict first: no name that follows can write over it."""
    _print(f"{_VERDICTS[report.verdict]:<17}  {report.artifact} {report.subject}  {place}")
    for check in report.checks:
        if check.problem is not None:
            _print(f"  {_outcome(check)} {check.name}: {check.problem}")
    if report.artifact == "unknown":
        for note in report.notes:
            _print(f"  note  {note}")


def _print_report(report: Report) -> None:
    """Evidence is anybody's text: none of its lines reaches the terminal as it stands."""
    _print(f"{_VERDICTS[report.verdict]}: {report.title}, {len(report.checks)} checks")
    for check in report.checks:
        if check.problem is None:
            _print(f"  ok    {check.name}")
        else:
            _print(f"  {_outcome(check)} {check.name}: {check.problem}")
    if report.authenticated_by:
        _print(f"  note  Authenticated by {report.authenticated_by}")
    for note in report.notes:
        _print(f"  note  {note}")


def _outcome(check: Check) -> str:
    return "UNKNOWN" if check.unknown_members else "NOKEY" if check.is_open else "FAIL "


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
