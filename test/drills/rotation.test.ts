// The drill of docs/handbook/keeping.md "Rotate without stopping": two instances behind a load balancer, under load, get new signing keys,
// callers' keys, webhook secrets and a new database login, and no caller notices.
import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { parseCheckpoint } from '../../src/formats/log/checkpoint.ts'
import { parseNote } from '../../src/formats/log/note.ts'
import { logVerifierKey, publishedLogKeys } from '../../src/core/signing/log-keys.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { aHuman, anApprover, anEnrolment, proposed, resolved, type Human } from '../authority.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { testWithPostgres } from '../debian-postgres.ts'
import { blocks, forHere } from '../handbook.ts'
import { startLoad, type Load } from '../load.ts'
import { startService, until, type Called, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { aDelivery, deliver } from '../webhooks.ts'
import { run } from './server.ts'
import { makeKeys } from '../signing-keys.ts'

const SAMPLE = 200

const owner = `countersign_${randomBytes(4).toString('hex')}`
const serverUrl = inject('serverUrl')
const oldPassword = randomBytes(16).toString('hex')
const newPassword = randomBytes(16).toString('hex')
const maker = aHuman('maker')
const oldChecker = aHuman('checker')
const newChecker = aHuman('checker')
const oldKey = makeRawKey()
const newKey = makeRawKey()
const secrets = { old: 'whsec_before-the-rotation', new: 'whsec_behind-the-rotation' }

const bot = (raw: string) => ({
  callerId: 'bot',
  keyHash: sha256Hex(raw),
  allowedCapabilities: ['*'],
  allowedPrincipalIds: ['tester'],
})

/** An instance is started with these; a test changes them between restarts, as an operator does. */
const settings = {
  callers: [bot(oldKey), maker.entry, oldChecker.entry],
  webhookSecret: secrets.old,
  receiptAlgorithms: 'ed25519',
  login: { role: `${owner}_a`, password: oldPassword },
}

const folder = mkdtempSync(join(tmpdir(), 'countersign-drill-'))
/** Each instance has its own: nobody knows a key that he was not given. */
const keyDirs = [join(folder, 'one'), join(folder, 'two')] as const
let database: TestDatabase
let instances: [TestService, TestService]
/** Those that the load balancer sends to. */
let reachable: TestService[]
let load: Load

/** Callers see both as one service. Each request goes to the next instance, with the key that `bot` uses by now. */
let key = oldKey
let turn = 0
const underWay = new Map<TestService, number>()
const balancer: Pick<TestService, 'post'> = {
  async post(path, body) {
    const instance = reachable[turn++ % reachable.length]
    if (instance === undefined) throw new Error('no instance is reachable')
    underWay.set(instance, (underWay.get(instance) ?? 0) + 1)
    try {
      return await instance.post(path, body, { key })
    } finally {
      underWay.set(instance, (underWay.get(instance) ?? 0) - 1)
    }
  },
}

const start = (signingKeyDir: string): Promise<TestService> =>
  startService({
    databaseUrl: urlFor(settings.login),
    signingKeyDir,
    callers: settings.callers,
    env: {
      RAZORPAY_WEBHOOK_SECRET: settings.webhookSecret,
      RECEIPT_ALGORITHMS: settings.receiptAlgorithms,
    },
  })

/** One instance after the other: out of the load balancer, stopped, started, back in. `between` runs while only the first is new. */
async function restartEach(between: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  for (const i of [0, 1] as const) {
    const old = instances[i]
    reachable = instances.filter((each) => each !== old)
    await until(() => underWay.get(old) === 0, 'what the load balancer had sent to be answered')
    expect(await old.stop()).toBe(0)
    const fresh = await start(keyDirs[i])
    expect((await fresh.get('/ready')).status).toBe(200)
    instances[i] = fresh
    reachable = [...instances]
    if (i === 0) await between()
  }
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl })
  await client.connect()
  await client.query(statement)
  await client.end()
}

function urlFor({ role, password }: (typeof settings)['login']): string {
  return database.url.replace(/^(postgres(?:ql)?:\/\/)(?:[^@/]*@)?/, `$1${role}:${password}@`)
}

