// The TypeScript client as a witness of the evidence log: what it remembers, what it lets pass, and what it takes for a contradiction.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  createCountersign,
  LogContradictionError,
  type Contradiction,
} from '../../clients/typescript/src/index.ts'
import { openLogWitness, type LogWitnessOptions } from '../../clients/typescript/src/log-witness.ts'
import { parseNote, formatNote } from '../../src/formats/log/note.ts'
import { rowsOf, type TestDatabase } from '../database.ts'
import { until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { anOtherLog, type OtherLog } from '../witness.ts'
import { withService } from '../with-service.ts'

const ORIGIN = 'a.example/log/1'
const log = anOtherLog(ORIGIN)
/** Signed by the same keys, and another tree from the fourth entry on. */
const fork = anOtherLog(ORIGIN, { fork: 3, signers: log.signers })
const second = anOtherLog('a.example/log/2')
const ed25519 = log.signers.slice(0, 1)

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-client-'))
  file = join(folder, 'log.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

const describing = (...logs: OtherLog[]) => ({ logs: logs.map(({ origin, vkeys }) => ({ origin, vkeys })) })

/** The service answers these, by path; 404 for every other one. */
type Script = Readonly<Record<string, string | object | number | Error | Blob>>

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

const newest = (note: string): Script => ({ '/log/checkpoint': note })

function consistent(from: number, to: number, of: Pick<OtherLog, 'proof'> = log): Script {
  const hashes = of.proof(from, to).map((hash) => Buffer.from(hash).toString('base64'))
  return { [`/log/consistency?from=${from}&to=${to}`]: { from, to, hashes } }
}

/** A witness whose calls are answered by scripts; `check` is one call. */
function aWitness(options: Partial<LogWitnessOptions> = {}) {
  const asked: string[] = []
  const warnings: string[] = []
  const witness = openLogWitness({
    logCheckpointFile: file,
    logCheckIntervalSeconds: 0,
    log: describing(log),
    onWarning: (sentence) => warnings.push(sentence),
    ...options,
  })
  const check = (script: Script) =>
    witness.check(async (path) => {
      asked.push(path)
      const answer = script[path] ?? 404
      if (answer instanceof Error) throw answer
      if (typeof answer === 'number') return new Response('{"error":"?"}', { status: answer })
      if (typeof answer === 'string' || answer instanceof Blob) return new Response(answer)
      return new Response(JSON.stringify(answer))
    })
  return { check, asked, warnings }
}

const remembered = () =>
  JSON.parse(readFileSync(file, 'utf8')) as { origin: string; vkeys: string[]; checkpoint: string }
const contradictions = () =>
  readdirSync(folder)
    .filter((name) => name.startsWith('log.json.contradiction-'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Contradiction)

describe('what is remembered', () => {
  test('the newest checkpoint, once the log is shown to begin with the one before', async () => {
    const { check, asked, warnings } = aWitness()
    await check(newest(log.note(5)))
    expect(remembered()).toEqual({ origin: ORIGIN, vkeys: log.vkeys, checkpoint: log.note(5) })
    await check({ ...newest(log.note(9)), ...consistent(5, 9) })
    await check(newest(log.note(9)))
    expect(remembered().checkpoint).toBe(log.note(9))
    expect(asked).toEqual([
      '/log/checkpoint',
      '/log/checkpoint',
      '/log/consistency?from=5&to=9',
      '/log/checkpoint',
    ])
    expect([contradictions(), warnings]).toEqual([[], []])
    expect(readdirSync(folder)).toEqual(['log.json'])
  })

  test('without `log` the keys that the service names first, and no others later', async () => {
    const named = { '/.well-known/countersign-log': describing(log) }
    await aWitness({ log: undefined! }).check({ ...newest(log.note(5)), ...named })
    const stranger = anOtherLog(ORIGIN)
    const { check, asked } = aWitness({ log: undefined! })
    const renamed = { '/.well-known/countersign-log': describing(stranger) }
    await expect(check({ ...newest(stranger.note(9)), ...renamed, ...consistent(5, 9) })).rejects.toThrow(
      'not signed by a trusted key',
    )
    expect(asked).toEqual(['/log/checkpoint'])
    expect(remembered().checkpoint).toBe(log.note(5))
  })

  test.each([
    ['a description as text', () => JSON.stringify(describing(log))],
    ['a policy', () => `log ${log.vkeys[0]}\nquorum none\n`],
  ])('with %s', async (_, make) => {
    await aWitness({ log: make() }).check(newest(log.note(5)))
    expect(remembered().checkpoint).toBe(log.note(5))
  })

  test('the log is checked once in the interval, and once for executions that begin together', async () => {
    const often = aWitness()
    await Promise.all(Array.from({ length: 5 }, () => often.check(newest(log.note(5)))))
    expect(often.asked).toEqual(['/log/checkpoint'])
    const rarely = aWitness({ logCheckIntervalSeconds: 3600 })
    for (let i = 0; i < 3; i++) await rarely.check(newest(log.note(5)))
    expect(rarely.asked).toEqual(['/log/checkpoint'])
  })

  test('a file that holds something else, a folder that is missing and keys of nobody are mistakes', async () => {
    writeFileSync(file, '{}')
    await expect(aWitness().check(newest(log.note(5)))).rejects.toThrow(
      'does not hold the checkpoint of a log',
    )
    expect(() => openLogWitness({ logCheckpointFile: join(folder, 'none', 'log.json') })).toThrow(
      'There is no folder',
    )
    expect(() => openLogWitness({ logCheckpointFile: file, log: { logs: [] } })).toThrow('None of the keys')
    expect(() => openLogWitness({ logCheckpointFile: file, log: '{}' })).toThrow('no list `logs`')
    expect(() => openLogWitness({ logCheckpointFile: file, logCheckIntervalSeconds: -1 })).toThrow(RangeError)
  })
})

const rootOf5 = (of: OtherLog) => Buffer.from(of.checkpoint(5).root).toString('base64')

describe('a file that was edited', () => {
  const edits: [string, (note: string) => string][] = [
    ['more entries', (note) => note.replace('\n5\n', '\n9\n')],
    ['no entries', (note) => note.replace('\n5\n', '\n0\n')],
    ['another root', (note) => note.replace(rootOf5(log), rootOf5(fork))],
    ['no signature of its keys', () => anOtherLog(ORIGIN).note(5)],
  ]
  test.each(edits)('with %s is not what the log signed, and accuses nobody', async (_, edit) => {
    await aWitness().check(newest(log.note(5)))
    writeFileSync(file, JSON.stringify({ ...remembered(), checkpoint: edit(log.note(5)) }))
    const before = readFileSync(file, 'utf8')
    const { check, asked } = aWitness()
    await expect(check({ ...newest(log.note(8)), ...consistent(5, 8) })).rejects.toThrow(
      /log\.json does not hold the checkpoint of a log \(.*\): move it away to begin anew/,
    )
    expect([asked, contradictions(), readFileSync(file, 'utf8')]).toEqual([[], [], before])
  })
})

describe('what passes', () => {
  test.each<[string, Script]>([
    ['no log', {}],
    ['too many requests', { '/log/checkpoint': 429 }],
    ['an error', { '/log/checkpoint': 500 }],
    ['no answer', { '/log/checkpoint': new TypeError('fetch failed') }],
    ['an endless answer', newest('x'.repeat(300_000))],
    ['no proof', newest(log.note(9))],
    ['no answer to the proof', { ...newest(log.note(9)), '/log/consistency?from=5&to=9': 503 }],
  ])('%s: a warning, and what was seen stays', async (_, script) => {
    await aWitness().check(newest(log.note(5)))
    const { check, warnings } = aWitness()
    await check(script)
    expect(warnings).toEqual([expect.stringMatching(/^the evidence log was not checked: /)])
    expect(remembered().checkpoint).toBe(log.note(5))
    expect(contradictions()).toEqual([])
  })
})

describe('what does not', () => {
  test('a checkpoint that no trusted key signed, or with a signature that does not hold', async () => {
    const { check } = aWitness()
    await expect(check(newest(anOtherLog(ORIGIN).note(5)))).rejects.toThrow('not signed by a trusted key')
    const { text } = parseNote(log.note(5))
    const wrong = formatNote(
      text,
      ed25519.map(({ line }) => line(log.checkpoint(6))),
    )
    await expect(check(newest(wrong))).rejects.toThrow('does not hold')
    await expect(check(newest('nothing'))).rejects.toThrow('the note has no blank line')
    expect(readdirSync(folder)).toEqual([])
  })

  test.each<[string, Script, RegExp, string]>([
    ['a smaller log', newest(log.note(4)), /had 5 entries, and has 4 now/, log.note(4)],
    ['another root', newest(fork.note(5)), /have 5 entries and different roots/, fork.note(5)],
    [
      'a proof of another log',
      { ...newest(fork.note(8)), ...consistent(5, 8, fork) },
      /does not lead to the root of the part/,
      fork.note(8),
    ],
    [
      'a proof to another root',
      { ...newest(fork.note(8)), ...consistent(5, 8) },
      /does not lead to the root of the tree/,
      fork.note(8),
    ],
    [
      'an empty proof',
      { ...newest(log.note(8)), '/log/consistency?from=5&to=8': { hashes: [] } },
      /too short/,
      log.note(8),
    ],
    [
      'hashes that are none',
      { ...newest(log.note(8)), '/log/consistency?from=5&to=8': { hashes: ['!'] } },
      /path hash 0 has 0 bytes/,
      log.note(8),
    ],
    [
      'an answer without hashes',
      { ...newest(log.note(8)), '/log/consistency?from=5&to=8': 'x' },
      /not shown to begin/,
      log.note(8),
    ],
    [
      'an answer that is nested so deeply that nobody can write it again',
      { ...newest(log.note(8)), '/log/consistency?from=5&to=8': nested(20_000) },
      /not shown to begin .*: deeper than 64/,
      log.note(8),
    ],
    [
      'a proof beside something that is nested deeply',
      { ...newest(fork.note(8)), '/log/consistency?from=5&to=8': `{"hashes":[],"more":${nested(20_000)}}` },
      /not shown to begin .*: deeper than 64/,
      fork.note(8),
    ],
    [
      'an answer that is not text',
      { ...newest(log.note(8)), '/log/consistency?from=5&to=8': new Blob([new Uint8Array([0xff, 0xfe])]) },
      /not shown to begin .*: not UTF-8/,
      log.note(8),
    ],
    [
      'an answer that is longer than any proof',
      { ...newest(log.note(8)), '/log/consistency?from=5&to=8': 'x'.repeat(300_000) },
      /not shown to begin .*: the answer to GET .* has more than 262144 bytes/,
      log.note(8),
    ],
  ])('%s is a contradiction, whose two sides are kept', async (_, script, reason, received) => {
    await aWitness().check(newest(log.note(5)))
    const { check } = aWitness()
    for (let times = 1; times <= 2; times++) {
      const error = await check(script).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(LogContradictionError)
      const { contradiction, file: kept, message } = error as LogContradictionError
      expect(message).toMatch(reason)
      expect(contradiction).toMatchObject({ seen: log.note(5), received })
      expect(JSON.parse(readFileSync(kept!, 'utf8'))).toEqual(contradiction)
      const proofAsked = Object.keys(script).some((path) => path.startsWith('/log/consistency'))
      const isKept = proofAsked && !message.includes('more than')
      expect(contradiction.consistency === null).toBe(!isKept)
      await until(
        () => new Date().getMilliseconds() !== Number(/\.(\d{3})Z/.exec(kept!)![1]),
        'another millisecond',
      )
    }
    expect(contradictions()).toHaveLength(2)
    expect(remembered().checkpoint).toBe(log.note(5))
    // It goes on when the log is the one that was seen.
    await check({ ...newest(log.note(9)), ...consistent(5, 9) })
    expect(remembered().checkpoint).toBe(log.note(9))
  })

  test('so many contradictions are kept and no more', async () => {
    await aWitness().check(newest(log.note(5)))
    for (let i = 0; i < 100; i++) writeFileSync(`${file}.contradiction-${i}.json`, '{}')
    const error = await aWitness()
      .check(newest(log.note(4)))
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(LogContradictionError)
    expect((error as LogContradictionError).file).toBeUndefined()
    expect(contradictions()).toHaveLength(100)
  })
})

const closed = (note: string): Script => ({ '/log/1/checkpoint': note })

describe('the next log', () => {
  const both = describing(log, second)
  const grown: Script = {
    '/log/1/consistency?from=5&to=8': Object.values(consistent(5, 8))[0]!,
  }

  test('is followed where the closed one still holds what was seen', async () => {
    await aWitness({ log: both }).check(newest(log.note(5)))
    const { check, warnings } = aWitness({ log: both })
    await check({ ...newest(second.note(1)), ...closed(log.note(8)), ...grown })
    expect(warnings).toEqual([`the evidence log is now '${second.origin}'; '${ORIGIN}' is closed.`])
    expect(remembered()).toEqual({ origin: second.origin, vkeys: second.vkeys, checkpoint: second.note(1) })
    // And never back.
    await expect(check(newest(log.note(9)))).rejects.toThrow(
      `The log is '${ORIGIN}' now, and was '${second.origin}'`,
    )
  })

  test('is followed from then on, and the one after it too, by a client that was given the keys of the first alone', async () => {
    const numbered = (number: number) => {
      const origin = `a.example/log/${number}`
      return anOtherLog(origin, { signers: log.signers.map(({ renamed }) => renamed(origin)) })
    }
    const [next, last] = [numbered(2), numbered(3)]
    await aWitness().check(newest(log.note(5)))
    await aWitness().check({ ...newest(next.note(1)), ...closed(log.note(8)), ...grown })
    await aWitness().check(newest(next.note(1)))
    await aWitness().check({ ...newest(next.note(4)), ...consistent(1, 4) })
    expect(remembered()).toEqual({ origin: next.origin, vkeys: next.vkeys, checkpoint: next.note(4) })
    await expect(aWitness().check(newest(second.note(4)))).rejects.toThrow('not signed by a trusted key')
    await expect(aWitness().check(newest(log.note(9)))).rejects.toThrow(`and was '${next.origin}'`)
    await aWitness().check({
      ...newest(last.note(1)),
      '/log/2/checkpoint': next.note(6),
      '/log/2/consistency?from=4&to=6': Object.values(consistent(4, 6))[0]!,
    })
    await aWitness().check(newest(last.note(1)))
    expect(remembered()).toEqual({ origin: last.origin, vkeys: last.vkeys, checkpoint: last.note(1) })
  })

  test('is not where the closed one is smaller, or another one is shown for it', async () => {
    await aWitness({ log: both }).check(newest(log.note(5)))
    const { check } = aWitness({ log: both })
    await expect(check({ ...newest(second.note(1)), ...closed(log.note(3)) })).rejects.toThrow('has 3 now')
    await expect(check({ ...newest(second.note(1)), ...closed(second.note(1)) })).rejects.toThrow(
      'in place of the closed log',
    )
    expect(remembered().checkpoint).toBe(log.note(5))
  })
})

describe('against a service', () => {
  let database: TestDatabase
  let service: TestService
  withService((made) => ({ database, service } = made))

  test('each execution is preceded by a check, and none is sent to a log that went back', async () => {
    const notes: string[] = []
    let replay = false
    const logWitness = openLogWitness({ logCheckpointFile: file, logCheckIntervalSeconds: 0 })
    const client = createCountersign({
      baseUrl: service.url,
      apiKey: service.key,
      logWitness,
      async fetch(request) {
        if (new URL(request.url).pathname !== '/log/checkpoint') return fetch(request)
        expect(request.headers.get('authorization')).toBeNull()
        if (replay) return new Response(notes[0])
        const answer = await fetch(request)
        if (answer.status === 200) notes.push(await answer.clone().text())
        return answer
      },
    })
    const execute = () => client.execute(aTransaction() as Parameters<typeof client.execute>[0])
    await execute()
    for (let i = 0; i < 3; i++) {
      const before = notes.length
      await until(async () => {
        const { text, status } = await service.get('/log/checkpoint', { key: null })
        return status === 200 && text !== notes[before - 1]
      }, 'the next checkpoint')
      await execute()
      expect(remembered().checkpoint).toBe(notes.at(-1))
    }
    expect(new Set(notes).size).toBeGreaterThan(1)
    const stored = await rowsOf(database)
    replay = true
    await expect(execute()).rejects.toThrow(LogContradictionError)
    await expect(
      client.executeOrRead(aTransaction() as Parameters<typeof client.execute>[0]),
    ).rejects.toThrow('now. Both sides')
    expect(await rowsOf(database)).toEqual(stored)
    replay = false
    await execute()
  })
})
