"""The checks of every kind of evidence but records and bundles, as docs/handbook/evidence.md names them. signatures.py says what a check is."""
from reading import NEVER, digest, filled, is_hash, is_time, list_of, must, number, pick, same, text, time, whole, without
from signatures import HUMAN_ALGORITHMS, by_all, by_approver, by_human, by_service, holds


def memberships(verified):
    """What a signal states for each of its approvals: the group and its changeId, and the member who is away and that changeId, or None."""
    stated = verified['groups']
    must(0 < len(stated) == len(verified.get('approvals', [])) and all(text(one['group']) and text(one['changeId']) for one in stated))
    away = [one for one in stated if 'standsInFor' in one or 'standInChangeId' in one]
    must(all(text(one['standsInFor']) and text(one['standInChangeId']) for one in away))
    return [(one['group'], one['changeId'], one.get('standsInFor'), one.get('standInChangeId')) for one in stated]


# Members that no signature covers
def unknown(value, path, known, **forms):
    """The paths of the members that are not known, or not of the form that they must have."""
    for name, v in value.items() if isinstance(value, dict) else ():
        if name not in known or name in forms and not forms[name](v): yield f'the member {path}{name}'


def unknown_in_signature(value, path):
    return unknown(value, path, ('algorithm', 'keyId', 'value', 'batch', 'signedAt'), signedAt=is_time)


def unknown_in_signed(value, path, member):
    yield from unknown(value, path, (member, 'signature'))
    yield from unknown_in_signature(value.get('signature'), f'{path}signature.') if isinstance(value, dict) else ()


def unknown_in_list(value, name, path, look):
    listed = value.get(name)
    for i, entry in enumerate(listed if isinstance(listed, list) else ()): yield from look(entry, f'{path}{name}.{i}.')


# Receipts, Refusal Records, confirmations: the small kinds
def receipt(r, keys):
    def hash_holds(): yield r['receiptHash'] == digest(without(r, 'receiptHash', 'signature', 'signatures'))

    def signed():
        first = {'algorithm': r['algorithm'], 'keyId': r['keyId'], 'value': r['signature']}
        yield from by_all('receipt', without(r, 'signature', 'signatures'), r, first, keys, r.get('issuedAt'),
                          ('ed25519', 'ml-dsa-65'), ('ed25519', 'ml-dsa-65', 'ml-dsa-65-batch'))
    return {'receipt hash': hash_holds, 'receipt signature': signed, 'members': lambda: unknown_in_receipt(r, '')}


def unknown_in_receipt(r, path): return unknown_in_list(r, 'signatures', path, unknown_in_signature) if isinstance(r, dict) else ()


def refusal(r, keys):
    signed, unrevoked = without(r, 'refusalRecordHash', 'signature'), {name: key._replace(revoked=NEVER) for name, key in keys.items()}

    def binding():
        decision = r['decision']
        yield decision['outcome'] == 'REJECTED' and same(decision['intentId'], r['evaluatedIntent']['intentId'])
        yield r.get('approvable', True) is True and isinstance(r['mismatches'], list) and isinstance(decision['signals'], dict)
        for mismatch in r['mismatches']:
            declared = decision['signals'].get(mismatch['signal'])
            yield same(mismatch['declared'], declared) and not isinstance(declared, (dict, list))

    def approvals():
        for verified in r['decision']['verifiedSignals'].values():
            yield list_of(text)(verified.get('notCounted', []))
            yield 'groups' not in verified or len(memberships(verified)) > 0
            for approval in verified.get('approvals', []):
                yield approval['payload']['approverId'] not in verified.get('notCounted', [])
                yield from by_approver(approval, unrevoked, r['decision'])
    return {'refusal hash': lambda: iter([r['refusalRecordHash'] == digest(signed)]),
            'refusal signature': lambda: by_service('refusal-record', signed, r['signature'], keys, r.get('createdAt')),
            'decision binding': binding, 'approvals': approvals, 'members': lambda: unknown_in_signature(r.get('signature'), 'signature.')}


def audit_event(e, keys):
    return {'event signature': lambda: by_service('audit-event', e['event'], e['signature'], keys, e['event'].get('occurredAt')),
            'members': lambda: unknown_in_signed(e, '', 'event')}


