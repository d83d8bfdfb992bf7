import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { generateKeys } from '../../src/core/signing/keys.ts'
import { publishedKeys } from '../../src/core/signing/published.ts'

const now = new Date('2026-11-21T01:00:00Z')
const edId = '20261121T010000Z-ed25519'
const mlId = '20261121T010000Z-ml-dsa-65'
const rotatedId = '20261121T010001Z-ed25519'

let dir: string
let clockMs = 0
const errors: unknown[] = []
const published = () => publishedKeys(dir, { onError: (error) => errors.push(error), nowMs: () => clockMs })
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-published-'))
  errors.length = 0
  generateKeys({ dir, now })
})
afterEach(() => rmSync(dir, { recursive: true }))

test('publishes the members of interface §2.7, those of the jwk beside them, and no others', () => {
  const { keys } = published().jwks()
  expect(keys.map(({ keyId }) => keyId)).toEqual([edId, mlId])
  expect(keys.map((key) => Object.keys(key))).toEqual([
    ['keyId', 'algorithm', 'use', 'pem', 'jwk', 'kty', 'crv', 'x', 'alg', 'kid'],
    ['keyId', 'algorithm', 'use', 'pem', 'jwk', 'kty', 'alg', 'pub', 'kid'],
  ])
})

test('a key that another instance adds appears within a second, the old one stays', () => {
  const keys = published()
  generateKeys({ dir, now, algorithms: ['ed25519'] })
  expect(keys.get(rotatedId)).toBeUndefined()
  clockMs += 1000
  expect(keys.get(rotatedId)?.keyId).toBe(rotatedId)
  expect(keys.get(edId)?.keyId).toBe(edId)
})

test('the folder is listed at most once a second, however many unknown ids are asked for', () => {
  const keys = published()
  clockMs += 1000
  keys.get('unknown')
  generateKeys({ dir, now, algorithms: ['ed25519'] })
  for (let i = 0; i < 1000; i++) expect(keys.get(rotatedId)).toBeUndefined()
  clockMs += 1000
  expect(keys.get(rotatedId)).toBeDefined()
})

// proves §4.1 GET /keys/{keyId} · path
test('a key stays while its public file exists, private or not, and goes with it', () => {
  const keys = published()
  rmSync(join(dir, `${edId}.private.pem`))
  clockMs += 1000
  expect(keys.get(edId)).toBeDefined()
  rmSync(join(dir, `${edId}.public.pem`))
  clockMs += 1000
  expect(keys.get(edId)).toBeUndefined()
})

test('a damaged file after the start is reported and the other keys stay; at the start it is an error', () => {
  const keys = published()
  writeFileSync(join(dir, `${rotatedId}.public.pem`), 'damaged')
  clockMs += 1000
  expect(keys.jwks().keys.map(({ keyId }) => keyId)).toEqual([edId, mlId])
  expect(String(errors)).toContain(`${rotatedId}.public.pem`)
  expect(() => published()).toThrow(`${rotatedId}.public.pem`)
})

test('a keyId is looked up and never becomes a path', () => {
  const keys = published()
  for (const keyId of [
    '',
    '.',
    '..',
    '/',
    `./${edId}`,
    `../${edId}`,
    `${edId}.public.pem`,
    `${edId}\0`,
    '__proto__',
    'constructor',
  ])
    expect(keys.get(keyId)).toBeUndefined()
})
