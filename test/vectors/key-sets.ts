// Key sets as people save them, and those that a verifier must not verify by: which are read, which are refused, and what is left.
import { createHash } from 'node:crypto'
import type { Json, Members } from './edit.ts'
import { humans, keys, keySetEntry, publicKeyJson, unpublished } from './keys.ts'
import { passkeyJson, passkeys } from './passkeys.ts'

export interface KeySetCase {
  readonly id: string
  readonly what: string
  /** Texts of files that are given together. */
  readonly files: readonly string[]
  /** The keys that are read from them, by their ids in ascending order; absent: the key set must be refused. */
  readonly keyIds?: readonly string[]
}

const ED25519 = keys.ed25519.keyId
const ML_DSA_65 = keys.mlDsa65.keyId
const entry = () => publicKeyJson(keys.ed25519)
const pq = () => publicKeyJson(keys.mlDsa65)
const jwk = () => entry()['jwk'] as Members
const pem = () => entry()['pem'] as string
const other = () => publicKeyJson(keys.oldEd25519)
const human = (keyId: string): Json => ({
  keyId,
  algorithm: 'ed25519',
  pem: publicKeyJson(humans.dana)['pem'] as string,
})
/** The entry with other members; those that are undefined are left out. */
const withMembers = (of: Members, change: { readonly [name: string]: Json | undefined }): Members =>
  Object.fromEntries(
    Object.entries({ ...of, ...change }).filter(([, member]) => member !== undefined),
  ) as Members
const withJwk = (change: { readonly [name: string]: Json | undefined }) =>
  withMembers(entry(), { jwk: withMembers(jwk(), change) })
const pemOnly = (text: string): Members => ({ keyId: ED25519, algorithm: 'ed25519', use: 'sig', pem: text })

/** A point as a key: 32 bytes, in hex. */
function pointEntry(hex: string): Members {
  return {
    keyId: ED25519,
    jwk: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(hex, 'hex').toString('base64url') },
  }
}

