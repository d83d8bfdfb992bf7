// The published keys: GET /keys/{keyId} and GET /.well-known/jwks.json (interface §2.7, §4.1).
import { createPublicKey } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { generateKeys } from '../../src/core/signing/keys.ts'
import { reply, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { makeKeys } from '../signing-keys.ts'
import { withDatabase } from '../with-service.ts'

/** Retired: only its public half is still there. */
const HISTORICAL = '20200101T000000Z-ed25519'

let service: TestService
let signingKeyDir: string

withDatabase(async ({ start }) => {
  signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-test-keys-'))
  generateKeys({ dir: signingKeyDir, now: new Date('2020-01-01T00:00:00Z'), algorithms: ['ed25519'] })
  rmSync(join(signingKeyDir, `${HISTORICAL}.private.pem`))
  makeKeys(signingKeyDir)
  service = await start({ signingKeyDir })
})

afterAll(() => {
  rmSync(signingKeyDir, { recursive: true })
})

const publishedIds = () =>
  readdirSync(signingKeyDir)
    .flatMap((name) => (name.endsWith('.public.pem') ? [name.replace('.public.pem', '')] : []))
    .toSorted()
const open = { key: null }

describe('GET /keys/{keyId} 200', () => {
  // proves §4.1 GET /keys/{keyId} · path; §4.1 GET /.well-known/jwks.json · none; §5 GET /keys/{keyId}
  test('answers the key of every public file, historical ones included, with exactly the members of interface §2.7', async () => {
    expect(publishedIds()).toHaveLength(3)
    for (const keyId of publishedIds()) {
      const algorithm = keyId.slice(keyId.indexOf('-') + 1)
      const { status, body } = await service.get(`/keys/${keyId}`, open)
      expect(status).toBe(200)
      expect(body).toEqual({
        keyId,
        algorithm,
        use: 'sig',
        pem: readFileSync(join(signingKeyDir, `${keyId}.public.pem`), 'utf8'),
        jwk:
          algorithm === 'ed25519'
            ? { kty: 'OKP', crv: 'Ed25519', x: expect.any(String), alg: 'EdDSA', kid: keyId, use: 'sig' }
            : { kty: 'AKP', alg: 'ML-DSA-65', pub: expect.any(String), kid: keyId, use: 'sig' },
      })
      if (algorithm === 'ed25519')
        expect(createPublicKey({ key: body.jwk, format: 'jwk' }).equals(createPublicKey(body.pem))).toBe(true)
    }
  })

  test('answers the key that a record names as its signer', async () => {
    const { body } = await service.post('/execute', aTransaction())
    expect((await service.get(`/keys/${body.signature.keyId}`, open)).body.keyId).toBe(body.signature.keyId)
    expect(body.signature.keyId).not.toBe(HISTORICAL)
  })

  test('may be kept by caches, under a strong ETag', async () => {
    const { headers } = await service.get(`/keys/${HISTORICAL}`, open)
    expect(headers.get('cache-control')).toBe('public, max-age=5')
    expect(headers.get('etag')).toMatch(/^"[0-9a-f]{64}"$/)
  })
})

describe('GET /keys/{keyId} 304', () => {
  test('answers a cache that has it', async () => {
    const etag = (await service.get(`/keys/${HISTORICAL}`, open)).headers.get('etag') ?? ''
    for (const given of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, text, headers } = await service.get(`/keys/${HISTORICAL}`, {
        ...open,
        headers: { 'If-None-Match': given },
      })
      expect([status, text, headers.get('etag')]).toEqual([304, '', etag])
    }
    const changed = await service.get(`/keys/${HISTORICAL}`, {
      ...open,
      headers: { 'If-None-Match': '"other"' },
    })
    expect(changed.status).toBe(200)
  })
})

describe('GET /keys/{keyId} 404 keyNotFound', () => {
  // proves §4.1 GET /keys/{keyId} · path; §4.1 The 404 body of GET
  test.each([
    '20200101T000000Z-ml-dsa-65',
    '20200101t000000z-ed25519',
    `${HISTORICAL}.public.pem`,
    `${HISTORICAL}/../${HISTORICAL}`,
    '../keys/20200101T000000Z-ed25519',
    '__proto__',
    'constructor',
    'é"\0',
  ])('%j is no key', async (keyId) => {
    expect(reply(await service.get(`/keys/${encodeURIComponent(keyId)}`, open))).toEqual({
      status: 404,
      body: { error: `Key not found: ${keyId}` },
    })
  })
})

describe('GET /.well-known/jwks.json 200', () => {
  // proves §4.1 GET /.well-known/jwks.json · none; §5 GET /.well-known/jwks.json
  test('lists every published key as GET /keys/{keyId} answers it, with the members of its jwk beside', async () => {
    const { status, body, headers } = await service.get('/.well-known/jwks.json', open)
    const one = async (keyId: string) => {
      const { body: key } = await service.get(`/keys/${keyId}`, open)
      return { ...key, ...key.jwk } as unknown
    }
    expect(status).toBe(200)
    expect(body).toEqual({ keys: await Promise.all(publishedIds().map(one)) })
    expect(headers.get('cache-control')).toBe('public, max-age=5')
  })

  test('lists a key that another instance has made since', async () => {
    const [made] = generateKeys({
      dir: signingKeyDir,
      now: new Date('2030-01-01T00:00:00Z'),
      algorithms: ['ed25519'],
    })
    await until(async () => {
      const { body } = await service.get('/.well-known/jwks.json', open)
      return (body.keys as { keyId: string }[]).some(({ keyId }) => keyId === made?.keyId)
    }, 'the new key')
    expect((await service.get(`/keys/${made?.keyId}`, open)).status).toBe(200)
  })
})
