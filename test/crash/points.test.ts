// kill -9 at every await between the claim of an execution and its stored evidence (decisions §8): whatever the moment, its effect is
// asked for once at most, and afterwards it ended for certain, is in doubt, was refused, or never was.
import { randomUUID } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { expectEvidence, readStored } from '../evidence.ts'
import { aPolicyFolder } from '../policies.ts'
import { CACHE } from '../run/bundle.ts'
import { bundlePrograms } from '../run/programs.ts'
import { aCaller, startService, until, type Called, type TestService } from '../service.ts'
import { instrument } from './points/instrument.ts'
import { addCrashPolicies, kinds, storeCrashRows, type Kind, type Sent } from './points/kinds.ts'
import { never } from './points/never.ts'
import { awaitOf, awaitsOf, planKills, readMarks, type Kill, type Reached } from './points/plan.ts'
import { openReceiver, type Receiver } from './points/receiver.ts'
import { makeKeys } from '../signing-keys.ts'
import { intentState } from '../intents.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const PRELOAD = pathToFileURL(join(import.meta.dirname, 'points', 'preload.ts')).href
/** Executions that one kill ends, each in a thread of its own: a thread starts for a fifth of what a service costs. */
const KILLS_PER_SERVICE = 4
/** Services that are started and killed at the same time: each computes for a second, and then waits. */
const LANES = 3

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-points-'))
const signingKeyDir = join(folder, 'keys')
/** The service's programs with every await of its modules marked. Where they find the packages. */
const marked = join(CACHE, 'marked-programs')
const policyDir = aPolicyFolder()
const human = aCaller('human', { credentialHolderType: 'USER' })
const key = makeRawKey()

let receiver: Receiver
let database: TestDatabase
/** The marks of one execution of each kind that nobody killed. */
let executions: ReadonlyMap<Kind, readonly Reached[]>

beforeAll(async () => {
  makeKeys(signingKeyDir)
  addCrashPolicies(policyDir, LANES)
  await bundlePrograms(marked, withMarks)
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

const withMarks = (file: string, source: string) =>
  /^(src|workers)\//.test(file) ? instrument(file, source).text : source

/** One execution of each kind after the other, each answered as it should be. */
async function listMarks(): Promise<ReadonlyMap<Kind, readonly Reached[]>> {
  const list = join(folder, 'marks')
  writeFileSync(list, '')
  const service = await start({ CRASH_LIST: list })
  const marks = new Map<Kind, readonly Reached[]>()
  let from = 0
  for (const kind of kinds) {
    const sent = await kind.make(database, 0)
    const { status, text } = await service.post('/execute', sent)
    expect(status, `${kind.name}: ${text}`).toBe(kind.status)
    expect(receiver.effects(sent.intent.target), kind.name).toBe(kind.effects)
    const { ends } = kind
    if (ends !== undefined)
      await until(async () => (await intentState(database, sent.businessTransactionId)) === ends, kind.name)
    const marksSoFar = () => readMarks(readFileSync(list, 'utf8'))
    // Evidence that was kept is stored by a loop of its own, which goes on for a moment after the intent has ended.
    const isAt = (point: string) =>
      marksSoFar()
        .slice(from)
        .some((mark) => mark.point.includes(point))
    await until(() => !isAt('storeAll:2') || isAt('storeAll:3'), 'the loop that stores evidence to end')
    const all = marksSoFar()
    marks.set(kind, all.slice(from))
    from = all.length
  }
  expect(await service.stop()).toBe(0)
  return marks
}

// proves fault: kill -9 of the service at every
test('every await that an execution comes to is one that is listed', () => {
  const listed = JSON.parse(
    readFileSync(join(import.meta.dirname, 'points', 'points.json'), 'utf8'),
  ) as Readonly<Record<string, readonly string[]>>
  const points = Object.entries(listed).flatMap(([file, awaits]) => awaits.map((one) => `${file}:${one}`))
  const reached = awaitsOf(executions)
  expect({ unlisted: [...reached].filter((one) => !points.includes(one)) }).toEqual({ unlisted: [] })
  expect({ unreached: points.filter((one) => !reached.has(one)) }).toEqual({ unreached: [] })

  // And those that no execution comes to, in the same files and the folders that hold only the pipeline, are known too.
  const files = new Set([
    ...Object.keys(listed),
    ...globSync('workers/{execute,connectors,verifiers}/**/*.ts', { cwd: ROOT }),
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

// proves fault: kill -9 of the service at every; abuse: Burning an approval without an execution; abuse: A crash at every point
test('killed at any of them, an execution has its effect once at most and is accounted for', async () => {
  const kills = planKills(executions)
  expect(new Set(kills.map(({ at }) => awaitOf(at)))).toEqual(awaitsOf(executions))
  const killed: Killed[] = []
  const rest = groups(kills).values()
  const runLane = async (lane: number) => {
    for (const group of rest) killed.push(...(await killAt(group, lane)))
  }
  await Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(lane)))

  const service = await start()
  // As if the connectors' time had passed.
  await database.pool.query(`UPDATE released_batches SET deadline = now() - interval '1 second'`)
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

/**
 * The kills that share a service are of different kinds, so that no execution waits for a lock of another, and in the order of the
 * kinds: a service that has evidence refused, as the last kind has, admits no more executions.
 */
function groups(kills: readonly Kill[]): Kill[][] {
  const byKind = kills.toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind))
  const services = Math.ceil(kills.length / KILLS_PER_SERVICE)
  const dealt = Array.from({ length: services }, (_, n) => byKind.filter((_kill, at) => at % services === n))
  for (const group of dealt) expect(new Set(group.map(({ kind }) => kind)).size).toBe(group.length)
  return dealt
}

/** The executions get a thread each, one after the other, and stop at their marks; then the process is killed. */
async function killAt(kills: readonly Kill[], lane: number): Promise<Killed[]> {
  const stopped = join(folder, `stopped-${randomUUID()}`)
  writeFileSync(stopped, '')
  const sent = await Promise.all(
    kills.map(async (kill) => ({ kill, sent: await kill.kind.make(database, lane) })),
  )
  const stops = sent.map(({ kill: { at, nth, when }, sent: { businessTransactionId: id } }) => ({
    id,
    at,
    nth,
    when,
  }))
  const service = await start({
    CRASH_STOPS: JSON.stringify(stops),
    CRASH_STOPPED: stopped,
    WORKER_THREADS: String(kills.length),
  })
  const replies: Promise<Called | undefined>[] = []
  for (const { kill, sent: transaction } of sent) {
    // At the end of the last turn it may have been answered, or not.
    const reply = service.post('/execute', transaction).catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error // what `fetch` says of a connection that ended
      return undefined
    })
    replies.push(reply)
    const isStopped = () => readFileSync(stopped, 'utf8').includes(transaction.businessTransactionId)
    await until(isStopped, `${kill.kind.name} to come to ${kill.at}, ${kill.nth}`)
  }
  service.process.kill('SIGKILL')
  const killed = await Promise.all(sent.map(async (one, at) => ({ ...one, reply: await replies[at] })))
  await service.stop()
  return killed
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

/** Expects that the id is used. Returns how it ended. */
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
    // A request that was answered with a record or an error for certain is stored.
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
