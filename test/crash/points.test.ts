// kill -9 at every await between the claim of an execution and its stored evidence (decisions §8): whatever the moment, its effect is
// asked for once at most, and afterwards it ended for certain, is in doubt, was refused, or never was.
import { once } from 'node:events'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers.ts'
import { generateKeys, readPublicKeys } from '../../src/core/signing/keys.ts'
import { createDatabase, intentState, type TestDatabase } from '../database.ts'
import { expectEvidence, readStored } from '../evidence.ts'
import { aPolicyFolder } from '../policies.ts'
import { aCaller, startService, until, type Called, type TestService } from '../service.ts'
import { instrument } from './points/instrument.ts'
import { addCrashPolicies, kinds, storeCrashRows, type Kind, type Sent } from './points/kinds.ts'
import { never } from './points/never.ts'
import { awaitOf, awaitsOf, planKills, readMarks, type Kill, type Reached } from './points/plan.ts'
import { openReceiver, type Receiver } from './points/receiver.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const PRELOAD = pathToFileURL(join(import.meta.dirname, 'points', 'preload.ts')).href
/** Services that are started and killed at the same time: each computes for a second, and then waits. */
const LANES = 3

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-points-'))
const signingKeyDir = join(folder, 'keys')
/** The modules of the service with every await marked. Written once: each of a hundred starts reads them. */
const marked = join(folder, 'marked')
const policyDir = aPolicyFolder()
const human = aCaller('human', { credentialHolderType: 'USER' })
const key = makeRawKey()

let receiver: Receiver
let database: TestDatabase
/** The marks of one execution of each kind that nobody killed. */
let executions: ReadonlyMap<Kind, readonly Reached[]>

beforeAll(async () => {
  generateKeys({ dir: signingKeyDir, now: new Date() })
  addCrashPolicies(policyDir)
  writeMarked()
  receiver = await openReceiver()
  database = await createDatabase()
  await storeCrashRows(database, receiver.origin)
  executions = await listMarks()
})

afterAll(async () => {
  await receiver.close()
  await database.drop()
  rmSync(policyDir, { recursive: true })
  rmSync(folder, { recursive: true })
})

function start(crash: Record<string, string> = {}): Promise<TestService> {
  return startService({
    databaseUrl: database.url,
    signingKeyDir,
    key,
    callers: [human.entry],
    env: {
      POLICY_DIR: policyDir,
      WORKER_THREADS: '1',
      HUBSPOT_PRIVATE_APP_TOKEN: 'pat',
      HUBSPOT_BASE_URL: receiver.origin,
      ...(Object.keys(crash).length === 0
        ? {}
        : { NODE_OPTIONS: `--import=${PRELOAD}`, CRASH_MARKED: marked, ...crash }),
    },
  })
}

function writeMarked(): void {
  for (const file of globSync('{src,workers}/**/*.ts', { cwd: ROOT })) {
    const to = join(marked, file)
    mkdirSync(dirname(to), { recursive: true })
    writeFileSync(to, instrument(file, readFileSync(join(ROOT, file), 'utf8')).text)
  }
}

/** One execution of each kind after the other, each answered as it should be. */
async function listMarks(): Promise<ReadonlyMap<Kind, readonly Reached[]>> {
  const list = join(folder, 'marks')
  writeFileSync(list, '')
  const service = await start({ CRASH_LIST: list })
  const marks = new Map<Kind, readonly Reached[]>()
  let from = 0
  for (const kind of kinds) {
    const sent = await kind.make(database)
    const { status, text } = await service.post('/execute', sent)
    expect(status, `${kind.name}: ${text}`).toBe(kind.status)
    expect(receiver.effects(sent.intent.target), kind.name).toBe(kind.effects)
    const { ends } = kind
    if (ends !== undefined)
      await until(async () => (await intentState(database, sent.businessTransactionId)) === ends, kind.name)
    const all = readMarks(readFileSync(list, 'utf8'))
    marks.set(kind, all.slice(from))
    from = all.length
  }
  expect(await service.stop()).toBe(0)
  return marks
}

test('every await that an execution comes to is one that is listed', () => {
  const listed = JSON.parse(
    readFileSync(join(import.meta.dirname, 'points', 'points.json'), 'utf8'),
  ) as Readonly<Record<string, readonly string[]>>
  const points = Object.entries(listed).flatMap(([file, awaits]) => awaits.map((one) => `${file}:${one}`))
  const reached = awaitsOf(executions)
  expect({ unlisted: [...reached].filter((one) => !points.includes(one)) }).toEqual({ unlisted: [] })
  expect({ unreached: points.filter((one) => !reached.has(one)) }).toEqual({ unreached: [] })

  // And those that no execution comes to, in the same files and the folders that hold nothing but the road, are known too.
  const files = new Set([
    ...Object.keys(listed),
    ...globSync('workers/{execute,connectors,verifiers}/*.ts', { cwd: ROOT }),
  ])
  const written = [...files].flatMap((file) =>
    instrument(file, readFileSync(join(ROOT, file), 'utf8')).awaits.map((one) => `${file}:${one}`),
  )
  const known = [...points, ...Object.values(never).flat()]
  expect({ unlisted: written.filter((one) => !known.includes(one)) }).toEqual({ unlisted: [] })
  expect(known.toSorted(), 'each once, and none that is gone').toEqual(written.toSorted())
})

interface Killed {
  readonly kill: Kill
  readonly sent: Sent
  /** Undefined where the connection ended without one. */
  readonly reply: Called | undefined
}

