import { spawnSync } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { parseCallers } from '../src/core/callers/callers.ts'
import { readSigningKeys } from '../src/core/signing/keys.ts'
import { readLogKeys } from '../src/core/signing/log-keys.ts'
import { baseEnvironment } from './run/environment.ts'

const root = join(import.meta.dirname, '..')
const cli = join(root, packageJson.bin.countersign)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-cli-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** The command as a process of its own, in an empty folder, with no variable but PATH and those given. */
function countersign(args: string[], env: Record<string, string> = {}) {
  return run(process.execPath, [cli, ...args], env)
}

function run(command: string, args: string[], env: Record<string, string>, cwd = folder) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...baseEnvironment, ...env },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

const madeIds = (stdout: string) => Array.from(stdout.matchAll(/^Made (\S+) in /gm), ([, keyId]) => keyId)

describe('keys generate', () => {
  test('makes one key of each algorithm in the folder named, which it creates, and those of the log in a folder within', () => {
    const dir = join(folder, 'a', 'b')
    const { status, stdout } = countersign(['keys', 'generate', '--dir', dir])
    expect(status).toBe(0)
    expect(madeIds(stdout)).toEqual([
      expect.stringMatching(/^\d{8}T\d{6}Z-ed25519$/),
      expect.stringMatching(/^\d{8}T\d{6}Z-ml-dsa-65$/),
      expect.stringMatching(/^\d{8}T\d{6}Z-ed25519$/),
      expect.stringMatching(/^\d{8}T\d{6}Z-ml-dsa-44$/),
    ])
    expect(stdout).toMatch(/^Made \S+-ml-dsa-44 in .*\/a\/b\/log$/m)
    expect(readSigningKeys(dir, ['ed25519', 'ml-dsa-65']).receipt).toHaveLength(2)
    expect(readLogKeys(dir).publicKeys).toHaveLength(2)
    for (const made of [dir, join(dir, 'log')]) expect(statSync(made).mode & 0o777).toBe(0o700)
  })

  test("--log makes the log's keys alone, once", () => {
    const dir = join(folder, 'k')
    const first = countersign(['keys', 'generate', '--log', '--dir', dir])
    expect(first.status).toBe(0)
    expect(madeIds(first.stdout)).toEqual([
      expect.stringMatching(/-ed25519$/),
      expect.stringMatching(/-ml-dsa-44$/),
    ])
    expect(readdirSync(dir)).toEqual(['log'])
    const second = countersign(['keys', 'generate', '--log', '--dir', dir])
    expect(second.status).toBe(0)
    expect(second.stdout).toMatch(/\/k\/log has a key of each algorithm\.\n$/)
    expect(readdirSync(join(dir, 'log'))).toHaveLength(4)
  })

  test.each([
    ['SIGNING_KEY_DIR', { SIGNING_KEY_DIR: 'k', DATA_DIR: 'd' }, 'k'],
    ['$DATA_DIR/keys', { DATA_DIR: 'd' }, 'd/keys'],
    ['.data/keys', {}, '.data/keys'],
  ])('without a folder it takes %s', (_, env, expected) => {
    expect(countersign(['keys', 'generate'], env).status).toBe(0)
    expect(readdirSync(join(folder, expected))).toHaveLength(5)
    expect(readdirSync(join(folder, expected, 'log'))).toHaveLength(4)
  })

  test('needs no other configuration and minds none', () => {
    const env = { DATABASE_URL: 'postgres://nowhere/x', PORT: 'x', SERVICE_X: 'x' }
    expect(countersign(['keys', 'generate'], env).status).toBe(0)
  })

  test('a second time it makes nothing and names the command that adds keys', () => {
    countersign(['keys', 'generate'])
    const { status, stdout } = countersign(['keys', 'generate'])
    expect(status).toBe(0)
    expect(stdout).toContain('countersign keys rotate')
    expect(readdirSync(join(folder, '.data/keys'))).toHaveLength(5)
  })

  test('runs by npx from a clone, whatever Node the machine has', () => {
    // Without the project's own bin folder, which npm test put first: npx itself has to find Node 24 there.
    const bin = join('node_modules', '.bin')
    const path = (process.env['PATH'] ?? '').split(delimiter).filter((entry) => !entry.endsWith(bin))
    const env = {
      PATH: path.join(delimiter),
      npm_config_cache: join(folder, 'npm'),
      npm_config_offline: 'true',
    }
    const args = ['--no-install', 'countersign', 'keys', 'generate', '--dir', join(folder, 'k')]
    const { status, stdout } = run('npx', args, env, root)
    expect(madeIds(stdout)).toHaveLength(4)
    expect(status).toBe(0)
  })
})

