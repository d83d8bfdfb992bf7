"""Reads JSON, times, Base64 and keys as docs/handbook/evidence.md says under "Reading" and "Keys". What it refuses is one of WRONG_FORM."""
import base64, datetime, decimal, functools, hashlib, json, re  # noqa: E401
from collections import namedtuple
from cryptography.hazmat.primitives.asymmetric import ec

NEVER = float('inf')
Key = namedtuple('Key', 'algorithm raw passkey revoked')  # of a passkey {rpId, origins, backupEligible}; a time in milliseconds or NEVER
WRONG_FORM = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError)


def sha256(data): return hashlib.sha256(data).digest()


def must(holds, what='wrong form'):
    if holds is not True: raise ValueError(what)


def read_json(data, levels=80):
    def number(text):
        value = float(text)
        must(abs(value) < float('inf') and (value != 0 or not re.search('[1-9]', re.split('[eE]', text)[0])), 'a number out of range')
        return value

    def members(pairs):
        must(len(dict(pairs)) == len(pairs) and '__proto__' not in dict(pairs), 'a name twice, or __proto__')
        return dict(pairs)

    value = json.loads(data.decode('utf-8'), object_pairs_hook=members, parse_int=number, parse_float=number, parse_constant=number)
    depth = lambda v: 1 + max(map(depth, v.values() if isinstance(v, dict) else v), default=0) if isinstance(v, (dict, list)) else 0  # noqa: E731
    must(depth(value) <= levels, 'too deep')
    canonical(value)  # refuses lone surrogates, which UTF-8 does not have
    return value


def number_text(value):  # as ECMAScript writes it
    sign, digits, exponent = decimal.Decimal(repr(value)).normalize().as_tuple()
    digits, count = ''.join(map(str, digits)), len(digits)
    point = count + exponent
    if value == 0: return '0'
    if count <= point <= 21: text = digits.ljust(point, '0')
    elif 0 < point <= 21: text = f'{digits[:point]}.{digits[point:]}'
    elif -6 < point <= 0: text = f'0.{"0" * -point}{digits}'
    else: text = f'{digits[0]}{"." * (count > 1)}{digits[1:]}e{point - 1:+d}'
    return '-' * sign + text


def canonical(value):
    def write(v):
        if isinstance(v, dict):
            return '{' + ','.join(f'{write(n)}:{write(v[n])}' for n in sorted(v, key=lambda n: n.encode('utf-16-be'))) + '}'
        if isinstance(v, list): return '[' + ','.join(map(write, v)) + ']'
        return number_text(v) if isinstance(v, float) else json.dumps(v, ensure_ascii=False)
    return write(value).encode('utf-8')


def digest(value): return sha256(canonical(value)).hex()
def same(*values): return len({canonical(v) for v in values}) == 1
def without(value, *names): return {n: v for n, v in value.items() if n not in names}
def pick(value, *names): return {n: value[n] for n in names}
def text(v): return isinstance(v, str)
def filled(v): return text(v) and v != ''
def number(v): return isinstance(v, float)
def whole(v): return number(v) and v.is_integer()
def is_hash(v): return text(v) and re.fullmatch('[0-9a-f]{64}', v) is not None
def list_of(form): return lambda v: isinstance(v, list) and all(map(form, v))
def one_of(*values): return lambda v: text(v) and v in values


def base64_bytes(value, url=False):
    data = base64.b64decode(value.translate({45: 43, 95: 47} if url else {}) + '=' * (-len(value) % 4) * url)
    must((base64.urlsafe_b64encode(data).rstrip(b'=') if url else base64.b64encode(data)) == value.encode())
    return data


def time(value):  # in milliseconds
    t = re.fullmatch(r'([1-9]\d{3}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))', value, re.ASCII)
    hour, minute, second, zone_hour, zone_minute = (int(t[i] or 0) for i in (2, 3, 4, 7, 8))
    must(hour < 24 and minute < 60 and second < 60 and zone_hour < 24 and zone_minute < 60)
    days, zone = datetime.date.fromisoformat(t[1]).toordinal(), (zone_hour * 60 + zone_minute) * (-1 if t[6] == '-' else 1)
    return (((days * 24 + hour) * 60 + minute - zone) * 60 + second) * 1000 + int(f'{t[5] or ""}000'[:3])


def is_time(v):
    try: return isinstance(time(v), int)
    except WRONG_FORM: return False


# Keys
P, D, ORDER = 2**255 - 19, -121665 * pow(121666, -1, 2**255 - 19), 2**252 + 27742317777372353535851937790883648493


@functools.lru_cache(maxsize=None)
def multiply(raw, factor):  # of a point of Ed25519; None where the bytes are no canonical encoding of one
    y, sign, result = int.from_bytes(raw, 'little') % 2**255, raw[31] >> 7, (0, 1)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P: x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - square) % P or (x == 0 and sign): return None
    point = (P - x if x % 2 != sign else x, y)
    def add(a, b):
        k = D * a[0] * b[0] * a[1] * b[1]
        return ((a[0] * b[1] + a[1] * b[0]) * pow(1 + k, -1, P) % P, (a[1] * b[1] + a[0] * b[0]) * pow(1 - k, -1, P) % P)
    for bit in f'{factor:b}':
        result = add(result, result)
        if bit == '1': result = add(result, point)
    return result


