"""Many files at once: exports as lines of JSON, folders, and the summary of all, in the words of the project's own verifier."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from .canonical import NotCanonical
from .evidence import Keys, Unreadable
from .passkey_counters import Counters
from .printable import printable
from .report import INVALID, UNCHECKED, VALID, Report, no_evidence, verify_text

#: A stranger's file may name as many keys as it likes.
_NAMED_MAX = 20
_LINES_FILE = (".ndjson", ".jsonl")
_EVIDENCE_FILE = (".json", *_LINES_FILE)
#: Members that state the content and the period of an export.
_RANGE = {"kind", "callerId", "since", "until"}


class Summary:
    """The summary of many pieces of evidence: the members of ``summary`` in test/vectors/countersign/summaries.json."""

    def __init__(self) -> None:
        self.files = 0
        self.kinds: Dict[str, Dict[str, int]] = {}
        self.missing_keys: List[str] = []
        self.missing_logs: List[str] = []
        self.missing_step_up_keys: List[str] = []
        self.counters = Counters()
        self.cut_short: List[str] = []

    def add(self, report: Report) -> None:
        of_kind = self.kinds.setdefault(report.artifact, {VALID: 0, INVALID: 0, UNCHECKED: 0})
        of_kind[report.verdict] += 1
        for check in report.checks:
            for key_id in check.missing_keys or ():
                _note(self.missing_keys, key_id)
            if check.missing_log:
                _note(self.missing_logs, check.missing_log)
        for key_id in report.missing_step_up_keys:
            _note(self.missing_step_up_keys, key_id)
        self.counters.add(report.passkey_uses)

    def add_file(self, name: str, cut_short: bool) -> None:
        self.files += 1
        if cut_short:
            _note(self.cut_short, name)

    def count(self, verdict: str) -> int:
        return sum(counts[verdict] for counts in self.kinds.values())

    def members(self) -> Dict[str, Any]:
        counts = {verdict: self.count(verdict) for verdict in (VALID, INVALID, UNCHECKED)}
        return {
            "files": self.files,
            "pieces": sum(counts.values()),
            **counts,
            "kinds": self.kinds,
            "missingKeys": self.missing_keys,
            "missingLogs": self.missing_logs,
            "missingStepUpKeys": self.missing_step_up_keys,
            "countersWentBack": self.counters.went_back()[:_NAMED_MAX],
            "cutShort": self.cut_short,
        }

    def exit_status(self) -> int:
        """0: all are valid, and each export is whole. 1: any is invalid. 2: none is, and not all could be checked, or there is none."""
        if self.count(INVALID):
            return 1
        return 2 if self.count(UNCHECKED) or self.cut_short or not self.count(VALID) else 0

    def lines(self) -> List[str]:
        counts = self.members()
        lines = [
            f"{_counted(counts['pieces'], 'piece')} of evidence in {_counted(self.files, 'file')}: {_counts_text(counts)}",
            *(f"  {kind}: {_counts_text(of_kind)}" for kind, of_kind in self.kinds.items()),
        ]
        if self.missing_keys:
            lines.append(
                f"Keys that are not given: {_named(self.missing_keys)}. Those of approvers are at GET /.well-known/approver-keys.json "
                "of the service, any at GET /keys/{keyId}."
            )
        if self.missing_logs:
            lines.append(
                f"Logs whose description is not given: {_named(self.missing_logs)}. It is at GET /.well-known/countersign-log of the service."
            )
        if self.missing_step_up_keys:
            lines.append(
                "Step-up signatures that were not checked, because the keys of these humans are not given: "
                f"{_named(self.missing_step_up_keys)}. Everything else about their changes was."
            )
        if counts["countersWentBack"]:
            lines.append(
                f"Passkeys whose signature counter does not grow with the time of signing: {_named(counts['countersWentBack'])}. "
                "A copy of each may have signed; what they signed is valid all the same."
            )
        if self.cut_short:
            lines.append(f"Without the last line of a whole export: {_named(self.cut_short)}. Something may be missing.")
        return [printable(line) for line in lines]


def _note(names: List[str], name: str) -> None:
    if name not in names and len(names) < _NAMED_MAX:
        names.append(name)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _counts_text(counts: Dict[str, Any]) -> str:
    return f"{counts[VALID]} valid, {counts[INVALID]} INVALID, {counts[UNCHECKED]} cannot be checked"


def _named(names: Sequence[str]) -> str:
    return ", ".join(names) + (", …" if len(names) == _NAMED_MAX else "")


def reports_in(name: str, text: bytes, keys: Keys, summary: Summary, *, log: Any = None) -> Iterator[Tuple[Optional[int], Report]]:
    """A report on each piece of evidence in a text, with the number of its line in a file of lines; added to the summary too."""
    lines = _numbered_lines(text)
    if not _is_lines(name, lines):
        for report in _reports_on(text, keys, log):
            summary.add(report)
            yield None, report
        summary.add_file(name, False)
        return
    since_end, ended, fits = 0, False, True
    for number, line in lines:
        count = _export_end(line)
        if count is not None:
            ended, fits, since_end = True, fits and count == since_end, 0
            continue
        since_end += 1
        for report in _reports_on(line, keys, log):
            summary.add(report)
            yield number, report
    summary.add_file(name, not (ended and fits and since_end == 0))


def _numbered_lines(text: bytes) -> List[Tuple[int, bytes]]:
    return [(number, line) for number, line in enumerate(text.split(b"\n"), 1) if line.strip()]


def _is_lines(name: str, lines: Sequence[Tuple[int, bytes]]) -> bool:
    if not lines or lines[0][1].lstrip()[:1] not in (b"[", b"{"):
        return False
    # Only the name of an export that was cut after its first line shows that there were to be more lines.
    if len(lines) == 1 and not name.lower().endswith(_LINES_FILE) and _export_end(lines[0][1]) is None:
        return False
    try:
        json.loads(lines[0][1])
    except ValueError:
        return False
    return True


def holds_lines(name: str, text: bytes) -> bool:
    """Whether a text is read line by line: its first line is an object or a list by itself, and another one follows, or it ends an
    export, or the name is that of a file of lines."""
    return _is_lines(name, _numbered_lines(text))


def _export_end(line: bytes) -> Optional[int]:
    if not line.startswith(b'{"exportEnd"'):
        return None
    try:
        end = json.loads(line)
    except ValueError:
        return None
    return _count_of(end["exportEnd"]) if set(end) == {"exportEnd"} and isinstance(end["exportEnd"], dict) else None


def _count_of(end: Dict[str, Any]) -> Optional[int]:
    """None where it holds anything else than what the service writes there."""
    values = {name: end[name] for name in end if name != "count"}
    is_range = set(values) <= _RANGE and all(value is None or isinstance(value, str) for value in values.values())
    count = end.get("count")
    return count if is_range and isinstance(count, (int, float)) and not isinstance(count, bool) else None


def _reports_on(text: bytes, keys: Keys, log: Any) -> List[Report]:
    try:
        return verify_text(text, keys, log=log)
    except (NotCanonical, Unreadable) as error:
        return [no_evidence(str(error))]


def find_files(paths: Sequence[str]) -> List[Path]:
    """The files, and every ``.json``, ``.ndjson`` and ``.jsonl`` file below the folders, by name. Raises OSError."""
    found: List[Path] = []
    for path in map(Path, paths):
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted((file for file in path.rglob("*") if file.is_file() and file.suffix.lower() in _EVIDENCE_FILE), key=str)
        if not inside:
            raise OSError(f"{path} holds no .json, .ndjson or .jsonl file")
        found += inside
    return found
