// Records by approvals that passkeys signed (decisions §12): a case for each check of an assertion.
import { anApproval, approvedBeside, approvedBy } from '../approvals.ts'
import type { Cases } from '../case.ts'
import { membersAt, put, type Json, type Members } from '../edit.ts'
import { canonical, humans, sha256, sign } from '../keys.ts'
import { asserted, FLAGS, passkeys, rawKeyOf, type Otherwise, type PasskeyOwner } from '../passkeys.ts'
import { asked, carrying } from './requested.ts'

const FAILING = ['approvals']
const { UP, UV, BE, BS, AT, ED } = FLAGS

/** An approval whose payload is as a raw key signs it. */
export function byPasskey(owner: PasskeyOwner, how?: Otherwise, change: Members = {}): Members {
  const payload = membersAt(anApproval({ ...rawKeyOf(owner) }, change), 'payload')
  return { payload, ...asserted('approval', canonical(payload), owner, how) }
}

const ofRequest = (request: Members, owner: PasskeyOwner) =>
  byPasskey(owner, {}, { version: 2, requestHash: sha256(canonical(request)) })

export function passkeyApprovals(all: Cases): void {
  const { dana, erik, unpublished } = passkeys
  const valid = (id: string, what: string, record: Members) => all.add(`passkey-valid-${id}`, what, record)
  const fails = (id: string, what: string, ...approvals: Json[]) =>
    all.add(`passkey-${id}`, what, approvedBy(approvals), FAILING)

  valid('es256', 'A passkey of ES256 signed.', approvedBy([byPasskey(dana)]))
  valid('ed25519', 'A passkey of Ed25519 signed.', approvedBy([byPasskey(erik)]))
  valid('both', 'Two passkeys signed.', approvedBy([byPasskey(dana), byPasskey(erik)]))
  valid(
    'beside-raw',
    'A passkey and a raw key signed.',
    approvedBy([byPasskey(dana), anApproval(humans.erik)]),
  )
  valid('high-s', 'S is above half the order.', approvedBy([byPasskey(dana, { highS: true })]))
  valid('low-s', 'S is below half the order.', approvedBy([byPasskey(dana, { highS: false })]))
  valid('request-es256', 'ES256 signed for a request.', carrying(asked, [ofRequest(asked, dana)]))
  valid('request-ed25519', 'Ed25519 signed for a request.', carrying(asked, [ofRequest(asked, erik)]))
  all.add(
    'passkey-behind',
    'A passkey of who asked signed.',
    approvedBeside(['dana'], [byPasskey(dana)]),
    FAILING,
  )
  valid('counter', 'The counter is above zero.', approvedBy([byPasskey(dana, { signCount: 4_294_967_295 })]))
  valid(
    'not-backed-up',
    'It can be copied and is not.',
    approvedBy([byPasskey(dana, { flags: UP | UV | BE })]),
  )
  valid(
    'second-origin',
    "It signed at the second of the key's origins.",
    approvedBy([byPasskey(dana, { clientData: { origin: 'https://console.approve.example:8443' } })]),
  )
  valid(
    'no-cross-origin',
    'The client data has no crossOrigin.',
    approvedBy([byPasskey(dana, { clientData: { crossOrigin: undefined } })]),
  )
  valid(
    'member-more',
    'The browser added a member.',
    approvedBy([byPasskey(dana, { clientData: { other_keys_can_be_added_here: 'do not compare' } })]),
  )

  const rows: [id: string, what: string, how: Otherwise, owner?: PasskeyOwner][] = [
    ['uv-off', 'The user was not verified.', { flags: UP | BE | BS }],
    ['up-off', 'Nobody was present.', { flags: UV | BE | BS }],
    ['at', 'The flag of attested data is set.', { flags: UP | UV | BE | AT }],
    ['ed', 'The flag of extensions is set.', { flags: UP | UV | BE | ED }],
    ['be-changed', 'It was enrolled as one that can be copied.', { flags: UP | UV }],
    ['be-changed-on', 'It was enrolled as one that cannot be copied.', { flags: UP | UV | BE }, erik],
    ['bs-without-be', 'It was copied, and cannot be.', { flags: UP | UV | BS }, erik],
    ['other-rp-id', 'It signed for another site.', { rpId: 'approve.example.evil' }],
    ['other-origin', 'It signed at another origin.', { clientData: { origin: 'https://evil.example' } }],
    [
      'origin-upper-case',
      'The origin is in another letter case.',
      { clientData: { origin: 'HTTPS://APPROVE.EXAMPLE' } },
    ],
    ['origin-missing', 'There is no origin.', { clientData: { origin: undefined } }],
    ['origin-list', 'The origin is a list.', { clientData: { origin: ['https://approve.example'] } }],
    ['cross-origin', "It signed in another site's page.", { clientData: { crossOrigin: true } }],
    ['cross-origin-null', 'crossOrigin is null.', { clientData: { crossOrigin: null } }],
    ['top-origin', "Another site's page is named.", { clientData: { topOrigin: 'https://approve.example' } }],
    ['top-origin-null', 'topOrigin is null.', { clientData: { topOrigin: null } }],
    ['step-up', 'The challenge is that of a step-up.', { artifact: 'step-up' }],
    ['key-proof', 'The challenge is that of a proof of possession.', { artifact: 'key-proof' }],
    ['create', 'It is of the creation of a passkey.', { clientData: { type: 'webauthn.create' } }],
    ['payment', 'It is of a payment.', { clientData: { type: 'payment.get' } }],
    ['type-missing', 'It is of no type.', { clientData: { type: undefined } }],
    ['challenge-padded', 'The challenge is padded.', { clientText: padded }],
    ['challenge-hex', 'The challenge is in hexadecimal.', { clientText: inHex }],
    ['challenge-missing', 'There is no challenge.', { clientData: { challenge: undefined } }],
    [
      'login',
      'The challenge is 32 bytes of a login.',
      { clientData: { challenge: Buffer.alloc(32, 7).toString('base64url') } },
    ],
    [
      'duplicate-member',
      'A member of the client data stands there twice.',
      { clientText: (text) => text.replace('{', '{"type":"webauthn.create",') },
    ],
    [
      'client-bom',
      'A byte order mark stands before the client data.',
      { clientText: (text) => `\ufeff${text}` },
    ],
    [
      'client-not-utf-8',
      'The client data is not UTF-8.',
      { clientText: (text) => Buffer.from(text.replace('}', ',"x":"\u00e9"}'), 'latin1') },
    ],
    ['client-text', 'The client data is no JSON.', { clientText: () => 'webauthn.get' }],
    ['client-list', 'The client data is a list.', { clientText: (text) => `[${text}]` }],
    ['client-empty', 'The client data is empty.', { clientText: () => '' }],
    [
      'bytes-38',
      'The authenticator data has 38 bytes.',
      { authenticatorData: (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]) },
    ],
    [
      'bytes-36',
      'The authenticator data has 36 bytes.',
      { authenticatorData: (bytes) => bytes.subarray(0, 36) },
    ],
    ['bytes-0', 'The authenticator data is empty.', { authenticatorData: () => Buffer.alloc(0) }],
    ['der-zero', 'R has a needless zero.', { signature: zeroBeforeR }],
    ['der-long-length', 'The length of the signature has a needless byte.', { signature: longLength }],
    [
      'der-behind',
      'A byte stands behind the signature.',
      { signature: (der) => Buffer.concat([der, Buffer.alloc(1)]) },
    ],
    ['der-cut', 'The signature lacks its last byte.', { signature: (der) => der.subarray(0, -1) }],
    ['p1363', 'The signature is R and S alone.', { signature: rAndS }],
    ['zero', 'R and S are zero.', { signature: () => Buffer.from('3006020100020100', 'hex') }],
    ['bogus', 'A byte of the signature is another one.', { signature: changedEnd }],
    ['bogus-ed25519', 'A byte of the signature is another one.', { signature: changedEnd }, erik],
    ['short-ed25519', 'The signature has 63 bytes.', { signature: (bytes) => bytes.subarray(0, 63) }, erik],
    ['empty', 'The signature is empty.', { signature: () => Buffer.alloc(0) }],
    ['algorithm-other', 'ES256 is called Ed25519.', { algorithm: 'webauthn-ed25519' }],
    ['algorithm-other-ed25519', 'Ed25519 is called ES256.', { algorithm: 'webauthn-es256' }, erik],
    ['algorithm-es256', 'It is called es256.', { algorithm: 'es256' }],
    ['algorithm-ed25519', 'It is called ed25519.', { algorithm: 'ed25519' }, erik],
    ['algorithm-rs256', 'It is called webauthn-rs256.', { algorithm: 'webauthn-rs256' }],
    ['algorithm-batch', 'It is called a signature by batch.', { algorithm: 'webauthn-es256-batch' }],
    ['no-client-data', 'There is no client data.', { webauthn: { clientDataJSON: undefined } }],
    [
      'no-authenticator-data',
      'There is no authenticator data.',
      { webauthn: { authenticatorData: undefined } },
    ],
    ['client-data-null', 'The client data is null.', { webauthn: { clientDataJSON: null } }],
    [
      'client-data-other',
      'The client data is that of another signature.',
      { webauthn: { clientDataJSON: (byPasskey(erik)['webauthn'] as Members)['clientDataJSON'] } },
    ],
  ]
  for (const [id, what, how, owner = dana] of rows) fails(id, what, byPasskey(owner, how))

  fails('no-webauthn', 'There is no assertion.', put(byPasskey(dana), 'webauthn', null))
  const changed = byPasskey(dana)
  fails(
    'changed',
    'The payload was changed after it was signed.',
    put(changed, 'payload.nonce', 'x'.repeat(32)),
  )
  const url = membersAt(changed, 'webauthn')['authenticatorData'] as string
  fails(
    'unpadded-base64',
    'The authenticator data lacks the padding of its base64.',
    put(changed, 'webauthn.authenticatorData', url.replace(/=+$/, '')),
  )
  const { payload } = byPasskey(erik) as { payload: Members }
  const raw = sign('approval', canonical(payload), rawKeyOf(erik))
  fails('raw-by-passkey', 'A passkey signed as a raw key does.', {
    payload,
    algorithm: 'ed25519',
    signature: raw.value,
  })
  const laptop = membersAt(anApproval(humans.erik), 'payload')
  const asPasskey: PasskeyOwner = { ...humans.erik, algorithm: 'ed25519', backupEligible: false }
  fails('by-raw', 'A raw key signed as a passkey does.', {
    payload: laptop,
    ...asserted('approval', canonical(laptop), asPasskey),
  })
  all.addUnchecked(
    'passkey-not-given',
    'The passkey is not given.',
    approvedBy([byPasskey(unpublished)]),
    FAILING,
  )
  fails(
    'not-given-uv-off',
    'The passkey is not given, and did not verify its user.',
    byPasskey(unpublished, { flags: UP }),
  )
  fails(
    'not-given-challenge',
    'The passkey is not given, and signed as a step-up.',
    byPasskey(unpublished, { artifact: 'step-up' }),
  )
  for (const [id, what, change] of [
    ['caller', 'Another caller asked for it.', { requestedBy: 'agent-8' }],
    [
      'policy',
      'It was asked for under another policy.',
      { policy: { ...(asked['policy'] as Members), name: 'payments' } },
    ],
    ['signal', 'A signal had another value.', { signals: { humanApproved: true, amount: 41 } }],
  ] as const) {
    const request = { ...asked, ...change }
    all.add(`passkey-request-${id}`, what, carrying(request, [ofRequest(request, dana)]), FAILING)
  }
}

function padded(text: string): string {
  return text.replace(/("challenge":"[^"]+)/, '$1=')
}

function inHex(text: string): string {
  return text.replace(/(?<="challenge":")[^"]+/, (one) => Buffer.from(one, 'base64url').toString('hex'))
}

/** The same number with a zero before it, and the lengths to match. */
function zeroBeforeR(der: Buffer): Buffer {
  const [length = 0, rLength = 0] = [der[1], der[3]]
  const head = Buffer.of(0x30, length + 1, 0x02, rLength + 1, 0x00)
  return Buffer.concat([head, der.subarray(4)])
}

function longLength(der: Buffer): Buffer {
  return Buffer.concat([Buffer.of(0x30, 0x81), der.subarray(1)])
}

function rAndS(der: Buffer): Buffer {
  const number = (at: number) => der.subarray(at + 2, at + 2 + (der[at + 1] ?? 0))
  const [r, s] = [number(2), number(4 + (der[3] ?? 0))]
  return Buffer.concat([r, s].map((one) => Buffer.concat([Buffer.alloc(32), one]).subarray(-32)))
}

function changedEnd(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes)
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
  return changed
}