/** A command of the chapter, by a part of it, for the keys and address of instance `i`. */
function shown(part: string, i: 0 | 1 = 0): Promise<string> {
  const found = blocks('keeping.md', 'sh').filter((block) => block.includes(part))
  expect(found, `one block with ${part}`).toHaveLength(1)
  // The role of the chapter's database is one of this test's.
  const script = forHere(found.join(''), instances[i].url).replaceAll(/\bcountersign(?=_[ab]\b|")/g, owner)
  return run(script, {
    cwd: folder,
    env: { SIGNING_KEY_DIR: keyDirs[i], ADMIN_URL: serverUrl, NEW_PASSWORD: newPassword },
  })
}

beforeAll(async () => {
  database = await createDatabase('template0')
  const [, name = ''] = /\/([^/?]*)(?:\?.*)?$/.exec(database.url.replace(/\?.*/, '')) ?? []
  await onServer(`CREATE ROLE ${owner}`)
  await onServer(`CREATE ROLE ${owner}_a LOGIN PASSWORD '${oldPassword}' IN ROLE ${owner}`)
  await onServer(`ALTER ROLE ${owner}_a SET role = ${owner}`)
  await onServer(`ALTER DATABASE ${name} OWNER TO ${owner}`)
  makeKeys(keyDirs[0], new Date(Date.now() - 60_000))
  cpSync(keyDirs[0], keyDirs[1], { recursive: true })
  instances = await Promise.all([start(keyDirs[0]), start(keyDirs[1])])
  reachable = [...instances]
  load = startLoad(balancer, 2, { pauseMs: 40 })
})

afterAll(async () => {
  await load.stop()
  for (const instance of instances) expect(await instance.stop()).toBe(0)
  await database.drop()
  for (const role of [`${owner}_a`, `${owner}_b`, owner]) await onServer(`DROP ROLE IF EXISTS ${role}`)
  rmSync(folder, { recursive: true })
})

/** Executes on one instance and has the other one verify it, which appends to the evidence what it thinks. */
async function verifiedByTheOther(from: 0 | 1): Promise<Called> {
  const executed = await instances[from].post('/execute', aTransaction(), { key })
  expect(executed.status).toBe(200)
  const { businessTransactionId } = executed.body as { businessTransactionId: string }
  for (const path of ['/verify', '/receipt'])
    expect(await instances[1 - from]?.post(path, { businessTransactionId }, { key })).toMatchObject({
      status: 200,
    })
  const verification = await instances[from].get(`/verification/${businessTransactionId}`, { key })
  expect(verification.body).toMatchObject({ status: 'VERIFIED' })
  return executed
}

const algorithms = (record: Called) => record.body.requiredAlgorithms as unknown
const signers = (record: Called) => record.body.receipts[0].keyId as string

test('signing keys: both publish the new one before either signs, and each verifies the other all along', async () => {
  const before = await verifiedByTheOther(0)
  await shown('keys generate --dir mine/new-keys')
  const [fresh = ''] = readdirSync(join(folder, 'mine', 'new-keys')).flatMap(
    (name) => /^(.*-ed25519)\.public/.exec(name)?.[1] ?? [],
  )
  await shown('until curl', 0)
  expect((await instances[1].get(`/keys/${fresh}`)).status).toBe(404)
  await shown('until curl', 1)
  for (const i of [0, 1] as const) await shown('cp -p mine/new-keys/*.private.pem', i)
  expect(signers(await verifiedByTheOther(1))).toBe(signers(before))
  await restartEach(async () => {
    expect(signers(await verifiedByTheOther(0))).toBe(fresh)
    expect(signers(await verifiedByTheOther(1))).toBe(signers(before))
  })
  expect(signers(await verifiedByTheOther(1))).toBe(fresh)
  const freshOfLog = publishedLogKeys(join(folder, 'mine', 'new-keys'))()
  expect(freshOfLog).toHaveLength(2)
  await until(async () => {
    const { text, lines } = parseNote((await instances[0].get('/log/checkpoint')).text)
    const { origin } = parseCheckpoint(text)
    const signedBy = lines.map(({ keyId }) => keyId)
    return freshOfLog.every((one) => signedBy.includes(logVerifierKey(origin, one).keyId))
  }, 'a checkpoint by the new keys of the log')
})

test('the old private key may go, and an algorithm may come: instances that differ verify each other', async () => {
  for (const i of [0, 1] as const) await shown('keys list --dir "$SIGNING_KEY_DIR"', i)
  settings.receiptAlgorithms = 'ed25519,ml-dsa-65'
  await restartEach(async () => {
    expect(algorithms(await verifiedByTheOther(0))).toEqual(['ed25519', 'ml-dsa-65'])
    expect(algorithms(await verifiedByTheOther(1))).toBeUndefined()
  })
  expect(algorithms(await verifiedByTheOther(1))).toEqual(['ed25519', 'ml-dsa-65'])
})

test("callers' keys, step-up keys and webhook secrets: old and new side by side, then the new alone", async () => {
  let enrolments = 0
  const approvedBy = async (checker: Human) => {
    const change = await proposed(
      instances[0],
      maker,
      '/approvers/changes',
      anEnrolment(anApprover('dana', `k${enrolments++}`)),
    )
    return (await resolved(instances[1], checker, change, 'approve')).status
  }
  const deliveredBy = async (secret: string) => (await deliver(instances[1], aDelivery({ secret }))).status

  settings.callers = [bot(oldKey), bot(newKey), maker.entry, oldChecker.entry, newChecker.entry]
  settings.webhookSecret = `${secrets.new},${secrets.old}`
  await restartEach()
  expect([await approvedBy(oldChecker), await approvedBy(newChecker)]).toEqual([200, 200])
  expect([await deliveredBy(secrets.old), await deliveredBy(secrets.new)]).toEqual([200, 200])

  key = newKey
  settings.callers = [bot(newKey), maker.entry, newChecker.entry]
  settings.webhookSecret = secrets.new
  await restartEach()
  expect((await instances[0].get('/callers/me', { key: oldKey })).status).toBe(401)
  expect((await instances[0].get('/policies', oldChecker)).status).toBe(401)
  expect(await approvedBy(newChecker)).toBe(200)
  expect([await deliveredBy(secrets.old), await deliveredBy(secrets.new)]).toEqual([401, 200])
})

testWithPostgres('the database login: a second role, and the first one is dropped under load', async () => {
  await shown('CREATE ROLE')
  settings.login = { role: `${owner}_b`, password: newPassword }
  await restartEach()
  await shown('DROP ROLE')
  await verifiedByTheOther(0)
})

test('no caller noticed: every execution was answered, and verifies by the key set of the end', async () => {
  const seen = load.count(200)
  await until(() => load.count(200) > seen + 20, 'the load')
  const outcomes = await load.stop()
  const unlucky = outcomes.filter(({ reply }) => reply?.status !== 200)
  expect(unlucky.map(({ reply, lost }) => reply?.text ?? lost)).toEqual([])

  const jwks = await instances[1].get('/.well-known/jwks.json')
  expect(jwks.body.keys).toHaveLength(4)
  expect(readdirSync(keyDirs[1]).filter((name) => name.includes('.private.'))).toHaveLength(2)
  writeFileSync(join(folder, 'keys.json'), jwks.text)
  const signedBy = new Set(outcomes.map(({ reply }) => signers(reply as Called)))
  expect(signedBy.size).toBe(2)
  // A sample of all along: each takes a while to verify.
  const some = outcomes.filter((_, i) => i % Math.ceil(outcomes.length / SAMPLE) === 0)
  writeFileSync(join(folder, 'records.json'), `[${some.map(({ reply }) => reply?.text).join(',')}]`)
  const verify = forHere('bin/countersign verify records.json --jwks keys.json', '')
  expect(await run(verify, { cwd: folder, env: {} })).toContain(
    `: ${some.length} valid, 0 INVALID, 0 cannot be checked\n`,
  )
})
