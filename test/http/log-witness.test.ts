// This service as a witness of other logs (C2SP tlog-witness): each status of the specification, and what is stored behind it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { formatAddCheckpoint } from '../../src/formats/log/add-checkpoint.ts'
import { openCheckpoint, signersOf } from '../../src/formats/log/checkpoint.ts'
import { formatNote, formatVkey, parseNote, parseVkey, type VerifierKey } from '../../src/formats/log/note.ts'
import { noteCrypto } from '../../src/core/signing/log-keys.ts'
import { sha256, sha256Hex } from '../../src/store/sha256.ts'
import { readWitnessKeys, witnessVkeys } from '../../src/core/signing/witness-keys.ts'
import type { TestDatabase } from '../database.ts'
import { startService, type TestService } from '../service.ts'
import { makeKeys } from '../signing-keys.ts'
import { anOtherLog, witnessEnvironment, type OtherLog } from '../witness.ts'
import { withDatabase } from '../with-service.ts'

const POST = '/log/witness/add-checkpoint'
const NAME = 'witness.example'
const signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-witness-'))
let made = 0
/** Each test has a log of its own. */
const logs = Array.from({ length: 20 }, () => anOtherLog(`other.example/log/${++made}`))
const aLog = (): OtherLog => logs.pop()!

let database: TestDatabase
let service: TestService
let env: Record<string, string>
let witnessKeys: VerifierKey[]

withDatabase(async ({ database: own, start }) => {
  makeKeys(signingKeyDir)
  env = witnessEnvironment(
    signingKeyDir,
    logs.flatMap(({ vkeys }) => vkeys),
    NAME,
  )
  database = own
  // It needs no log of its own.
  service = await start({ signingKeyDir, env: { ...env, LOG: 'off' } })
  witnessKeys = witnessVkeys(`${NAME}/witness`, readWitnessKeys(signingKeyDir)).map((vkey) =>
    parseVkey(vkey, sha256),
  )
})

afterAll(() => {
  rmSync(signingKeyDir, { recursive: true })
})

const add = (body: string) => service.post(POST, body, { key: null })
const newest = (log: OtherLog) =>
  service.get(`/log/witness/${sha256Hex(log.origin)}/checkpoint`, { key: null })

/** Expects that nothing was cosigned. */
async function expectNothing(log: OtherLog) {
  expect((await newest(log)).status).toBe(404)
}

describe('POST /log/witness/add-checkpoint 200', () => {
  test('cosigns with both keys, now, and what comes next from there on', async () => {
    const log = aLog()
    for (const [from, to] of [
      [0, 3],
      [3, 8],
      [8, 8],
      [8, 21],
    ] as const) {
      const answer = await add(log.request(from, to))
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
      const cosigned = parseNote(`${log.note(to)}${answer.text}`)
      const signers = signersOf(cosigned, log.checkpoint(to), witnessKeys, noteCrypto)
      expect(signers.map(({ key }) => key.type)).toEqual(['ed25519-cosignature', 'ml-dsa-44-cosignature'])
      for (const { timeSeconds } of signers)
        expect(Math.abs(timeSeconds! - Date.now() / 1000)).toBeLessThan(60)
    }
  })

  test('an empty tree, and a log of which it knows one key', async () => {
    const log = aLog()
    const empty = { origin: log.origin, size: 0, root: sha256(new Uint8Array(0)) }
    const note = formatNote(
      `${log.origin}\n0\n${Buffer.from(empty.root).toString('base64')}\n`,
      log.signers.slice(0, 1).map(({ line }) => line(empty)),
    )
    expect((await add(`old 0\n\n${note}`)).status).toBe(200)
    expect((await add(log.request(0, 5))).status).toBe(200)
    expect((await add(`old 0\n\n${note}`)).status).toBe(409)
  })

  test('of many requests at once with the same old size one is cosigned, and the size never goes back', async () => {
    const log = aLog()
    expect((await add(log.request(0, 4))).status).toBe(200)
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => ({ size: 5 + i, answer: await add(log.request(4, 5 + i)) })),
    )
    const cosigned = answers.filter(({ answer }) => answer.status === 200)
    expect(cosigned).toHaveLength(1)
    const { size } = cosigned[0]!
    for (const { answer } of answers)
      if (answer.status !== 200) expect([answer.status, answer.text]).toEqual([409, `${size}\n`])
    expect((await newest(log)).text).toContain(`${log.origin}\n${size}\n`)
  })
})

