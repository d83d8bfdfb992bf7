#!/usr/bin/env python3
"""A verifier of Countersign's evidence, written from docs/handbook/evidence.md ("Write a verifier") and log.md alone.

Usage: verify.py FILE... --jwks KEYS... [--log DESCRIPTION]. Exits with 0 valid, 1 not valid, 2 cannot be checked.
It needs Python 3.9 and the package `cryptography` (Debian: python3-cryptography), which has Ed25519 and P-256. What only ML-DSA shows, it
cannot check. It takes the description of a log and no tlog-policy, and its report has no notes.
"""
import argparse, re, sys  # noqa: E401
import evidence
from bundle import bundle, read_log, unknown_in_key
from reading import WRONG_FORM, is_time, list_of, must, number, read_json, read_keys, text, whole
from record import record
from signatures import holds

KINDS = {  # of each kind the members by which it is known, and its checks
    'trust-record': (('trustRecordId',), record),
    'receipt': (('receiptId',), evidence.receipt),
    'refusal-record': (('refusalRecordId',), evidence.refusal),
    'audit-event': (('event', 'signature'), evidence.audit_event),
    'governance-change': (('changeId', 'changeHash', 'signature'), evidence.change),
    'intent-transition': (('transition', 'signature'), evidence.transition),
    'provider-confirmation': (('confirmation', 'signature'), evidence.confirmation),
    'approval-request': (('request', 'requestHash', 'signature'), evidence.request),
    'approval-request-close': (('closeId', 'requestHash', 'signature'), evidence.close),
    'approval-request-note': (('noteId', 'requestHash', 'signature'), evidence.note),
    'bundle': (('bundle',), bundle),
}
PAGES = ('events', 'changes', 'confirmations', 'requests', 'refusals')
NO_EVIDENCE = ('no evidence', [], {'kind': ['this verifier knows no such evidence']})


def kinds_of(value): return [kind for kind, (marks, _) in KINDS.items() if all(mark in value for mark in marks)]


def verify(value, keys, log):
    """The report on a piece of evidence: its kind, the checks that fail, and those that cannot be made with the reasons."""
    [kind] = kinds_of(value)
    must(isinstance(value, dict) and not all(name in value for name in ('eventId', 'occurredAt', 'entry')), 'an event of GET /events')
    must(kind != 'bundle' or value['bundle'] == 'countersign/1', 'another version')
    failing, unchecked, checks_of = [], {}, KINDS[kind][1]
    for name, check in (checks_of(value, keys, log) if kind == 'bundle' else checks_of(value, keys)).items():
        result = holds(check)
        if result is False: failing.append(name)
        elif result is not True: unchecked[name] = result.split('; ')
    return kind, failing, unchecked


def verify_all(value, keys, log):
    """A report on each piece of evidence in a file or a line."""
    page = next((name for name in PAGES if isinstance(value, dict) and isinstance(value.get(name), list)), None)
    if not isinstance(value, list) and (page is None or kinds_of(value)): return [verify(value, keys, log)]

    def report(entry):
        try: return verify(entry, keys, log)
        except WRONG_FORM: return NO_EVIDENCE

    def is_key(v): return isinstance(v, dict) and not list(unknown_in_key(v, ''))
    forms = {page: lambda v: True, 'next': lambda v: v is None or text(v) and re.fullmatch('[A-Za-z0-9_-]{1,200}', v) is not None,
             'completeUntil': is_time, 'verificationCount': number, 'receiptCount': number, 'publicKeys': list_of(is_key)}
    if page is None: return list(map(report, value))
    is_known = all(name in forms and forms[name](v) for name, v in value.items())
    return list(map(report, value[page])) + [NO_EVIDENCE] * (value[page] != [] and not is_known)


def ends_export(value):
    end = value.get('exportEnd') if isinstance(value, dict) and len(value) == 1 else None
    return isinstance(end, dict) and set(end) == {'kind', 'callerId', 'since', 'until', 'count'} and whole(end['count']) and all(
        v is None or text(v) for name, v in end.items() if name != 'count')


def verify_file(name, data, keys, log):
    """The reports on a file, and whether it is whole: the last line of an export counts the lines since the end before it."""
    def parsed(line):
        try: return read_json(line)
        except WRONG_FORM: return None
    lines = [line for line in data.split(b'\n') if line.strip()]
    first = parsed(lines[0]) if lines else None
    if not (name.endswith(('.ndjson', '.jsonl')) or ends_export(first) or len(lines) > 1 and isinstance(first, (dict, list))):
        return verify_all(read_json(data), keys, log), True
    reports, count, is_whole = [], 0, True
    for value in map(parsed, lines):
        count += 1
        if ends_export(value): is_whole, count = is_whole and value['exportEnd']['count'] == count - 1, 0
        else:
            try: reports += verify_all(value, keys, log)
            except WRONG_FORM: reports.append(NO_EVIDENCE)
    return reports, is_whole and count == 0


def verdict_of(report): return 'invalid' if report[1] else 'unchecked' if report[2] else 'valid'


def exit_code(reports, is_whole):
    verdicts = {verdict_of(report) for report in reports}
    return 1 if 'invalid' in verdicts else 0 if verdicts == {'valid'} and is_whole else 2


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('file', nargs='+')
    arguments.add_argument('--jwks', nargs='+', action='extend', required=True, metavar='KEYS', help='key sets or single keys, of the service and of humans')
    arguments.add_argument('--log', metavar='DESCRIPTION', help='GET /.well-known/countersign-log, saved before')
    options = arguments.parse_args()

    def read(path):
        with open(path, 'rb') as file: return file.read()

    def report(line): print(''.join(c if c.isprintable() else '\N{REPLACEMENT CHARACTER}' for c in line))
    all_reports, all_whole = [], True
    try: keys, log = read_keys(*map(read, options.jwks)), read_log(read(options.log)) if options.log else None
    except (OSError, *WRONG_FORM) as error:
        report(f'The keys or the description of the log cannot be used: {error}')
        return 2
    for path in options.file:
        try: reports, is_whole = verify_file(path, read(path), keys, log)
        except (OSError, *WRONG_FORM): reports, is_whole = [NO_EVIDENCE], True
        all_reports, all_whole = all_reports + reports, all_whole and is_whole
        for found in reports:
            kind, failing, unchecked = found
            report(f'{verdict_of(found)}: {kind} in {path}')
            for check in failing: report(f'  FAILED {check}')
            for check, reasons in unchecked.items(): report(f'  cannot be checked: {check}: {"; ".join(reasons)}')
        if not is_whole: report(f'{path} does not end as an export ends: something may be missing')
    return exit_code(all_reports, all_whole)


if __name__ == '__main__':
    sys.exit(main())
