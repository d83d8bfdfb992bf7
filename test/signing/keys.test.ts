import { execFileSync } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  generateKeys,
  generateMissingKeys,
  readPublicKeys,
  readSigningKeys,
} from '../../src/core/signing/keys.ts'

const now = new Date('2026-11-21T01:00:00.999Z')
const edId = '20261121T010000Z-ed25519'
const mlId = '20261121T010000Z-ml-dsa-65'

let root: string
let dir: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'countersign-keys-'))
  dir = join(root, 'a', 'keys')
})
afterEach(() => rmSync(root, { recursive: true }))

const privateFile = (keyId: string) => join(dir, `${keyId}.private.pem`)
const publicFile = (keyId: string) => join(dir, `${keyId}.public.pem`)
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
const both = ['ed25519', 'ml-dsa-65'] as const

describe('generating', () => {
  test('makes one key of each algorithm, named by time and algorithm, readable by the owner only', () => {
    const made = generateKeys({ dir, now })
    expect(made.map(({ keyId }) => keyId)).toEqual([edId, mlId])
    expect(readdirSync(dir)).toHaveLength(4)
    expect(mode(dir)).toBe('700')
    for (const keyId of [edId, mlId]) {
      expect(mode(privateFile(keyId))).toBe('600')
      expect(mode(publicFile(keyId))).toBe('644')
    }
  })

  test('keeps ML-DSA-65 as its 32-byte seed (RFC 9881)', () => {
    generateKeys({ dir, now })
    const base64 = readFileSync(privateFile(mlId), 'utf8').replaceAll(/-----.*-----|\n/g, '')
    expect(Buffer.from(base64, 'base64')).toHaveLength(54)
  })

  test('in the same second, or with a clock gone back, the new key is still the greatest', () => {
    generateKeys({ dir, now })
    const [second] = generateKeys({ dir, now, algorithms: ['ed25519'] })
    const [third] = generateKeys({ dir, now: new Date(0), algorithms: ['ed25519'] })
    expect([second?.keyId, third?.keyId]).toEqual(['20261121T010001Z-ed25519', '20261121T010002Z-ed25519'])
    expect(readSigningKeys(dir, []).ed25519.public.keyId).toBe(third?.keyId)
  })

  test('missing keys only: an algorithm that has one keeps it', () => {
    generateKeys({ dir, now, algorithms: ['ed25519'] })
    expect(generateMissingKeys({ dir, now }).map(({ keyId }) => keyId)).toEqual([mlId])
    expect(generateMissingKeys({ dir, now })).toEqual([])
  })

  test('a public half without its private one, left by a crash, is completed by a new key', () => {
    generateKeys({ dir, now, algorithms: ['ed25519'] })
    rmSync(privateFile(edId))
    generateMissingKeys({ dir, now })
    expect(readSigningKeys(dir, []).ed25519.public.keyId).toBe('20261121T010001Z-ed25519')
    expect([...readPublicKeys(dir).keys()]).toContain(edId)
  })
})

describe('reading', () => {
  test('a folder that is not there has no keys, and one that cannot be read is an error', () => {
    expect(readPublicKeys(join(root, 'missing')).size).toBe(0)
    const file = join(root, 'a-file')
    writeFileSync(file, '')
    expect(() => readPublicKeys(join(file, 'keys'))).toThrow('ENOTDIR')
  })

  test('the greatest keyId of each algorithm signs, every public one is there', () => {
    generateKeys({ dir, now })
    generateKeys({ dir, now: new Date('2027-01-01T00:00:00Z'), algorithms: ['ed25519'] })
    const keys = readSigningKeys(dir, both)
    expect(keys.receipt.map((key) => key.public.keyId)).toEqual(['20270101T000000Z-ed25519', mlId])
    expect([...readPublicKeys(dir).keys()]).toEqual([edId, mlId, '20270101T000000Z-ed25519'])
  })

  test('a public key has the members of interface §2.7, its JWK those of RFC 8037 or RFC 9964', () => {
    generateKeys({ dir, now })
    const [ed25519, mlDsa65] = readPublicKeys(dir).values()
    expect(ed25519).toMatchObject({ keyId: edId, algorithm: 'ed25519', use: 'sig' })
    expect(ed25519?.pem).toBe(readFileSync(publicFile(edId), 'utf8'))
    expect(ed25519?.bytes).toHaveLength(32)
    expect(ed25519?.jwk).toEqual({
      kty: 'OKP',
      crv: 'Ed25519',
      x: Buffer.from(ed25519?.bytes ?? []).toString('base64url'),
      kid: edId,
      alg: 'EdDSA',
      use: 'sig',
    })
    expect(mlDsa65?.bytes).toHaveLength(1952)
    expect(mlDsa65?.jwk).toEqual({
      kty: 'AKP',
      alg: 'ML-DSA-65',
      pub: Buffer.from(mlDsa65?.bytes ?? []).toString('base64url'),
      kid: mlId,
      use: 'sig',
    })
  })

  test('a key made by openssl signs', () => {
    generateKeys({ dir, now, algorithms: ['ed25519'] })
    execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', privateFile(edId)])
    execFileSync('openssl', ['pkey', '-in', privateFile(edId), '-pubout', '-out', publicFile(edId)])
    const key = readSigningKeys(dir, []).ed25519
    const signature = key.sign(Buffer.from('x'))
    expect(Buffer.isBuffer(signature) && key.public.verifies(Buffer.from('x'), signature)).toBe(true)
  })

  test('ML-DSA-65 with its expanded key beside the seed, as OpenSSL and Node write it, signs', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ml-dsa-65')
    generateKeys({ dir, now })
    writeFileSync(privateFile(mlId), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    writeFileSync(publicFile(mlId), publicKey.export({ type: 'spki', format: 'pem' }))
    const [key] = readSigningKeys(dir, ['ml-dsa-65']).receipt
    const signature = await key?.sign(Buffer.from('x'))
    expect(signature && key?.public.verifies(Buffer.from('x'), signature)).toBe(true)
  })

  test('no part of a private key can be printed or serialised', () => {
    generateKeys({ dir, now })
    const keys = readSigningKeys(dir, both)
    const printed = inspect(keys, { depth: 9, showHidden: true, maxArrayLength: null }) + JSON.stringify(keys)
    for (const keyId of [edId, mlId]) {
      const der = createPrivateKey(readFileSync(privateFile(keyId))).export({ type: 'pkcs8', format: 'der' })
      const seed = keyId === edId ? der.subarray(-32) : der.subarray(30, 62)
      for (const encoding of ['hex', 'base64', 'base64url'] as const)
        expect(printed).not.toContain(seed.toString(encoding))
      expect(printed).not.toContain('PRIVATE KEY')
    }
  })
})