describe('GET /.well-known/countersign-log 200', () => {
  test('with LOG=off names the keys of the witness and no log', async () => {
    const { status, body } = await service.get('/.well-known/countersign-log', { key: null })
    expect([status, body]).toEqual([200, { logs: [], witness: { vkeys: witnessKeys.map(formatVkey) } }])
    expect((await service.get('/log/checkpoint', { key: null })).status).toBe(404)
  })
})

describe('GET /log/witness/{originHash}/checkpoint 200', () => {
  test('has the verified signatures of the log, both cosignatures as they were answered, and nothing else', async () => {
    const log = aLog()
    const stranger = anOtherLog(log.origin)
    const body = log.request(0, 7) + stranger.signers[0]!.line(log.checkpoint(7))
    const answer = await add(body)
    expect(answer.status).toBe(200)
    const { status, text, headers } = await newest(log)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(text).toBe(log.note(7) + answer.text)
    const opened = openCheckpoint(
      text,
      { logs: log.signers.map(({ key }) => key), witnesses: witnessKeys },
      noteCrypto,
    )
    expect([opened.size, opened.signedBy.length, opened.cosignedBy.length]).toEqual([7, 2, 2])
  })

  test('is not sent again to who has it', async () => {
    const log = aLog()
    expect((await add(log.request(0, 3))).status).toBe(200)
    const etag = (await newest(log)).headers.get('etag') ?? ''
    const path = `/log/witness/${sha256Hex(log.origin)}/checkpoint`
    const again = await service.get(path, { key: null, headers: { 'If-None-Match': etag } })
    expect([again.status, again.text]).toEqual([304, ''])
  })
})

describe('GET /log/witness/{originHash}/checkpoint 404 notWitnessed', () => {
  test('of a log that has sent nothing, and of one that nobody knows', async () => {
    await expectNothing(aLog())
    await expectNothing(anOtherLog('unknown.example/log/1'))
  })
})

describe('POST /log/witness/add-checkpoint 400 invalidField', () => {
  const note = anOtherLog('other.example/log/1').note(3)
  test.each([
    ['no line', '', /no empty line/],
    ['an old size alone', 'old 0', /no empty line/],
    ['another first line', `size 0\n\n${note}`, /'old '/],
    ['a leading zero', `old 03\n\n${note}`, /leading zeros/],
    ['a negative size', `old -1\n\n${note}`, /decimal/],
    ['a short hash', `old 0\nAAAA\n\n${note}`, /proof line 1 is not 32 bytes/],
    ['64 hashes', `old 0\n${`${'A'.repeat(43)}=\n`.repeat(64)}\n${note}`, /64 proof lines; at most 63/],
    ['no signature', 'old 0\n\nother.example/log/1\n3\n', /no blank line before its signatures/],
    ['no root', 'old 0\n\nother.example/log/1\n3\nAAAA\n\n— a AAAAAAAA\n', /root hash/],
    ['a size beyond 2^53', `old 0\n\n${note}`.replace('\n3\n', '\n9007199254740993\n'), /above 2\^53/],
    ['a NUL', `old 0\n\n${note}\u0000`, /control character/],
  ])('%s', async (_, body, why) => {
    const { status, body: answer } = await add(body)
    expect(status).toBe(400)
    expect(answer.error).toMatch(why)
  })

  test('an old size above the size of the checkpoint', async () => {
    const log = aLog()
    const checkpoint = log.note(3)
    const { status, body } = await add(formatAddCheckpoint({ oldSize: 4, proof: [], checkpoint }))
    expect([status, body.error]).toEqual([400, 'the old size is above the size of the checkpoint.'])
    await expectNothing(log)
  })
})

describe('POST /log/witness/add-checkpoint 404 logNotWitnessed', () => {
  test('a log that is not of the file, whoever signed', async () => {
    expect((await add(anOtherLog('unknown.example/log/1').request(0, 3))).status).toBe(404)
  })
})