/** Small order: 1, 2, 4, 8; mixed order: a key of prime order plus one of small order; encodings that are none. */
const POINTS: readonly (readonly [id: string, what: string, hex: string])[] = [
  ['identity', 'the neutral point', `01${'00'.repeat(31)}`],
  ['order-2', 'a point of order 2', `ec${'ff'.repeat(30)}7f`],
  ['order-4', 'a point of order 4', '00'.repeat(32)],
  ['order-8', 'a point of order 8', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'],
  [
    'order-8-other',
    'another point of order 8',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ],
  // Case 3 of "Taming the many EdDSAs" (Chalkias, Garillot, Nikolaenko, 2020): the sum of a key and a point of order 8.
  [
    'mixed-order',
    'a point of mixed order',
    'f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43',
  ],
  ['identity-not-canonical', 'the neutral point in another encoding', `ee${'ff'.repeat(30)}7f`],
  ['sign-of-zero', 'the neutral point with the sign of a zero', `01${'00'.repeat(30)}80`],
  ['not-on-curve', 'no point of the curve', `02${'00'.repeat(31)}`],
]

const P256 = {
  kty: 'EC',
  crv: 'P-256',
  x: createHash('sha256').update('p256 x').digest('base64url'),
  y: createHash('sha256').update('p256 y').digest('base64url'),
  kid: 'p256',
}
/** A key of another kind in a pem. */
const OTHER_KIND_PEM = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE5kI20SMdtfReLtL0c38ZIIP5dboZ
Ra2PP/b/cJ5/EKCBAiTTU218+17sZn9ds81LP5lZlSEYID+Mx6qBMFPT1A==
-----END PUBLIC KEY-----
`

const file = (value: Json) => JSON.stringify(value)
const set = (...entries: Json[]): Json => ({ keys: entries })

export function keySetCases(): KeySetCase[] {
  const cases: KeySetCase[] = []
  const read = (id: string, what: string, keyIds: readonly string[], ...files: Json[]) =>
    cases.push({ id: `key-set/${id}`, what, files: files.map(file), keyIds: keyIds.toSorted() })
  const refuse = (id: string, what: string, ...files: Json[]) =>
    cases.push({ id: `key-set/${id}`, what, files: files.map(file) })
  const refuseText = (id: string, what: string, ...files: string[]) =>
    cases.push({ id: `key-set/${id}`, what, files })
  const BOTH = [ED25519, ML_DSA_65]

  read(
    'valid',
    'As the service answers it: the members of each jwk stand beside it too.',
    BOTH,
    set(keySetEntry(keys.ed25519), keySetEntry(keys.mlDsa65)),
  )
  read('valid-jwk-alone', 'The members of each jwk stand in it alone.', BOTH, set(entry(), pq()))
  read(
    'valid-jwk-beside',
    'The members of a jwk stand beside a pem, and there is no jwk.',
    [ED25519],
    set(withMembers(keySetEntry(keys.ed25519), { jwk: undefined })),
  )
  read(
    'valid-jwk-partly-beside',
    'Some members of the jwk stand beside it too.',
    [ED25519],
    set(withMembers(entry(), { kid: ED25519, alg: 'EdDSA' })),
  )
  read(
    'valid-alg-beside-only',
    'The alg stands beside the jwk alone.',
    [ED25519],
    set(withMembers(keySetEntry(keys.ed25519), { jwk: withMembers(jwk(), { alg: undefined }) })),
  )
  read('valid-files', 'Single keys in files of their own.', BOTH, entry(), pq())
  read('valid-list', 'A file that is a list of single keys and sets.', BOTH, [entry(), set(pq())])
  read('valid-jwks', 'A standard JWKS.', BOTH, set(jwk(), pq()['jwk'] as Json))
  read('valid-pem-only', 'No entry has a jwk.', [ED25519], set(pemOnly(pem())))
  read('valid-jwk-only', 'The entry has a keyId and a jwk.', [ED25519], set({ keyId: ED25519, jwk: jwk() }))
  read(
    'valid-no-algorithm',
    'The entry claims no algorithm.',
    [ED25519],
    set(withMembers(entry(), { algorithm: undefined })),
  )
  read('valid-kid-with-pem', 'The name of a pem is its kid.', [ED25519], set({ kid: ED25519, pem: pem() }))
  read('valid-alg-ed25519', 'The alg is the one of RFC 9864.', [ED25519], set(withJwk({ alg: 'Ed25519' })))
  read('valid-no-alg', 'The jwk of an Ed25519 key has no alg.', [ED25519], set(withJwk({ alg: undefined })))
  read(
    'valid-no-use',
    'The entry says nothing of its use.',
    [ED25519],
    set(withMembers(entry(), { use: undefined })),
  )
  read('valid-twice', 'A key stands there twice.', [ED25519], set(entry(), entry()))
  read(
    'valid-other-kinds',
    'Keys of other kinds stand beside it, and are left out.',
    [ED25519],
    set(P256, { keyId: 'p256', pem: OTHER_KIND_PEM }, entry()),
  )
  read(
    'valid-unknown-member',
    'An entry has a member that nobody knows.',
    [ED25519],
    set(withMembers(entry(), { x5t: 'x', note: null })),
  )
  read(
    'valid-pem-crlf',
    'The lines of the pem end with CR LF.',
    [ED25519],
    set(pemOnly(pem().replaceAll('\n', '\r\n'))),
  )
  read('valid-pem-no-end', 'The pem has no line break at its end.', [ED25519], set(pemOnly(pem().trimEnd())))
  read(
    'valid-pem-blank-end',
    'White space stands behind the pem.',
    [ED25519],
    set(pemOnly(`${pem()} \t\r\n\n`)),
  )
  read(
    'valid-pem-one-line',
    'The base64 of the pem is in lines of another length.',
    [ED25519],
    set(pemOnly(pem().replace(/(M[^\n]{10})/, '$1\n'))),
  )
  read('valid-human', 'The key of a human.', ['dana:laptop'], publicKeyJson(humans.dana))
  read(
    'valid-human-two-names',
    'One key has two names of one approver.',
    ['alice:1', 'alice:2'],
    set(human('alice:1'), human('alice:2')),
  )
  read(
    'valid-human-step-up',
    'One key is that of an approver and of a step-up.',
    ['alice:1', 'dana:step-up'],
    set(human('alice:1'), human('dana:step-up')),
  )
  read(
    'valid-revoked',
    'A key was revoked.',
    ['dana:laptop'],
    withMembers(publicKeyJson(humans.dana), { revokedAt: '2026-11-21T01:00:00+01:00' }),
  )
  read(
    'valid-revoked-copies',
    'Two files disagree about when a key was revoked.',
    ['dana:laptop'],
    withMembers(publicKeyJson(humans.dana), { revokedAt: '2026-11-21T01:00:00Z' }),
    publicKeyJson(humans.dana),
  )

  for (const [id, member, value] of [
    ['kty', 'kty', 'EC'],
    ['crv', 'crv', 'P-256'],
    ['x', 'x', (other()['jwk'] as Members)['x'] ?? null],
    ['x-null', 'x', null],
    ['alg', 'alg', 'Ed25519'],
    ['alg-number', 'alg', 5],
    ['kid', 'kid', 'x'],
    ['use', 'use', 'enc'],
  ] as const)
    refuse(
      `beside-${id}`,
      `The ${member} beside the jwk is another one than in it.`,
      set(withMembers(keySetEntry(keys.ed25519), { [member]: value })),
    )
  refuse(
    'beside-x-without-kty',
    'The x beside the jwk is another one than in it, and no kty stands beside it.',
    set(withMembers(entry(), { x: (other()['jwk'] as Members)['x'] })),
  )
  refuse(
    'beside-pub',
    'The pub beside the jwk is another one than in it.',
    set(withMembers(keySetEntry(keys.mlDsa65), { pub: 'AAAA' })),
  )
  refuse(
    'beside-all',
    'The members beside the pem and the jwk are those of another key.',
    set(withMembers(entry(), { ...(other()['jwk'] as Members), kid: ED25519 })),
  )
  passkeyCases(read, refuse)
  for (const [id, what, hex] of POINTS)
    refuse(`point-${id}`, `The Ed25519 key is ${what}.`, set(pointEntry(hex)))
  refuse(
    'point-in-pem',
    'The Ed25519 key of a pem is the neutral point.',
    set(
      pemOnly(
        `-----BEGIN PUBLIC KEY-----\n${Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from([1]), Buffer.alloc(31)]).toString('base64')}\n-----END PUBLIC KEY-----\n`,
      ),
    ),
  )
  refuse(
    'point-beside',
    'One of two keys is a point of order 4.',
    set(pq(), { ...pointEntry('00'.repeat(32)), keyId: 'x' }),
  )

  refuse('use-enc', 'The use is encryption.', set(withMembers(entry(), { use: 'enc' })))
  refuse('use-enc-jwk', 'The use of the jwk is encryption.', set(withJwk({ use: 'enc' })))
  refuse('use-null', 'The use is null.', set(withMembers(entry(), { use: null })))
  refuse('private-d', 'The jwk holds a private key.', set(withJwk({ d: 'AA' })))
  refuse(
    'private-d-entry',
    'The entry holds a private key beside its pem.',
    set(withMembers(entry(), { d: 'AA', jwk: undefined })),
  )
  refuse(
    'private-priv',
    'The ML-DSA-65 jwk holds a private key.',
    set(withMembers(pq(), { jwk: { ...(pq()['jwk'] as Members), priv: 'AA' } })),
  )
  refuse(
    'private-other-kind',
    'A private key of another kind stands beside it.',
    set(entry(), { ...P256, d: 'AA' }),
  )
  refuse('private-null', 'The private member is null.', set(withJwk({ d: null })))
  refuse('two-names', 'keyId and the kid of the jwk differ.', set(withJwk({ kid: 'x' })))
  refuse('two-names-entry', 'keyId and kid differ.', set(withMembers(entry(), { kid: 'x' })))
  refuse('no-name', 'There is no name.', set(withMembers(withJwk({ kid: undefined }), { keyId: undefined })))
  refuse('name-empty', 'The name is empty.', set({ keyId: '', pem: pem() }))
  refuse('name-number', 'The name is a number.', set({ keyId: 1, pem: pem() }))
  refuse('name-null', 'The kid is null beside a keyId.', set(withMembers(entry(), { kid: null })))
  refuse('alg-rs256', 'The alg is of another kind.', set(withJwk({ alg: 'RS256' })))
  refuse('alg-null', 'The alg is null.', set(withJwk({ alg: null })))
  refuse(
    'algorithm-other',
    'The algorithm is not the one of the key.',
    set(withMembers(entry(), { algorithm: 'ml-dsa-65' })),
  )
  refuse(
    'algorithm-case',
    'The algorithm is in capital letters.',
    set(withMembers(entry(), { algorithm: 'Ed25519' })),
  )
  refuse('algorithm-null', 'The algorithm is null.', set(withMembers(entry(), { algorithm: null })))
  refuse(
    'algorithm-unknown',
    'The algorithm is one that nobody knows, the key an Ed25519 one.',
    set(withMembers(entry(), { algorithm: 'rsa' })),
  )
  refuse(
    'algorithm-of-other-kind',
    'It is called ed25519 and holds a key of another kind.',
    set({ keyId: ED25519, algorithm: 'ed25519', pem: OTHER_KIND_PEM }),
  )
  refuse(
    'different-keys',
    'pem and jwk are different keys.',
    set(withMembers(entry(), { pem: other()['pem'] })),
  )
  refuse(
    'different-kinds',
    'The jwk is of another kind than the pem.',
    set(withMembers(entry(), { jwk: { ...P256, kid: ED25519 } })),
  )
  refuse('jwk-null', 'The jwk is null.', set(withMembers(entry(), { jwk: null })))
  refuse('jwk-list', 'The jwk is a list.', set(withMembers(entry(), { jwk: [] })))
  refuse(
    'same-name',
    'Two keys have one name.',
    set(entry(), withMembers(other(), { keyId: ED25519, jwk: undefined })),
  )
  refuse(
    'same-name-files',
    'Two keys of two files have one name.',
    set(entry()),
    withMembers(other(), { keyId: ED25519, jwk: undefined }),
  )
  refuse(
    'same-key-two-approvers',
    'One key has the names of two approvers.',
    set(human('alice:1'), human('bob:1')),
  )
  refuse(
    'same-key-service',
    "One key has an approver's name and the service's.",
    set(human('alice:1'), human(ED25519)),
  )
  refuse('x-padded', 'The base64url has padding.', set(withJwk({ x: `${jwk()['x'] as string}=` })))
  refuse(
    'x-base64',
    'The key is in base64, not in base64url.',
    set({ keyId: unpublished.ed25519.keyId, jwk: standardBase64() }),
  )
  refuse(
    'x-trailing-bits',
    'The bits of the base64url that no byte needs are not zero.',
    set(withMembers(withJwk({ x: trailingBits(jwk()['x'] as string) }), { pem: undefined })),
  )
  refuse('x-short', 'The key has 30 bytes.', set(withJwk({ x: (jwk()['x'] as string).slice(0, 40) })))
  refuse('x-number', 'The key is a number.', set(withJwk({ x: 5 })))
  refuse('x-missing', 'There is no key in the jwk.', set(withJwk({ x: undefined })))
  refuse('x-space', 'A space stands before the base64url.', set(withJwk({ x: ` ${jwk()['x'] as string}` })))
  refuse(
    'pub-short',
    'The ML-DSA-65 key lacks its end.',
    set(withMembers(pq(), { pem: undefined, jwk: { ...(pq()['jwk'] as Members), pub: 'AAAA' } })),
  )
  refuse('pem-cr', 'The lines of the pem end with CR.', set(pemOnly(pem().replaceAll('\n', '\r'))))
  refuse(
    'pem-line-separator',
    'The lines of the pem end with U+2028.',
    set(pemOnly(pem().replaceAll('\n', '\u2028'))),
  )
  refuse('pem-form-feed', 'A form feed stands in the pem.', set(pemOnly(pem().replace('\n', '\f\n'))))
  refuse('pem-indented', 'The pem is indented.', set(pemOnly(pem().replaceAll(/^/gm, '  '))))
  refuse('pem-blank-before', 'White space stands before the pem.', set(pemOnly(`\n${pem()}`)))
  refuse('pem-blank-line', 'An empty line stands in the pem.', set(pemOnly(pem().replace('\n', '\n\n'))))
  refuse('pem-behind', 'A letter stands behind the pem.', set(pemOnly(`${pem()}x`)))
  refuse('pem-nbsp-behind', 'A no-break space stands behind the pem.', set(pemOnly(`${pem()}\u00a0`)))
  refuse('pem-two', 'There are two blocks.', set(pemOnly(`${pem()}${pem()}`)))
  refuse(
    'pem-certificate',
    'The pem is called a certificate.',
    set(pemOnly(pem().replaceAll('PUBLIC KEY', 'CERTIFICATE'))),
  )
  refuse(
    'pem-private',
    'The pem is called a private key.',
    set(pemOnly(pem().replaceAll('PUBLIC KEY', 'PRIVATE KEY'))),
  )
  refuse('pem-empty', 'The pem is empty.', set(pemOnly('')))
  refuse('pem-null', 'The pem is null.', set(withMembers(entry(), { pem: null })))
  refuse(
    'pem-trailing-bits',
    'The bits of the base64 of the pem that no byte needs are not zero.',
    set(pemOnly(pemWith(trailingBits))),
  )
  refuse(
    'pem-unpadded',
    'The base64 of the pem lacks its padding.',
    set(pemOnly(pemWith((text) => text.replace(/=+$/, '')))),
  )
  refuse(
    'pem-byte-more',
    'A byte stands behind the key.',
    set(
      pemOnly(
        pemWith((text) => Buffer.concat([Buffer.from(text, 'base64'), Buffer.alloc(1)]).toString('base64')),
      ),
    ),
  )
  refuse('pem-cut', 'The key is cut short.', set(pemOnly(pemWith((text) => text.slice(0, -4)))))
  refuse('revoked-null', 'revokedAt is null.', withMembers(publicKeyJson(humans.dana), { revokedAt: null }))
  refuse(
    'revoked-no-day',
    'revokedAt is on no day.',
    withMembers(publicKeyJson(humans.dana), { revokedAt: '2026-02-30T00:00:00Z' }),
  )
  refuse('no-list', 'There is no list.', {})
  refuse('keys-object', 'The keys are no list.', { keys: {} })
  refuse('keys-null', 'The keys are null.', { keys: null })
  refuse('keys-and-pem', 'The keys are no list, and a pem stands beside.', { ...entry(), keys: null })
  refuse('empty', 'There is no key.', set())
  refuse('null', 'It is null.', null)
  refuse('text', 'It is a text.', 'keys')
  refuse('entry-text', 'An entry is a text.', set('x'))
  refuse('entry-null', 'An entry is null.', set(null))
  refuse('entry-without-key', 'An entry holds no key.', set({ keyId: ED25519, algorithm: 'ed25519' }))
  refuse('other-kinds-only', 'Only keys of other kinds are there.', set(P256))
  refuse('second-file', 'The second of two files is none.', set(entry()), {})
  refuseText('not-json', 'It is not JSON.', 'keys')
  refuseText('duplicate-key', 'A member stands there twice.', '{"keys":[],"keys":[]}')
  refuseText('bom', 'A byte order mark stands before it.', `\ufeff${file(set(entry()))}`)
  refuseText('deep', 'A member is nested 81 deep.', `{"keys":[],"x":${'['.repeat(80)}${']'.repeat(80)}}`)
  return cases
}

const es256 = () => passkeyJson(passkeys.dana)
const erik = () => passkeyJson(passkeys.erik)

type Add<T extends unknown[]> = (id: string, what: string, ...rest: T) => void

/** A key that a human enrolled as a passkey: ES256 or Ed25519, with the site that it signs for. */
function passkeyCases(read: Add<[readonly string[], ...Json[]]>, refuse: Add<Json[]>): void {
  const DANA = 'dana:passkey'
  const withPasskey = (change: { readonly [name: string]: Json | undefined }) =>
    withMembers(es256(), { passkey: withMembers(es256()['passkey'] as Members, change) })
  const es256Jwk = (change: { readonly [name: string]: Json | undefined }) =>
    withMembers(es256(), { pem: undefined, jwk: withMembers(es256()['jwk'] as Members, change) })
  read('valid-passkey-es256', 'A passkey of ES256.', [DANA], es256())
  read('valid-passkey-ed25519', 'A passkey of Ed25519.', ['erik:passkey'], erik())
  read('valid-passkey-pem', 'A passkey has no jwk.', [DANA], withMembers(es256(), { jwk: undefined }))
  read('valid-passkey-jwk', 'A passkey has no pem.', [DANA], es256Jwk({}))
  read('valid-passkey-no-alg', 'Its jwk has no alg.', [DANA], es256Jwk({ alg: undefined }))
  read(
    'valid-passkey-no-algorithm',
    'A passkey claims no algorithm.',
    [DANA],
    withMembers(es256(), { algorithm: undefined }),
  )
  read(
    'valid-passkey-member-more',
    'A passkey has a member more.',
    [DANA],
    withPasskey({ credentialId: 'AAAA' }),
  )
  read('valid-passkey-twice', 'A passkey stands there twice.', [DANA], es256(), es256())
  refuse('es256-no-passkey', 'An es256 key is no passkey.', withMembers(es256(), { passkey: undefined }))
  refuse('passkey-null', 'The passkey is null.', withMembers(es256(), { passkey: null }))
  refuse('passkey-list', 'The passkey is a list.', withMembers(es256(), { passkey: [] }))
  refuse(
    'passkey-ml-dsa-65',
    'An ML-DSA-65 key is a passkey.',
    withMembers(pq(), { passkey: es256()['passkey'] }),
  )
  refuse('passkey-no-rp-id', 'It is for no site.', withPasskey({ rpId: undefined }))
  refuse('passkey-rp-id-empty', 'Its site has an empty name.', withPasskey({ rpId: '' }))
  refuse('passkey-no-origins', 'It has no origins.', withPasskey({ origins: undefined }))
  refuse('passkey-origins-empty', 'Its list of origins is empty.', withPasskey({ origins: [] }))
  refuse(
    'passkey-origins-text',
    'Its origins are a text.',
    withPasskey({ origins: 'https://approve.example' }),
  )
  refuse(
    'passkey-origin-null',
    'One of its origins is null.',
    withPasskey({ origins: ['https://a.example', null] }),
  )
  refuse('passkey-origin-empty', 'One of its origins is empty.', withPasskey({ origins: [''] }))
  refuse('passkey-no-be', 'Whether it can be copied is not said.', withPasskey({ backupEligible: undefined }))
  refuse('passkey-be-text', 'Whether it can be copied is a text.', withPasskey({ backupEligible: 'true' }))
  refuse(
    'passkey-and-raw',
    'One file says that it is a passkey, and another one that it is not.',
    erik(),
    withMembers(erik(), { passkey: undefined }),
  )
  refuse(
    'passkey-two-sites',
    'Two files name two sites of it.',
    es256(),
    withPasskey({ rpId: 'other.example' }),
  )
  refuse(
    'passkey-two-origins',
    'Two files name other origins of it.',
    es256(),
    withPasskey({ origins: ['https://approve.example'] }),
  )
  refuse(
    'passkey-called-ed25519',
    'An es256 passkey is called ed25519.',
    withMembers(es256(), { algorithm: 'ed25519' }),
  )
  refuse(
    'passkey-called-es256',
    'An Ed25519 passkey is called es256.',
    withMembers(erik(), { algorithm: 'es256' }),
  )
  refuse(
    'passkey-two-approvers',
    'One passkey has the names of two approvers.',
    es256(),
    withMembers(es256Jwk({ kid: undefined }), { keyId: 'erik:passkey' }),
  )
  refuse('passkey-alg', 'The alg of its jwk is another one.', es256Jwk({ alg: 'EdDSA' }))
  refuse('passkey-private', 'Its jwk holds the private key.', es256Jwk({ d: 'AA' }))
  refuse('passkey-x-short', 'x has 31 bytes.', es256Jwk({ x: Buffer.alloc(31, 1).toString('base64url') }))
  refuse('passkey-y-missing', 'There is no y.', es256Jwk({ y: undefined }))
  refuse(
    'passkey-not-on-curve',
    'Its key is no point of the curve.',
    es256Jwk({ y: (es256()['jwk'] as Members)['x'] }),
  )
  refuse(
    'passkey-x-too-great',
    'x is above the prime.',
    es256Jwk({ x: Buffer.alloc(32, 255).toString('base64url') }),
  )
}

/** The next letter at its end: the same bytes to a reader that drops the bits which no byte needs. */
function trailingBits(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
  const [, start = '', letter = '', padding = ''] = /^(.*)([^=])(=*)$/.exec(text) ?? []
  const changed = `${start}${alphabet[alphabet.indexOf(letter) + 1] ?? ''}${padding}`
  if (!Buffer.from(changed, 'base64').equals(Buffer.from(text, 'base64')))
    throw new Error('no bits are left over')
  return changed
}

/** A pem whose base64 is another text. */
function pemWith(change: (base64: string) => string): string {
  const base64 = pem().replaceAll(/-----[^-]+-----|\n/g, '')
  return `-----BEGIN PUBLIC KEY-----\n${change(base64)}\n-----END PUBLIC KEY-----\n`
}

/** A jwk with a letter in which the two alphabets differ. */
function standardBase64(): Members {
  const key = Object.values({ ...keys, ...humans })
    .map((one) => publicKeyJson(one)['jwk'] as Members)
    .find(({ x }) => typeof x === 'string' && /[-_]/.test(x))
  if (key === undefined) throw new Error('no key needs the letters that differ')
  const { kid: _, ...rest } = key
  return { ...rest, x: (key['x'] as string).replaceAll('-', '+').replaceAll('_', '/') }
}
