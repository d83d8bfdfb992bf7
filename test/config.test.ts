import { generateKeyPairSync } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { makeRawKey, parseCallers } from '../src/core/callers/callers.ts'
import { ConfigError } from '../src/core/errors/config-error.ts'
import { Environment, misspeltVariables, readConfig } from '../src/core/config/config.ts'
import { secretWarnings } from '../src/core/webhooks/providers.ts'

const keyHash = 'a'.repeat(64)
const anEntry = (members: object = {}) => ({ callerId: 'acme', keyHash, ...members })
const callers = JSON.stringify([anEntry()])
const database = { DATABASE_URL: 'postgres://u:secret@db/x', SERVICE_API_KEYS: callers, SIGNING_KEY_DIR: 'k' }

function problems(act: () => unknown): readonly string[] {
  try {
    act()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

/** The defaults of decisions §1 and §12. */
const RATE_LIMITS = {
  executePerMinute: 600,
  healthPerMinute: 1200,
  publicPerMinute: 1200,
  computeMsPerMinute: 6_000,
  approvalRequestsPerHour: 60,
}

// proves §8 Health limit · GET; §8 Numeric default values of both
test('without any variable the embedded service is configured with the defaults of decisions §1', () => {
  expect(readConfig({})).toEqual({
    host: '127.0.0.1',
    port: 3000,
    databaseUrl: undefined,
    dataDir: resolve('.data'),
    signingKeyDir: resolve('.data/keys'),
    signingKeyDirGiven: false,
    receiptAlgorithms: ['ed25519'],
    batchSignatures: true,
    approverPasskeys: 'any',
    evidenceLog: { origin: undefined, access: 'readAll' },
    catalogue: { days: 400 },
    policyDir: resolve('policies'),
    webhookDir: resolve('webhooks'),
    webhookDirGiven: false,
    callers: undefined,
    tokenIssuers: [],
    intentCloseQuorum: 1,
    authDisabled: false,
    production: false,
    hubspot: undefined,
    webhookProviders: {},
    rateLimits: RATE_LIMITS,
    maxBodyBytes: 102_400,
    workerThreads: Math.max(1, availableParallelism() - 1),
    buildVersion: packageJson.version,
    trustProxyHops: 0,
    shutdownTimeoutMs: 10_000,
    logLevel: 'info',
    queueRequestsMax: 4096,
    metrics: undefined,
    listener: 'auto',
  })
})

/** Every variable: values that it takes with what they become, values that it refuses, and what it must be. */
const variables: Record<string, { good: [string, object][]; bad?: string[]; must?: string }> = {
  HOST: {
    good: [['::1', { host: '::1' }]],
    bad: [' ', 'a b', '127.0.0.1 '],
    must: 'a host name or address',
  },
  PORT: {
    good: [
      ['0', { port: 0 }],
      ['65535', { port: 65_535 }],
    ],
    bad: ['65536', '-1', '+1', '1e3', '0x10', ' 5', '5 ', '5.0', '05', '٣', 'NaN', 'http'],
    must: 'a whole number from 0 to 65535',
  },
  DATABASE_URL: {
    good: [['postgresql:///x', { databaseUrl: 'postgresql:///x' }]],
    bad: ['mysql://db/x', 'db', 'postgres:x'],
    must: 'a postgres:// URL',
  },
  DATABASE_READ_URL: {
    good: [['postgres://replica/x', { databaseReadUrl: 'postgres://replica/x' }]],
    bad: ['mysql://db/x', 'db', 'postgres:x'],
    must: 'a postgres:// URL',
  },
  DATA_DIR: { good: [['d', { dataDir: resolve('d'), signingKeyDir: resolve('d/keys') }]] },
  SIGNING_KEY_DIR: { good: [['/k', { signingKeyDir: resolve('/k'), signingKeyDirGiven: true }]] },
  RECEIPT_ALGORITHMS: {
    good: [
      ['ed25519', { receiptAlgorithms: ['ed25519'] }],
      ['ml-dsa-65', { receiptAlgorithms: ['ml-dsa-65'] }],
      ['ed25519,ml-dsa-65', { receiptAlgorithms: ['ed25519', 'ml-dsa-65'] }],
    ],
    bad: ['rsa', 'Ed25519', 'ed25519,', 'ed25519,ed25519', 'ed25519, ml-dsa-65'],
    must: 'one of: ed25519 | ml-dsa-65 | ed25519,ml-dsa-65',
  },
  BATCH_SIGNATURES: {
    good: [
      ['true', { batchSignatures: true }],
      ['false', { batchSignatures: false }],
    ],
    bad: ['yes', 'TRUE', '0'],
    must: 'one of: true | false',
  },
  APPROVER_PASSKEYS: {
    good: [
      ['any', { approverPasskeys: 'any' }],
      ['device-bound', { approverPasskeys: 'device-bound' }],
    ],
    bad: ['true', 'none'],
    must: 'one of: any | device-bound',
  },
  LOG: {
    good: [
      ['on', { evidenceLog: { origin: undefined, access: 'readAll' } }],
      ['off', { evidenceLog: undefined, catalogue: undefined }],
    ],
    bad: ['true', 'OFF', '0'],
    must: 'one of: on | off',
  },
  LOG_ORIGIN: {
    good: [
      ['countersign.example.com', { evidenceLog: { origin: 'countersign.example.com', access: 'readAll' } }],
      ['a.example:8443/b', { evidenceLog: { origin: 'a.example:8443/b', access: 'readAll' } }],
      ['x'.repeat(200), { evidenceLog: { origin: 'x'.repeat(200), access: 'readAll' } }],
    ],
    bad: ['https://countersign.example.com', 'a b', 'a+b', 'a/', '/a', 'a//b', 'é', 'x'.repeat(201)],
    must: 'a name such as countersign.example.com, without a scheme: 1 to 200 letters, digits and . _ ~ : / -',
  },
  LOG_ACCESS: {
    good: [
      ['readAll', { evidenceLog: { origin: undefined, access: 'readAll' } }],
      ['open', { evidenceLog: { origin: undefined, access: 'open' } }],
    ],
    bad: ['all', 'Open', 'true'],
    must: 'one of: readAll | open',
  },
  CATALOGUE: {
    good: [
      ['on', { catalogue: { days: 400 } }],
      ['off', { catalogue: undefined }],
    ],
    bad: ['true', 'OFF', '0'],
    must: 'one of: on | off',
  },
  CATALOGUE_DAYS: {
    good: [
      ['1', { catalogue: { days: 1 } }],
      ['36500', { catalogue: { days: 36_500 } }],
    ],
    bad: ['0', '36501', '1.5', 'year'],
    must: 'a whole number from 1 to 36500',
  },
  LOG_WITNESS_POLICY: {
    good: [
      ['w', { evidenceLog: { access: 'readAll', witnesses: { policyFile: resolve('w'), required: false } } }],
    ],
  },
  LOG_WITNESS_MODE: {
    good: [
      [
        'added',
        { evidenceLog: { access: 'readAll', witnesses: { policyFile: resolve('w'), required: false } } },
      ],
      [
        'required',
        { evidenceLog: { access: 'readAll', witnesses: { policyFile: resolve('w'), required: true } } },
      ],
    ],
    bad: ['true', 'REQUIRED'],
    must: 'one of: added | required',
  },
  WITNESS_LOGS: {
    good: [['l', { witness: { name: 'a.example/witness', logsFile: resolve('l') } }]],
  },
  POLICY_DIR: { good: [['p', { policyDir: resolve('p') }]] },
  WEBHOOK_DIR: { good: [['w', { webhookDir: resolve('w'), webhookDirGiven: true }]] },
  INTENT_CLOSE_QUORUM: {
    good: [
      ['1', { intentCloseQuorum: 1 }],
      ['2', { intentCloseQuorum: 2 }],
    ],
    bad: ['0', '3', 'two'],
    must: 'a whole number from 1 to 2',
  },
  SERVICE_API_KEYS: {
    good: [[callers, { callers: parseCallers(callers) }]],
    bad: ['x', '{}', '[]', 'null', '"csk_x"'],
    must: 'a JSON array with at least one caller',
  },
  // Its mistakes name a member: test/token-issuers.test.ts.
  SERVICE_TOKEN_ISSUERS: { good: [['[]', { tokenIssuers: [] }]] },
  SERVICE_AUTH_DISABLED: {
    good: [
      ['true', { authDisabled: true }],
      ['false', { authDisabled: false }],
    ],
    bad: ['TRUE', 'True', '1', 'yes', 'true ', '0', 'no'],
    must: 'one of: true | false',
  },
  RATE_LIMIT_EXECUTE_PER_MINUTE: {
    good: [
      ['1', { rateLimits: { ...RATE_LIMITS, executePerMinute: 1 } }],
      ['100000000000', { rateLimits: { ...RATE_LIMITS, executePerMinute: 1e11 } }],
    ],
    bad: ['0', '-1', '1.5', 'Infinity', '9'.repeat(400)],
    must: 'a whole number, 1 or more',
  },
  RATE_LIMIT_HEALTH_PER_MINUTE: {
    good: [['7', { rateLimits: { ...RATE_LIMITS, healthPerMinute: 7 } }]],
    bad: ['0'],
    must: 'a whole number, 1 or more',
  },
  RATE_LIMIT_PUBLIC_PER_MINUTE: {
    good: [['7', { rateLimits: { ...RATE_LIMITS, publicPerMinute: 7 } }]],
    bad: ['0'],
    must: 'a whole number, 1 or more',
  },
  RATE_LIMIT_COMPUTE_MS_PER_MINUTE: {
    good: [['7', { rateLimits: { ...RATE_LIMITS, computeMsPerMinute: 7 } }]],
    bad: ['0', '1.5'],
    must: 'a whole number, 1 or more',
  },
  APPROVAL_REQUESTS_PER_HOUR: {
    good: [['7', { rateLimits: { ...RATE_LIMITS, approvalRequestsPerHour: 7 } }]],
    bad: ['0', '1.5'],
    must: 'a whole number, 1 or more',
  },
  HUBSPOT_PRIVATE_APP_TOKEN: {
    good: [['pat-eu1-x', { hubspot: { token: 'pat-eu1-x', baseUrl: 'https://api.hubapi.com' } }]],
    bad: ['a b', 'a\r\nx: y', 'é', 'x'.repeat(513)],
    must: '1 to 512 printable ASCII characters without spaces',
  },
  HUBSPOT_BASE_URL: {
    good: [
      ['https://crm.internal:8443', {}],
      ['http://127.0.0.1:8080/', {}],
    ],
    bad: [
      'api.hubapi.com',
      'http://api.hubapi.com',
      'http://localhost',
      'ftp://127.0.0.1',
      'https://u:p@api.hubapi.com',
      'https://api.hubapi.com/crm',
      'https://api.hubapi.com/?x',
      'https://api.hubapi.com/#x',
    ],
    must: 'an https origin without a path, or http to a loopback address outside production',
  },
  MAX_BODY_BYTES: {
    good: [['1', { maxBodyBytes: 1 }]],
    bad: ['0', '67108865', '100kb'],
    must: 'a whole number from 1 to 67108864',
  },
  WORKER_THREADS: {
    good: [['3', { workerThreads: 3 }]],
    bad: ['0', '257'],
    must: 'a whole number from 1 to 256',
  },
  BUILD_VERSION: {
    good: [['2026-11-21 4f2a', { buildVersion: '2026-11-21 4f2a' }]],
    bad: ['a\nb', 'é', 'x'.repeat(129)],
    must: '1 to 128 printable ASCII characters',
  },
  TRUST_PROXY_HOPS: {
    good: [['2', { trustProxyHops: 2 }]],
    bad: ['-1', '33', 'true'],
    must: 'a whole number from 0 to 32',
  },
  SHUTDOWN_TIMEOUT_MS: {
    good: [['0', { shutdownTimeoutMs: 0 }]],
    bad: ['3600001', '10s'],
    must: 'a whole number from 0 to 3600000',
  },
  LOG_LEVEL: {
    good: [['silent', { logLevel: 'silent' }]],
    bad: ['INFO', 'verbose'],
    must: 'one of: fatal | error | warn | info | debug | trace | silent',
  },
  QUEUE_REQUESTS_MAX: {
    good: [['1', { queueRequestsMax: 1 }]],
    bad: ['0'],
    must: 'a whole number from 1 to 1000000',
  },
  METRICS_HOST: {
    good: [['::1', { metrics: { host: '::1', port: 9464 } }]],
    bad: ['a b'],
    must: 'a host name or address',
  },
  METRICS_PORT: {
    good: [['0', { metrics: { host: '127.0.0.1', port: 0 } }]],
    bad: ['65536', '-1'],
    must: 'a whole number from 0 to 65535',
  },
  LISTENER: {
    good: [['node:http', { listener: 'node:http' }]],
    bad: ['uws'],
    must: 'one of: auto | uWebSockets.js | node:http',
  },
  NOTIFICATIONS: { good: [['n.yaml', { notificationsFile: resolve('n.yaml') }]] },
  CONSOLE_ORIGIN: {
    good: [
      ['https://console.example', { consoleOrigin: 'https://console.example' }],
      ['http://localhost:3000', { consoleOrigin: 'http://localhost:3000' }],
    ],
    bad: ['console.example', 'http://console.example', 'https://a.example/', 'http://127.0.0.1:3000'],
    must: 'an origin such as https://console.example.com; http for localhost alone',
  },
  NODE_ENV: { good: [['production', { production: true }]] },
}

test('the table below and the variables that are read are the same', () => {
  expect(Object.keys(variables)).toEqual(Object.keys(Environment.properties))
})

describe.each(Object.entries(variables))('%s', (name, { good, bad = [], must }) => {
  // The variables that a variable asks for stand beside it, so that each row sees its own mistake only.
  const beside = {
    ...(name.startsWith('DATABASE_') ? database : {}),
    ...(name === 'METRICS_HOST' ? { METRICS_PORT: '9464' } : {}),
    ...(name === 'LOG_WITNESS_MODE' ? { LOG_WITNESS_POLICY: 'w' } : {}),
    ...(name === 'WITNESS_LOGS' ? { LOG_ORIGIN: 'a.example' } : {}),
  }

  test.each(good)('takes %s', (value, expected) => {
    const config = readConfig({ ...beside, [name]: value })
    expect(config).toEqual({ ...readConfig(beside), ...expected })
  })

  test('counts as unset when empty', () => {
    expect(readConfig({ [name]: '' })).toEqual(readConfig({}))
  })

  if (bad.length > 0)
    test.each(bad)('refuses %j, naming itself and not repeating the value', (value) => {
      expect(problems(() => readConfig({ ...beside, [name]: value }))).toEqual([`${name} must be ${must}.`])
    })
})

describe('together', () => {
  test('every mistake is reported at once', () => {
    const env = {
      PORT: 'x',
      LOG_LEVEL: 'y',
      SERVICE_AUTH: 'true',
      SERVICE_API_KEYS: '[{}]',
      DATABASE_URL: 'z',
    }
    const reported = problems(() => readConfig(env))
    for (const name of [...Object.keys(env), 'SIGNING_KEY_DIR'])
      expect(reported.filter((problem) => problem.startsWith(name)).length, name).toBeGreaterThan(0)
  })

  test.each([
    ['LOG_ORIGIN', 'countersign.example.com'],
    ['LOG_ACCESS', 'open'],
    ['CATALOGUE_DAYS', '30'],
  ])('%s with LOG=off is a mistake, not ignored', (name, value) => {
    const unless = name === 'LOG_ORIGIN' ? ', unless WITNESS_LOGS is set' : ''
    expect(problems(() => readConfig({ LOG: 'off', [name]: value }))).toEqual([
      `${name} must not be set with LOG=off${unless}.`,
    ])
    expect(problems(() => readConfig({ LOG: 'off', LOG_ORIGIN: 'a.example', WITNESS_LOGS: 'l' }))).toEqual([])
  })

  test('a variable of witnesses without what it belongs to is a mistake, not ignored', () => {
    expect(problems(() => readConfig({ LOG_WITNESS_POLICY: 'w', LOG: 'off' }))).toEqual([
      'LOG_WITNESS_POLICY must not be set with LOG=off.',
    ])
    expect(problems(() => readConfig({ LOG_WITNESS_MODE: 'added' }))).toEqual([
      'LOG_WITNESS_MODE needs LOG_WITNESS_POLICY.',
    ])
    expect(problems(() => readConfig({ WITNESS_LOGS: 'l' }))).toEqual([
      'WITNESS_LOGS needs LOG_ORIGIN: what this service cosigns is signed by <LOG_ORIGIN>/witness.',
    ])
  })

  test('an unknown SERVICE_ variable stops the start: a misspelling must not weaken security', () => {
    for (const name of ['SERVICE_AUTH_DISABLE', 'SERVICE_API_KEY', 'SERVICE_'])
      for (const value of ['true', ''])
        expect(problems(() => readConfig({ [name]: value }))).toEqual([
          `${name} is not a variable of this service; those that begin so are SERVICE_API_KEYS, SERVICE_TOKEN_ISSUERS, SERVICE_AUTH_DISABLED.`,
        ])
    expect(problems(() => readConfig({ MY_SERVICE_X: 'x', SERVICES: 'x' }))).toEqual([])
  })

  test('authentication cannot be disabled in production', () => {
    const env = { SERVICE_AUTH_DISABLED: 'true', NODE_ENV: 'production' }
    expect(problems(() => readConfig(env))).toEqual([
      'SERVICE_AUTH_DISABLED must not be true when NODE_ENV is production.',
    ])
    expect(readConfig({ ...env, NODE_ENV: 'development' }).authDisabled).toBe(true)
    expect(readConfig({ ...env, SERVICE_AUTH_DISABLED: 'false' }).authDisabled).toBe(false)
  })

  test('the CRM is configured by its token; in production the token never leaves in the clear', () => {
    const env = { HUBSPOT_PRIVATE_APP_TOKEN: 'pat-eu1-x', HUBSPOT_BASE_URL: 'http://[::1]:8080/' }
    expect(readConfig(env).hubspot).toEqual({ token: 'pat-eu1-x', baseUrl: 'http://[::1]:8080' })
    expect(problems(() => readConfig({ ...env, NODE_ENV: 'production' }))).toEqual([
      `HUBSPOT_BASE_URL must be ${variables['HUBSPOT_BASE_URL']?.must}.`,
    ])
  })

  test('a replica needs the database that it is a replica of', () => {
    expect(problems(() => readConfig({ DATABASE_READ_URL: 'postgres://replica/x' }))).toEqual([
      'DATABASE_READ_URL needs DATABASE_URL: it names a replica of that database.',
    ])
  })

  test('with DATABASE_URL nothing is provisioned: what is missing is named with the command that makes it', () => {
    expect(problems(() => readConfig({ DATABASE_URL: database.DATABASE_URL }))).toEqual([
      'SERVICE_API_KEYS is required with DATABASE_URL. To make an entry: countersign callers issue <callerId>',
      'SIGNING_KEY_DIR is required with DATABASE_URL. To make keys: countersign keys generate --dir <folder>',
    ])
    expect(problems(() => readConfig(database))).toEqual([])
  })

  test('with authentication disabled no caller is looked up, so none is required', () => {
    const { SERVICE_API_KEYS: _, ...env } = database
    expect(readConfig({ ...env, SERVICE_AUTH_DISABLED: 'true' }).callers).toBeUndefined()
  })

  test('no secret of a variable is in a message', () => {
    const message = String(
      problems(() =>
        readConfig({
          ...database,
          DATABASE_URL: 'mysql://u:secret@db/x',
          SERVICE_API_KEYS: '["csk_secret"]',
        }),
      ),
    )
    expect(message).toContain('DATABASE_URL')
    expect(message).not.toContain('secret')
  })

  test('the configuration is frozen to its leaves', () => {
    const config = readConfig(database)
    for (const part of [config, config.rateLimits, config.callers, config.callers?.[0]?.allowedPrincipalIds])
      expect(Object.isFrozen(part)).toBe(true)
  })
})

const read = (...entries: unknown[]) => parseCallers(JSON.stringify(entries))
const ed25519 = generateKeyPairSync('ed25519')
const stepUpPublicKey = ed25519.publicKey.export({ type: 'spki', format: 'pem' }).toString()

describe('a caller', () => {
  test('has the defaults of interface §2.6 and decisions §2', () => {
    expect(read(anEntry())).toEqual([
      {
        callerId: 'acme',
        keyHash,
        allowedPrincipalIds: ['acme'],
        allowedCapabilities: [],
        unrestrictedCapabilities: false,
        credentialHolderType: 'SERVICE',
        readAll: false,
      },
    ])
  })

  test('keeps its capabilities as configured; * makes it unrestricted', () => {
    const [caller] = read(anEntry({ allowedCapabilities: ['vendor:pay', '*'] }))
    expect(caller).toMatchObject({ allowedCapabilities: ['vendor:pay', '*'], unrestrictedCapabilities: true })
    expect(read(anEntry({ allowedCapabilities: ['vendor:*'] }))[0]?.unrestrictedCapabilities).toBe(false)
  })

  test('may have several keys, each with its own scope', () => {
    const [old, young] = read(anEntry(), anEntry({ keyHash: 'b'.repeat(64), readAll: true }))
    expect([old?.callerId, young?.callerId]).toEqual(['acme', 'acme'])
    expect([old?.readAll, young?.readAll]).toEqual([false, true])
  })

  test('never shares a key', () => {
    expect(problems(() => read(anEntry(), anEntry({ callerId: 'other' })))).toEqual([
      'SERVICE_API_KEYS[1].keyHash is that of SERVICE_API_KEYS[0] too.',
    ])
  })

  test('has a callerId that differs from every other in more than case', () => {
    const [Alice, alice] = [
      anEntry({ callerId: 'Alice' }),
      anEntry({ callerId: 'alice', keyHash: 'b'.repeat(64) }),
    ]
    expect(problems(() => read(Alice, anEntry({ callerId: 'bob', keyHash: 'c'.repeat(64) }), alice))).toEqual(
      ["SERVICE_API_KEYS[2].callerId 'alice' and 'Alice' of SERVICE_API_KEYS[0] differ only in case."],
    )
  })

  test('takes an Ed25519 step-up key', () => {
    expect(read(anEntry({ credentialHolderType: 'USER', stepUpPublicKey }))[0]?.stepUpPublicKey).toBe(
      stepUpPublicKey,
    )
  })

  test('shares its step-up key with no other caller, in whatever notation: nobody approves what he proposed himself', () => {
    const human = { credentialHolderType: 'USER', stepUpPublicKey }
    const other = {
      keyHash: 'b'.repeat(64),
      stepUpPublicKey: `\n${stepUpPublicKey.replaceAll('\n', '\r\n')}\n`,
    }
    expect(read(anEntry(human), anEntry({ ...human, ...other }))).toHaveLength(2)
    expect(problems(() => read(anEntry(human), anEntry({ ...human, ...other, callerId: 'alias' })))).toEqual([
      'SERVICE_API_KEYS[1].stepUpPublicKey is that of SERVICE_API_KEYS[0], another caller.',
    ])
  })

  const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
  const stepUpPasskey = {
    publicKeyPem: p256.export({ type: 'spki', format: 'pem' }).toString(),
    rpId: 'console.example',
    origins: ['https://console.example'],
    backupEligible: true,
  }

  test('takes a passkey for step-ups, with the id of its credential or without, and shares it with no other caller', () => {
    const human = { credentialHolderType: 'USER', stepUpPasskey }
    const named = { ...stepUpPasskey, credentialId: 'Y3JlZGVudGlhbA' }
    expect(read(anEntry(human))[0]?.stepUpPasskey).toEqual(stepUpPasskey)
    expect(read(anEntry({ ...human, stepUpPasskey: named }))[0]?.stepUpPasskey).toEqual(named)
    const other = anEntry({ ...human, callerId: 'alias', keyHash: 'b'.repeat(64) })
    expect(problems(() => read(anEntry(human), other))).toEqual([
      'SERVICE_API_KEYS[1].stepUpPasskey is that of SERVICE_API_KEYS[0], another caller.',
    ])
  })

  test.each<[string, object]>([
    ['rpId', { rpId: undefined }],
    ['origins', { origins: [] }],
    ['backupEligible', { backupEligible: 'true' }],
    ['credentialId', { credentialId: 'not base64url' }],
    ['publicKeyPem', { publicKeyPem: 'x' }],
    ['a member of another name', { spki: 'x' }],
  ])('refuses a passkey for step-ups by its %s', (_, members) => {
    const human = { credentialHolderType: 'USER', stepUpPasskey: { ...stepUpPasskey, ...members } }
    expect(problems(() => read(anEntry(human)))).toEqual([
      'SERVICE_API_KEYS[0].stepUpPasskey must be a passkey: {publicKeyPem, rpId, origins, backupEligible, credentialId?}, of Ed25519 or P-256.',
    ])
  })

  test('says which approver it is, where it is a human, and no two are the same one', () => {
    const human = { credentialHolderType: 'USER', approverId: 'alice' }
    const second = { ...human, keyHash: 'b'.repeat(64) }
    expect(read(anEntry(human), anEntry(second))[1]?.approverId).toBe('alice')
    expect(problems(() => read(anEntry(human), anEntry({ ...second, callerId: 'alias' })))).toEqual([
      'SERVICE_API_KEYS[1].approverId is that of SERVICE_API_KEYS[0], another caller.',
    ])
    expect(problems(() => read(anEntry({ approverId: 'alice' })))).toEqual([
      'SERVICE_API_KEYS[0].approverId is for callers whose credentialHolderType is USER.',
    ])
  })

  const hash = 'keyHash must be the SHA-256 of the raw key, 64 lowercase hex characters.'
  const name = "callerId must be 1 to 128 printable ASCII characters without spaces, and not 'anonymous'."
  // proves §5 Keys are issued by an operator
  test.each<[string, object, string]>([
    ['an upper-case hash', { keyHash: 'A'.repeat(64) }, hash],
    ['a short hash', { keyHash: 'a'.repeat(63) }, hash],
    ['a hash with a line end', { keyHash: `${keyHash}\n` }, hash],
    ['a raw key in place of the hash', { keyHash: makeRawKey() }, hash],
    ['no hash', { keyHash: undefined }, 'keyHash is required.'],
    ['an empty callerId', { callerId: '' }, name],
    ['a callerId with a space', { callerId: 'a b' }, name],
    ['a lone surrogate in the callerId', { callerId: '\ud800' }, name],
    ['the callerId of disabled authentication', { callerId: 'anonymous' }, name],
    ['a misspelled member', { allowedCapability: ['*'] }, 'allowedCapability is not a member of a caller.'],
    [
      'an empty principal',
      { allowedPrincipalIds: [''] },
      'allowedPrincipalIds must be an array of non-empty strings.',
    ],
    [
      'a principal that looks like another one',
      { allowedPrincipalIds: ['u.boss', 'u.boss '] },
      'allowedPrincipalIds[1] "u.boss " begins or ends with white space.',
    ],
    [
      'a text of capabilities',
      { allowedCapabilities: '*' },
      'allowedCapabilities must be an array of non-empty strings.',
    ],
    ['readAll as text', { readAll: 'true' }, 'readAll must be true or false.'],
    [
      'an unknown holder type',
      { credentialHolderType: 'user' },
      'credentialHolderType must be one of: USER | ROLE | SERVICE | ORGANIZATION.',
    ],
    [
      'a step-up key that is no key',
      { stepUpPublicKey: 'x' },
      'stepUpPublicKey must be a PEM Ed25519 public key.',
    ],
    [
      'a step-up key of another kind',
      { stepUpPublicKey: generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'pem' }) },
      'stepUpPublicKey must be a PEM Ed25519 public key.',
    ],
    [
      'a step-up key with its private half behind it',
      {
        stepUpPublicKey:
          stepUpPublicKey + ed25519.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      },
      'stepUpPublicKey must be a PEM Ed25519 public key.',
    ],
    [
      'the private half of a step-up key',
      { stepUpPublicKey: ed25519.privateKey.export({ type: 'pkcs8', format: 'pem' }) },
      'stepUpPublicKey must be a PEM Ed25519 public key.',
    ],
  ])('refuses %s', (_, members, problem) => {
    expect(problems(() => read(anEntry(members)))).toEqual([`SERVICE_API_KEYS[0].${problem}`])
  })

  test.each([null, 7, 'csk_x', [], true])('is an object, not %j', (entry) => {
    expect(problems(() => read(entry)).length).toBeGreaterThan(0)
  })

  test('every mistake of every entry is reported', () => {
    expect(problems(() => read({ callerId: 'a b' }, anEntry(), 7))).toEqual([
      'SERVICE_API_KEYS[0].keyHash is required.',
      `SERVICE_API_KEYS[0].${name}`,
      'SERVICE_API_KEYS[2] must be an object.',
    ])
  })
})

