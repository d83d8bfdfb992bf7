// The chapters for humans, walked through once as they stand: two humans get keys, enrol an approver, register a connector, approve a
// payment, change policies, close executions in doubt, and rotate the signing keys. Each script runs where the one before left off.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BUILT } from '../../src/server/pages/built.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { blocks, forHere } from '../handbook.ts'
import { putInDoubt } from '../intents.ts'
import { startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { bundledEnvironment } from '../run/environment.ts'
import { makeKeys } from '../signing-keys.ts'

const POLICIES = join(import.meta.dirname, '..', '..', 'policies')

// A test is a section of a chapter: many commands, each a process of its own.
let database: TestDatabase
let service: TestService
let receiver: ChildProcess | undefined
/** Where the reader's terminal is, and the folder below it that takes what the scripts save. */
let folder: string
let mine: string
let signingKeyDir: string
let policyDir = POLICIES
let events: ChildProcess | undefined
let connectorPort = ''
let eventsPort = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-test-handbook-'))
  mine = join(folder, 'mine')
  mkdirSync(mine)
  signingKeyDir = join(folder, 'signing-keys')
  makeKeys(signingKeyDir, new Date(Date.now() - 60_000))
  database = await createDatabase()
  const [transaction = ''] = blocks('executions.md', 'json')
  const [payment = ''] = blocks('approving.md', 'json')
  writeFileSync(join(mine, 'transaction.json'), transaction)
  writeFileSync(join(mine, 'payment.json'), payment)
})

afterAll(async () => {
  receiver?.kill('SIGKILL')
  events?.kill('SIGKILL')
  expect(await service.stop()).toBe(0)
  await database.drop()
  rmSync(folder, { recursive: true })
})

const unread = new Map(
  ['governing.md', 'approving.md', 'policies.md', 'webhook-rules.md', 'events.md'].map(
    (file) => [file, blocks(file, 'sh')] as const,
  ),
)

/** The next script of a chapter; each is read once, in its order. */
function next(file: string): string {
  const [script = '', ...rest] = unread.get(file) ?? []
  unread.set(file, rest)
  return script
}

/** The scripts of a section, by its heading. */
function section(file: string, heading: string): string[] {
  const [, below = ''] = readChapter(file).split(`## ${heading}\n`)
  const [own = ''] = below.split(/^## /m)
  return Array.from(own.matchAll(/^```sh\n([^]*?)^```$/gm), ([, script = '']) => script)
}

function readChapter(file: string): string {
  return readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'handbook', file), 'utf8')
}