describe('refusing', () => {
  test('a folder without a key of an algorithm names the command that makes one', () => {
    const command = `To make one: countersign keys generate --dir ${dir}`
    expect(() => readSigningKeys(dir, [])).toThrow(`No ed25519 key in ${dir}. ${command}`)
    generateKeys({ dir, now, algorithms: ['ed25519'] })
    expect(() => readSigningKeys(dir, both)).toThrow(`No ml-dsa-65 key in ${dir}. ${command}`)
  })

  test('a private key that is not the other half of its public key', () => {
    generateKeys({ dir, now })
    generateKeys({ dir, now })
    cpSync(publicFile('20261121T010001Z-ed25519'), publicFile(edId))
    expect(() => readSigningKeys(dir, [])).toThrow(
      `${privateFile(edId)} is not the private half of ${edId}.public.pem.`,
    )
  })

  test('a private key without its public half', () => {
    generateKeys({ dir, now })
    rmSync(publicFile(mlId))
    expect(() => readSigningKeys(dir, [])).toThrow(publicFile(mlId))
  })

  test.each([
    ['truncated', (pem: string) => pem.slice(0, 60)],
    ['empty', () => ''],
    ['garbled', (pem: string) => pem.replace(/.{20}\n/, '!!!!\n')],
    ['not PEM', () => 'hello'],
  ])('a %s file is named, and nothing of it is repeated', (_, damage) => {
    generateKeys({ dir, now })
    for (const file of [privateFile(edId), privateFile(mlId), publicFile(edId)]) {
      const whole = readFileSync(file, 'utf8')
      writeFileSync(file, damage(whole))
      let message = ''
      try {
        readSigningKeys(dir, [])
      } catch (error) {
        message = String(error)
      }
      expect(message).toContain(file)
      for (const line of whole.split('\n').filter((part) => part !== '' && !part.startsWith('-----')))
        expect(message).not.toContain(line)
      writeFileSync(file, whole)
    }
  })

  test('an encrypted private key', () => {
    generateKeys({ dir, now })
    const { privateKey } = generateKeyPairSync('ed25519')
    const sealed = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const
    writeFileSync(privateFile(edId), privateKey.export(sealed))
    expect(() => readSigningKeys(dir, [])).toThrow('cannot be read as an unencrypted PEM key')
  })

  test('a private key where a public one belongs, so that it is never published', () => {
    generateKeys({ dir, now })
    cpSync(privateFile(edId), publicFile(edId))
    expect(() => readPublicKeys(dir)).toThrow(`${publicFile(edId)} is not a PEM public key (SPKI).`)
  })

  test('a name that says another algorithm, or is no keyId', () => {
    generateKeys({ dir, now })
    cpSync(publicFile(edId), publicFile('20261121T020000Z-ml-dsa-65'))
    expect(() => readPublicKeys(dir)).toThrow('holds an ed25519 key: its name must be like')
    rmSync(publicFile('20261121T020000Z-ml-dsa-65'))
    for (const keyId of ['production', '20261131T010000Z-ed25519', '20261121T010000Z-Ed25519']) {
      cpSync(publicFile(edId), publicFile(keyId))
      expect(() => readPublicKeys(dir)).toThrow(publicFile(keyId))
      rmSync(publicFile(keyId))
    }
  })

  test('a key of an algorithm that is not ours', () => {
    generateKeys({ dir, now })
    const { publicKey } = generateKeyPairSync('ml-dsa-44')
    writeFileSync(publicFile(mlId), publicKey.export({ type: 'spki', format: 'pem' }))
    expect(() => readPublicKeys(dir)).toThrow(
      'holds a key of type ml-dsa-44; known are ed25519 and ml-dsa-65.',
    )
  })

  test.skipIf(process.getuid?.() === 0)(
    'a file without read permission (skipped for root, who may read all)',
    () => {
      generateKeys({ dir, now })
      chmodSync(privateFile(edId), 0)
      expect(() => readSigningKeys(dir, [])).toThrow(privateFile(edId))
    },
  )
})
