"""The checks of an Execution Trust Record, as docs/handbook/evidence.md names them under "Checks of a record"."""
import re
from evidence import confirmation, memberships, receipt, unknown, unknown_in_list, unknown_in_receipt, unknown_in_signature, unknown_in_signed
from reading import digest, is_time, list_of, number, one_of, pick, same, text, time, whole
from signatures import by_all, by_approver, by_service

SIGNED = ('trustRecordId', 'businessTransactionId', 'transaction', 'authorization', 'executions', 'overrides', 'createdAt', 'requiredAlgorithms')
BESIDE = ('trustRecordHash', 'signature', 'signatures', 'verifications', 'receipts', 'confirmations', 'verificationCount', 'receiptCount',
          'confirmationCount')


def all_of(checks):
    """Every part of every check of another piece of evidence, but for members that are not known."""
    for name, check in checks.items():
        if name != 'members': yield from check()


def authorization(a, keys):
    made = {'value': a['signature'], **{n: a[n] for n in ('algorithm', 'keyId', 'batch') if n in a}}
    at = a['payload'].get('authorizedAt') if isinstance(a['payload'], dict) else None
    return by_service('execution-authorization', a['payload'], made, keys, at, ('ed25519', 'ed25519-batch'))


def covers(scope, parameters):
    [member] = scope
    if member == 'parametersHash': return scope[member] == digest(parameters)
    for limit in scope['limits']:
        found = parameters
        for name in limit['path'].removeprefix('intent.parameters.').split('.'):
            if not isinstance(found, dict) or name not in found: return False
            found = found[name]
        if not (set(limit) == {'path', 'max'} and number(limit['max']) and number(found) and found <= limit['max']): return False
    return len(scope['limits']) > 0


def request_holds(request, transaction, decision):
    intent, signals = transaction['intent'], decision['signals']
    yield same([request['requestedBy'], request['principalId']], [transaction['metadata']['submittedBy'], transaction['authority']['principalId']])
    yield same([request['capability'], request['target'], request['parameters']], [intent['action'], intent['target'], intent['parameters']])
    yield same(pick(request['policy'], 'name', 'version', 'contentHash'),
               {**pick(decision['policy'], 'name', 'version'), 'contentHash': decision['policyContentHash']})
    yield all(name in signals and same(value, signals[name]) for name, value in request['signals'].items())
    yield all(name in request['signals'] or name in decision['verifiedSignals'] for name in signals)
    yield time(request['createdAt']) <= time(decision['evaluatedAt']) < time(request['expiresAt'])
    yield number(request['quorum']) and request['quorum'] <= sum(len(v.get('approvals', [])) for v in decision['verifiedSignals'].values())


def approvals_hold(r, keys):
    transaction, nonces, stood, absent = r.get('transaction'), [], [], []
    for execution in r['executions']:
        decision = execution['decision']
        for name, verified in decision['verifiedSignals'].items():
            value, by, given, behind = verified['value'], verified['by'], verified.get('approvals', []), verified.get('notCounted', [])
            yield same(value, decision['signals'][name]) if name in decision['signals'] else isinstance(value, (bool, float))
            yield list_of(text)(behind)
            if by == 'approval' and value is True: yield list_of(lambda v: isinstance(v, dict))(given) and len(given) > 0
            else: yield given == [] and (by == 'approval' and value is False or by == 'history' and number(value) or by == 'crm-deal')
            if by == 'crm-deal':
                other, own = verified['authorization'], r['authorization']['payload']
                yield other['payload']['businessTransactionId'] == own['businessTransactionId']
                yield other['payload']['authorizationId'] != own['authorizationId']
                yield from authorization(other, keys)
            for approval in given:
                yield from approval_counts(approval['payload'], transaction, decision, behind)
                yield from by_approver(approval, keys, decision)
            requested = [approval['payload'] for approval in given if approval['payload']['version'] in (2.0, 3.0)]
            yield ('request' in verified) == (requested != [])
            if requested:
                yield all(payload['requestHash'] == digest(verified['request']) for payload in requested)
                yield from request_holds(verified['request'], transaction, decision)
            yield len({approval['payload']['approverId'] for approval in given}) == len(given)
            if 'groups' in verified:
                away = [name for _, _, name, _ in memberships(verified) if name is not None]
                yield by == 'approval' and value is True
                yield not {transaction['authority']['principalId'], transaction['metadata']['submittedBy'], *behind} & set(away)
                absent += away
            stood += [(approval['payload']['approverId'], 'groups' in verified) for approval in given]
            nonces += [approval['payload']['nonce'] for approval in given]
    yield len(set(nonces)) == len(nonces)
    yield len(set(absent)) == len(absent)
    names = [name for name, _ in stood]  # before there were groups, one approver could stand for two signals
    yield not any(in_group and names.count(name) > 1 for name, in_group in stood)


def approval_counts(payload, transaction, decision, behind):
    intent = transaction['intent']
    yield payload['version'] in (1.0, 2.0, 3.0) and same(payload['capability'], intent['action']) and same(payload['target'], intent['target'])
    yield 'reason' not in payload or payload['version'] == 3.0 and text(payload['reason']) and 1 <= len(payload['reason']) <= 500
    yield covers(payload['scope'], intent['parameters'])
    yield time(payload['issuedAt']) <= time(decision['evaluatedAt']) < time(payload['expiresAt'])
    yield text(payload['nonce'])
    yield payload['approverId'] not in (transaction['authority']['principalId'], transaction['metadata']['submittedBy'], *behind)


