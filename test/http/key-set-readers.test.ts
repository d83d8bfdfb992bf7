// The key set as other people's libraries read it (RFC 7517): jose, PyJWT and Go. The tokens are signed by the keys of the service, which itself signs none.
import { spawnSync } from 'node:child_process'
import { createPrivateKey, sign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRemoteJWKSet, importJWK, jwtVerify, type JWK } from 'jose'
import { describe, expect, test } from 'vitest'
import { generateKeys } from '../../src/core/signing/keys.ts'
import type { TestService } from '../service.ts'
import { makeKeys } from '../signing-keys.ts'
import { withService } from '../with-service.ts'

const signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-test-keys-'))
makeKeys(signingKeyDir)
// Between its two ML-DSA-65 keys by name: it must stand before both in the set.
generateKeys({ dir: signingKeyDir, now: new Date('2030-01-01T00:00:00Z') })

let service: TestService
withService((made) => ({ service } = made), { signingKeyDir })

/** Debian's, whose packages these are. */
const PYTHON = '/usr/bin/python3'
const hasPyJwt = spawnSync(PYTHON, ['-c', 'import jwt']).status === 0
const hasGo = spawnSync('go', ['version']).status === 0
test.runIf(process.env['CI'] === 'true')('PyJWT and Go are installed', () => {
  expect([hasPyJwt, hasGo]).toEqual([true, true])
})

interface Entry {
  readonly keyId: string
  readonly algorithm: string
  readonly jwk: JWK
}
const url = () => `${service.url}/.well-known/jwks.json`
const entries = async (): Promise<readonly Entry[]> =>
  (await service.get('/.well-known/jwks.json', { key: null })).body.keys
const idsOf = (found: readonly Entry[], algorithm: string) =>
  found.flatMap((entry) => (entry.algorithm === algorithm ? [entry.keyId] : []))

const part = (members: object) => Buffer.from(JSON.stringify(members)).toString('base64url')

function tokenBy(keyId: string): string {
  const signed = `${part({ alg: 'EdDSA', kid: keyId })}.${part({ sub: 'read' })}`
  const key = createPrivateKey(readFileSync(join(signingKeyDir, `${keyId}.private.pem`)))
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
}

test('each entry is a JWK beside the members of interface §2.7, and Ed25519 stands first', async () => {
  const found = await entries()
  expect(found.map(({ algorithm }) => algorithm)).toEqual(['ed25519', 'ed25519', 'ml-dsa-65', 'ml-dsa-65'])
  for (const algorithm of ['ed25519', 'ml-dsa-65']) {
    const ids = idsOf(found, algorithm)
    expect(ids).toEqual(ids.toSorted())
  }
  for (const entry of found) {
    const { body } = await service.get(`/keys/${entry.keyId}`, { key: null })
    expect(entry).toEqual({ ...body, ...body.jwk })
  }
})

describe('jose', () => {
  test('verifies by each Ed25519 key of the set', async () => {
    const set = createRemoteJWKSet(new URL(url()))
    for (const keyId of idsOf(await entries(), 'ed25519'))
      expect((await jwtVerify(tokenBy(keyId), set)).payload.sub).toBe('read')
  })

  test('refuses a token that another key signed', async () => {
    const set = createRemoteJWKSet(new URL(url()))
    const [one = '', other = ''] = idsOf(await entries(), 'ed25519').map(tokenBy)
    const mixed = [...one.split('.').slice(0, 2), other.split('.')[2]].join('.')
    await expect(jwtVerify(mixed, set)).rejects.toThrow('signature verification failed')
  })

  test('imports every entry as it stands, ML-DSA-65 too', async () => {
    for (const entry of await entries())
      await expect(importJWK(entry as unknown as JWK)).resolves.toBeDefined()
  })
})

test.skipIf(!hasPyJwt)('PyJWT reads the set and verifies by each Ed25519 key', async () => {
  const ids = idsOf(await entries(), 'ed25519')
  for (const keyId of ids) {
    const run = spawnSync(PYTHON, [join(import.meta.dirname, 'readers', 'keys.py'), url(), tokenBy(keyId)], {
      encoding: 'utf8',
    })
    expect(run.stderr).toBe('')
    expect(run.stdout).toBe(`['${ids.join("', '")}']\nread\n`)
  }
})

test.skipIf(!hasGo)('Go reads the set and verifies by each Ed25519 key', async () => {
  const root = mkdtempSync(join(tmpdir(), 'countersign-go-'))
  try {
    const program = join(root, 'keys')
    const built = spawnSync('go', ['build', '-o', program, join(import.meta.dirname, 'readers', 'keys.go')], {
      env: { ...process.env, GO111MODULE: 'off', GOCACHE: join(root, 'cache'), CGO_ENABLED: '0' },
      encoding: 'utf8',
    })
    expect(built.status, built.stderr).toBe(0)
    for (const keyId of idsOf(await entries(), 'ed25519'))
      expect(spawnSync(program, [url(), tokenBy(keyId)], { encoding: 'utf8' }).stdout).toBe('true\n')
  } finally {
    rmSync(root, { recursive: true })
  }
})
