"""The report of the offline verifier on a file: for each piece of evidence in it a verdict, its checks and notes for the reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Tuple, Union

from .caller_authentication import authentication_text
from .canonical import parse
from .evidence import Check, Keys, Unreadable
from .governance_change import missing_step_up_key
from .key_set import read_key_set
from .kinds import Kind, evidence_in, inspect_evidence, kind_of, problem_of_file
from .log.trust import LogTrust, read_log_trust
from .passkey_counters import PasskeyUse, passkey_uses

#: Every check holds, and there was at least one.
VALID = "valid"
#: A check fails, whatever cannot be checked beside it.
INVALID = "invalid"
#: No check fails, and at least one could not be made: a key of the service, of an approver or of the log is not given, an entry of a file is
#: no evidence, or something stands beside it that no signature covers and this verifier does not know.
UNCHECKED = "unchecked"


@dataclass(frozen=True)
class Report:
    #: As what it is signed, such as ``trust-record``; ``unknown`` for an entry that is no evidence.
    artifact: str
    title: str
    #: The id of the evidence, as it names itself; ``(no id)`` where it has none.
    subject: str
    verdict: str
    checks: Tuple[Check, ...]
    #: Notes for the reader that are no failure, such as that a record carries no receipt.
    notes: Tuple[str, ...]
    #: Ids of the humans' keys that are not given and by which step-ups were therefore not checked: no verdict rests on those.
    missing_step_up_keys: Tuple[str, ...] = ()
    #: The approvals by passkeys in evidence that is valid, for the summary of several files.
    passkey_uses: Tuple[PasskeyUse, ...] = ()
    #: For a record whose caller had a token: ``access token of <issuer> for <subject>, used by <actor>``.
    authenticated_by: str = ""


def verify_evidence(text: Union[str, bytes], key_set: Any, *, log: Any = None) -> Report:
    """The report on one piece of evidence.

    ``key_set`` is the saved answer of GET /.well-known/jwks.json, or a key as GET /keys/{keyId} answers it, as text or parsed; or a list
    of these, which count as one set. ``log`` is whom to trust for the proofs of a bundle: the saved answer of
    GET /.well-known/countersign-log, as text or parsed, or the text of a C2SP tlog-policy. Without it no proof can be checked.

    Raises NotCanonical for what is not JSON with exactly one reading, UnusableKeySet for a key set, LogError for a ``log`` and Unreadable
    for evidence that is none, or a file of several.
    """
    given = key_set if isinstance(key_set, list) else [key_set]
    keys = read_key_set([parse(one) if isinstance(one, (str, bytes)) else one for one in given])
    value = _read(text)
    if evidence_in(value) != [value]:
        raise Unreadable("This is a file of several pieces of evidence: verify them one by one.")
    return _report_on(value, keys, _trust_in(log), "This")


def verify_text(text: Union[str, bytes], keys: Keys, *, log: Any = None) -> List[Report]:
    """A report on each piece of evidence in a file, in their order; never empty. An entry that is no evidence is one that cannot
    be checked, and hides no other; so is, behind them, what stands beside a list and is no part of a page. ``log`` as in
    ``verify_evidence``.

    Raises NotCanonical for what is not JSON with exactly one reading, LogError for a ``log`` and Unreadable for what is no evidence at
    all.
    """
    trust = _trust_in(log)
    value = _read(text)
    entries = evidence_in(value)
    if len(entries) == 1 and entries[0] is value:
        return [_report_on(value, keys, trust, "This")]
    reports = [_report_on_entry(entry, keys, trust, f"Entry {number}") for number, entry in enumerate(entries, 1)]
    problem = problem_of_file(value)
    return reports if problem is None else [*reports, no_evidence(problem)]


def _read(text: Union[str, bytes]) -> Any:
    # A proof verifies only with what it proves.
    if text.startswith("c2sp.org/tlog-proof@" if isinstance(text, str) else b"c2sp.org/tlog-proof@"):
        raise Unreadable(
            "The evidence is a proof of the log alone. Verify the bundle of the execution, which holds its proofs "
            "(GET /trust-records/{id}?bundle), or fetch and check one proof with `countersign log proof`."
        )
    return parse(text)


def _trust_in(log: Any) -> Optional[LogTrust]:
    return None if log is None else read_log_trust(log)


def exit_status(reports: Sequence[Report]) -> int:
    """0: all are valid. 1: any is invalid. 2: none is, and any cannot be checked."""
    verdicts = [report.verdict for report in reports]
    return 1 if INVALID in verdicts else 2 if UNCHECKED in verdicts else 0


def _report_on_entry(entry: Any, keys: Keys, log: Optional[LogTrust], which: str) -> Report:
    try:
        return _report_on(entry, keys, log, which)
    except Unreadable as error:
        return no_evidence(str(error))


def no_evidence(note: str) -> Report:
    """The report on what is no evidence."""
    return Report("unknown", "no evidence", "(no id)", UNCHECKED, (), (note,))


def _report_on(evidence: Any, keys: Keys, log: Optional[LogTrust], which: str) -> Report:
    kind = kind_of(evidence, which)
    checks, notes = inspect_evidence(kind, evidence, keys, log)
    verdict = _verdict(checks)
    return Report(
        kind.artifact,
        kind.title,
        _subject(kind, evidence),
        verdict,
        tuple(checks),
        tuple(dict.fromkeys([*notes, *(note for check in checks for note in check.notes)])),
        _missing_step_up_keys(kind.artifact, evidence, keys),
        passkey_uses(kind.artifact, evidence) if verdict == VALID else (),
        _authenticated_by(kind.artifact, evidence),
    )


def _authenticated_by(artifact: str, evidence: Any) -> str:
    record = evidence.get("record") if artifact == "bundle" else evidence
    return authentication_text(record.get("authorization")) if isinstance(record, dict) else ""


def _missing_step_up_keys(artifact: str, evidence: Any, keys: Keys) -> Tuple[str, ...]:
    changes = [evidence] if artifact == "governance-change" else evidence.get("changes") if artifact == "bundle" else []
    if not isinstance(changes, list):
        return ()
    missing = (missing_step_up_key(change, keys) for change in changes)
    return tuple(dict.fromkeys(key_id for key_id in missing if key_id is not None))


def _verdict(checks: Sequence[Check]) -> str:
    """A failure decides: a key that is not given must not make one look like a gap in the key set."""
    problems = [check for check in checks if check.problem is not None]
    if not all(check.is_open for check in problems):
        return INVALID
    return VALID if checks and not problems else UNCHECKED


def _subject(kind: Kind, evidence: Any) -> str:
    for name in kind.id:
        evidence = evidence.get(name) if isinstance(evidence, dict) else None
    return evidence if isinstance(evidence, str) else "(no id)"