describe('keys rotate and list', () => {
  test('the new key signs, the old one stays published', () => {
    const [old, mlDsa65, ...ofLog] = madeIds(countersign(['keys', 'generate']).stdout)
    const rotated = countersign(['keys', 'rotate', '--algorithm', 'ed25519'])
    const [young] = madeIds(rotated.stdout)
    expect(rotated.stdout).toContain('from their next start')
    expect(countersign(['keys', 'list']).stdout.trim().split('\n').toSorted()).toEqual(
      [
        `${old}\tpublished`,
        `${young}\tsigns`,
        `${mlDsa65}\tsigns`,
        ...ofLog.map((keyId) => `log/${keyId}\tsigns`),
      ].toSorted(),
    )
  })

  test('without a choice every algorithm is rotated, and the keys of the log in their own folder', () => {
    countersign(['keys', 'generate'])
    const made = madeIds(countersign(['keys', 'rotate']).stdout)
    expect(made.map((keyId = '') => keyId.replace(/^.*Z-/, ''))).toEqual([
      'ed25519',
      'ml-dsa-65',
      'ed25519',
      'ml-dsa-44',
    ])
    expect(readdirSync(join(folder, '.data/keys'))).toHaveLength(9)
    expect(readdirSync(join(folder, '.data/keys/log'))).toHaveLength(8)
    const listed = countersign(['keys', 'list']).stdout
    // Those before sign too, until their private keys are deleted or the next ones are made.
    expect(listed.match(/^log\/.*\tsigns$/gm)).toHaveLength(4)
    countersign(['keys', 'rotate', '--log'])
    const rotated = countersign(['keys', 'list']).stdout
    expect(rotated.match(/^log\/.*\tpublished$/gm)).toHaveLength(2)
    expect(rotated).toContain(`\nlog/${made[2]}\tsigns\n`)
  })

  test('with --log only the keys of the log are rotated', () => {
    expect(countersign(['keys', 'rotate', '--log']).stderr).toMatch(
      /^countersign: No keys in .*\/log\. To make them: countersign keys generate --log --dir /,
    )
    countersign(['keys', 'generate', '--log'])
    expect(madeIds(countersign(['keys', 'rotate', '--log']).stdout)).toHaveLength(2)
    expect(readdirSync(join(folder, '.data/keys'))).toEqual(['log'])
  })

  test('revoke says since when a key counts no more and what to do next, and list shows it', () => {
    const [old = ''] = madeIds(countersign(['keys', 'generate', '--dir', 'k']).stdout)
    const now = new Date().toISOString()
    const first = countersign(['keys', 'revoke', old, '--dir', 'k'])
    const [, time = ''] =
      /^Revoked \S+: signatures that it made from (\S+) on do not count\.$/m.exec(first.stdout) ?? []
    expect(first.status).toBe(0)
    expect(time >= now && time <= new Date().toISOString()).toBe(true)
    expect(readFileSync(join(folder, 'k', `${old}.revoked`), 'utf8')).toBe(`${time}\n`)
    expect(first.stdout).toMatch(
      /^It is the newest ed25519 key, .* countersign keys rotate --dir .*\/k, then restart/m,
    )
    expect(countersign(['keys', 'list', '--dir', 'k']).stdout).toContain(
      `${old}\tsigns\trevoked since ${time}\n`,
    )

    countersign(['keys', 'rotate', '--dir', 'k'])
    const earlier = countersign(['keys', 'revoke', old, '--dir', 'k', '--at', '2026-01-01T01:00:00+01:00'])
    expect([earlier.status, earlier.stdout]).toEqual([0, expect.not.stringContaining('It is the newest')])
    expect(countersign(['keys', 'list', '--dir', 'k']).stdout).toContain(
      `${old}\tpublished\trevoked since 2026-01-01T00:00:00.000Z\n`,
    )
  })

  test.each([
    [['unknown'], /^countersign: No signing key unknown in .*\/k\. To see them: countersign keys list/],
    [['../k/20200101T000000Z-ed25519'], /^countersign: No signing key \.\.\/k/],
    [['OLD', '--at', 'yesterday'], /^countersign: --at must be a time with its offset/],
    [['OLD', '--at', '2999-01-01T00:00:00Z'], /^countersign: --at must not be later than now/],
    [['OLD'], /^countersign: \S+ is revoked since 2026-01-01T00:00:00\.000Z\. With --at/],
    [['LOG'], /^countersign: No signing key \S+-ml-dsa-44 in .* Keys of the log cannot be revoked\./],
  ])('revoke refuses %j in one sentence', (args, sentence) => {
    const made = madeIds(countersign(['keys', 'generate', '--dir', 'k']).stdout)
    const [old = ''] = made
    const revoke = (given: string[]) =>
      countersign([
        'keys',
        'revoke',
        '--dir',
        'k',
        ...given.map((word) => (word === 'OLD' ? old : word === 'LOG' ? (made.at(-1) ?? '') : word)),
      ])
    expect(revoke(['OLD', '--at', '2026-01-01T00:00:00Z']).status).toBe(0)
    const { status, stdout, stderr } = revoke(args)
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(sentence)
    expect(readFileSync(join(folder, 'k', `${old}.revoked`), 'utf8')).toBe('2026-01-01T00:00:00.000Z\n')
    expect(readdirSync(join(folder, 'k')).filter((name) => name.endsWith('.revoked'))).toHaveLength(1)
  })

  test.each(['list', 'rotate'])('%s of a folder without keys says so, and no folder is made', (command) => {
    const { status, stdout, stderr } = countersign(['keys', command, '--dir', 'typo'])
    expect(status).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(
      /^countersign: No keys in .*typo\. To make them: countersign keys generate --dir .*\n$/,
    )
    expect(existsSync(join(folder, 'typo'))).toBe(false)
  })

  test('a damaged file is named in one line', () => {
    countersign(['keys', 'generate', '--dir', 'k'])
    writeFileSync(join(folder, 'k', '20200101T000000Z-ed25519.public.pem'), 'x')
    const { status, stderr } = countersign(['keys', 'list', '--dir', 'k'])
    expect(status).toBe(1)
    expect(stderr).toMatch(
      /^countersign: .*20200101T000000Z-ed25519\.public\.pem is not a PEM public key.*\n$/,
    )
  })
})