/** Runs a script in one terminal for all scripts: the next one has the variables of this one. Throws where a command fails. */
async function run(script: string, url = service.url): Promise<{ stdout: string; stderr: string }> {
  const here = forHere(script, url)
    .replaceAll(':8080', `:${connectorPort}`)
    .replaceAll(':8090', `:${eventsPort}`)
  const whole = `[ ! -f terminal ] || . ./terminal\nexport COUNTERSIGN_URL='${url}'\nset -ae\n${here}\nexport -p > terminal`
  // Not spawnSync: connections that the server closes meanwhile would not be noticed, and used again.
  const child = spawn('sh', ['-c', whole], {
    cwd: folder,
    env: bundledEnvironment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  expect(status, `${script}\n${stdout}${stderr}`).toBe(0)
  return { stdout, stderr }
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into replies of every shape
function saved(name: string): any {
  return JSON.parse(readFileSync(join(mine, name), 'utf8')) as unknown
}

function start(): Promise<TestService> {
  return startService({
    databaseUrl: database.url,
    signingKeyDir,
    callers: saved('callers.json') as object[],
    env: { POLICY_DIR: policyDir },
  })
}

/** `ok` before the name of each check, and the verdict. */
const verified = (...checks: string[]) =>
  expect.stringMatching(new RegExp(`${checks.map((name) => `  ok      ${name}\n[^]*`).join('')}\nvalid\n`))

describe('Governing', () => {
  test('two humans and a caller get their keys, and the service takes their entries', async () => {
    const none = 'http://127.0.0.1:1'
    await run(next('governing.md'), none)
    await run(next('governing.md'), none)
    await run(next('governing.md'), none)
    // In place of the start, whose database would be another: what it is started with.
    const starting = next('governing.md')
    expect(starting).toMatch(/^npm start$/m)
    await run(starting.replace('npm start', `printf %s "$SERVICE_API_KEYS" > mine/callers.json`), none)
    expect(saved('callers.json')).toMatchObject([
      { callerId: 'alice', credentialHolderType: 'USER' },
      { callerId: 'bob', credentialHolderType: 'USER' },
      { callerId: 'dana', credentialHolderType: 'USER', approverId: 'dana' },
      { callerId: 'local-dev', allowedCapabilities: ['*'] },
    ])
    service = await start()
    await run(next('governing.md'))
    expect(
      (await run(`curl -sS -H "Authorization: Bearer $ALICE" ${service.url}/callers/me`)).stdout,
    ).toContain('"callerId":"alice"')
  })

  test('an approver is enrolled: proposed by one, shown to the other, signed by him, in effect', async () => {
    expect((await run(next('governing.md'))).stdout).toContain('-----BEGIN PUBLIC KEY-----')
    await run(next('governing.md'))
    expect(saved('change.json')).toMatchObject({ status: 'PENDING_APPROVAL', proposedBy: 'alice' })
    expect((await service.get('/keys/dana:laptop')).status).toBe(404)
    expect((await run(next('governing.md'))).stdout).toMatch(
      /  Add approver dana:laptop  alice  Dana approves/,
    )
    const { stderr } = await run(next('governing.md'))
    expect(stderr).toContain('You approve, by this signature, this change:')
    expect(stderr).toContain('"approverId": "dana"')
    expect(saved('approved.json')).toMatchObject({ status: 'APPROVED', resolvedBy: 'bob' })
    expect((await service.get('/keys/dana:laptop')).body.pem).toBe(
      readFileSync(join(mine, 'dana', 'laptop.public.pem'), 'utf8'),
    )
    const { stdout } = await run(next('governing.md'))
    expect(stdout).toEqual(verified('change hash', 'change signature', 'resolution', 'step-up authorization'))
    expect(stdout).not.toContain('was not checked')
  })

  test('a group of approvers is set by two humans', async () => {
    await run(next('governing.md'))
    expect(saved('approved.json')).toMatchObject({ kind: 'approver-group', status: 'APPROVED' })
    const { body } = await service.get('/approver-groups', { key: saved('alice.json').apiKey as string })
    expect(body).toMatchObject({ approverGroups: [{ group: 'managers', members: ['dana'] }] })
  })

  test('a connector is registered, with the receiver of the examples behind it', async () => {
    const command = forHere(next('governing.md'), service.url).replace('--port 8080', '--port 0')
    receiver = spawn('sh', ['-c', `exec ${command}`], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    receiver.stdout?.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
    const [, port = ''] = await until(
      () => /^listening on http:\/\/127\.0\.0\.1:(\d+)/m.exec(said) ?? undefined,
      'the receiver to listen',
    )
    connectorPort = port
    await run(next('governing.md'))
    await run(next('governing.md'))
    expect(saved('approved.json')).toMatchObject({ kind: 'external-connector', status: 'APPROVED' })
  })
})

describe('Approving', () => {
  test('before an approval the payment is denied', async () => {
    const payment = readFileSync(join(mine, 'payment.json'), 'utf8')
    const denied = payment.replaceAll('0b1c1f5e', '0b1c1f5f')
    const key = (await run('printf %s "$KEY"')).stdout
    expect(await service.post('/execute', denied, { key })).toMatchObject({
      status: 403,
      body: { code: 'POLICY_DENIED' },
    })
  })

  test('an agent asks, an approver looks and signs, and the payment goes out once', async () => {
    await run(next('approving.md'))
    const { request, actionCode, status } = saved('request.json')
    expect(status).toBe('PENDING')
    const { stdout: listed } = await run(next('approving.md'))
    expect(listed).toContain(
      `${request.requestId}  ${actionCode}  local-dev  vendor:pay → vendor-17  250  1 approval missing`,
    )
    const signing = next('approving.md').replace('bin/countersign', 'echo y | bin/countersign')
    const { stderr } = await run(signing)
    expect(stderr).toMatch(
      /^\S+ asks you to approve:\n\n {2}[^\n{]*\n\nYou approve, once, by this signature, exactly this:[^]*"target": "vendor-17"/,
    )
    expect(stderr).toContain(`\n  ${actionCode}\n`)
    expect((await run(next('approving.md'))).stdout).toContain('Which delivery is this invoice for?')
    await run(next('approving.md'))
    const approvals = [saved('approval.json')] as object[]
    expect(saved('record.json').executions).toMatchObject([
      {
        decision: { verifiedSignals: { humanApproved: { value: true, by: 'approval', approvals, request } } },
        status: 'COMPLETED',
        evidence: { result: { effects: 1 } },
      },
    ])
    const { stdout } = await run(next('approving.md'))
    expect(stdout).toContain('"status":"USED"')
    expect(stdout).toContain(`"consumedBy":"${saved('payment.json').businessTransactionId}"`)
  })

  test('an approval within limits is signed before anybody asks', async () => {
    const { stdout, stderr } = await run(next('approving.md'))
    expect(stderr).toContain('You approve, once, by this signature:')
    expect(stderr).toContain('"target": "vendor-18"')
    expect(stdout).toContain('"status":"UNUSED"')
  })

  test('the record is verified offline with the keys of the service and of the approver', async () => {
    const { stdout } = await run(next('approving.md'))
    expect(stdout).toContain('dana:laptop SHA-256')
    expect(stdout).toContain('\nvalid\n')
    const { stdout: ofRequest } = await run(next('approving.md'))
    expect(ofRequest).toEqual(verified('request hash', 'request signature', 'request', 'action code'))
    expect(saved('request.json')).toMatchObject({ status: 'USED' })
    expect(unread.get('approving.md')).toEqual([])
  })
})

describe('Changing policies', () => {
  test('a new version is tried on the past, proposed, approved and in effect', async () => {
    const key = (await run('printf %s "$KEY"')).stdout
    expect((await service.post('/execute', saved('transaction.json'), { key })).status).toBe(200)
    const { stdout: simulated } = await run(next('policies.md'))
    expect(simulated).toContain(
      '6f9619ff-8b86-4d11-b42d-00c04fc964ff sandbox:echo → first-steps: APPROVED -> REJECTED (too-large)',
    )
    expect(simulated).toContain('1 of 1 past decisions under sandbox-echo would flip')
    await run(next('policies.md'))
    expect(saved('change.json')).toMatchObject({
      status: 'PENDING_APPROVAL',
      warnings: expect.arrayContaining([expect.stringContaining("'approved'")]) as string[],
      diff: { against: '1.0.0' },
    })
    const approving = await run(next('policies.md'))
    expect(approving.stderr).toMatch(/\nDifferences from 1\.0\.0\n[^]*\nWarnings of the service\n/)
    expect(approving.stderr).toContain('1 of 1 past decisions under sandbox-echo would flip')
    expect(approving.stderr).toContain('Your signature covers this report too.')
    expect(approving.stdout).toEqual(
      verified('change hash', 'change signature', 'resolution', 'impact report'),
    )
    expect((await run(next('policies.md'))).stdout).toContain('"version":"1.1.0"')
    const evaluated = JSON.parse((await run(next('policies.md'))).stdout) as object
    expect(evaluated).toMatchObject({
      wouldAnswer: { status: 500, error: 'Execution rejected: Amount above 40.' },
    })
  })
})

describe('Events pushed to you', () => {
  test('a receiver is registered, prints that it was, gets a secret and is served again', async () => {
    const command = forHere(next('events.md'), service.url).replace('--port 8090', '--port 0')
    events = spawn('sh', ['-c', `exec ${command}`], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    let said = ''
    events.stdout?.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk))
    events.stderr?.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
    const [, port = ''] = await until(
      () => /^receives events at http:\/\/127\.0\.0\.1:(\d+)\//m.exec(said) ?? undefined,
      'the receiver to listen',
    )
    eventsPort = port
    await run(next('events.md'))
    await run(next('events.md'))
    const { changeId } = saved('approved.json') as { changeId: string }
    const event = await until(() => printed.split('\n').find((line) => line !== ''), 'the event')
    expect(JSON.parse(event)).toMatchObject({ type: 'change.resolved', changeId })
    await run(next('events.md'))
    expect(saved('secret.json')).toEqual({ secret: expect.stringMatching(/^whsec_/) as string })
    expect((await run(next('events.md'))).stdout).toContain('"state":"delivering"')
    // With its attempts, then from where it stopped, then past everything.
    for (let n = 0; n < 3; n++) expect((await run(next('events.md'))).stdout).toContain(changeId)
    expect(unread.get('events.md')).toEqual([])
  })
})

describe('Operating: an execution in doubt', () => {
  const scripts = section('operating.md', 'An execution in doubt')
  const [silent = '', list = '', resolve = '', check = '', show = '', finalize = ''] = scripts

  test('a connector that stays silent leaves one, which is listed', async () => {
    expect(scripts).toHaveLength(6)
    expect((await run(silent)).stdout).toMatch(/"code":"EXECUTION_OUTCOME_UNKNOWN".*\n502\n$/)
    const { intents } = JSON.parse((await run(list)).stdout) as { intents: object[] }
    expect(intents).toMatchObject([
      { businessTransactionId: '7f9619ff-8b86-4d11-b42d-00c04fc964ff', state: 'RELEASED', inDoubt: true },
    ])
  })

  test('a human resolves it, and the signed transition is verified offline', async () => {
    await run(resolve)
    expect(saved('intent.json')).toMatchObject({ state: 'RESOLVED', resolution: 'NOT_EXECUTED' })
    expect((await run(check)).stdout).toEqual(verified('transition signature', 'transition'))
    expect((await run(list)).stdout).toContain('{"intents":[]}')
    const { stdout, stderr } = await run(`DATABASE_URL='${database.url}'\n${show}`)
    expect(stderr).toBe('Nothing is in doubt.\n')
    expect(stdout).toMatch(
      /^7f9619ff-\S+ {2}sandbox:echo .*RESOLVED\n.* RELEASED\n.* RESOLVED NOT_EXECUTED by alice: The sandbox has no outside effect\.\n$/,
    )
    await run('unset DATABASE_URL')
  })

  test('one whose record stands is finalized', async () => {
    await putInDoubt(database, '6f9619ff-8b86-4d11-b42d-00c04fc964ff', 'kept')
    expect((await run(finalize)).stdout).toContain('"state":"FINALIZED"')
  })
})

describe('Writing webhook rules', () => {
  test('the rules of the example compile, and their cases hold', async () => {
    expect((await run(next('webhook-rules.md'))).stdout).toContain('; 4 cases hold.')
  })

  test('Alice proposes them, Bob approves them, and they are in effect', async () => {
    await run(next('webhook-rules.md'))
    const { stdout } = await run(next('webhook-rules.md'))
    expect(stdout).toEqual(verified('change hash', 'change signature', 'resolution'))
    expect(stdout).toMatch(
      /"provider":"acmepay","rulesHash":"[0-9a-f]{64}","status":"IN_EFFECT","approvedBy":"bob"/,
    )
    expect(unread.get('webhook-rules.md')).toEqual([])
  })
})

describe('Callers and keys: the signing keys are rotated', () => {
  const scripts = section('callers.md', 'Rotate the signing keys')

  test('the new ones are published at once, sign from the next start, and old evidence still verifies', async () => {
    expect(scripts).toHaveLength(1)
    const before = saved('keys.json').keys.length
    const rotating = scripts.join('').replaceAll('/etc/countersign/keys', `'${signingKeyDir}'`)
    expect((await run(rotating)).stdout).toContain('Made ')
    const published = () => service.get('/.well-known/jwks.json').then(({ body }) => body.keys.length)
    await until(async () => (await published()) === before + 2, 'the new keys to be published')
    expect(await service.stop()).toBe(0)

    // An upgrade comes with the restart: the next section begins with it.
    await run(next('policies.md'))
    policyDir = join(mine, 'policies')
    service = await start()
    // It has another port than the profiles say.
    for (const name of ['alice', 'bob']) {
      const profile = join(mine, `${name}.json`)
      writeFileSync(profile, JSON.stringify({ ...saved(`${name}.json`), url: service.url }))
    }

    const record = await service.post('/execute', aTransaction())
    const keyIds = readdirSync(signingKeyDir).flatMap(
      (name) => /^(.*-ed25519)\.private/.exec(name)?.[1] ?? [],
    )
    expect(keyIds).toHaveLength(2)
    expect(record.body.signature.keyId).toBe(keyIds.toSorted()[1])
    writeFileSync(join(mine, 'after.json'), record.text)
    await run(`curl -sS --fail-with-body http://127.0.0.1:3000/.well-known/jwks.json > mine/keys.json
bin/countersign verify mine/after.json --jwks mine/keys.json
bin/countersign verify mine/record.json --jwks mine/keys.json --jwks mine/dana.json`)
  })
})

describe('Changing policies, after an upgrade', () => {
  test('a version that came with it is loaded, and approved by two humans', async () => {
    expect((await run(next('policies.md'))).stdout).toMatch(/"version":"2\.2\.0","status":"LOADED"/)
    await run(next('policies.md'))
    await run(next('policies.md'))
    expect((await run(next('policies.md'))).stdout).toContain(
      'were approved under 2.0.0, and sent so again they would be refused as retired',
    )
    await run(next('policies.md'))
    expect(unread.get('policies.md')).toEqual([])
    expect((await service.get('/policies/vendor-payment/2.0.0')).body).toMatchObject({
      status: 'RETIRED',
      retiredBy: 'bob',
    })
    expect((await service.get('/policies/vendor-payment/2.2.0')).body).toMatchObject({
      status: 'APPROVED',
      approvedBy: 'bob',
    })
  })
})

describe('Governing, at last', () => {
  test("an approver's key is revoked, and records from before still verify", async () => {
    await run(next('governing.md'))
    expect(unread.get('governing.md')).toEqual([])
    expect((await service.get('/keys/dana:laptop')).body).toHaveProperty('revokedAt')
    const [check = ''] = blocks('auditing.md', 'sh').filter((script) =>
      script.includes('node countersign-verify.mjs'),
    )
    const [keys = ''] = blocks('auditing.md', 'sh').filter((script) =>
      script.includes('approver-keys.json >'),
    )
    const ofRecord = check.replace('records.ndjson refusals.ndjson', 'record.json')
    expect(ofRecord).toContain('countersign-verify.mjs record.json')
    await run(
      `cd mine\ncp '${fileURLToPath(new URL('countersign-verify.mjs', BUILT))}' .\n${keys}\n${ofRecord}`,
    )
  })
})
