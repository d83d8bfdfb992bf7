// Assertions by passkeys: every check says which one it is, and two other implementations agree about the signatures.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { verifyAuthenticationResponse } from '@simplewebauthn/server'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verifiers } from '../../src/formats/verifier/crypto.ts'
import { readKeySet } from '../../src/formats/verifier/keys.ts'
import { assertedBytes, readPasskey } from '../../src/formats/webauthn/assertion.ts'
import { preAuthEncoding } from '../vectors/keys.ts'
import {
  asserted,
  FLAGS,
  ORIGIN,
  passkeyJson,
  passkeys,
  RP_ID,
  type Otherwise,
  type PasskeyOwner,
} from '../vectors/passkeys.ts'

const TEXT = '{"a":1}'
const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest())
const message = new TextEncoder().encode(preAuthEncoding('approval', TEXT))
const url = (base64 = '') => Buffer.from(base64, 'base64').toString('base64url')
const { UP, UV, BE, BS, AT, ED } = FLAGS

function signed(owner: PasskeyOwner, how?: Otherwise) {
  const made = asserted('approval', TEXT, owner, how)
  const passkey = readPasskey(passkeyJson(owner)['passkey'])
  return { made, bytes: () => assertedBytes(made['webauthn'], { message, passkey, sha256 }) }
}

test.each<[string, Otherwise]>([
  ['webauthn.authenticatorData is not canonical base64', { webauthn: { authenticatorData: 'A' } }],
  ['webauthn.clientDataJSON is not canonical base64', { webauthn: { clientDataJSON: undefined } }],
  ['the client data is not JSON with exactly one reading', { clientText: (text) => text.slice(1) }],
  ['the client data is not an object', { clientText: () => '[]' }],
  ['the type is another one', { clientData: { type: 'webauthn.create' } }],
  ['another challenge', { artifact: 'step-up' }],
  ['has no origin', { clientData: { origin: undefined } }],
  ["an origin that is not one of the key's", { clientData: { origin: 'https://evil.example' } }],
  ["another site's page", { clientData: { crossOrigin: true } }],
  ["another site's page", { clientData: { topOrigin: ORIGIN } }],
  [
    'has 38 bytes, and must have 37',
    { authenticatorData: (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]) },
  ],
  ['another rpId', { rpId: 'evil.example' }],
  ['(UP)', { flags: UV | BE }],
  ['(UV)', { flags: UP | BE }],
  ['announces more', { flags: UP | UV | BE | AT }],
  ['announces more', { flags: UP | UV | BE | ED }],
  ['(BE)', { flags: UP | UV }],
])('an assertion is refused: %s', (why, how) => {
  expect(signed(passkeys.dana, how).bytes).toThrow(why)
})

test('an assertion of a key that was copied and cannot be is refused', () => {
  expect(signed(passkeys.erik, { flags: UP | UV | BS }).bytes).toThrow('BS without BE')
})

describe.each([
  ['es256', passkeys.dana],
  ['ed25519', passkeys.erik],
] as const)('%s, by any bytes', (algorithm, owner) => {
  const key = readKeySet(passkeyJson(owner)).get(owner.keyId)
  const publicKey = key?.bytes ?? new Uint8Array()
  const nodeKey = createPublicKey(passkeyJson(owner)['pem'] as string)
  const second = (bytes: Uint8Array, signature: Uint8Array) =>
    verify(algorithm === 'es256' ? 'sha256' : null, bytes, nodeKey, signature)

  test('signatures, and changed ones, verify as OpenSSL says', () => {
    let valid = 0
    fc.assert(
      fc.property(fc.nat(), fc.boolean(), fc.option(fc.nat(), { freq: 2 }), (signCount, highS, at) => {
        const { made, bytes } = signed(owner, { signCount: signCount % 2 ** 32, highS })
        const signature = Buffer.from(made['signature'] as string, 'base64')
        if (at !== null) {
          const index = at % signature.length
          signature[index] = (signature[index] ?? 0) ^ (1 << (at % 8))
        }
        const given = { message: bytes(), signature, publicKey }
        const holds = verifiers[algorithm](given)
        expect(holds).toBe(second(given.message, signature))
        if (holds) valid++
      }),
      { numRuns: 60, seed: 7 },
    )
    expect(valid).toBeGreaterThan(5)
  })
})

describe('@simplewebauthn/server', () => {
  // The COSE key of ES256 (RFC 9053 §2.1, §7.1.1): {1: 2, 3: -7, -1: 1, -2: x, -3: y}.
  const { bytes } = readKeySet(passkeyJson(passkeys.dana)).get(passkeys.dana.keyId) ?? {}
  const point = Buffer.from(bytes ?? [])
  const cose = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    point.subarray(0, 32),
    Buffer.from('225820', 'hex'),
    point.subarray(32),
  ])

  async function saysOf(how?: Otherwise): Promise<boolean> {
    const { made } = signed(passkeys.dana, how)
    const webauthn = made['webauthn'] as Record<string, string>
    try {
      const { verified } = await verifyAuthenticationResponse({
        response: {
          id: 'AAAA',
          rawId: 'AAAA',
          type: 'public-key',
          clientExtensionResults: {},
          response: {
            authenticatorData: url(webauthn['authenticatorData']),
            clientDataJSON: url(webauthn['clientDataJSON']),
            signature: url(made['signature'] as string),
          },
        },
        expectedChallenge: Buffer.from(sha256(message)).toString('base64url'),
        expectedOrigin: ORIGIN,
        expectedRPID: RP_ID,
        credential: { id: 'AAAA', publicKey: new Uint8Array(cose), counter: 0 },
        requireUserVerification: true,
      })
      return verified
    } catch {
      return false
    }
  }

  test.each<[string, boolean, Otherwise]>([
    ['a high S', true, { highS: true }],
    ['a low S', true, { highS: false }],
    ['UV off', false, { flags: UP | BE }],
    ['UP off', false, { flags: UV | BE }],
    ['another rpId', false, { rpId: 'evil.example' }],
    ['another origin', false, { clientData: { origin: 'https://evil.example' } }],
    ['another challenge', false, { artifact: 'step-up' }],
    ['the creation of a passkey', false, { clientData: { type: 'webauthn.create' } }],
    ['BS without BE', false, { flags: UP | UV | BS }],
  ])('says the same of %s', async (_, valid, how) => {
    expect(await saysOf(how)).toBe(valid)
    let ours: boolean
    try {
      const { made, bytes: assertion } = signed(passkeys.dana, how)
      const signature = Buffer.from(made['signature'] as string, 'base64')
      ours = verifiers.es256({ message: assertion(), signature, publicKey: bytes ?? new Uint8Array() })
    } catch {
      ours = false
    }
    expect(ours).toBe(valid)
  })
})
