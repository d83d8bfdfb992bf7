// Folders of private keys that others can write or read.
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { generateKeys, privateKeyAccess, readSigningKeys } from '../../src/core/signing/keys.ts'
import { shellWord } from '../../src/formats/text/text.ts'
import { generateMissingLogKeys, logKeyDir, readLogKeys } from '../../src/core/signing/log-keys.ts'
import {
  generateMissingWitnessKeys,
  readWitnessKeys,
  witnessKeyDir,
} from '../../src/core/signing/witness-keys.ts'

let root: string
let dir: string
let file: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "countersign it's "))
  dir = join(root, 'keys')
  const [key] = generateKeys({ dir, now: new Date('2026-11-21T01:00:00Z'), algorithms: ['ed25519'] })
  file = join(dir, `${key?.keyId}.private.pem`)
})
afterEach(() => rmSync(root, { recursive: true }))

const read = () => readSigningKeys(dir, ['ed25519'])
/** As a sentence names a path: a word for a shell. */
const shown = (path: string) => path.replace(dir, shellWord(dir))
const octal = (mode: number) => mode.toString(8).padStart(4, '0')

/** Runs what a sentence says mends it. */
function mend(sentence: string): void {
  const command = sentence.split('To mend it: ')[1]
  if (command === undefined) throw new Error(`no command: ${sentence}`)
  execFileSync('sh', ['-c', command])
}

test('keys as they are generated are nothing to speak of', () => {
  expect(privateKeyAccess(dir)).toEqual({ writable: [], warnings: [] })
  expect(() => read()).not.toThrow()
})

test('a folder that is not there, or has no private key, is nothing to speak of', () => {
  expect(privateKeyAccess(join(root, 'none'))).toEqual({ writable: [], warnings: [] })
  rmSync(file)
  expect(privateKeyAccess(dir)).toEqual({ writable: [], warnings: [] })
})

describe('a private key that others can write is refused, with the command that mends it', () => {
  test.each([0o666, 0o660, 0o602, 0o620, 0o777, 0o622])('the file has mode %o', (mode) => {
    chmodSync(file, mode)
    expect(read).toThrow(`${shown(file)} can be written by others (mode ${octal(mode)})`)
    mend(privateKeyAccess(dir).writable[0] ?? '')
    expect(read).not.toThrow()
  })

  test.each([0o777, 0o770, 0o702, 0o775])('its folder has mode %o', (mode) => {
    chmodSync(dir, mode)
    expect(read).toThrow(`${shown(dir)} can be written by others (mode ${octal(mode)})`)
    mend(privateKeyAccess(dir).writable[0] ?? '')
    expect(read).not.toThrow()
  })

  test.each([
    ['the log', generateMissingLogKeys, logKeyDir, readLogKeys],
    ['the witness', generateMissingWitnessKeys, witnessKeyDir, readWitnessKeys],
  ] as const)('it is one of %s', (_, generate, folderOf, readKeys) => {
    generate({ dir, now: new Date('2026-11-21T01:00:00Z') })
    expect(() => readKeys(dir)).not.toThrow()
    chmodSync(folderOf(dir), 0o777)
    expect(() => readKeys(dir)).toThrow(shellWord(folderOf(dir)))
  })

  test('it is a link to such a file', () => {
    const target = join(root, 'target.pem')
    cpSync(file, target)
    chmodSync(target, 0o666)
    rmSync(file)
    symlinkSync(target, file)
    expect(read).toThrow(`${shown(file)} can be written by others (mode 0666)`)
    mend(privateKeyAccess(dir).writable[0] ?? '')
    expect(read).not.toThrow()
  })

  test('the public half may be written: nothing is signed by it', () => {
    chmodSync(file.replace('private', 'public'), 0o666)
    expect(read).not.toThrow()
  })
})

describe('a private key that others can read is a warning, with the command that mends it', () => {
  test.each([0o644, 0o604, 0o640, 0o444])('the file has mode %o', (mode) => {
    chmodSync(file, mode)
    expect(read).not.toThrow()
    const { writable, warnings } = privateKeyAccess(dir)
    expect([writable, warnings]).toEqual([
      [],
      [expect.stringContaining(`${shown(file)} can be read by others`)],
    ])
    mend(warnings[0] ?? '')
    expect(privateKeyAccess(dir).warnings).toEqual([])
  })

  test.skipIf(process.getuid?.() !== 0)(
    'a group that reads a file of somebody else may be that of the service',
    () => {
      chmodSync(file, 0o640)
      execFileSync('chown', ['65534', file])
      expect(privateKeyAccess(dir)).toEqual({ writable: [], warnings: [] })
    },
  )
})

test('a folder is called what the caller calls it, in the sentence and in the command', () => {
  chmodSync(file, 0o644)
  chmodSync(dir, 0o1777)
  const { warnings } = privateKeyAccess(dir, '"$SIGNING_KEY_DIR"')
  expect(warnings.join()).not.toContain(root)
  for (const warning of warnings)
    execFileSync('sh', ['-c', warning.split('To mend it: ')[1] ?? ''], {
      env: { SIGNING_KEY_DIR: dir, PATH: process.env['PATH'] },
    })
  expect(privateKeyAccess(dir)).toEqual({ writable: [], warnings: [] })
})

test('a secret as Kubernetes mounts it is read with warnings only', () => {
  const mount = join(root, 'mount')
  const data = join(mount, '..2026_11_21')
  mkdirSync(mount)
  cpSync(dir, data, { recursive: true })
  symlinkSync('..2026_11_21', join(mount, '..data'))
  for (const half of ['private', 'public']) {
    const name = file.split('/').at(-1)?.replace('private', half) ?? ''
    chmodSync(join(data, name), 0o644)
    symlinkSync(join('..data', name), join(mount, name))
  }
  chmodSync(data, 0o755)
  chmodSync(mount, 0o1777)
  expect(() => readSigningKeys(mount, ['ed25519'])).not.toThrow()
  expect(privateKeyAccess(mount)).toEqual({
    writable: [],
    warnings: [
      expect.stringContaining('Others can add keys'),
      expect.stringContaining('can be read by others (mode 0644)'),
    ],
  })
})
