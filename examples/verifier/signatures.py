"""The signatures of evidence, as docs/handbook/evidence.md says under "Signatures".

A check is a generator. It yields True or False for each part that holds or does not, and a text for a part that cannot be checked. What it
reads has not been checked for its form: a part that is missing or of another form raises one of WRONG_FORM, which fails the check.
"""
import base64, re  # noqa: E401
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from reading import KINDS, NEVER, WRONG_FORM, base64_bytes, canonical, filled, multiply, must, read_json, same, sha256, text, time, whole


HUMAN_ALGORITHMS = ('ed25519', 'webauthn-ed25519', 'webauthn-es256')


def holds(check):
    """Whether every part of a check holds; a text, which says what is missing, where a part cannot be checked and none fails."""
    try: parts = list(check())
    except WRONG_FORM: return False
    if not all(part is True or text(part) for part in parts): return False
    return '; '.join(filter(text, parts)) or True


def message(kind, signed):
    name, body = f'application/vnd.countersign.{kind}.v1+json'.encode(), canonical(signed)
    return b'DSSEv1 %d %s %d %s' % (len(name), name, len(body), body)


def root_of(leaf, index, size, path):  # RFC 9162, 2.1.3.2
    node, last = sha256(b'\0' + leaf), size - 1
    must(0 <= index <= last)
    for sibling in path:
        must(last > 0 and len(sibling) == 32)
        node = sha256(b'\1' + sibling + node if index % 2 or index == last else b'\1' + node + sibling)
        while index == last and index % 2 == 0 and index: index, last = index // 2, last // 2
        index, last = index // 2, last // 2
    must(last == 0)
    return node


def head(signed, batch):
    origin, size, index, path = (batch[n] for n in ('origin', 'size', 'index', 'path'))
    must(len(batch) == 4 and whole(size) and 2 <= size < 2**53 and whole(index))
    must(re.fullmatch('[!-*,-~]{1,200}/batch/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', origin) is not None)
    root = root_of(signed, int(index), int(size), [base64_bytes(p) for p in path])
    return f'{origin}\n{int(size)}\n{base64.b64encode(root).decode()}\n'.encode()


def verifies(algorithm, raw, value, signed):
    if algorithm.startswith('ml-dsa'): return f'a signature of {algorithm}, which this verifier lacks'
    try:
        if algorithm == 'ed25519':
            must(multiply(value[:32], 8) not in (None, (0, 1)))
            Ed25519PublicKey.from_public_bytes(raw).verify(value, signed)
        else:
            ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b'\4' + raw).verify(value, signed, ec.ECDSA(SHA256()))
        return True
    except InvalidSignature:
        return False


def key_holds(key, algorithm, at):
    return key.algorithm == algorithm and (key.revoked == NEVER or time(at) < key.revoked)


def by_service(kind, signed, made, keys, at, allowed=('ed25519',)):
    """A signature by a key of the service over `signed`; `made` holds algorithm, keyId, value and batch, `at` is the time that was signed."""
    algorithm, name, value = made['algorithm'], made['keyId'], base64_bytes(made['value'])
    base = re.sub('-batch$', '', algorithm)
    must(algorithm in allowed and len(value) == KINDS[base][3] and text(name) and ':' not in name and (algorithm != base) == ('batch' in made))
    data = message(kind, signed)
    if 'batch' in made: data = head(data, made['batch'])
    if name not in keys: yield f'a signature by {name}, which is not given'
    else: yield key_holds(keys[name], base, at) and verifies(base, keys[name].raw, value, data)


def by_all(kind, signed, holder, first, keys, at, single, listed):
    """The signature of a record or a receipt, or its signatures by two algorithms."""
    if 'requiredAlgorithms' not in holder:
        yield 'signatures' not in holder
        return (yield from by_service(kind, signed, first, keys, at, single))
    required, made = holder['requiredAlgorithms'], holder['signatures']
    must(sorted(required) == ['ed25519', 'ml-dsa-65'] and isinstance(made, list) and len(made) == 2)
    names = ('algorithm', 'keyId', 'value', 'batch')
    yield same({n: first[n] for n in names if n in first}, {n: made[0][n] for n in names if n in made[0]})
    for place, (algorithm, entry) in enumerate(zip(required, made)):
        yield re.sub('-batch$', '', entry['algorithm']) == algorithm
        yield from by_service(kind, signed, entry, keys, at, listed if place else single)


def by_human(kind, entry, names, keys, at):
    """A signature by a key of a human, raw or a passkey, under the first of these names that is given."""
    algorithm, value, data = entry['algorithm'], base64_bytes(entry['signature']), message(kind, entry['payload'])
    key = next((keys[name] for name in names if name in keys), None)
    base = algorithm.replace('webauthn-', '', 1)
    must(algorithm in HUMAN_ALGORITHMS)
    if base == 'ed25519': yield len(value) == 64
    else: yield utils.encode_dss_signature(*utils.decode_dss_signature(value)) == value
    if algorithm != base:
        authenticator, client_data = (base64_bytes(entry['webauthn'][n]) for n in ('authenticatorData', 'clientDataJSON'))
        client = read_json(client_data, levels=8)
        challenge = base64.urlsafe_b64encode(sha256(data)).decode().rstrip('=')
        yield client['type'] == 'webauthn.get' and client['challenge'] == challenge and text(client['origin'])
        yield client.get('crossOrigin', False) is False and 'topOrigin' not in client
        flags = authenticator[32]
        yield len(authenticator) == 37 and flags & 0xc5 == 0x05 and flags & 0x18 != 0x10
        data = authenticator + sha256(client_data)
        if key is not None:
            yield client['origin'] in key.passkey['origins'] and authenticator[:32] == sha256(key.passkey['rpId'].encode())
            yield (flags & 0x08 != 0) == key.passkey['backupEligible']
    if key is None: yield f'a signature by {" or ".join(names)}, which is not given'
    else: yield (key.passkey is not None) == (algorithm != base) and key_holds(key, base, at) and verifies(base, key.raw, value, data)


def by_approver(approval, keys, decision):
    approver, key = approval['payload']['approverId'], approval['payload']['keyId']
    yield filled(approver) and ':' not in approver and text(key)
    yield from by_human('approval', approval, [f'{approver}:{key}'], keys, decision.get('evaluatedAt'))
