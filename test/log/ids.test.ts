// The runs of ids on a real database, and what is proven by them: that an id stands nowhere in the log, or how often it does.
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkRuns, idsNotInRuns } from '../../src/cli/log/check-runs.ts'
import { verifyAbsence, type AbsenceStatement } from '../../src/formats/log/absence.ts'
import { parseEntry } from '../../src/formats/log/entry.ts'
import { idKey, idKinds, runHash, runText, type IdKind } from '../../src/formats/log/ids.ts'
import { policyOfKeys } from '../../src/formats/log/policy.ts'
import { logVerifierKey } from '../../src/core/signing/log-keys.ts'
import { readAbsence } from '../../src/core/absence/read-absence.ts'
import { latestCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import type { QueuedEntry } from '../../src/store/tables/log-queue.ts'
import { readRuns } from '../../src/core/absence/runs.ts'
import { readLogStatus } from '../../src/store/tables/log-state.ts'
import { inSnapshot } from '../../src/store/postgres/transaction.ts'
import { addLeaves, sortedLeaves } from '../../src/core/absence/run-leaves.ts'
import type { RunSizes } from '../../src/core/absence/sort-runs.ts'
import { aLog, anEntry, expectWhole, ORIGIN, queue, readEntries, type TestLog } from './log.ts'
import { cryptos, random, sha256 } from './signers.ts'

let log: TestLog
afterEach(() => log.close())

const several = (count: number) => Array.from({ length: count }, () => anEntry())
/** The committed entries by the id of their batch. */
let committed: Map<string, readonly QueuedEntry[]>

async function start(sizes: Partial<RunSizes> = {}): Promise<void> {
  log = await aLog({ entriesMax: 64, merged: 16, chunksAtOnce: 17, ...sizes })
  committed = new Map()
}

/** Commits entries and has them appended, by whichever instance. */
async function grow(entries: readonly QueuedEntry[], work = log.work): Promise<void> {
  committed.set(await queue(log.pool, entries), entries)
  log.clock.nowMs += 500
  expect((await work.tick()).frozen).toBeNull()
}

/** Ticks until nothing is left to do, for the runs either. */
async function rest(work = log.work): Promise<void> {
  for (let state = '', ticks = 0; ticks < 1000; ticks++) {
    log.clock.nowMs += 1_000
    expect(await work.tick()).toMatchObject({ frozen: null, problem: null })
    const { rows } = await log.pool.query('SELECT log, level, first_index, size, entry_index FROM log_runs')
    const { rows: tiles } = await log.pool.query('SELECT count(*) FROM log_run_tiles')
    const before = state
    state = JSON.stringify([rows, tiles, await readLogStatus(log.pool).then((status) => status?.size)])
    if (
      state === before &&
      (await readLogStatus(log.pool))?.size === (await latestCheckpoint(log.pool))?.size
    )
      return
  }
  throw new Error('the runs did not come to rest')
}

const policy = () => policyOfKeys(log.keys.publicKeys.map((key) => logVerifierKey(ORIGIN, key)))

async function statementOf(kind: IdKind, id: string): Promise<AbsenceStatement> {
  const checkpoint = (await latestCheckpoint(log.pool))!
  return inSnapshot(log.pool, (sql) => readAbsence(sql, { kind, id, checkpoint }))
}

/** Reads what the statement about an id proves, as it reaches a reader: by JSON. */
async function find(kind: IdKind, id: string) {
  const statement: unknown = JSON.parse(JSON.stringify(await statementOf(kind, id)))
  const { indexes, coveredTo } = verifyAbsence(statement, { policy: policy(), kind, id }, cryptos[0][1])
  return { indexes, coveredTo }
}

/** Lists the problems that an audit finds in the runs, and in entries that state none of them. */
const problems = async (): Promise<string[]> => {
  const { size } = (await latestCheckpoint(log.pool))!
  const accounted = new Set<number>()
  const account = (index: number) => void accounted.add(index)
  const found = await inSnapshot(log.pool, (sql) =>
    Array.fromAsync(checkRuns(sql, { log: 1, size, account })),
  )
  const entries = (await readEntries(log.pool, size)).map((entry) => parseEntry(entry.toString('latin1')))
  const others = entries.flatMap(({ kind }, i) => (kind === 'ids' && !accounted.has(i) ? [i] : []))
  return [...found, ...others.map((i) => `Entry ${i} states no run.`)]
}

/** The indexes of all entries with ids, by kind and id. */
async function placed(): Promise<Map<string, number[]>> {
  const { rows } = await log.pool.query<{ batch: string; start: string }>(
    'SELECT batch, start FROM log_batches',
  )
  const places = new Map<string, number[]>()
  for (const { batch, start: first } of rows)
    for (const [i, { kind, id }] of committed.get(batch)!.entries()) {
      const name = `${kind} ${id}`
      places.set(
        name,
        [...(places.get(name) ?? []), Number(first) + i].toSorted((a, b) => a - b),
      )
    }
  return places
}

const kindOf = new Map(Object.entries(idKinds).map(([name, kind]) => [kind as string, name as IdKind]))

/** Some ids that are there and some that are not, each as it must be found; and the runs are whole. */
async function expectFound(samples: number): Promise<void> {
  const places = await placed()
  const names = [...places.keys()]
  const pick = random(names.length)
  for (let i = 0; i < Math.min(samples, names.length); i++) {
    const name = names[samples >= names.length ? i : pick(names.length)]!
    const [kind, id] = name.split(' ') as [string, string]
    const { indexes, coveredTo } = await find(kindOf.get(kind)!, id)
    expect(indexes).toEqual(places.get(name)!.filter((index) => index < coveredTo))
    expect((await find('webhook', randomUUID())).indexes).toEqual([])
  }
  expect(await problems()).toEqual([])
  const items = names.flatMap((name) => {
    const [kind, id] = name.split(' ') as [string, string]
    return places.get(name)!.map((index) => ({ log: 1, index, kind, id }))
  })
  const { size } = (await latestCheckpoint(log.pool))!
  expect(await idsNotInRuns(log.pool, items, () => size)).toEqual([])
}

const node = (left: Uint8Array, right: Uint8Array) => sha256(Buffer.concat([Buffer.from([1]), left, right]))

describe('a run', () => {
  beforeEach(() => start())

  test('is stated once it has its number of entries, or the oldest has waited for an hour', async () => {
    const one = anEntry()
    await grow([one])
    await rest()
    expect(await find('receipt', one.id)).toEqual({ indexes: [], coveredTo: 0 })
    log.clock.nowMs += 3_590_000
    await rest()
    expect(await readRuns(log.pool, 1)).toEqual([])
    log.clock.nowMs += 10_000
    await rest()
    expect(await find('receipt', one.id)).toEqual({ indexes: [0], coveredTo: 1 })
    // The heads and the run itself have no ids, and do not make another run.
    log.clock.nowMs += 7_200_000
    await rest()
    expect(await readRuns(log.pool, 1)).toHaveLength(1)

    await grow(several(40))
    await rest()
    expect((await find('receipt', one.id)).coveredTo).toBe(1)
    await grow(several(40))
    await rest()
    // Rows of the tail are taken whole: heads, the first 40 and what the log added stand before the second 40.
    const [, second] = await readRuns(log.pool, 1)
    expect(second?.size).toBe(40)
    expect((await find('receipt', one.id)).coveredTo).toBe(second?.end)
    const entries = await expectWhole(
      log,
      new Map([...committed].map(([batch, queued]) => [batch, queued.map(({ hash }) => hash)])),
    )
    expect(entries.filter(({ kind }) => kind === 'ids')).toHaveLength(2)
    await expectFound(100)
  })

  test('is stated by the hash of a text that names its level, its range, its size and its root', async () => {
    const entries = several(3)
    await grow(entries)
    await rest()
    log.clock.nowMs += 3_600_000
    await rest()
    const leaves = entries.map(({ kind, id }, index) => {
      const leaf = Buffer.alloc(40)
      leaf.set(idKey({ kind, id }, sha256))
      leaf.writeBigUInt64BE(BigInt(index), 32)
      return Buffer.concat([Buffer.from([0]), leaf])
    })
    const [a, b, c] = leaves.toSorted((one, other) => Buffer.compare(one, other)).map(sha256) as [
      Buffer,
      Buffer,
      Buffer,
    ]
    const root = Buffer.from(node(node(a, b), c))
    const run = { level: 0, first: 0, end: 3, size: 3, root }
    expect(runText(run)).toBe(`countersign/1 ids 0 0 3 3 ${root.toString('hex')}`)
    const { runs } = await statementOf('receipt', randomUUID())
    expect(runs[0]?.entry).toBe(`countersign/1 ids ${runHash(run, sha256)}`)
    expect(Buffer.from(idKey({ kind: 'receipt', id: 'x' }, sha256)).toString('hex')).toBe(
      Buffer.from(sha256(Buffer.from('receipt\0x'))).toString('hex'),
    )
  })

  test('counts an id for each entry that has it, also across runs and for what is logged late', async () => {
    const id = randomUUID()
    const again = (kind: string) => ({ ...anEntry(), kind, id }) as QueuedEntry
    await grow([anEntry(), again('receipt'), ...several(5), again('receipt')])
    log.clock.nowMs += 3_600_000
    await rest()
    await grow([...several(70), again('receipt'), again('refusal')])
    await grow([again('late-receipt')])
    log.clock.nowMs += 3_600_000
    await rest()
    expect((await find('receipt', id)).indexes).toHaveLength(4)
    expect((await find('refusal', id)).indexes).toHaveLength(1)
    expect((await find('authorization', id)).indexes).toEqual([])
  })

  test('of ids that fill more than a chunk shows all of them', async () => {
    const id = randomUUID()
    await grow([
      ...several(300),
      ...Array.from({ length: 600 }, () => ({ ...anEntry(), id })),
      ...several(300),
    ])
    await rest()
    expect((await find('receipt', id)).indexes).toEqual(Array.from({ length: 600 }, (_, i) => 300 + i))
    expect(await problems()).toEqual([])
  })
})

describe('runs of one level', () => {
  test('are merged into one of the next level, and those again; every id is found at every moment', async () => {
    await start({ entriesMax: 4, merged: 3 })
    const one = anEntry()
    await grow([one])
    for (let i = 0; i < 36; i++) {
      await grow(several(1 + (i % 5)))
      if (i % 10 === 0) {
        const { indexes, coveredTo } = await find('receipt', one.id)
        expect(indexes).toEqual(coveredTo > 0 ? [0] : [])
      }
    }
    await rest()
    // A reader of a checkpoint from before can still be answered for a minute.
    log.clock.nowMs += 60_000
    await rest()
    const runs = await readRuns(log.pool, 1)
    expect(Math.max(...runs.map(({ level }) => level))).toBe(3)
    for (const level of [0, 1, 2, 3]) expect(runs.filter((run) => run.level === level).length).toBeLessThan(3)
    // The merged runs are gone.
    const { rows } = await log.pool.query('SELECT DISTINCT level, first_index FROM log_run_tiles')
    expect(rows).toHaveLength(runs.length)
    const { rows: tail } = await log.pool.query(
      'SELECT sum(octet_length(keys)) / 32 AS keys FROM log_id_tail',
    )
    expect(Number((tail[0] as { keys: string }).keys)).toBeLessThan(16)
    await expectFound(100)

    // Each of the merged ones, of three levels, is derived again.
    const { rows: merged } = await log.pool.query<Record<'level' | 'first' | 'entry', string>>(
      'SELECT level, first_index AS first, entry_index AS entry FROM log_merged_runs ORDER BY level DESC, first_index',
    )
    expect(new Set(merged.map(({ level }) => Number(level)))).toEqual(new Set([0, 1, 2]))
    for (const { level, first, entry } of [merged[0]!, merged.at(-1)!]) {
      await log.pool.query(
        'UPDATE log_merged_runs SET end_index = end_index - 1 WHERE level = $1 AND first_index = $2',
        [level, first],
      )
      expect(await problems()).toContainEqual(
        expect.stringMatching(
          new RegExp(
            `^The run of the ids of the entries from ${first} to .*: entry ${entry} of the log does not`,
          ),
        ),
      )
      await log.pool.query('DELETE FROM log_merged_runs WHERE level = $1 AND first_index = $2', [
        level,
        first,
      ])
      expect(await problems()).toContain(`Entry ${entry} states no run.`)
    }
  })

  test('of many chunks are merged in several transactions, each by another instance', async () => {
    await start({ entriesMax: 2_048, merged: 4, chunksAtOnce: 5 })
    for (let i = 0; i < 4; i++) {
      await grow(several(i === 2 ? 5_500 : 2_000))
      if (i < 2) await rest(log.instance().work)
    }
    // How many ids the merged run has, until it is whole.
    const sizes: number[] = []
    for (let ticks = 0; ticks < 50; ticks++) {
      // The first tick of an instance leaves the runs to whoever has appended last.
      const { work } = log.instance()
      for (let i = 0; i < 2; i++) {
        log.clock.nowMs += 1_000
        await work.tick()
      }
      // A reader that asks meanwhile gets the runs that are whole.
      expect((await find('receipt', randomUUID())).indexes).toEqual([])
      const merged = (await readRuns(log.pool, 1)).find(({ level }) => level === 1)
      if (merged === undefined) continue
      sizes.push(merged.size)
      if (merged.entryIndex !== null) break
    }
    expect(sizes.length).toBeGreaterThan(2)
    expect(sizes).toEqual([...new Set(sizes)].toSorted((one, other) => one - other))
    await rest()
    const merged = (await readRuns(log.pool, 1)).filter(({ level }) => level === 1)
    expect(merged.map(({ size }) => size)).toEqual(sizes.slice(-1))
    await expectFound(60)
  })
})

describe('whatever fails', () => {
  test('at the commit of any piece, the next instance goes on, and nothing is lost or twice', async () => {
    await start({ entriesMax: 8, merged: 4 })
    // Every second commit of these tables fails, at its end.
    await log.pool.query(`CREATE SEQUENCE failing`)
    await log.pool.query(`
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF nextval('failing') % 2 = 0 THEN RAISE 'failed for a test'; END IF; RETURN NULL; END $$`)
    for (const table of ['log_runs', 'log_id_tail'])
      await log.pool.query(`
        CREATE CONSTRAINT TRIGGER failing AFTER INSERT OR UPDATE OR DELETE ON ${table}
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()`)
    let failed = 0
    const tick = async (work: TestLog['work']) => {
      log.clock.nowMs += 500
      await work.tick().catch((error: unknown) => {
        expect(String(error)).toContain('failed for a test')
        failed++
      })
    }
    const others = [log.instance().work, log.instance().work]
    for (let i = 0; i < 80; i++) {
      const entries = several(8)
      committed.set(await queue(log.pool, entries), entries)
      await Promise.all([log.work, ...others].map(tick))
      if (i % 50 === 0) others[0] = log.instance().work
    }
    expect(failed).toBeGreaterThan(20)
    await log.pool.query('DROP FUNCTION fail() CASCADE')
    await rest()
    log.clock.nowMs += 3_600_000
    await rest()
    await expectFound(80)
    expect((await find('receipt', randomUUID())).coveredTo).toBeGreaterThan(80 * 8)
  })

  test('leaves that were changed stop the runs, say so, and the log goes on', async () => {
    await start({ entriesMax: 8 })
    // Some fewer than are merged: what else is logged meanwhile makes one or two of each commit.
    while ((await readRuns(log.pool, 1)).length < 12) {
      await grow(several(8))
      await rest()
    }
    await log.pool.query(
      'UPDATE log_run_tiles SET leaves = set_byte(leaves, 50, get_byte(leaves, 50) # 1) WHERE first_index = 0',
    )
    let problem: string | null = null
    for (let i = 0; i < 50 && problem === null; i++) {
      await grow(several(8))
      log.clock.nowMs += 1_000
      const ticked = await log.work.tick()
      expect(ticked.frozen).toBeNull()
      ;({ problem } = ticked)
    }
    expect(problem).toBe(
      'The runs of ids of the log are not complete: Chunk 0 of the ids of the entries from 0 on does not have the root that was ' +
        'stored with it.',
    )
    const before = (await readLogStatus(log.pool))!
    await grow(several(3))
    await grow(several(30))
    await grow(several(3))
    const after = (await readLogStatus(log.pool))!
    expect(after.frozen).toBeNull()
    expect(after.publishedSize).toBeGreaterThan(before.size + 30)
    const coveredTo = async () => Math.max(...(await readRuns(log.pool, 1)).map(({ end }) => end))
    for (let i = 0; i < 50 && (await coveredTo()) <= before.size; i++) {
      log.clock.nowMs += 1_000
      expect((await log.work.tick()).frozen).toBeNull()
    }
    expect(await coveredTo()).toBeGreaterThan(before.size)
    await expect(statementOf('receipt', randomUUID())).rejects.toThrow(
      /^Leaf \d+ of the ids of the entries from 0 on does not lead to the root of its run\.$/,
    )
    expect(await problems()).toEqual([
      expect.stringMatching(/^The run of the ids of the entries from 0 to \d+, level 0: /),
    ])
  })

  test.each([
    [
      'a leaf of another id',
      `UPDATE log_run_tiles SET leaves = set_byte(leaves, 1, get_byte(leaves, 1) # 1)`,
      /: (entry \d+ of the log does not state it|leaf \d+ is not in its order)\.$/,
    ],
    ['no leaves', 'DELETE FROM log_run_tiles', /: it has 0 leaves, and was stored with 8\.$/],
    [
      'no leaves, of which nobody says how many they were',
      `WITH run AS (DELETE FROM log_runs RETURNING log, level, first_index, end_index, entry_index)
       INSERT INTO log_merged_runs SELECT * FROM run`,
      /: its leaves are not stored, and no run that it was merged into is\.$/,
    ],
    [
      'a range without end',
      'UPDATE log_runs SET end_index = 9e15',
      /: it does not end between its first entry and its own, \d+\.$/,
    ],
    ['another range', 'UPDATE log_runs SET end_index = end_index - 1', /: it has a leaf of entry 7\.$/],
  ])('an audit finds a run with %s', async (_what, statement, problem) => {
    await start({ entriesMax: 8 })
    await grow(several(8))
    await rest()
    expect(await problems()).toEqual([])
    await log.pool.query(statement)
    expect(await problems()).toEqual([expect.stringMatching(problem)])
  })

  test('an audit finds an artifact whose id is not that of its leaf', async () => {
    await start({ entriesMax: 8 })
    await grow(several(8))
    await rest()
    const item = { log: 1, index: 3, kind: 'receipt', id: randomUUID() }
    expect(await idsNotInRuns(log.pool, [item, { ...item, index: 5_000 }], () => 5_000)).toEqual([item])
    expect(await idsNotInRuns(log.pool, [item], () => undefined)).toEqual([])
  })
})

test('leaves are sorted by all their bytes, however alike, and added in pieces to the tree of all of them', async () => {
  log = await aLog()
  const pick = random(7)
  for (const [count, bytes] of [
    [0, 40],
    [1, 40],
    [5_000, 40],
    [300, 1],
    [3_000, 39],
  ] as const) {
    const leaves = Array.from({ length: count }, () => {
      const leaf = Buffer.alloc(40, 7)
      for (let i = 0; i < bytes; i++) leaf[39 - i] = pick(256)
      return leaf
    })
    const sorted = sortedLeaves(Buffer.concat(leaves))
    expect(sorted.equals(Buffer.concat(leaves.toSorted((one, other) => Buffer.compare(one, other))))).toBe(
      true,
    )
    const empty = {
      log: 1,
      level: 0,
      first: 0,
      end: 9,
      size: 0,
      chunks: { size: 0, peaks: [] },
      lastLeaf: Buffer.alloc(0),
      entryIndex: null,
    }
    const whole = addLeaves(empty, sorted, { isLast: true })
    const first = addLeaves(empty, sorted.subarray(0, 300 * 40), { isLast: false })
    const second = addLeaves(first.run, sorted.subarray(first.run.size * 40), { isLast: true })
    expect(second.run).toEqual(whole.run)
    expect([...first.tiles, ...second.tiles]).toEqual(whole.tiles)
  }
})

/** Three runs. @returns an entry of the first */
const fill = async () => {
  const one = anEntry()
  await grow([...several(200), one, ...several(99)])
  await rest()
  await grow(several(300))
  await rest()
  await grow(several(300))
  await rest()
  return one
}

describe('a statement', () => {
  beforeEach(() => start({ entriesMax: 300 }))

  test.each(cryptos)('holds with %s, and by its policy alone', async (_name, crypto) => {
    const one = await fill()
    const statement = await statementOf('receipt', one.id)
    const asked = { kind: 'receipt', id: one.id } as const
    expect(verifyAbsence(statement, { policy: policy(), ...asked }, crypto)).toMatchObject({
      indexes: [200],
      coveredTo: statement.coveredTo,
      checkpoint: { origin: ORIGIN },
    })
    const others = policyOfKeys([])
    expect(() => verifyAbsence(statement, { policy: others, ...asked }, crypto)).toThrow(
      `the checkpoint is not signed by a trusted key of the log '${ORIGIN}'`,
    )
  })

  test('does not hold with anything changed, left out, doubled or exchanged', async () => {
    const one = await fill()
    const statements = [
      await statementOf('receipt', one.id),
      await statementOf('authorization', randomUUID()),
    ]
    let tried = 0
    for (const statement of statements) {
      const asked = { policy: policy(), kind: statement.kind, id: statement.id }
      for (const [what, mutation] of mutations(statement)) {
        // As if what it says were what was asked for: the proof itself must not hold.
        const { kind, id } = mutation as AbsenceStatement
        const request = { policy: policy(), kind, id }
        expect(() => verifyAbsence(mutation, request, cryptos[0][1]), what).toThrow()
        tried++
      }
      const [first] = statement.runs
      expect(() =>
        verifyAbsence({ ...statement, runs: [first, ...statement.runs] }, asked, cryptos[0][1]),
      ).toThrow(/^run 1: it begins at 0, and the runs before it end at \d+$/)
    }
    expect(tried).toBeGreaterThan(300)
  })

  test('about an id in capitals is refused: there is never one', async () => {
    await fill()
    const id = randomUUID().toUpperCase()
    const statement = await statementOf('receipt', id)
    const asked = { policy: policy(), kind: 'receipt', id } as const
    expect(() => verifyAbsence(statement, asked, cryptos[0][1])).toThrow('id is not a UUID in lower case')
  })

  test('about another id than was asked for is refused', async () => {
    await fill()
    const [asked, answered] = [randomUUID(), randomUUID()]
    const statement = await statementOf('receipt', answered)
    const request = { policy: policy(), kind: 'receipt', id: asked } as const
    expect(() => verifyAbsence(statement, request, cryptos[0][1])).toThrow(
      `the statement is about the receipt ${answered}`,
    )
  })
})

type Json = string | number | Json[] | { [name: string]: Json }

/** Copies of a value with one thing changed in each, and where. */
function* mutations(value: unknown, path = ''): Generator<[string, unknown]> {
  const given = value as Json
  if (typeof given === 'number') {
    yield [`${path} + 1`, given + 1]
    yield [`${path} - 1`, given - 1]
  } else if (typeof given === 'string') {
    for (const at of new Set([0, given.length >> 1]))
      yield [
        `${path} at ${at}`,
        `${given.slice(0, at)}${given[at] === 'b' ? 'c' : 'b'}${given.slice(at + 1)}`,
      ]
  } else if (Array.isArray(given)) {
    for (const [i, item] of given.entries()) {
      for (const [where, changed] of mutations(item, `${path}[${i}]`))
        yield [where, given.with(i, changed as Json)]
      yield [`${path} without ${i}`, given.toSpliced(i, 1)]
      yield [`${path} with ${i} twice`, given.toSpliced(i, 0, item)]
    }
    if (given.length > 1) yield [`${path} reversed`, given.toReversed()]
  } else
    for (const [name, item] of Object.entries(given)) {
      for (const [where, changed] of mutations(item, `${path}.${name}`))
        yield [where, { ...given, [name]: changed }]
      const { [name]: _, ...others } = given
      yield [`without ${path}.${name}`, others]
    }
}
