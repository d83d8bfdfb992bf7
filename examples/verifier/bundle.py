"""The checks of a bundle, as docs/handbook/log.md names them under "One file for one execution". A tlog-policy it does not read."""
import json
import re
from evidence import change, memberships, unknown, unknown_in_change, unknown_in_list
from reading import WRONG_FORM, base64_bytes, digest, is_time, merge, must, named_keys, read_json, read_key, same, sha256, text, time, without
from record import all_of, record, unknown_in_record
from signatures import root_of, verifies

TYPES, WITNESS = {1: ('ed25519', 32), 6: ('ml-dsa-44', 1312)}, 4  # the first byte of a key: C2SP signed-note


# The log
def read_log(data):
    """The keys of each log in a description: {origin: {number in the note: (algorithm, key)}}. Keys of types that are not known are left out."""
    def vkey(value, origin):
        name, number, key = value.split('+', 2)
        key = base64_bytes(key)
        must(name == origin and key[0] != WITNESS, 'not a key of this log')
        algorithm, length = TYPES.get(key[0], (None, 0))
        must(algorithm is None or number == sha256(f'{name}\n'.encode() + key)[:4].hex() and len(key) == length + 1, 'not the key of its number')
        return number, (algorithm, key[1:])
    logs = read_json(data)['logs']
    must(isinstance(logs, list) and len(logs) > 0 and all(isinstance(log['vkeys'], list) for log in logs))
    return {log['origin']: {n: key for n, key in (vkey(v, log['origin']) for v in log['vkeys']) if key[0]} for log in logs}


def read_checkpoint(note):
    """A checkpoint: its origin, size and root, the text that is signed, and (number, signature) for each line of a key with the log's name."""
    body, _, lines = note.partition('\n\n')
    origin, size, root = body.split('\n')[:3]
    must(re.fullmatch('0|[1-9][0-9]*', size) is not None and lines.endswith('\n'))
    signed = [re.fullmatch('\u2014 ([^ ]+) ([^ ]+)', line).group(1, 2) for line in lines[:-1].split('\n')]
    values = [base64_bytes(value) for name, value in signed if name == origin]
    return origin, int(size), base64_bytes(root), f'{body}\n'.encode(), [(value[:4].hex(), value[4:]) for value in values]


def checkpoint_holds(checkpoint, log):
    """A part for each type of key that the description lists of this log: one key of the type must have signed."""
    origin, _, _, body, lines = checkpoint
    keys = (log or {}).get(origin)
    if not keys: return [f'a checkpoint of {origin}, of which no key is given that this verifier knows']
    parts = [verifies(*keys[number], value, body) for number, value in lines if number in keys]
    signed, strange = {keys[number][0] for number, _ in lines if number in keys}, any(number not in keys for number, _ in lines)
    missing = [algorithm for algorithm, _ in keys.values() if algorithm not in signed]
    return parts + [strange and f'a checkpoint by a key of {origin} that is not in the description' for _ in missing]


def read_proof(proof):
    """A .tlog-proof: the kind and the hash of its entry, and the place of the entry, (name and number of the log, index)."""
    top, note = proof.split('\n\n', 1)
    header, extra, index, *path = top.split('\n')
    origin, size, root, _, _ = read_checkpoint(note)
    must(header == 'c2sp.org/tlog-proof@v1' and extra.startswith('extra ') and re.fullmatch('index (0|[1-9][0-9]*)', index) is not None)
    entry, index = base64_bytes(extra[6:]), int(index[6:])
    streams = ''.join(f'( {name}=[0-9a-f]{{16}}:[1-9][0-9]{{0,15}})?' for name in ('caller', 'capability', 'policy', 'approver'))
    kind, hashed = re.fullmatch(f'countersign/1 ([a-z]+(?:-[a-z]+)*) ([0-9a-f]{{64}}){streams}', entry.decode('ascii')).group(1, 2)
    must(root_of(entry, index, size, [base64_bytes(p) for p in path]) == root, 'not in the tree')
    return kind, hashed, (*log_of(origin), index)


def log_of(origin):
    name, _, number = origin.rpartition('/log/')
    return name, int(number)


