// Lists of a stream's entries that are proven to be complete: the reader finds them whatever was appended meanwhile, and the verifier takes
// nothing else.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { verifyCompleteness, type NamedStream } from '../../src/formats/log/completeness.ts'
import { streamTag, type StreamName } from '../../src/formats/log/entry.ts'
import { policyOfKeys, type LogPolicy } from '../../src/formats/log/policy.ts'
import { logVerifierKey } from '../../src/core/signing/log-keys.ts'
import { cutBlocks, joinIndexes, packIndexes, unpackIndexes } from '../../src/store/tables/log-streams.ts'
import { readLogStatus } from '../../src/store/tables/log-state.ts'
import { readCheckpoint } from '../../src/formats/log/checkpoint.ts'
import { latestCheckpoint, type CheckpointRow } from '../../src/store/tables/log-checkpoints.ts'
import { addCosignatures, cosignerOf, keepToCosign } from '../../src/store/tables/log-cosigned.ts'
import { answerEach } from '../../workers/answer-each.ts'
import { openStreamHeads, proveComplete, type StreamHeads } from '../../workers/log/completeness.ts'
import { openGuard } from '../../workers/log/guard.ts'
import { openSequencer } from '../../workers/log/sequence.ts'
import { aLog, anEntry, expectWhole, ORIGIN, queue, settle, type LoggedEntry, type TestLog } from './log.ts'
import { aSigner, cryptos, sha256 } from './signers.ts'

let log: TestLog
let heads: StreamHeads
let required: LogPolicy | undefined
function withLog(
  before: typeof beforeAll | typeof beforeEach,
  after: typeof afterAll | typeof afterEach,
): void {
  before(async () => {
    log = await aLog()
    heads = openStreamHeads()
    required = undefined
  })
  after(() => log.close())
}

interface Statement {
  log: string
  checkpoint: string
  stream: Record<string, string>
  tag: string
  salt?: string
  head: { n: number; lastIndex: number; position: number; count: number; path: string[] }
  heads: { index: number; path: string[] }
  entries: { index: number; entry: string; path: string[] }[]
}

interface Asked {
  readonly stream: Record<string, unknown>
  readonly from?: unknown
  readonly to?: unknown
}

/** As the route answers it, to an auditor by default. */
async function asked(body: Asked, reads: string | null = null) {
  const request = {
    ticket: 0,
    takenMs: 0,
    caller: { callerId: reads ?? 'auditor', reads, scope: 'unchecked' as const },
    body: Buffer.from(JSON.stringify(body)),
    params: {},
    costMs: 0,
  }
  const [finished] = await answerEach((one) => proveComplete(one, { pool: log.pool, heads, required }))([
    { request },
  ])
  return {
    status: finished!.answer.status,
    body: JSON.parse(finished!.answer.body) as Statement & { error?: string },
  }
}

async function statementOf(body: Asked): Promise<Statement> {
  const answer = await asked(body)
  expect(answer.status, answer.body.error).toBe(200)
  return answer.body
}

const policy = () => policyOfKeys(log.keys.publicKeys.map((key) => logVerifierKey(ORIGIN, key)))

const verified = (
  statement: unknown,
  expected: { stream?: NamedStream; from?: number; to?: number; salt?: Uint8Array } = {},
) => verifyCompleteness(statement, { policy: policy(), ...expected }, cryptos[0][1])

const ofStream = (entries: readonly LoggedEntry[], tag: string) =>
  entries.flatMap(({ index, hash, streams }) =>
    streams.filter((one) => one.tag === tag).map(({ n }) => ({ n, index, hash })),
  )

