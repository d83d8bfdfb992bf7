// Signing keys that are revoked: the file beside the public key, who reads it, and what still verifies.
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readSession, signSession, type SessionPayload } from '../../src/core/callers/console-session.ts'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { openCrypto } from '../../src/core/signing/crypto.ts'
import {
  generateKeys,
  privateKeyAccess,
  readPublicKeys,
  readSigningKeys,
} from '../../src/core/signing/keys.ts'
import { publishedKeys } from '../../src/core/signing/published.ts'
import { revocationFile, revokeKey } from '../../src/core/signing/revocation.ts'
import {
  openSignatureMemo,
  sign,
  signEd25519,
  signTogether,
  verifySignature,
} from '../../src/core/signing/signature.ts'
import { checkAuthorization, type SignedAuthorization } from '../../workers/gateway.ts'

const made = new Date('2026-11-21T01:00:00Z')
const edId = '20261121T010000Z-ed25519'
const mlId = '20261121T010000Z-ml-dsa-65'
const AT = '2026-11-21T02:00:00.000Z'
const before = '2026-11-21T03:59:59.999+02:00'
const after = '2026-11-21T02:00:00.001Z'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-revoked-'))
  generateKeys({ dir, now: made })
})
afterEach(() => rmSync(dir, { recursive: true }))

const write = (text: string, keyId = edId) => writeFileSync(revocationFile(dir, keyId), text)
const rotate = () => generateKeys({ dir, now: made })
const keyOf = (keyId: string) => readPublicKeys(dir).get(keyId)!

describe('the file', () => {
  test.each([
    ['2026-11-21T02:00:00Z\n', AT],
    ['2026-11-21T02:00:00.000Z', AT],
    ['2026-11-21T04:30:00.0009+02:30\n', AT],
    ['2026-11-21t02:00:00.5z\r\n', '2026-11-21T02:00:00.500Z'],
  ])('%j is a time', (text, revokedAt) => {
    write(text)
    expect(keyOf(edId).revokedAt).toBe(revokedAt)
    expect(keyOf(mlId)).not.toHaveProperty('revokedAt')
  })

  test.each([
    '',
    '\n',
    'yes\n',
    '2026-11-21\n',
    '2026-11-21T02:00:00\n',
    '2026-02-30T00:00:00Z\n',
    `${AT}\n${AT}\n`,
    ` ${AT}\n`,
  ])('%j is refused, by name', (text) => {
    write(text)
    for (const read of [
      () => readPublicKeys(dir),
      () => readSigningKeys(dir, []),
      () => publishedKeys(dir, { onError: () => undefined }),
    ])
      expect(read).toThrow(`${revocationFile(dir, edId)} must hold one time`)
  })

  test.each([0o664, 0o646, 0o666])(
    'that others can write (%o) is refused, since they could take it back',
    (mode) => {
      write(AT)
      chmodSync(revocationFile(dir, edId), 0o644)
      rotate()
      expect(privateKeyAccess(dir)).toEqual({ writable: [], warnings: [] })
      chmodSync(revocationFile(dir, edId), mode)
      expect(() => readSigningKeys(dir, [])).toThrow(
        `${edId}.revoked can be written by others (mode 0${mode.toString(8)}), who can take the revocation of the key back.`,
      )
    },
  )
})

describe('keys that sign', () => {
  test.each([
    [edId, []],
    [edId, ['ml-dsa-65']],
    [mlId, ['ed25519', 'ml-dsa-65']],
  ] as const)(
    'with %s revoked and receipts by %j there is none until the keys are rotated',
    (keyId, receipts) => {
      write(AT, keyId)
      expect(() => readSigningKeys(dir, receipts)).toThrow(
        new RegExp(`${keyId}, is revoked since ${AT}.* countersign keys rotate --dir ${dir}$`),
      )
      rotate()
      expect(readSigningKeys(dir, receipts).ed25519.public.keyId).not.toBe(edId)
    },
  )

  test('a key that signs nothing may be revoked', () => {
    write(AT, mlId)
    expect(readSigningKeys(dir, ['ed25519']).receipt).toHaveLength(1)
  })
})

describe('a service that runs', () => {
  let clockMs = 0
  const errors: unknown[] = []
  const published = () => publishedKeys(dir, { onError: (error) => errors.push(error), nowMs: () => clockMs })

  test('publishes a revocation within a second, a key that was known included, and that it moved', () => {
    const keys = published()
    const [known, keySet] = [keys.get(edId), keys.jwks()]
    for (const [text, revokedAt] of [
      [AT, AT],
      ['2026-11-21T01:30:00Z', '2026-11-21T01:30:00.000Z'],
    ] as const) {
      write(text)
      clockMs += 1000
      expect(keys.get(edId)?.revokedAt).toBe(revokedAt)
      expect(keys.jwks().keys.map((key) => key['revokedAt'])).toEqual([revokedAt, undefined])
    }
    // A holder of what a key verified, as sessions are held, learns of it by the identity of the key.
    expect(keys.get(edId)).not.toBe(known)
    expect(keys.jwks()).not.toBe(keySet)
    clockMs += 1000
    expect(keys.get(edId)).toBe(keys.get(edId))
    expect(keys.jwks()).toBe(keys.jwks())
  })

  test('a file that cannot be read is reported; a known key stays as it was, a new one is not published', () => {
    const keys = published()
    errors.length = 0
    const [newer] = rotate()
    write('')
    write('', newer?.keyId)
    clockMs += 1000
    expect(keys.get(edId)).not.toHaveProperty('revokedAt')
    expect(keys.get(newer?.keyId ?? '')).toBeUndefined()
    expect(errors.map(String)).toEqual([
      expect.stringContaining(revocationFile(dir, edId)),
      expect.stringContaining(revocationFile(dir, newer?.keyId ?? '')),
    ])
  })
})

