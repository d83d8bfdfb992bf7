// kill -9 of an instance at every await of sequencing and publishing: whatever the moment, the next instance finds each committed entry in the
// queue or in the tree, once, and what was signed is never contradicted.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startLogEntries } from '../../src/store/tables/log-queue.ts'
import { checkRuns } from '../../src/cli/log/check-runs.ts'
import { latestCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import { freezeLog, insertLog } from '../../src/store/tables/log-state.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import { instrument, withoutLimit } from '../crash/points/instrument.ts'
import { awaitOf, awaitsOf, planKills, readMarks, type Kill, type Reached } from '../crash/points/plan.ts'
import { asTemplate, createDatabase } from '../database.ts'
import { CACHE } from '../run/bundle.ts'
import { baseEnvironment } from '../run/environment.ts'
import { bundlePrograms } from '../run/programs.ts'
import type { RunSizes } from '../../src/core/absence/sort-runs.ts'
import type { Work } from './crash/child.ts'
import { aLog, anEntry, expectWhole, NAME, queue, readEntries, settle, type TestLog } from './log.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CHILD = join(import.meta.dirname, 'crash', 'child.ts')
/** The instance as one program, every await marked: it is started some hundred times. Where it finds the packages. */
const MARKED_FOLDER = join(CACHE, 'marked-log')
/** Everything that only the log awaits in. */
const MARKED =
  /^(workers\/log\/[\w-]+|src\/store\/tables\/log-[\w-]+|src\/core\/absence\/[\w-]+|src\/core\/signing\/log-keys)\.ts$/
/** Instances that are started and killed at the same time. */
const LANES = 2

/** An instance that is to be killed finds this. */
interface Case {
  readonly name: string
  /** Makes it of a log with a checkpoint. @returns the batches that the newest log must have in the end */
  readonly make: (log: TestLog, signed: Batches) => Promise<Batches>
  readonly runSizes?: RunSizes
}
type Batches = ReadonlyMap<string, readonly string[]>

/** Enough to fill a bundle and a tile. */
async function commitSome(log: TestLog): Promise<Batches> {
  const batches = new Map<string, string[]>()
  for (const count of [1, 90, 200, 7]) {
    const entries = Array.from({ length: count }, () => anEntry())
    batches.set(
      await queue(log.pool, entries),
      entries.map(({ hash }) => hash),
    )
  }
  return batches
}

/** More commits than one transaction takes. */
async function commitMany({ pool }: TestLog): Promise<Batches> {
  const commits = Array.from({ length: 600 }, () => {
    const [entry, log] = [anEntry(), startLogEntries()]
    const { logBatch } = log.add(() => entry)
    return { batch: logBatch!, hash: entry.hash, steps: log.statements() }
  })
  await inTransaction(pool, (sql) => sql.runLast(commits.flatMap(({ steps }) => steps)))
  return new Map(commits.map(({ batch, hash }) => [batch, [hash]]))
}

const SMALL_RUNS: RunSizes = { entriesMax: 256, merged: 2, chunksAtOnce: 3 }

const cases: readonly Case[] = [
  {
    name: 'a log that grows',
    make: async (log, signed) => new Map([...signed, ...(await commitSome(log))]),
  },
  {
    name: 'a log that is signed again',
    make(log, signed) {
      log.clock.nowMs += 600_000
      return Promise.resolve(signed)
    },
  },
  {
    name: 'a log that another instance has signed since',
    async make(log, signed) {
      const batches = new Map([...signed, ...(await commitSome(log))])
      await settle({ ...log, ...log.instance() })
      return batches
    },
  },
  {
    name: 'a log whose ids are put into runs and merged',
    make: async (log, signed) => new Map([...signed, ...(await commitMany(log))]),
    runSizes: SMALL_RUNS,
  },
  {
    name: 'a log whose runs were merged a minute ago',
    async make(log, signed) {
      const batches = new Map([...signed, ...(await commitSome(log))])
      const { work } = log.instance({ runSizes: SMALL_RUNS })
      for (let ticks = 0; ticks < 10; ticks++) {
        log.clock.nowMs += 1_000
        await work.tick()
      }
      log.clock.nowMs += 61_000
      return batches
    },
    runSizes: SMALL_RUNS,
  },
  {
    name: 'a reopened log',
    async make(log) {
      await freezeLog(log.pool, { log: 1, why: 'For a test.' })
      await insertLog(log.pool, { log: 2, origin: `${NAME}/log/2`, previous: '{}' })
      return commitSome(log)
    },
  },
]

/** A log of its own for each case, which nobody is connected to. */
interface Prepared {
  readonly log: TestLog
  readonly template: string
  readonly batches: Batches
}
const prepared = new Map<Case, Prepared>()
let marks: ReadonlyMap<Case, readonly Reached[]>
const folder = mkdtempSync(join(tmpdir(), 'countersign-test-log-crash-'))

function withMarks(file: string, source: string): string {
  if (!MARKED.test(file)) return source
  return instrument(file, file === 'workers/log/index.ts' ? withoutLimit(source, 'TICK_MAX_MS') : source).text
}

beforeAll(async () => {
  await bundlePrograms(MARKED_FOLDER, withMarks, { child: CHILD })
  for (const one of cases) {
    const log = await aLog()
    const signed = await commitSome(log)
    await settle(log)
    const batches = await one.make(log, signed)
    prepared.set(one, { log, template: await asTemplate(log), batches })
  }
  marks = new Map(await Promise.all(cases.map(async (one) => [one, await listMarks(one)] as const)))
})

afterAll(async () => {
  await Promise.all(Array.from(prepared.values(), ({ log }) => log.close()))
  rmSync(folder, { recursive: true })
})

/** Runs an instance on a copy of what is prepared, then expects that everything holds. @returns its signal, null where it came to its end */
async function run(one: Case, env: Record<string, string>, what: string): Promise<NodeJS.Signals | null> {
  const { log, template, batches } = prepared.get(one)!
  const {
    keys,
    env: { SIGNING_KEY_DIR: keyDir = '' },
  } = log
  const copy = await createDatabase(template)
  // However long other kills took, no entry is old enough for a warning.
  await copy.pool.query('UPDATE log_queue SET queued_at = now()')
  const dataDir = join(folder, randomUUID())
  cpSync(log.dataDir, dataDir, { recursive: true })
  const { runSizes } = one
  const work: Work = {
    url: copy.url,
    dataDir,
    keyDir,
    nowMs: log.clock.nowMs + 500,
    ...(runSizes && { runSizes }),
  }
  const child = spawn(process.execPath, [join(MARKED_FOLDER, 'child.mjs')], {
    env: { ...baseEnvironment, CRASH_LOG: JSON.stringify(work), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  expect(code ?? 0, `${what}: ${stderr}`).toBe(0)

  const clock = { nowMs: work.nowMs + 60_000 }
  const next = log.instance({ url: copy.url, clock })
  await settle({ ...next, clock })
  // And the one that was killed comes back, with what it has seen.
  const back = log.instance({ url: copy.url, dataDir, clock })
  expect(await back.work.tick(), what).toMatchObject({ frozen: null, problem: null })
  await expectWhole({ pool: next.pool, keys }, batches)
  const checkpoint = (await latestCheckpoint(next.pool))!
  const stated: number[] = []
  const account = (entryIndex: number) => void stated.push(entryIndex)
  expect(await Array.fromAsync(checkRuns(next.pool, { ...checkpoint, account })), what).toEqual([])
  const entries = await readEntries(next.pool, checkpoint.size, checkpoint.log)
  const ids = entries.flatMap((entry, i) => (entry.toString('latin1').split(' ')[1] === 'ids' ? [i] : []))
  expect(
    stated.toSorted((a, b) => a - b),
    what,
  ).toEqual(ids)
  await Promise.all([next.pool.end(), back.pool.end()])
  await copy.drop()
  return signal
}

async function listMarks(one: Case): Promise<Reached[]> {
  const list = join(folder, `marks-${randomUUID()}`)
  writeFileSync(list, '')
  expect(await run(one, { CRASH_LIST: list }, one.name)).toBeNull()
  return readMarks(readFileSync(list, 'utf8'))
}

/** Where nothing is sequenced or published, and why. */
const NEVER: Readonly<Record<string, readonly string[]>> = {
  'The log is frozen, by one statement: damage.test.ts.': [3, 4].map((i) => `index.ts:openLogWork.tick:${i}`),
  'The front end asks for it, and does nothing but tick.': ['index.ts:sequenceLog:1'],
}
/** These only read the log, or deal with the logs of others. */
const OTHERS = ['workers/log/completeness.ts', 'workers/log/witness.ts']

// proves fault: The sequencer of the log
test('every await of the work on the log is one that an instance is killed at', () => {
  const reached = awaitsOf(marks)
  const written = globSync('{workers/log/*,src/core/absence/{sort-runs,run-leaves}}.ts', {
    cwd: ROOT,
    exclude: OTHERS,
  }).flatMap((file) =>
    instrument(file, readFileSync(join(ROOT, file), 'utf8')).awaits.map((one) => `${file}:${one}`),
  )
  expect(written.length).toBeGreaterThan(20)
  const known = Object.values(NEVER)
    .flat()
    .map((one) => `workers/log/${one}`)
  expect(written.filter((one) => !reached.has(one)).toSorted()).toEqual(known.toSorted())
})

// proves fault: The sequencer of the log
test('killed at any of them, each entry is in the log once and under a checkpoint, and nobody freezes it', async () => {
  const kills = planKills(marks)
  expect(new Set(kills.map(({ at }) => awaitOf(at)))).toEqual(awaitsOf(marks))
  const rest = kills.values()
  const lane = async () => {
    for (const kill of rest) await killAt(kill)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}, 600_000)

async function killAt({ kind, at, nth, when }: Kill<Case>): Promise<void> {
  const what = `${kind.name}, killed at ${at}, ${nth}, ${when}`
  expect(await run(kind, { CRASH_STOP: JSON.stringify({ at, nth, when }) }, what), what).toBe('SIGKILL')
}