/** Every stream's list, asked for in ranges, is what the log holds. */
async function expectComplete(batches: ReadonlyMap<string, readonly string[]>): Promise<void> {
  const entries = await expectWhole(log, batches)
  const { rows } = await log.pool.query<{ salt: Buffer }>('SELECT salt FROM log_state')
  for (const [name, value] of NAMES) {
    const tag = streamTag({ salt: rows[0]!.salt, stream: name, value }, sha256)
    const expected = ofStream(entries, tag)
    const found = []
    for (let from = 1; ;) {
      const statement = await statementOf({ stream: { [name]: value }, from })
      const to = from + statement.entries.length - 1
      const proven = verified(statement, { stream: { name, value }, from, to })
      expect(proven).toMatchObject({ tag, tied: true, count: expected.length })
      found.push(...proven.entries.map(({ n, index, hash }) => ({ n, index, hash })))
      if (to === proven.count) break
      from = to + 1
    }
    expect(found).toEqual(expected)
  }
}

const NAMES: readonly (readonly [StreamName, string])[] = [
  ['caller', 'a'],
  ['caller', 'b'],
  ['capability', 'pay'],
  ['policy', 'p'],
  ['approver', 'a'],
]

/** Adds entries of two callers, and one of another. @returns the checkpoint over them */
const grow = async (count: number) => {
  const entries = Array.from({ length: count }, (_, i) => anEntry({ caller: i % 5 === 4 ? 'b' : 'a' }))
  await queue(log.pool, [...entries, anEntry({ caller: `only of ${count}` })])
  await settle(log)
  return (await latestCheckpoint(log.pool))!
}

/** The size of the checkpoint, and how many entries the caller has under it. */
const counted = async (caller: string) => {
  const { checkpoint, count } = verified(await statementOf({ stream: { caller }, to: 1 }), { to: 1 })
  return [checkpoint.size, count]
}