def change(c, keys):
    signed = without(c, 'signature', 'warnings', 'diff')

    def resolution():
        if c['status'] == 'PENDING_APPROVAL': yield not any(n in c for n in ('resolvedBy', 'resolvedAt', 'rejectionReason'))
        else:
            yield c['status'] in ('APPROVED', 'REJECTED') and filled(c['resolvedBy']) and text(c['proposedBy']) and c['resolvedBy'] != c['proposedBy']
            yield is_time(c['resolvedAt'])
            yield 'rejectionReason' not in c or c['status'] == 'REJECTED' and text(c['rejectionReason'])

    def step_up():
        if c['status'] == 'PENDING_APPROVAL': return (yield 'stepUpAuthorization' not in c)
        due = {**pick(c, 'changeId', 'changeHash'), 'action': {'APPROVED': 'approve', 'REJECTED': 'reject'}[c['status']]}
        yield is_time(c['resolvedAt'])
        yield from stepped_up(c['stepUpAuthorization'], c.get('resolvedBy'), c['resolvedAt'], due, keys)

    def report():
        r = c['impactReport']
        yield c['kind'] == 'policy' and same(pick(r, 'changeId', 'changeHash'), pick(c, 'changeId', 'changeHash'))
        yield c['stepUpAuthorization']['payload']['impactHash'] == digest(r)

    def changed(): yield c['changeHash'] == digest(pick(c, 'changeId', 'kind', 'target', 'proposed', 'reason', 'proposedBy', 'proposedAt'))

    checks = {'change hash': changed, 'resolution': resolution, 'step-up authorization': step_up, 'members': lambda: unknown_in_change(c, ''),
              'change signature': lambda: by_service('governance-change', signed, c['signature'], keys, c.get('resolvedAt', c.get('proposedAt')))}
    step = c.get('stepUpAuthorization')
    if 'impactReport' in c or isinstance(step, dict) and isinstance(step.get('payload'), dict) and 'impactHash' in step['payload']:
        checks['impact report'] = report
    return checks


def stepped_up(entry, by, at, due, keys):
    """A step-up of this human for what is due, used at this time; None: when it was signed."""
    payload, names = entry['payload'], [f'{by}:{name}' for name in ('step-up', entry['keyId'])]
    used = payload['authorizedAt'] if at is None else at
    yield payload['version'] == 1.0 and filled(payload['nonce'])
    yield same(pick(payload, *due), due)
    yield 0 < time(payload['expiresAt']) - time(payload['authorizedAt']) <= 120_000 and time(used) < time(payload['expiresAt'])
    yield entry['algorithm'] in HUMAN_ALGORITHMS and text(entry['keyId']) and text(entry['signature'])
    # One of the keys that are given; that none is, is for a note.
    tried = [holds(lambda: by_human('step-up', entry, [name], keys, used)) for name in names if name in keys]
    yield tried == [] or True in tried


def unknown_in_change(c, path):
    if not isinstance(c, dict): return
    yield from unknown(c, path, c, warnings=list_of(text))
    yield from unknown_in_signature(c.get('signature'), f'{path}signature.')


def transition(e, keys):
    def form():
        t = e['transition']
        way, to, by, confirmed = (t['from'], t['to']), t['to'], t['by'], t.get('confirmationId')
        yield way in (('PREPARED', 'RELEASED'), ('PREPARED', 'ERRORED'), ('RELEASED', 'FINALIZED'), ('RELEASED', 'ERRORED'), ('RELEASED', 'RESOLVED'))
        yield filled(by) and (by != 'service' or to != 'RESOLVED')
        yield t['resolution'] in ('EXECUTED', 'NOT_EXECUTED') if to == 'RESOLVED' else 'resolution' not in t
        yield is_hash(t['trustRecordHash']) if to == 'FINALIZED' or to == 'ERRORED' and 'trustRecordHash' in t else 'trustRecordHash' not in t
        yield 'confirmationId' not in t or to == 'RESOLVED' and by.startswith('webhook:') and filled(confirmed)
        yield 'agreedWith' not in t or to == 'RESOLVED' and filled(t['agreedWith']) and t['agreedWith'] != by

    def step_up():
        t = e['transition']
        due = {**pick(t, 'businessTransactionId', 'resolution'), 'action': 'resolve'}
        yield t['to'] == 'RESOLVED'
        if 'stepUpAuthorization' in t:
            yield is_time(t['at'])
            yield from stepped_up(t['stepUpAuthorization'], t['by'], t['at'], {**due, 'note': t['note']}, keys)
        if 'agreedStepUpAuthorization' in t:
            yield from stepped_up(t['agreedStepUpAuthorization'], t['agreedWith'], None, due, keys)
    checks = {'transition signature': lambda: by_service('intent-transition', e['transition'], e['signature'], keys, e['transition'].get('at')),
              'transition': form, 'members': lambda: unknown_in_signed(e, '', 'transition')}
    is_signed = isinstance(e['transition'], dict) and {'stepUpAuthorization', 'agreedStepUpAuthorization'} & e['transition'].keys()
    return {**checks, 'step-up authorization': step_up} if is_signed else checks


def confirmation(e, keys):
    def form():
        c = e['confirmation']
        yield c['says'] in ('executed', 'not_executed', 'pending') and is_hash(c['deliveryHash']) and is_hash(c['rulesHash'])
        yield all(filled(c[n]) for n in ('confirmationId', 'businessTransactionId', 'provider', 'eventId', 'ruleId', 'receivedAt'))
        yield list_of(lambda x: filled(x['expression']) and isinstance(x['holds'], bool))(c['comparisons'])

    def signed(): return by_service('provider-confirmation', e['confirmation'], e['signature'], keys, e['confirmation'].get('receivedAt'))
    return {'confirmation signature': signed, 'confirmation': form, 'members': lambda: unknown_in_signed(e, '', 'confirmation')}