KINDS = {  # of each algorithm the names of its jwk's alg, the start of its SPKI, and the length of a key and of a signature
    'ed25519': (('EdDSA', 'Ed25519'), '302a300506032b6570032100', 32, 64),
    'ml-dsa-65': (('ML-DSA-65',), '308207b2300b0609608648016503040312038207a100', 1952, 3309),
    'es256': (('ES256',), '3059301306072a8648ce3d020106082a8648ce3d03010703420004', 64, None)}


def key_of_jwk(jwk, is_passkey):
    kind = (jwk.get('kty'), jwk.get('crv', jwk.get('alg')))
    if kind == ('OKP', 'Ed25519'): return 'ed25519', base64_bytes(jwk['x'], url=True)
    if kind == ('AKP', 'ML-DSA-65'): return 'ml-dsa-65', base64_bytes(jwk['pub'], url=True)
    if kind == ('EC', 'P-256') and is_passkey: return 'es256', base64_bytes(jwk['x'], url=True).rjust(32, b'?') + base64_bytes(jwk['y'], url=True)
    return 'another kind', b''


def key_of_pem(pem, is_passkey):
    block = re.fullmatch(r'-----BEGIN PUBLIC KEY-----\r?\n((?:[A-Za-z0-9+/=]+\r?\n)+)-----END PUBLIC KEY-----[ \t\r\n]*', pem)
    der = base64_bytes(re.sub(r'[\r\n]', '', block[1]))
    for name, (_, start, length, _) in KINDS.items():
        if der.hex().startswith(start) and (name != 'es256' or is_passkey):
            return name, der[len(start) // 2:]
    must(der[:1] == b'0' and der[1] in (len(der) - 2, 0x81, 0x82))
    return 'another kind', b''


def read_key(entry):
    jwk = entry.get('jwk', {})
    must(isinstance(jwk, dict))
    both = [entry, jwk]
    must(not any(n in part for n in ('d', 'priv') for part in both), 'a private key')
    must(all(same(jwk[n], entry[n]) for n in jwk if n in entry), 'two values of a member')
    names = [part[n] for n in ('keyId', 'kid') for part in both if n in part]
    must(filled(names[0]) and same(*names), 'no name, or two')
    is_passkey = entry.get('algorithm') == 'es256' or 'passkey' in entry  # else a P-256 key is of another kind
    found = {key_of_jwk(part, is_passkey) for part in ([entry] if 'kty' in entry else []) + ([jwk] if 'jwk' in entry else [])}
    found |= {key_of_pem(entry['pem'], is_passkey)} if 'pem' in entry else set()
    must(len(found) == 1, 'no key, or two')
    [(algorithm, raw)] = found
    must(all(part['use'] == 'sig' for part in both if 'use' in part), 'another use')
    if algorithm == 'another kind':
        must('algorithm' not in entry or entry['algorithm'] not in KINDS)
        return names[0], None
    algs, _, length, _ = KINDS[algorithm]
    must(entry.get('algorithm', algorithm) == algorithm and all(part['alg'] in algs for part in both if 'alg' in part), 'another algorithm')
    must(len(raw) == length and (algorithm != 'ed25519' or multiply(raw, ORDER) == (0, 1) != multiply(raw, 1)), 'no such key')
    passkey = entry.get('passkey')
    if algorithm == 'es256': ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b'\4' + raw)
    if algorithm == 'es256' or 'passkey' in entry:
        passkey = pick(passkey, 'rpId', 'origins', 'backupEligible')
        must(filled(passkey['rpId']) and passkey['origins'] != [] and list_of(filled)(passkey['origins']))
        must(isinstance(passkey['backupEligible'], bool) and algorithm != 'ml-dsa-65')
    return names[0], Key(algorithm, raw, passkey, time(entry['revokedAt']) if 'revokedAt' in entry else NEVER)


def merge(*named_keys):
    keys, owners = {}, {}
    for name, key in named_keys:
        if key is None: continue
        before = keys.get(name, key)
        must(same(before.passkey, key.passkey) and before[:2] == key[:2], 'two keys of one name')
        keys[name] = key._replace(revoked=min(before.revoked, key.revoked))
        if not name.endswith(':step-up'): owners.setdefault(key.raw, set()).add(name.split(':')[0] if ':' in name else None)
    must(all(len(who) == 1 for who in owners.values()), 'a key of two owners')
    return keys


def named_keys(value):
    """The keys of a set, a single key, or a list of both, each with its name."""
    if isinstance(value, list): return [named for part in value for named in named_keys(part)]
    must(isinstance(value, dict) and ('keys' not in value or isinstance(value['keys'], list)))
    return list(map(read_key, value.get('keys', [value])))


def read_keys(*files):
    keys = merge(*(named for file in files for named in named_keys(read_json(file))))
    must(len(keys) > 0, 'no key')
    return keys