describe('the list of a stream', () => {
  withLog(beforeEach, afterEach)

  test('is complete with every checkpoint, through blocks of 64, answers of 256 and sequencers in turn', async () => {
    const batches = new Map<string, string[]>()
    const other = log.instance().work
    for (const [i, count] of [3, 60, 1, 1, 130, 0, 300, 1, 63, 64, 65].entries()) {
      const entries = [
        ...Array.from({ length: count }, (_, k) => anEntry({ caller: k % 3 === 0 ? 'b' : 'a', policy: 'p' })),
        anEntry({ caller: 'a', capability: 'pay' }),
        anEntry({ caller: 'b', approver: 'a', policy: 'p' }),
        anEntry({}),
      ]
      batches.set(
        await queue(log.pool, entries),
        entries.map(({ hash }) => hash),
      )
      await settle(i % 3 === 0 ? { ...log, work: other } : log)
      await expectComplete(batches)
    }
  })

  test('is that of the newest checkpoint while the log grows on', async () => {
    await queue(log.pool, [anEntry({ caller: 'a' }), anEntry({ caller: 'b' })])
    await settle(log)
    const { size } = (await readLogStatus(log.pool))!
    for (let i = 0; i < 3; i++) {
      await queue(log.pool, [anEntry({ caller: 'a' }), anEntry({ caller: 'c' })])
      // The clock stands still: appended, and no checkpoint is due.
      await log.work.tick()
      for (const memory of [heads, openStreamHeads()]) {
        heads = memory
        const statement = await statementOf({ stream: { caller: 'a' } })
        const proven = verified(statement)
        expect([proven.checkpoint.size, proven.count, proven.entries.map(({ index }) => index)]).toEqual([
          size,
          1,
          [0],
        ])
      }
    }
    expect((await readLogStatus(log.pool))!.size).toBe(size + 6)
    // It began after the checkpoint: the answer comes with the next one.
    const waiting = asked({ stream: { caller: 'c' } })
    await settle(log)
    const { status, body } = await waiting
    expect([status, verified(body).count]).toEqual([200, 3])
    expect(verified(await statementOf({ stream: { caller: 'a' } })).count).toBe(4)
  })

  test('is that of the newest checkpoint with its quorum, where witnesses are required, however far the log has grown on', async () => {
    const witness = aSigner('w.example', 'ed25519-cosignature')
    const named = { name: 'w', key: witness.key }
    required = { logs: [], witnesses: [named], quorum: { name: 'w', threshold: 1, members: [named] } }
    const cosign = async (row: CheckpointRow) => {
      await keepToCosign(log.pool, row, undefined)
      const line = witness.line(readCheckpoint(row.note))
      await addCosignatures(log.pool, row, { [cosignerOf(witness.key)]: line })
    }
    await grow(10)
    expect((await asked({ stream: { caller: 'a' } })).status).toBe(503)
    for (const count of [1, 70, 5, 300, 64]) {
      const row = await grow(count)
      await cosign(row)
      const [a, b] = [await counted('a'), await counted('b')]
      expect([a[0], b[0]]).toEqual([row.size, row.size])
      // Within the newest entries of a stream, at the end of a block, and many blocks on.
      for (const more of [2, 59, 200, 1]) {
        await grow(more)
        for (const memory of [heads, openStreamHeads()]) {
          heads = memory
          expect([await counted('a'), await counted('b')]).toEqual([a, b])
        }
      }
    }
    // It began after the served checkpoint.
    expect((await asked({ stream: { caller: 'only of 200' } })).status).toBe(200)
    await grow(7)
    expect((await asked({ stream: { caller: 'only of 7' } })).status).toBe(503)
  })

  test('waits while the newest heads are not published, and not for ever', async () => {
    await queue(log.pool, [anEntry({ caller: 'a' })])
    const { pool, clock } = log
    const sequencer = openSequencer({ pool, guard: openGuard(log.dataDir), nowMs: () => clock.nowMs })
    expect(await sequencer.sequence()).toMatchObject({ checkpointDue: true })
    expect(await asked({ stream: { caller: 'a' } })).toMatchObject({
      status: 503,
      body: { error: 'Service overloaded. Try again later.' },
    })
    const waiting = asked({ stream: { caller: 'a' } })
    await log.work.tick()
    expect((await waiting).status).toBe(200)
  })

  test('is not shown from before its indexes were kept', async () => {
    await queue(
      log.pool,
      Array.from({ length: 70 }, () => anEntry({ caller: 'a' })),
    )
    await settle(log)
    // As the migration finds a log of the version before.
    await log.pool.query(`UPDATE log_streams SET recent = ''`)
    await log.pool.query('DELETE FROM log_stream_blocks')
    await queue(
      log.pool,
      Array.from({ length: 90 }, () => anEntry({ caller: 'a' })),
    )
    const later = log.instance()
    await settle({ ...log, work: later.work })
    for (const from of [1, 64, 70])
      expect(await asked({ stream: { caller: 'a' }, from })).toMatchObject({
        status: 400,
        body: {
          error:
            'from must be at least 71: entries of the stream before that were logged by a version that kept no index of them.',
        },
      })
    const statement = await statementOf({ stream: { caller: 'a' }, from: 71 })
    expect(verified(statement, { from: 71 })).toMatchObject({ count: 160 })
    expect(statement.entries).toHaveLength(90)
  })

  test('is refused where what is stored of the streams is not what the checkpoint says', async () => {
    await queue(log.pool, [anEntry({ caller: 'a' }), anEntry({ caller: 'b' })])
    await settle(log)
    await log.pool.query('UPDATE log_streams SET n = 2 WHERE last_index = 1')
    expect((await asked({ stream: { caller: 'a' } })).status).toBe(500)
    await log.pool.query('UPDATE log_streams SET n = 1 WHERE last_index = 1')
    expect((await asked({ stream: { caller: 'a' } })).status).toBe(200)
  })
})