describe('POST /log/witness/add-checkpoint 403 checkpointNotSigned', () => {
  test('no key of the log signed: another one did, or one of another log', async () => {
    const log = aLog()
    expect((await add(anOtherLog(log.origin).request(0, 3))).status).toBe(403)
    const other = aLog()
    const body = log.request(0, 3).replace(/— [^]*$/, other.signers[0]!.line(log.checkpoint(3)))
    expect((await add(body)).status).toBe(403)
    await expectNothing(log)
  })

  test('one signature of a known key does not hold, beside another that does', async () => {
    const log = aLog()
    const [good, bad] = [log.signers[0]!.line(log.checkpoint(3)), log.signers[1]!.line(log.checkpoint(4))]
    const { text } = parseNote(log.note(3))
    const { status, body } = await add(`old 0\n\n${formatNote(text, [good, bad])}`)
    expect(status).toBe(403)
    expect(body.error).toContain('does not hold')
    await expectNothing(log)
  })
})

describe('POST /log/witness/add-checkpoint, whose old size is another', () => {
  test('answers 409 and the size that it has, as text/x.tlog.size', async () => {
    const log = aLog()
    const first = await add(log.request(2, 6))
    expect([first.status, first.text, first.headers.get('content-type')]).toEqual([
      409,
      '0\n',
      'text/x.tlog.size',
    ])
    expect((await add(log.request(0, 6))).status).toBe(200)
    const again = await add(log.request(0, 9))
    expect([again.status, again.text]).toEqual([409, '6\n'])
  })
})

describe('POST /log/witness/add-checkpoint 422 checkpointInconsistent', () => {
  test('another history, of any size, is never cosigned', async () => {
    const log = aLog()
    expect((await add(log.request(0, 8))).status).toBe(200)
    const { signers, proof } = log
    const forked = anOtherLog(log.origin, { fork: 5, signers })
    const send = (size: number, path: readonly Uint8Array[]) =>
      add(formatAddCheckpoint({ oldSize: 8, proof: path, checkpoint: forked.note(size) }))
    expect((await send(8, [])).status).toBe(422)
    expect((await send(13, forked.proof(8, 13))).status).toBe(422)
    expect((await send(13, proof(8, 13))).status).toBe(422)
    expect((await newest(log)).text).toContain(log.note(8))
  })

  test('a proof that is missing, too long, or of a step that needs none', async () => {
    const log = aLog()
    const [one] = log.proof(1, 2)
    const send = (oldSize: number, size: number, proof: readonly Uint8Array[]) =>
      add(formatAddCheckpoint({ oldSize, proof, checkpoint: log.note(size) }))
    expect((await send(0, 4, [one!])).status).toBe(422)
    expect((await send(0, 4, [])).status).toBe(200)
    expect((await send(4, 4, [one!])).status).toBe(422)
    expect((await send(4, 6, [])).status).toBe(422)
    expect((await send(4, 6, [...log.proof(4, 6), one!])).status).toBe(422)
    expect((await send(4, 6, log.proof(4, 6))).status).toBe(200)
  })

  test('an empty tree with another root', async () => {
    const log = aLog()
    const empty = { origin: log.origin, size: 0, root: new Uint8Array(32) }
    const note = formatNote(
      `${log.origin}\n0\n${'A'.repeat(43)}=\n`,
      log.signers.map(({ line }) => line(empty)),
    )
    expect((await add(`old 0\n\n${note}`)).status).toBe(422)
  })
})

/** Reads what a start with these variables says that does not succeed. */
function failing(variables: Record<string, string>): Promise<string> {
  const started = startService({ databaseUrl: database.url, signingKeyDir, env: variables })
  return started.then(
    () => 'it started',
    (error: Error) => error.message,
  )
}

describe('a start', () => {
  test('with a file that names no log, cannot be read, or asks too much of a signature says so', async () => {
    const file = join(signingKeyDir, 'bad')
    const start = async (text: string) => {
      writeFileSync(file, text)
      return failing({ ...env, WITNESS_LOGS: file })
    }
    expect(await start('quorum none\n')).toContain(`WITNESS_LOGS (${file}): it names no log.`)
    expect(await start('log x\n')).toContain('line 1 of the policy')
    const long = anOtherLog(`${'x'.repeat(255)}/log/1`)
    expect(await start(`log ${long.vkeys[0]}\nquorum none\n`)).toContain('more than 255 bytes')
    expect(await failing({ ...env, WITNESS_LOGS: `${file}-none` })).toContain('ENOENT')
  })

  test('says by which keys it cosigns', () => {
    const line = service.lines().find(({ msg }) => msg === 'witness of other logs')
    expect(line?.['vkeys']).toEqual(witnessVkeys(`${NAME}/witness`, readWitnessKeys(signingKeyDir)))
  })
})
