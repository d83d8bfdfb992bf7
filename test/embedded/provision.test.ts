import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../src/core/config/config.ts'
import { provision } from '../../src/server/embedded/provision.ts'
import { generateKeys, readSigningKeys } from '../../src/core/signing/keys.ts'
import { readLogKeys } from '../../src/core/signing/log-keys.ts'
import { sha256Hex } from '../../src/store/sha256.ts'

let dataDir: string
beforeEach(() => {
  dataDir = join(mkdtempSync(join(tmpdir(), 'countersign-provision-')), 'data')
})
afterEach(() => rmSync(join(dataDir, '..'), { recursive: true }))

const start = (env: Record<string, string> = {}) => provision(readConfig({ DATA_DIR: dataDir, ...env }))
const callersFile = () => join(dataDir, 'callers.json')
const keysFolder = () => join(dataDir, 'keys')

test('the first start makes local-dev with capability * and a key of each algorithm, and tells the raw key', () => {
  const { callers, printed } = start()
  expect(callers).toMatchObject([{ callerId: 'local-dev', unrestrictedCapabilities: true }])
  expect(printed?.callerId).toBe('local-dev')
  expect(callers[0]?.keyHash).toBe(sha256Hex(printed?.rawKey ?? ''))
  expect(readSigningKeys(keysFolder(), ['ed25519', 'ml-dsa-65']).receipt).toHaveLength(2)
})

test("it makes the log's keys too, but for LOG=off", () => {
  start({ LOG: 'off' })
  expect(readdirSync(keysFolder())).not.toContain('log')
  for (let starts = 0; starts < 2; starts++) {
    start()
    expect(readLogKeys(keysFolder()).publicKeys).toHaveLength(2)
  }
})

test('only the hash of the raw key is kept, readable by the owner only', () => {
  const { printed } = start()
  expect(readFileSync(callersFile(), 'utf8')).not.toContain(printed?.rawKey)
  expect(statSync(callersFile()).mode & 0o777).toBe(0o600)
  expect(readdirSync(dataDir).toSorted()).toEqual(['callers.json', 'keys'])
})

test('the next start finds both and tells nothing', () => {
  const first = start()
  const second = start()
  expect(second.callers).toEqual(first.callers)
  expect(second.printed).toBeUndefined()
  expect(second.callersFile).toBe(callersFile())
  expect(readdirSync(keysFolder())).toHaveLength(5)
})

test('a start after a crash completes what is missing', () => {
  const dir = join(dataDir, 'keys')
  const [ed25519] = generateKeys({ dir, now: new Date(), algorithms: ['ed25519'] })
  const { printed } = start()
  expect(printed).toBeDefined()
  expect(readSigningKeys(dir, ['ed25519', 'ml-dsa-65']).ed25519.public.keyId).toBe(ed25519?.keyId)
})

test('a deleted callers.json is made again, with another key', () => {
  const first = start()
  rmSync(callersFile())
  const second = start()
  expect(second.printed?.rawKey).not.toBe(first.printed?.rawKey)
  expect(second.callers).not.toEqual(first.callers)
})

test('a damaged callers.json stops the start by its name and is left as it is', () => {
  start()
  writeFileSync(callersFile(), '[{')
  expect(() => start()).toThrow(`${callersFile()} must be a JSON array`)
  expect(readFileSync(callersFile(), 'utf8')).toBe('[{')
})

test('callers that are configured are used and no local one is made', () => {
  const SERVICE_API_KEYS = JSON.stringify([{ callerId: 'acme', keyHash: 'a'.repeat(64) }])
  const { callers, callersFile: file, printed } = start({ SERVICE_API_KEYS })
  expect(callers.map(({ callerId }) => callerId)).toEqual(['acme'])
  expect(file).toBeUndefined()
  expect(printed).toBeUndefined()
  expect(readdirSync(dataDir)).toEqual(['keys'])
})

test('a key folder that is configured is used as it is, empty or not', () => {
  for (const SIGNING_KEY_DIR of [join(dataDir, 'mine'), join(dataDir, 'keys')]) {
    start({ SIGNING_KEY_DIR })
    expect(readdirSync(dataDir)).toEqual(['callers.json'])
  }
})

test('with authentication disabled no caller is made', () => {
  expect(start({ SERVICE_AUTH_DISABLED: 'true' })).toMatchObject({ callers: [] })
  expect(readdirSync(dataDir)).toEqual(['keys'])
})