def record(r, keys):
    def signed(): return {n: r[n] for n in SIGNED if n in r or n != 'requiredAlgorithms'}

    def record_signature():
        both = ('ed25519', 'ml-dsa-65', 'ed25519-batch', 'ml-dsa-65-batch')
        yield from by_all('trust-record', signed(), r, r['signature'], keys, r.get('createdAt'), both, both)

    def transaction_binding():
        t, payload = r['transaction'], r['authorization']['payload']
        ids = [part['businessTransactionId'] for part in (r, t, payload, *r['executions'])]
        intent = pick(t['intent'], 'action', 'target', 'parameters')
        yield same(*ids) and payload['businessTransactionHash'] == digest({'businessTransactionId': ids[0], **intent})
        yield payload['signalsHash'] == digest(t['signals']) and same(payload['callerId'], t['metadata']['submittedBy'])
        for e in r['executions']: yield same(pick(e['evidence'], 'businessTransactionId', *intent), {'businessTransactionId': ids[0], **intent})

    def caller_authentication():
        payload = r['authorization']['payload']
        said, name = payload['callerAuthentication'], payload['callerId']
        of_workload, issuer = said['method'] == 'jwt-svid', said['issuer']
        yield all(text(said[n]) and said[n] != '' for n in ('issuer', 'subject', 'tokenHash', *(['actor'] if 'actor' in said else [])))
        yield said['method'] in ('access-token', 'dpop', 'jwt-svid') and issuer.startswith('spiffe://') == of_workload
        yield of_workload or '#' not in issuer
        yield name.startswith(issuer + '/#'[not of_workload]) and len(name) > len(issuer) + 1 and (not of_workload or name == said['subject'])
        yield re.fullmatch('[0-9a-f]{64}', said['tokenHash']) is not None
        yield ('keyThumbprint' in said) == (said['method'] == 'dpop')
        yield 'keyThumbprint' not in said or re.fullmatch('[A-Za-z0-9_-]{43}', said['keyThumbprint']) is not None

    def decision_binding():
        t, payload = r['transaction'], r['authorization']['payload']
        yield len(r['executions']) > 0
        for e in r['executions']:
            d = e['decision']
            yield d['outcome'] == 'APPROVED' and same(e['metadata']['authorizationId'], payload['authorizationId'])
            yield same([d['decisionId'], d['policyContentHash'], d['policy']['name'], d['policy']['version']],
                       [payload[n] for n in ('decisionId', 'policyContentHash', 'policyName', 'policyVersion')])
            yield same([d['intentId'], d['policy'], d['signals']], [t['intent']['intentId'], t['policy'], t['signals']])

    def count_holds(count, listed): yield count not in r or whole(r[count]) and len(r[listed]) <= r[count] < 2**53

    def own(entry): return same(entry['businessTransactionId'], r['businessTransactionId']) and same(entry['trustRecordHash'], r['trustRecordHash'])

    def verifications():
        yield from count_holds('verificationCount', 'verifications')
        for v in r['verifications']:
            yield own(v) and all(text(v[n]) for n in ('verificationId', 'message', 'verifiedAt')) and v['status'] in ('VERIFIED', 'FAILED')

    def receipts():
        yield from count_holds('receiptCount', 'receipts')
        statuses = {v['verificationId']: v['status'] for v in r['verifications']}
        cut = number(r.get('verificationCount')) and r['verificationCount'] > len(r['verifications'])
        for entry in r['receipts']:
            yield own(entry) and statuses.get(entry['verificationId'], 'VERIFIED' if cut else None) == 'VERIFIED'
            yield from all_of(receipt(entry, keys))

    def confirmations():
        yield from count_holds('confirmationCount', 'confirmations')
        for entry in r['confirmations']:
            yield same(entry['confirmation']['businessTransactionId'], r['businessTransactionId'])
            yield from all_of(confirmation(entry, keys))

    checks = {'canonical hash': lambda: iter([r['trustRecordHash'] == digest(signed())]), 'record signature': record_signature,
              'authorization signature': lambda: authorization(r['authorization'], keys), 'transaction binding': transaction_binding,
              'decision binding': decision_binding, 'approvals': lambda: approvals_hold(r, keys), 'verifications': verifications,
              'receipts': receipts}
    payload = r['authorization'].get('payload') if isinstance(r.get('authorization'), dict) else None
    if isinstance(payload, dict) and 'callerAuthentication' in payload: checks['caller authentication'] = caller_authentication
    if 'confirmations' in r or 'confirmationCount' in r: checks['confirmations'] = confirmations
    return {**checks, 'members': lambda: unknown_in_record(r, '')}


def unknown_in_record(r, path):
    def in_verification(v, at):
        forms = {'verificationId': text, 'verifiedAt': is_time, }
        if isinstance(v, dict) and v.get('status') == 'VERIFIED': forms['message'] = one_of('Execution Trust Record verified successfully.')
        yield from unknown(v, at, ('businessTransactionId', 'message', 'status', 'trustRecordHash', *forms), **forms)
    if not isinstance(r, dict): return
    yield from unknown(r, path, SIGNED + BESIDE)
    yield from unknown_in_signature(r.get('signature'), f'{path}signature.')
    yield from unknown_in_list(r, 'signatures', path, unknown_in_signature)
    yield from unknown_in_list(r, 'verifications', path, in_verification)
    yield from unknown_in_list(r, 'receipts', path, unknown_in_receipt)
    yield from unknown_in_list(r, 'confirmations', path, lambda entry, at: unknown_in_signed(entry, at, 'confirmation'))