describe('a request', () => {
  withLog(beforeAll, afterAll)
  beforeAll(async () => {
    await queue(log.pool, [
      anEntry({ caller: 'a', policy: 'p' }),
      anEntry({ caller: 'a' }),
      anEntry({ caller: 'b' }),
    ])
    await settle(log)
  })

  test('of an owner is answered for its own stream, without the salt, and for no other', async () => {
    const own = await asked({ stream: { caller: 'a' } }, 'a')
    expect([own.status, own.body.salt]).toEqual([200, undefined])
    expect(verified(own.body)).toMatchObject({ tied: false, count: 2 })
    for (const stream of [{ caller: 'b' }, { caller: 'nobody' }, { policy: 'p' }, { capability: 'a' }])
      expect(await asked({ stream }, 'a')).toEqual({
        status: 404,
        body: { error: 'There is no such stream in the evidence log.' },
      })
  })

  test('for a stream that is not there is not found', async () => {
    expect((await asked({ stream: { approver: 'a' } })).status).toBe(404)
  })

  test('may name any range, and an empty one proves the count alone', async () => {
    const numbers = async (from?: number, to?: number) => {
      const statement = await statementOf({
        stream: { caller: 'a' },
        ...(from && { from }),
        ...(to && { to }),
      })
      return statement.entries.map(({ entry }) => /caller=[^:]+:(\d+)/.exec(entry)?.[1])
    }
    expect(await numbers()).toEqual(['1', '2'])
    expect(await numbers(2)).toEqual(['2'])
    expect(await numbers(1, 1)).toEqual(['1'])
    expect(await numbers(1, 9)).toEqual(['1', '2'])
    expect(await numbers(3)).toEqual([])
    expect(verified(await statementOf({ stream: { caller: 'a' }, from: 3 }), { from: 3 })).toMatchObject({
      count: 2,
      entries: [],
    })
  })

  test.each([
    [{ stream: {} }, 'stream must have exactly one of caller, capability, policy and approver.'],
    [
      { stream: { caller: 'a', policy: 'p' } },
      'stream must have exactly one of caller, capability, policy and approver.',
    ],
    [{ stream: { caller: 1 } }, 'stream.caller must be a non-empty string.'],
    [{ stream: { nothing: 'a' } }, 'stream.nothing is not a member that is known here.'],
    [{ stream: { caller: 'a' }, from: 0 }, 'from must be a whole number, 1 or more.'],
    [{ stream: { caller: 'a' }, to: 1.5 }, 'to must be a whole number, 1 or more.'],
    [{ stream: { caller: 'a' }, from: 2, to: 1 }, 'to must not be less than from.'],
  ] as const)('%j is refused: %s', async (body, error) => {
    expect(await asked(body)).toEqual({ status: 400, body: { error } })
  })
})