# The bundle
def artifacts(b):
    """The parts whose proofs a bundle must hold: {(kind, id): (kind and hash of the entry)}."""
    r = b['record']
    parts = [('change', c['changeId'], 'governance-change', digest(without(c, 'signature', 'warnings', 'diff'))) for c in b['changes']]
    for verified in signals(r):
        requests = [verified['request']] if 'request' in verified else []
        parts += [('approval-request', asked['requestId'], 'approval-request', digest(asked)) for asked in requests]
        parts += [('approval', a['payload']['approvalId'], 'approval', digest(a['payload'])) for a in verified.get('approvals', [])]
    parts.append(('authorization', r['businessTransactionId'], 'authorization', digest(r['authorization']['payload'])))
    parts += [('receipt', r['businessTransactionId'], 'receipt', digest(without(e, 'receiptHash', 'signature', 'signatures'))) for e in newest(r)]
    confirmations = [entry['confirmation'] for entry in r.get('confirmations', [])]
    parts += [('confirmation', c['confirmationId'], 'provider-confirmation', digest(c)) for c in confirmations]
    return {(kind, name): (of_entry, hashed) for kind, name, of_entry, hashed in parts}


def signals(r): return [verified for e in r['executions'] for verified in e['decision']['verifiedSignals'].values()]


def newest(r): return r['receipts'][-1:]


def name_of(approval): return f'{approval["payload"]["approverId"]}:{approval["payload"]["keyId"]}'