def close(c, keys, path=''):
    def form():
        yield c['status'] == 'DECLINED' and filled(c['reason']) or c['status'] == 'WITHDRAWN' and c['reason'] == ''
        yield all(filled(c[n]) for n in ('closeId', 'requestId', 'by')) and is_hash(c['requestHash']) and is_time(c['closedAt'])
    return {'close signature': lambda: by_service('approval-request-close', without(c, 'signature'), c['signature'], keys, c.get('closedAt')),
            'close': form, 'members': lambda: unknown_in_signature(c.get('signature'), f'{path}signature.')}


def note_form(n):
    yield all(filled(n[name]) for name in ('noteId', 'requestId', 'by', 'text')) and is_hash(n['requestHash']) and is_time(n['notedAt'])


def note_signature(n, keys): return by_service('approval-request-note', without(n, 'signature'), n['signature'], keys, n.get('notedAt'))


def note(n, keys):
    return {'note signature': lambda: note_signature(n, keys), 'note': lambda: note_form(n),
            'members': lambda: unknown_in_signature(n.get('signature'), 'signature.')}


def request(e, keys):
    r = e['request']

    def form():
        policy = r['policy']
        yield all(filled(r[n]) for n in ('requestId', 'requestedBy', 'principalId', 'capability', 'target'))
        yield filled(policy['name']) and filled(policy['version'])
        yield isinstance(r['parameters'], dict) and isinstance(r['signals'], dict) and is_hash(policy['contentHash'])
        yield whole(r['quorum']) and r['quorum'] >= 1 and text(r['note']) and time(r['createdAt']) < time(r['expiresAt'])

    def code():
        yield all(text(r[n]) for n in ('capability', 'target', 'principalId', 'requestedBy')) and isinstance(r['parameters'], dict)
        shown = {**pick(r, 'capability', 'target', 'parameters', 'principalId', 'requestedBy'), 'policy': pick(r['policy'], 'name', 'version')}
        bits = int(digest(shown), 16) >> 196
        symbols = ''.join('0123456789ABCDEFGHJKMNPQRSTVWXYZ'[bits >> shift & 31] for shift in range(55, -1, -5))
        yield e['actionCode'] == '-'.join((symbols[:4], symbols[4:8], symbols[8:]))

    def standing():
        yield same(e['expiresAt'], r['expiresAt'])
        if 'closed' not in e: return (yield text(e['status']) and e['status'] not in ('DECLINED', 'WITHDRAWN'))
        closed = e['closed']
        yield same(e['status'], closed['status']) and same(closed['requestId'], r['requestId']) and same(closed['requestHash'], e['requestHash'])
        yield time(closed['closedAt']) >= time(r['createdAt']) and (closed['status'] != 'WITHDRAWN' or same(closed['by'], r['requestedBy']))

    def notes():
        yield isinstance(e['notes'], list)
        for n in e['notes']:
            yield from note_form(n)
            yield from note_signature(n, keys)
            yield same(n['requestId'], r['requestId']) and same(n['requestHash'], e['requestHash']) and time(n['notedAt']) >= time(r['createdAt'])

    def members():
        def object_of(forms, *needed):
            return lambda v: isinstance(v, dict) and set(needed) <= set(v) <= set(forms) and all(forms[n](v[n]) for n in v)

        given = {'approvalId': text, 'approverId': text, 'keyId': text, 'approvedAt': is_time}
        groups = {n: list_of(text) for n in ('from', 'approvedBy', 'eligible')}
        statuses = ('PENDING', 'APPROVED', 'DECLINED', 'EXPIRED', 'ENDED', 'USED', 'WITHDRAWN')
        forms = {'status': lambda v: not text(v) or v in statuses, 'missing': number, 'intervalSeconds': number, 'url': text,
                 'eligible': list_of(text), 'signals': list_of(object_of({'signal': text, 'quorum': number, **groups})),
                 'ask': object_of({'remindAt': is_time, 'escalateAt': is_time, 'escalateTo': text}),
                 'approvals': list_of(object_of({**given, 'reason': text})),
                 'notCounted': list_of(object_of({**given, 'because': text, 'since': is_time})),
                 'endedBy': object_of({'changeId': text}, 'changeId'),
                 'usedBy': object_of({'businessTransactionId': text, 'outcome': text}, 'businessTransactionId')}
        checked = ('request', 'requestHash', 'actionCode', 'expiresAt', 'closed', 'notes', 'signature')
        yield from unknown(e, '', (*checked, 'compared', 'usual', *forms), **forms)
        yield from unknown_in_signature(e['signature'], 'signature.')
        if isinstance(e.get('closed'), dict): yield from ended['members']()
        yield from unknown_in_list(e, 'notes', '', lambda n, at: unknown_in_signature(n.get('signature'), f'{at}signature.') if isinstance(n, dict) else ())
    checks = {'request hash': lambda: iter([isinstance(r, dict) and e['requestHash'] == digest(r)]), 'request': form, 'action code': code,
              'standing': standing, 'members': members, 'request signature': lambda: by_service('approval-request', r, e['signature'], keys, r.get('createdAt'))}
    ended = close(e.get('closed'), keys, 'closed.') if 'closed' in e else {}
    if 'notes' in e: checks['notes'] = notes
    return {**checks, **without(ended, 'members')}