test('a raw key is csk_ and 32 random bytes in base64url', () => {
  expect(makeRawKey()).toMatch(/^csk_[A-Za-z0-9_-]{43}$/)
  expect(makeRawKey()).not.toBe(makeRawKey())
})

describe('<PROVIDER>_WEBHOOK_SECRET and _SCHEME', () => {
  const [secret, old] = ['0123456789abcdef', 'x'.repeat(512)]
  const must =
    'RAZORPAY_WEBHOOK_SECRET must be 1 to 4 secrets with a comma between them, each 1 to 512 printable ASCII characters without a space at either end.'

  test('mounts a provider by its lower-case name, each with its scheme and its secrets', () => {
    const env = {
      RAZORPAY_WEBHOOK_SECRET: `${secret},${old}`,
      A_B2_WEBHOOK_SECRET: "It's a Secret to Everybody",
      A_B2_WEBHOOK_SCHEME: 'github',
      X_WEBHOOK_SECRET: '',
      X_WEBHOOK_SCHEME: '',
    }
    const { webhookProviders } = readConfig(env)
    expect(webhookProviders).toEqual({
      razorpay: { scheme: 'contract', secrets: [secret, old] },
      a_b2: { scheme: 'github', secrets: ["It's a Secret to Everybody"] },
    })
    expect(Object.isFrozen(webhookProviders['razorpay']?.secrets)).toBe(true)
    expect(secretWarnings(webhookProviders)).toEqual([])
  })

  test.each([
    `${secret},`,
    `,${secret}`,
    `${secret}, ${secret}`,
    ` ${secret}`,
    'x'.repeat(513),
    `${secret}ü`,
    Array(5).fill(secret).join(','),
  ])(
    'is refused where a secret is empty, cannot be typed or is one too many, and is not repeated: %s',
    (value) => {
      expect(problems(() => readConfig({ RAZORPAY_WEBHOOK_SECRET: value }))).toEqual([must])
    },
  )

  test.each([
    [
      'contract',
      `${secret},short`,
      'RAZORPAY_WEBHOOK_SECRET: Number 2 of its secrets has 5 characters, and who guesses it signs deliveries: choose 16 or more at random.',
    ],
    [
      'github',
      'x',
      'RAZORPAY_WEBHOOK_SECRET has 1 characters, and who guesses it signs deliveries: choose 16 or more at random.',
    ],
    [
      'stripe',
      `sk_live_${secret}`,
      'RAZORPAY_WEBHOOK_SECRET does not begin with whsec_, as the signing secrets of Stripe’s endpoints do.',
    ],
    [
      'standard-webhooks',
      'whsec_c2hvcnQ=',
      'RAZORPAY_WEBHOOK_SECRET has a key of 5 bytes, and Standard Webhooks wants 24 or more.',
    ],
  ])('a weak secret of scheme %s is used, and warned of', (scheme, value, warning) => {
    const env = { RAZORPAY_WEBHOOK_SECRET: value, RAZORPAY_WEBHOOK_SCHEME: scheme }
    expect(secretWarnings(readConfig(env).webhookProviders)).toEqual([warning])
  })

  test.each([
    'whsec_',
    'whsec_no base64',
    'whsec_YQ',
    'whpk_YWJj',
    'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbc=',
  ])('Standard Webhooks takes no secret that is no key: %s', (value) => {
    const env = { ACME_WEBHOOK_SECRET: value, ACME_WEBHOOK_SCHEME: 'standard-webhooks' }
    expect(problems(() => readConfig(env))).toEqual([
      'ACME_WEBHOOK_SECRET must be whsec_ and the base64 of a key, or whpk_ and the base64 of an Ed25519 public key of 32 bytes, as the scheme standard-webhooks has it.',
    ])
  })

  test('a scheme is one of the table, and needs a secret', () => {
    const env = {
      ACME_WEBHOOK_SECRET: secret,
      ACME_WEBHOOK_SCHEME: 'Stripe',
      STRIPE_WEBHOOK_SCHEME: 'stripe',
    }
    expect(problems(() => readConfig(env))).toEqual([
      'ACME_WEBHOOK_SCHEME must be one of contract, stripe, github, standard-webhooks.',
      'STRIPE_WEBHOOK_SCHEME needs STRIPE_WEBHOOK_SECRET, which mounts the provider.',
    ])
    expect(
      problems(() => readConfig({ ACME_WEBHOOK_SECRET: secret, ACME_WEBHOOK_SCHEME: 'constructor' })),
    ).toHaveLength(1)
  })

  test.each([
    'razorpay_WEBHOOK_SECRET',
    '1X_WEBHOOK_SECRET',
    '_WEBHOOK_SECRET',
    `${'X'.repeat(33)}_WEBHOOK_SECRET`,
  ])('%s names no provider', (name) => {
    expect(problems(() => readConfig({ [name]: secret }))).toEqual([
      `${name} must name its provider by a capital letter and at most 31 further ones, digits or _.`,
    ])
  })

  test('SERVICE is no provider', () => {
    expect(problems(() => readConfig({ SERVICE_WEBHOOK_SECRET: secret }))).toHaveLength(1)
  })
})