describe.each(cryptos)('a statement is checked by %s', (_, crypto) => {
  let statement: Statement
  let another: Statement
  withLog(beforeAll, afterAll)
  beforeAll(async () => {
    const entries = Array.from({ length: 13 }, (_each, i) =>
      anEntry({ caller: `caller ${i % 3}`, policy: i % 2 === 0 ? 'p' : 'q' }),
    )
    await queue(log.pool, entries)
    await settle(log)
    statement = await statementOf({ stream: { caller: 'caller 0' } })
    another = await statementOf({ stream: { caller: 'caller 1' } })
  })

  const stream = { name: 'caller', value: 'caller 0' } as const
  const check = (changed: unknown, more: object = {}) =>
    verifyCompleteness(changed, { policy: policy(), stream, ...more }, crypto)

  test('and proves the list', () => {
    const { count, entries, tied, tag } = check(statement)
    expect({ count, tied, tag, numbers: entries.map(({ n }) => n) }).toEqual({
      count: 5,
      tied: true,
      tag: statement.tag,
      numbers: [1, 2, 3, 4, 5],
    })
  })

  test('and to the salt that its reader has, if any', () => {
    const salt = Buffer.from(statement.salt!, 'base64')
    const { salt: _salt, ...without } = statement
    expect(check(without).tied).toBe(false)
    expect(check(without, { salt }).tied).toBe(true)
    expect(() => check(without, { salt: Buffer.alloc(32) })).toThrow('is not that of caller=caller 0')
  })

  /** Each hides or adds something. */
  const mutations: readonly [string, (changed: Statement) => unknown][] = [
    ['the first entry is dropped', ({ entries }) => entries.shift()],
    ['an entry is dropped', ({ entries }) => entries.splice(2, 1)],
    ['the last entry is dropped', ({ entries }) => entries.pop()],
    ['all entries are dropped', (changed) => (changed.entries = [])],
    ['an entry is there twice', ({ entries }) => entries.splice(2, 0, entries[2]!)],
    ['an entry stands for another', ({ entries }) => (entries[2] = entries[3]!)],
    ['two entries are exchanged', ({ entries }) => ([entries[1], entries[2]] = [entries[2]!, entries[1]!])],
    ['an entry of another stream is added', ({ entries }) => entries.push(another.entries[0]!)],
    ['an entry of another stream stands for one', ({ entries }) => (entries[1] = another.entries[1]!)],
    [
      'the number of an entry is another',
      ({ entries: [one] }) => (one!.entry = one!.entry.replace(/(caller=\w+):1/, '$1:2')),
    ],
    [
      'the hash of an entry is another',
      ({ entries: [one] }) => (one!.entry = one!.entry.replace(/[0-9a-f]{64}/, 'a'.repeat(64))),
    ],
    [
      'the kind of an entry is another',
      ({ entries: [one] }) => (one!.entry = one!.entry.replace('receipt', 'refusal')),
    ],
    [
      'the stream of an entry is another',
      ({ entries: [one] }) => (one!.entry = one!.entry.replace(statement.tag, another.tag)),
    ],
    ['the index of an entry is another', ({ entries: [one] }) => one!.index++],
    ['the path of an entry is shorter', ({ entries: [one] }) => one!.path.pop()],
    ['the path of an entry is longer', ({ entries: [one] }) => one!.path.push(one!.path[0]!)],
    ['a hash of a path is another', ({ entries: [one] }) => (one!.path[1] = one!.path[0]!)],
    [
      'the count is less',
      (changed) => {
        changed.head.n--
        changed.entries.pop()
      },
    ],
    ['the count is greater', ({ head }) => head.n++],
    [
      'the count is that of an earlier entry',
      (changed) => {
        changed.entries.pop()
        changed.head = { ...changed.head, n: 4, lastIndex: changed.entries.at(-1)!.index }
      },
    ],
    ['the last index is another', ({ head }) => head.lastIndex--],
    ['the position of the head is another', ({ head }) => (head.position = another.head.position)],
    ['the path of the head is shorter', ({ head }) => head.path.pop()],
    ['the head is that of another stream', (changed) => (changed.head = another.head)],
    [
      'the tag and the head are those of another stream',
      (changed) => {
        changed.tag = another.tag
        changed.head = another.head
      },
    ],
    [
      'everything but the name is that of another stream',
      (changed) => Object.assign(changed, { ...another, stream: changed.stream }),
    ],
    ['everything is that of another stream', (changed) => Object.assign(changed, another)],
    ['the tag is another', (changed) => (changed.tag = another.tag)],
    ['the tag is no tag', (changed) => (changed.tag = changed.tag.toUpperCase())],
    ['the salt is another', (changed) => (changed.salt = Buffer.alloc(32).toString('base64'))],
    ['the heads are at another index', ({ heads: one }) => one.index--],
    ['the path of the heads is shorter', ({ heads: one }) => one.path.pop()],
    ['the stream has another name', (changed) => (changed.stream = { caller: 'caller 1' })],
    ['the stream has two names', (changed) => (changed.stream = { ...changed.stream, policy: 'p' })],
    ['the log is another', (changed) => (changed.log = `${changed.log}1`)],
    [
      'the checkpoint is not signed',
      (changed) => (changed.checkpoint = changed.checkpoint.replace(/\n14\n/, '\n13\n')),
    ],
    ['there is no head', (changed) => Reflect.deleteProperty(changed, 'head')],
    ['there are no heads', (changed) => Reflect.deleteProperty(changed, 'heads')],
    ['there are no entries', (changed) => Reflect.deleteProperty(changed, 'entries')],
    ['the entries are no list', (changed) => Object.assign(changed, { entries: {} })],
    ['an entry is no object', (changed) => Object.assign(changed.entries, { 1: null })],
    ['an index is no number', (changed) => Object.assign(changed.entries[0]!, { index: '0' })],
    ['a path is no list', (changed) => Object.assign(changed.entries[0]!, { path: 'path' })],
  ]
  test.each(mutations)('and refused where %s', (_what, mutate) => {
    const changed = structuredClone(statement)
    mutate(changed)
    expect(changed).not.toEqual(statement)
    expect(() => check(changed)).toThrow()
  })

  test.each([null, [], 'text', {}, 1])('and refused where it is %j', (changed) => {
    expect(() => check(changed)).toThrow()
  })

  test('and refused where another range was asked for', async () => {
    for (const [from, to] of [
      [2, undefined],
      [1, 4],
      [1, 6],
      [6, undefined],
    ] as const)
      expect(() => check(statement, { from, ...(to && { to }) })).toThrow(
        /^(the stream has 5 entries|entry 1 of)/,
      )
    const part = await statementOf({ stream: { caller: 'caller 0' }, from: 2, to: 4 })
    expect(check(part, { from: 2, to: 4 }).entries.map(({ n }) => n)).toEqual([2, 3, 4])
    expect(() => check(part)).toThrow('entry 1 of the list has the number 2 in the stream, not 1')
    expect(() => check(part, { from: 2 })).toThrow(
      'the stream has 5 entries, and the statement holds 3 from number 2 on, not those up to 5',
    )
  })

  test('and refused where no trusted key signed it', () => {
    const [key] = log.keys.publicKeys
    expect(() =>
      check(statement, { policy: policyOfKeys([logVerifierKey('other.example/log/1', key!)]) }),
    ).toThrow('not signed by a trusted key')
  })
})