describe('revokeKey', () => {
  const now = new Date('2026-11-21T03:00:00Z')
  const revoke = (at: string) => revokeKey(dir, keyOf(edId), { at, now })

  test('writes one time and a newline, which may be moved to an earlier time only', () => {
    expect(revoke('2026-11-21T04:00:00+02:00')).toBe(AT)
    expect(readFileSync(revocationFile(dir, edId), 'utf8')).toBe(`${AT}\n`)
    expect(() => revoke(after)).toThrow(`${edId} is revoked since ${AT}. With --at`)
    expect(revoke(AT)).toBe(AT)
    expect(revoke('2026-11-20T00:00:00Z')).toBe('2026-11-20T00:00:00.000Z')
    expect(keyOf(edId).revokedAt).toBe('2026-11-20T00:00:00.000Z')
  })

  test.each([
    ['2026-11-21T03:00:00.001Z', '--at must not be later than now'],
    ['tomorrow', '--at must be a time'],
    ['2026-11-21T02:00:00', '--at must be a time'],
    ['', '--at must be a time'],
  ])('refuses %j', (at, why) => {
    expect(() => revoke(at)).toThrow(why)
    expect(existsSync(revocationFile(dir, edId))).toBe(false)
  })
})

/** Signed by a key that is then revoked. */
describe('what a revoked key signed', () => {
  const kinds = [
    ['trust-record', 'createdAt'],
    ['receipt', 'issuedAt'],
    ['refusal-record', 'createdAt'],
    ['execution-authorization', 'authorizedAt'],
    ['audit-event', 'occurredAt'],
    ['governance-change', 'proposedAt'],
    ['intent-transition', 'at'],
    ['provider-confirmation', 'receivedAt'],
    ['approval-request', 'createdAt'],
    ['approval-request-close', 'closedAt'],
    ['approval-request-note', 'notedAt'],
  ] as const

  async function isValid(artifact: (typeof kinds)[number][0], value: Json, keyId: string): Promise<boolean> {
    const { receipt } = readSigningKeys(dir, ['ed25519', 'ml-dsa-65'])
    const text = canonicalize(value)
    const [signature] = await sign(
      artifact,
      text,
      receipt.filter(({ public: key }) => key.keyId === keyId),
    )
    write(AT, keyId)
    const key = keyOf(keyId)
    const crypto = openCrypto({ findKey: () => key, findApproverKey: () => undefined })
    const alone = verifySignature(artifact, text, signature!, key)
    const reported = () => crypto.verifySignature(artifact, text, signature!)
    if (alone) expect(reported()).toBe(true)
    else expect(reported).toThrow(`key "${keyId}" was revoked at ${AT}`)
    return alone
  }

  // proves abuse: Evidence signed by a stolen signing key
  describe.each([edId, mlId])('by %s', (keyId) => {
    test.each(kinds)('as %s counts by its %s', async (artifact, time) => {
      expect(await isValid(artifact, { [time]: before }, keyId)).toBe(true)
      rmSync(revocationFile(dir, keyId))
      for (const at of [AT, after, 'never', null, 20261121]) {
        expect(await isValid(artifact, { [time]: at, signedAt: before }, keyId)).toBe(false)
        rmSync(revocationFile(dir, keyId))
      }
      expect(await isValid(artifact, {}, keyId)).toBe(false)
      rmSync(revocationFile(dir, keyId))
      expect(await isValid(artifact, [before], keyId)).toBe(false)
    })
  })

  test('in a batch counts for each by itself, also where the signature of the batch is known to hold', async () => {
    const { ed25519 } = readSigningKeys(dir, [])
    const signatureMemo = openSignatureMemo()
    const texts = [before, after].map((createdAt) => canonicalize({ createdAt }))
    const signed = await signTogether('trust-record', texts, [ed25519], {
      batchSignatures: true,
      originName: 'test',
      newId: randomUUID,
      signatureMemo,
    })
    write(AT)
    const counts = signed.map(([one], i) =>
      verifySignature('trust-record', texts[i]!, one!, keyOf(edId), signatureMemo),
    )
    expect(counts).toEqual([true, false])
  })

  // proves abuse: Evidence signed by a stolen signing key
  test('is no session, whenever that began', () => {
    const nowMs = Date.parse(AT)
    const payload = { version: 1, startedMs: nowMs - 1000, usedMs: nowMs - 1000 } as SessionPayload
    const token = signSession(payload, readSigningKeys(dir, []).ed25519)
    const read = () => readSession(token, { isOurs: () => true, findKey: () => keyOf(edId), nowMs })
    expect(read()?.payload).toEqual(payload)
    write(AT)
    expect(read()).toBeUndefined()
  })

  // proves abuse: Evidence signed by a stolen signing key
  test('is no authorization to execute', () => {
    const { ed25519 } = readSigningKeys(dir, [])
    const transaction = { businessTransactionId: 'tx', intent: { action: 'a', target: 't' } }
    const check = (authorizedAt: string) => {
      const payload = { version: 1, authorizedAt } as SignedAuthorization['payload']
      const { value, ...by } = signEd25519('execution-authorization', canonicalize(payload), ed25519)
      return checkAuthorization(
        { payload, ...by, signature: value },
        { transaction, parameters: {}, findKey: () => keyOf(edId), now: new Date(AT) },
      )
    }
    expect(check(after)).toBe('AUTHORIZATION_EXPIRED')
    write(AT)
    expect(check(before)).toBe('AUTHORIZATION_EXPIRED')
    expect(check(after)).toBe('AUTHORIZATION_SIGNATURE_INVALID')
  })
})