def bundle(b, keys, log):
    r = b.get('record')

    def approver_names(): return {name_of(a) for verified in signals(r) for a in verified.get('approvals', [])}

    def policy_document(): yield sha256(b['policy'].encode()).hex() == r['authorization']['payload']['policyContentHash']

    def governance_changes():
        seen = set()
        for c in b['changes']:
            yield from all_of(change(c, keys))
            yield c['status'] == 'APPROVED' and c['target'] not in seen
            seen.add(c['target'])
            proposed, payload = c['proposed'], r['authorization']['payload']
            if c['kind'] == 'policy':
                yield c['target'] == f'{payload["policyName"]}/{payload["policyVersion"]}'
                yield digest(without(proposed, 'retires')) == payload['policyContentHash']
            elif c['kind'] == 'approver-group':
                yield proposed['action'] == 'set' and proposed['group'] == c['target'] and all(text(m) for m in proposed['members'])
                yield any((c['target'], c['changeId']) == one[:2] for v in signals(r) if 'groups' in v for one in memberships(v))
            elif c['kind'] == 'stand-in':
                yield proposed['action'] == 'set' and c['target'] == f'{proposed["for"]}/{proposed["from"]}' and text(proposed['by'])
                yield any((proposed['for'], c['changeId']) == one[2:] for v in signals(r) if 'groups' in v for one in memberships(v))
            else:
                yield c['kind'] == 'approver' and proposed['action'] == 'add' and c['target'] in approver_names()
                yield c['target'] == f'{proposed["approverId"]}:{proposed["keyId"]}'

        yield from group_members()

    def group_members():
        """Each approver is in a group that the policy asks for, as a change of the bundle set it before the decision."""
        sets = {(c['target'], c['changeId']): c for c in b['changes'] if c['kind'] == 'approver-group'}
        puts = {c['changeId']: c for c in b['changes'] if c['kind'] == 'stand-in'}
        known = text(b.get('policy')) and sha256(b['policy'].encode()).hex() == r['authorization']['payload']['policyContentHash']
        verify = json.loads(b['policy']).get('verify', {}) if known else None
        for e in r['executions']:
            for name, verified in e['decision']['verifiedSignals'].items():
                if not verified.get('approvals'): continue
                asked = verify.get(name, {}).get('from') if known else None
                if known: yield (asked is None) == ('groups' not in verified)
                for a, stated in zip(verified['approvals'], memberships(verified) if 'groups' in verified else []):
                    own, at, (group, change_id, absent, put) = a['payload']['approverId'], time(e['decision']['evaluatedAt']), stated
                    yield asked is None or group in asked
                    yield (group, change_id) in sets and (own if absent is None else absent) in sets[group, change_id]['proposed']['members']
                    yield time(sets[group, change_id]['resolvedAt']) <= at
                    if absent is None: continue
                    stand_in = puts[put]['proposed']
                    yield same([stand_in['for'], stand_in['by']], [absent, own]) and time(puts[put]['resolvedAt']) <= at
                    yield time(stand_in['from']) <= at < time(stand_in['until'])

    def enrolled():
        """The keys that changes of the bundle enrolled, by name."""
        added = [c for c in b['changes'] if c['kind'] == 'approver' and c['status'] == 'APPROVED' and c['proposed']['action'] == 'add']
        passkeys = [{'passkey': c['proposed']['passkey']} if 'passkey' in c['proposed'] else {} for c in added]
        return dict(read_key({'keyId': c['target'], 'pem': c['proposed']['publicKeyPem'], **passkey}) for c, passkey in zip(added, passkeys))

    def listed_as_enrolled(): return [(name, key) for name, key in named_keys(b['approverKeys']) if same_key(key, enrolled().get(name))]

    def same_key(one, other): return other is not None and one[:2] == other[:2] and same(one.passkey, other.passkey)

    def approver_keys():
        listed = [name for name, _ in listed_as_enrolled()]
        yield set(listed) == approver_names() and len(listed) == len(named_keys(b['approverKeys']))
        yield len(merge(*keys.items(), *enrolled().items())) > 0

    def keys_that_count():
        try:
            must(all(part is True for part in governance_changes()))
            return merge(*keys.items(), *enrolled().items(), *listed_as_enrolled())
        except WRONG_FORM:
            return keys

    def checkpoints():
        found = []
        for p in b['proofs']:
            try: found.append((p['proof'].split('\n\n', 1)[1], read_checkpoint(p['proof'].split('\n\n', 1)[1])))
            except WRONG_FORM: pass  # the proof does not hold, which is for `log proofs`
        return found

    def log_checkpoint():
        found = checkpoints()
        yield len({c[0] for _, c in found}) == len({note for note, _ in found}) > 0 and len({log_of(c[0])[0] for _, c in found}) == 1
        for checkpoint in dict(found).values(): yield from checkpoint_holds(checkpoint, log)

    def unchecked_log():
        parts = list(log_checkpoint())
        return [] if False in parts else list(filter(text, parts))

    def places():
        """The place of each part whose proof holds, or None where it was logged late."""
        found, needed = {}, artifacts(b)
        names = [(p['kind'], p['id']) if isinstance(p, dict) else None for p in b['proofs']]
        for name, p in zip(names, b['proofs']):
            try:
                kind, hashed, place = read_proof(p['proof'])
                if names.count(name) == 1 and needed.get(name) in ((kind, hashed), (kind.replace('late-', '', 1), hashed)):
                    found[name] = None if kind.startswith('late-') else place
            except WRONG_FORM: pass
        return found

    def log_proofs():
        yield set(places()) == set(artifacts(b)) and len(b['proofs']) == len(places())
        for entry in newest(r):
            promised = entry.get('transparency')
            if isinstance(promised, dict) and text(promised.get('log')) and is_time(promised.get('by')):
                [proof] = [p['proof'] for p in b['proofs'] if p['kind'] == 'receipt']
                place = read_proof(proof)[2]
                yield place[0] == log_of(promised['log'])[0] and place[1] >= log_of(promised['log'])[1]
        yield from unchecked_log()

    def log_order():
        found, release = places(), ('authorization', r['businessTransactionId'])
        yield set(found) == set(artifacts(b)) and len({place[0] for place in found.values() if place}) <= 1
        order = [(('change', c['changeId']), release) for c in b['changes'] if c['kind'] in ('policy', 'approver-group', 'stand-in')]
        for verified in signals(r):
            for a in verified.get('approvals', []):
                own = ('approval', a['payload']['approvalId'])
                enrolments = [c for c in b['changes'] if c['kind'] == 'approver' and c['target'] == name_of(a)]
                order += [(own, release)] + [(('change', c['changeId']), own) for c in enrolments]
                if 'requestHash' in a['payload']: order.append((('approval-request', verified['request']['requestId']), own))
            if 'request' in verified: order.append((('approval-request', verified['request']['requestId']), release))
        order += [(release, name) for name in found if name[0] in ('receipt', 'confirmation')]
        yield all(found[first] < found[then] for first, then in order if found[first] and found[then])
        yield from unchecked_log()

    def members():
        yield from unknown(b, '', ('bundle', 'record', 'policy', 'approverKeys', 'changes', 'proofs'))
        yield from unknown_in_record(r, 'record.')
        yield from unknown_in_list(b, 'changes', '', unknown_in_change)
        yield from unknown_in_list(b, 'proofs', '', lambda p, at: unknown(p, at, ('kind', 'id', 'proof')))
        yield from unknown_in_list(b, 'approverKeys', '', unknown_in_key)
    checks = record(r, keys_that_count()) if isinstance(r, dict) else dict.fromkeys(record({}, {}), lambda: iter([False]))
    return {**checks, 'policy document': policy_document, 'governance changes': governance_changes, 'approver keys': approver_keys,
            'log checkpoint': log_checkpoint, 'log proofs': log_proofs, 'log order': log_order, 'members': members}


def unknown_in_key(entry, path):
    jwk = ('kty', 'crv', 'x', 'y', 'pub', 'alg', 'kid', 'use')
    yield from unknown(entry, path, ('keyId', 'algorithm', 'use', 'pem', 'jwk', 'revokedAt', 'passkey', *jwk))
    if isinstance(entry, dict):
        yield from unknown(entry.get('jwk'), f'{path}jwk.', jwk)
        yield from unknown(entry.get('passkey'), f'{path}passkey.', ('rpId', 'origins', 'backupEligible'))