describe('a variable that is close to one of ours', () => {
  test.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['WORKER_THREAD', 'WORKER_THREADS'],
    ['LOG_WITNES_POLICY', 'LOG_WITNESS_POLICY'],
    ['ACME_PAY_WEBHOOK_SECERT', 'ACME_PAY_WEBHOOK_SECRET'],
    ['STRIPE_WEBHOOK_SCHEM', 'STRIPE_WEBHOOK_SCHEME'],
    ['STRIPE_WEBHOK_SCHEME', 'STRIPE_WEBHOOK_SCHEME'],
  ])('%s is warned of', (name, meant) => {
    expect(misspeltVariables({ [name]: 'x' })).toEqual([
      `${name} is no variable of this service: ${meant} may be meant.`,
    ])
  })

  test('names of ours, of providers and of other programs are not', () => {
    const others = [
      'RAZORPAY_WEBHOOK_SECRET',
      'ACME_PAY_WEBHOOK_SCHEME',
      'SLACK_WEBHOOK_URL',
      'PGDATA',
      'HOSTNAME',
      'PATH',
      'POST',
      'NODE_OPTIONS',
      'npm_config_cache',
    ]
    const names = [...Object.keys(Environment.properties), ...others]
    expect(misspeltVariables(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([])
  })
})