test('killed at any of them, an execution has its effect once at most and is accounted for', async () => {
  const kills = planKills(executions)
  expect(new Set(kills.map(({ at }) => awaitOf(at)))).toEqual(awaitsOf(executions))
  const killed: Killed[] = []
  const rest = kills.values()
  const lane = async () => {
    for (const kill of rest) killed.push(await killAt(kill))
  }
  await Promise.all(Array.from({ length: LANES }, lane))

  const service = await start()
  // As if the connectors' time had passed.
  await database.pool.query(
    `UPDATE execution_intents SET deadline = now() - interval '1 second' WHERE state = 'RELEASED'`,
  )
  const stored = await readStored(database.pool)
  expect(new Set(await idsInDoubt(service))).toEqual(stored.inDoubt)
  const usedBy = await approvalsUsed()
  const ends = new Set<string>()
  for (const one of killed) {
    const { kill, sent } = one
    const what = `${kill.kind.name}, killed at ${kill.at}, ${kill.nth}, ${kill.when}`
    const id = sent.businessTransactionId
    const isClaimed = stored.claimed.has(id)
    if (usedBy.has(sent.intent.target))
      expect(usedBy.get(sent.intent.target), what).toBe(isClaimed ? id : null)
    ends.add(isClaimed ? await expectSettled(service, one, what) : await expectFree(service, one, what))
  }
  expect([...ends].toSorted()).toEqual(['ERRORED', 'FINALIZED', 'in doubt', 'never was', 'refused'])
  expect(await service.stop()).toBe(0)
  for (const { sent } of killed) expect(receiver.effects(sent.intent.target)).toBeLessThanOrEqual(1)
}, 600_000)

async function killAt(kill: Kill): Promise<Killed> {
  const service = await start({ CRASH_AT: kill.at, CRASH_NTH: String(kill.nth), CRASH_WHEN: kill.when })
  const exited = once(service.process, 'exit')
  const sent = await kill.kind.make(database)
  // At the end of the last turn it may have been answered, or not.
  const reply = await service.post('/execute', sent).catch((error: unknown) => {
    if (!(error instanceof TypeError)) throw error // what `fetch` says of a connection that ended
    return undefined
  })
  const notReached = AbortSignal.timeout(120_000)
  await Promise.race([exited, once(notReached, 'abort')])
  expect(service.process.signalCode, `${kill.kind.name} came to ${kill.at}, ${kill.nth}`).toBe('SIGKILL')
  await service.stop()
  return { kill, sent, reply }
}

/** By target, the transaction that has used its approval; null: none. */
async function approvalsUsed(): Promise<Map<string, string | null>> {
  const { rows } = await database.pool.query<{ target: string; consumed_by: string | null }>(
    'SELECT target, consumed_by FROM approvals',
  )
  return new Map(rows.map(({ target, consumed_by }) => [target, consumed_by]))
}

async function idsInDoubt(service: TestService): Promise<string[]> {
  const ids: string[] = []
  for (let page = 1; ; page++) {
    const { body } = await service.get(`/execution-intents/unfinalized?pageSize=100&page=${page}`, human)
    const intents = body.intents as { businessTransactionId: string }[]
    if (intents.length === 0) return ids
    ids.push(...intents.map(({ businessTransactionId }) => businessTransactionId))
  }
}

/** Its id is used. out  how it ended */
async function expectSettled(
  service: TestService,
  { kill, sent, reply }: Killed,
  what: string,
): Promise<string> {
  const id = sent.businessTransactionId
  const { kind } = kill
  const effects = receiver.effects(sent.intent.target)
  expect(effects, what).toBeLessThanOrEqual(kind.effects)
  const again = await service.post('/execute', sent)
  expect(again.status, what).toBe(409)
  expect(receiver.effects(sent.intent.target), what).toBe(effects)
  if (reply !== undefined) expect(reply.status, what).toBe(kind.status)

  const state = await intentState(database, id)
  if (state === undefined) {
    expect((await service.get(`/refusal/${id}`)).status, what).toBe(200)
    expect([effects, kind.ends], what).toEqual([0, undefined])
    return 'refused'
  }
  const record = await service.get(`/trust-records/${id}`)
  if (state === 'RELEASED') {
    expect(record.status, what).toBe(404)
    expect((await service.get(`/execution-intents/${id}`)).body, what).toMatchObject({ state, inDoubt: true })
    // What was answered with a record or an error for certain is stored.
    expect(reply?.status ?? 502, what).toBe(502)
    return 'in doubt'
  }
  expect(state, what).toBe(kind.ends)
  expect(effects, what).toBe(kind.effects)
  expect(record.status, what).toBe(200)
  if (reply?.status === 200) expect(record.text, what).toBe(reply.text)
  const verified = await service.post('/verify', { businessTransactionId: id })
  expect(verified.body, what).toMatchObject({ status: 'VERIFIED' })
  if (!kind.approved) expectEvidence(record.body, readPublicKeys(signingKeyDir))
  return state
}

/** It never was: nothing happened, and the same id can be executed. */
async function expectFree(
  service: TestService,
  { kill, sent, reply }: Killed,
  what: string,
): Promise<string> {
  const { target } = sent.intent
  expect([reply, receiver.effects(target)], what).toEqual([undefined, 0])
  expect((await service.post('/execute', sent)).status, what).toBe(kill.kind.status)
  expect(receiver.effects(target), what).toBe(kill.kind.effects)
  return 'never was'
}