const indexes = (from: number, count: number) =>
  joinIndexes(
    Buffer.alloc(0),
    Array.from({ length: count }, (_, i) => 2 ** 40 + from + i),
  )

const shape = ({ blocks, recent }: ReturnType<typeof cutBlocks>) => ({
  blocks: blocks.map(({ block, indexes: bytes }) => [block, bytes.length / 6]),
  recent: recent.length / 6,
})

test('indexes are cut where blocks end, and those before the first known one are left out', () => {
  expect(shape(cutBlocks(1, indexes(0, 1)))).toEqual({ blocks: [], recent: 1 })
  expect(shape(cutBlocks(63, indexes(0, 63)))).toEqual({ blocks: [], recent: 63 })
  expect(shape(cutBlocks(64, indexes(0, 64)))).toEqual({ blocks: [[0, 64]], recent: 0 })
  expect(shape(cutBlocks(200, indexes(0, 200)))).toEqual({
    blocks: [
      [2, 64],
      [1, 64],
      [0, 64],
    ],
    recent: 8,
  })
  expect(shape(cutBlocks(200, indexes(0, 100)))).toEqual({
    blocks: [
      [2, 64],
      [1, 28],
    ],
    recent: 8,
  })
  expect(shape(cutBlocks(200, indexes(0, 3)))).toEqual({ blocks: [], recent: 3 })
})

test.each([
  [1, 70],
  [255, 70],
  [256, 133],
  [2 ** 24, 259],
  [2 ** 40, 385],
])('a full block with steps of %i entries is stored in %i bytes', (step, bytes) => {
  const block = joinIndexes(
    Buffer.alloc(0),
    Array.from({ length: 64 }, (_, i) => 7 + step * i),
  )
  const stored = packIndexes(block)
  expect(stored).toHaveLength(bytes)
  expect(unpackIndexes(Buffer.from(stored))).toEqual(block)
})

test('a row of 6 bytes for each index, as they were once, is read as it is', () => {
  for (const count of [1, 22, 63, 64])
    expect(unpackIndexes(Buffer.from(indexes(0, count)))).toEqual(indexes(0, count))
})

test('a block whose width is damaged is reported', () => {
  const stored = Buffer.from(packIndexes(indexes(0, 64)))
  for (const width of [0, 5, 200]) {
    stored.writeUInt8(width, 6)
    expect(() => unpackIndexes(stored)).toThrow('A block of a stream of the log')
  }
})