describe('callers issue', () => {
  // proves §5 Keys are issued by an operator
  test('prints the raw key and its entry, which holds only the hash, and stores nothing', () => {
    const { status, stdout } = countersign(['callers', 'issue', 'acme'])
    const [rawKey = '', entry = ''] = stdout.split('\n')
    expect(status).toBe(0)
    expect(rawKey).toMatch(/^csk_[A-Za-z0-9_-]{43}$/)
    expect(JSON.parse(entry)).toEqual({
      callerId: 'acme',
      keyHash: createHash('sha256').update(rawKey).digest('hex'),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  test('writes every option into the entry', () => {
    const { publicKey } = generateKeyPairSync('ed25519')
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    writeFileSync(join(folder, 'step-up.pem'), pem)
    const scope = '--capability vendor:pay --capability crm:read --principal alice --principal bob --read-all'
    const human = '--holder-type USER --step-up-public-key step-up.pem --approver alice@example.com'
    const { stdout } = countersign(`callers issue ${scope} ${human} alice`.split(' '))
    const [, entry = ''] = stdout.split('\n')
    expect(parseCallers(`[${entry}]`)).toMatchObject([
      {
        callerId: 'alice',
        allowedPrincipalIds: ['alice', 'bob'],
        allowedCapabilities: ['vendor:pay', 'crm:read'],
        credentialHolderType: 'USER',
        stepUpPublicKey: pem,
        approverId: 'alice@example.com',
        readAll: true,
      },
    ])
  })

  test.each([
    ['a reserved callerId', ['anonymous'], 'countersign: <callerId> must be 1 to 128'],
    [
      'an unknown holder type',
      ['a', '--holder-type', 'user'],
      'countersign: --holder-type must be one of: USER',
    ],
    [
      "a principal '*', which is a name and not all",
      ['a', '--principal', '*'],
      "countersign: --principal has no '*' for all",
    ],
    ['a file that is not there', ['a', '--step-up-public-key', 'none.pem'], 'none.pem'],
  ])('refuses %s and prints no key', (_, args, message) => {
    const { status, stdout, stderr } = countersign(['callers', 'issue', ...args])
    expect(status).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toContain(message)
  })
})

describe('bin/countersign.js', () => {
  const bin = join(root, 'bin', 'countersign.js')
  /** This Node, giving itself out for another one. */
  const asNode = (version: string, ...args: string[]) => {
    const pretence = `for (const [name, value] of Object.entries({ version: 'v${version}', versions: { ...process.versions, node: '${version}' } }))
      Object.defineProperty(process, name, { value })`
    return run(process.execPath, ['--import', `data:text/javascript,${pretence}`, bin, ...args], {})
  }

  test.each(['18.20.8', '20.20.2', '22.22.0', '24.5.0'])('on Node %s says which one it needs', (version) => {
    const wanted = packageJson.engines.node.replace('>=', '')
    expect(asNode(version, 'serve')).toEqual({
      status: 2,
      stdout: '',
      stderr: `countersign needs Node ${wanted} or newer (this is v${version}): npm ci installs one.\n`,
    })
  })

  test.each(['24.6.0', '24.21.0', '26.0.0'])('on Node %s is the command', (version) => {
    expect(asNode(version, '--version')).toEqual({
      status: 0,
      stdout: `${packageJson.version}\n`,
      stderr: '',
    })
  })
})

describe('a mistake', () => {
  test.each([
    ['an unknown command', ['keys', 'delete']],
    ['an unknown check of the log', ['log', 'fsk']],
    ['an unknown option', ['keys', 'generate', '--force']],
    ['an unknown algorithm', ['keys', 'rotate', '--algorithm', 'rsa']],
    ['no callerId', ['callers', 'issue']],
    ['an empty capability', ['callers', 'issue', 'a', '--capability', '']],
  ])('of usage (%s) is one line and exit code 2', (_, args) => {
    const { status, stdout, stderr } = countersign(args)
    expect(status).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^error: .*\n(\(Did you mean fsck\?\)\n)?$/)
  })

  test('migrate without DATABASE_URL says so', () => {
    const { status, stderr } = countersign(['migrate'])
    expect(status).toBe(1)
    expect(stderr).toMatch(/^countersign: DATABASE_URL is not set.*\n$/)
  })

  test('of configuration stops serve, each by the name of its variable', () => {
    const { status, stderr } = countersign(['serve'], { PORT: 'x', SERVICE_AUTH_DISABLE: 'true' })
    expect(status).toBe(1)
    expect(stderr).toContain('PORT must be a whole number')
    expect(stderr).toContain('SERVICE_AUTH_DISABLE is not a variable')
  })
})
