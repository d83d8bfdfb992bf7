// The evidence log and its witnesses: checkpoints are sent to them, what they cosign is served, and what they do wrong harms nobody.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parseAddCheckpoint } from '../../src/formats/log/add-checkpoint.ts'
import { openCheckpoint, readCheckpoint, type OpenedCheckpoint } from '../../src/formats/log/checkpoint.ts'
import { formatVkey, parseVkey, type VerifierKey } from '../../src/formats/log/note.ts'
import { assertConsistent } from '../../src/formats/merkle/consistency.ts'
import { askWitness } from '../../src/core/outbound/witness.ts'
import { logVerifierKey, noteCrypto, readLogKeys } from '../../src/core/signing/log-keys.ts'
import { sha256 } from '../../src/store/sha256.ts'
import { readWitnessKeys, witnessVkeys } from '../../src/core/signing/witness-keys.ts'
import { latestCheckpoint, servedCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import {
  addCosignatures,
  cosignerOf,
  keepToCosign,
  readCosigned,
} from '../../src/store/tables/log-cosigned.ts'
import {
  noteCosigned,
  noteNotCosigned,
  readWitnesses,
  setWitnesses,
  takeDueWitnesses,
} from '../../src/store/tables/log-witnesses.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { startService, until, type TestService } from '../service.ts'
import { makeKeys } from '../signing-keys.ts'
import { aTransaction } from '../transactions.ts'
import {
  aFakeWitness,
  anOtherLog,
  witnessEnvironment,
  type FakeWitness,
  type WitnessReply,
} from '../witness.ts'
import { aLog, anEntry, ORIGIN, queue, settle, type TestLog } from './log.ts'
import { aSigner } from './signers.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-witnesses-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('an answer', () => {
  const log = anOtherLog('asks.example/log/1')
  const witness = aSigner('w.example', 'ml-dsa-44-cosignature')
  const stranger = aSigner('w.example', 'ed25519-cosignature')
  const line = witness.line(log.checkpoint(5))
  const strange = stranger.line(log.checkpoint(5))

  test.each<[string, WitnessReply, object]>([
    [
      '200 with its cosignature',
      () => ({ status: 200, body: line }),
      { kind: 'cosigned', lines: [{ key: witness.key, line }] },
    ],
    [
      '200 with another key’s beside it',
      () => ({ status: 200, body: strange + line }),
      { kind: 'cosigned', lines: [{ line }] },
    ],
    [
      '200 with another key’s alone',
      () => ({ status: 200, body: strange }),
      { problem: 'answered no cosignature of its key' },
    ],
    [
      '200 with a cosignature of another tree',
      () => ({ status: 200, body: witness.line(log.checkpoint(6)) }),
      { problem: expect.stringContaining('does not hold') },
    ],
    ['200 with nothing', () => ({ status: 200 }), { kind: 'no' }],
    [
      '200 with another note',
      () => ({ status: 200, body: `x\n\n${line}` }),
      { problem: 'answered more than signature lines' },
    ],
    [
      '200 with too much',
      () => ({ status: 200, body: line.repeat(40) }),
      { problem: expect.stringContaining('larger than') },
    ],
    [
      '409 with its size',
      () => ({ status: 409, body: '3\n', type: 'text/x.tlog.size' }),
      { kind: 'has size', size: 3 },
    ],
    ['409 with no size', () => ({ status: 409, body: 'x', type: 'text/x.tlog.size' }), { kind: 'no' }],
    [
      '409 of something else',
      () => ({ status: 409, body: '3\n' }),
      { problem: 'answered 409 without a size' },
    ],
    ['400', () => ({ status: 400 }), { problem: 'answered 400: it cannot read the request' }],
    ['403', () => ({ status: 403 }), { problem: 'answered 403: it trusts other keys of this log' }],
    ['404', () => ({ status: 404 }), { problem: 'answered 404: it does not know this log' }],
    ['422', () => ({ status: 422 }), { problem: 'answered 422: it has seen another history of this log' }],
    ['a redirect', () => ({ status: 302 }), { problem: 'answered 302' }],
    ['no answer', () => 'hang up', { problem: expect.stringContaining('gave no whole answer') }],
  ])('%s', async (_, answer, expected) => {
    const server = await aFakeWitness(answer)
    const request = { oldSize: 2, proof: log.proof(2, 5), checkpoint: log.note(5) }
    const got = await askWitness({ url: server.url, keys: [witness.key] }, request, { crypto: noteCrypto })
    expect(got).toMatchObject(expected)
    expect(server.requests).toEqual([log.request(2, 5)])
    await server.close()
    expect(
      await askWitness({ url: server.url, keys: [witness.key] }, request, { crypto: noteCrypto }),
    ).toEqual({
      kind: 'no',
      problem: 'cannot be reached: ECONNREFUSED',
      waitSeconds: 0,
    })
  })
})

describe('the tables', () => {
  let log: TestLog
  beforeEach(async () => {
    log = await aLog()
  })
  afterEach(() => log.close())

  const grow = async () => {
    await queue(log.pool, [anEntry(), anEntry()])
    await settle(log)
    return (await latestCheckpoint(log.pool))!
  }
  const urls = ['http://one.example', 'http://two.example']

  test('a witness is taken by one instance at a time, for the newest checkpoint, and again when that was published anew', async () => {
    const { pool } = log
    const other = log.instance().pool
    await setWitnesses(pool, urls)
    expect(await takeDueWitnesses(pool, urls)).toBeUndefined()
    const first = await grow()
    const taken = (await Promise.all([pool, other].map((sql) => takeDueWitnesses(sql, urls)))).filter(Boolean)
    expect(taken).toHaveLength(1)
    expect(taken[0]).toEqual({ checkpoint: first, due: urls.map((url) => ({ url, size: 0 })) })
    await noteCosigned(pool, urls[0]!, first)
    await noteNotCosigned(pool, urls[1]!, { log: 1, size: 0, problem: 'is away', waitSeconds: 0 })
    const [one, two] = await readWitnesses(pool)
    expect(one).toEqual({ url: urls[0], cosignedMs: first.publishedAtMs, failing: undefined })
    expect(two).toMatchObject({ url: urls[1], cosignedMs: undefined, failing: { problem: 'is away' } })

    // As if their times had come: the first has this checkpoint, and is asked for the next one only.
    const { rows } = await pool.query<{ after: number }>(
      'SELECT extract(epoch FROM due_at - now())::float AS after FROM log_witnesses ORDER BY url',
    )
    expect(rows[0]!.after).toBeLessThanOrEqual(5)
    expect(rows[1]!.after).toBeGreaterThan(4)
    await pool.query('UPDATE log_witnesses SET due_at = now()')
    expect((await takeDueWitnesses(pool, urls))?.due).toEqual([{ url: urls[1], size: 0 }])
    const second = await grow()
    await pool.query('UPDATE log_witnesses SET due_at = now()')
    const next = await takeDueWitnesses(pool, urls)
    expect(next?.checkpoint).toEqual(second)
    expect(next?.due).toEqual([
      { url: urls[0], size: first.size },
      { url: urls[1], size: 0 },
    ])
    await noteNotCosigned(pool, urls[1]!, { log: 1, size: 0, problem: 'answered 429', waitSeconds: 900 })
    const { rows: asked } = await pool.query<{ after: number }>(
      'SELECT extract(epoch FROM due_at - now())::float AS after FROM log_witnesses WHERE url = $1',
      [urls[1]],
    )
    expect(asked[0]!.after).toBeGreaterThan(895)
    expect(asked[0]!.after).toBeLessThanOrEqual(905)
    // Asked only of witnesses that the policy still names.
    await setWitnesses(pool, urls.slice(1))
    expect((await readWitnesses(pool)).map(({ url }) => url)).toEqual(urls.slice(1))
  })

  test('the served checkpoint: the newest, or the newest that meets the quorum; others are forgotten, that one is not', async () => {
    const { pool } = log
    const [a, b] = [
      aSigner('a.example', 'ed25519-cosignature'),
      aSigner('b.example', 'ml-dsa-44-cosignature'),
    ]
    const witnesses = [
      { name: 'a', key: a.key },
      { name: 'b', key: b.key },
    ]
    const required = { logs: [], witnesses, quorum: { name: 'both', threshold: 2, members: witnesses } }
    const opened = (note: string): OpenedCheckpoint =>
      openCheckpoint(
        note,
        {
          logs: log.keys.publicKeys.map((key) => logVerifierKey(ORIGIN, key)),
          witnesses: [a.key, b.key],
        },
        noteCrypto,
      )
    const cosignedBy = async (row: { log: number; size: number; note: string }, signers: (typeof a)[]) => {
      const checkpoint = readCheckpoint(row.note)
      for (const { key, line } of signers)
        await addCosignatures(pool, row, { [cosignerOf(key)]: line(checkpoint) })
    }
    const met = await grow()
    expect(await servedCheckpoint(pool)).toEqual(met)
    expect(await servedCheckpoint(pool, { required })).toBeUndefined()
    await keepToCosign(pool, met, undefined)
    await cosignedBy(met, [a])
    expect(opened((await servedCheckpoint(pool))!.note).cosignedBy).toHaveLength(1)
    expect(await servedCheckpoint(pool, { required })).toBeUndefined()
    await cosignedBy(met, [b, a])
    const both = (await servedCheckpoint(pool, { required }))!
    expect(opened(both.note).cosignedBy.map(({ key }) => key)).toEqual([a.key, b.key])
    for (let i = 0; i < 12; i++) {
      const next = await grow()
      await keepToCosign(pool, next, met.size)
      await cosignedBy(next, [a])
      expect((await servedCheckpoint(pool))!.size).toBe(next.size)
      expect(await servedCheckpoint(pool, { required })).toEqual(both)
    }
    expect((await readCosigned(pool)).length).toBeLessThan(12)
  })
})

describe('two services', () => {
  let databases: TestDatabase[]
  let witnessService: TestService
  let witnessEnv: Record<string, string>
  let witnessKeys: VerifierKey[]
  let logKeys: VerifierKey[]
  let service: TestService
  const keyDirs = [join(folder, 'log-keys'), join(folder, 'witness-keys')] as const

  const policyFile = join(folder, 'policy')
  /** A fake one, never there at first: a quorum of `all` needs it. */
  let late: FakeWitness
  const lateSigner = aSigner('late.example', 'ed25519-cosignature')

  beforeAll(async () => {
    databases = [await createDatabase(), await createDatabase()]
    for (const dir of keyDirs) makeKeys(dir)
    const origin = 'log.example/log/1'
    logKeys = readLogKeys(keyDirs[0]).publicKeys.map((key) => logVerifierKey(origin, key))
    witnessEnv = witnessEnvironment(keyDirs[1], logKeys.map(formatVkey), 'witness.example')
    witnessService = await startService({
      databaseUrl: databases[0]!.url,
      signingKeyDir: keyDirs[1],
      env: witnessEnv,
    })
    witnessKeys = witnessVkeys('witness.example/witness', readWitnessKeys(keyDirs[1])).map((vkey) =>
      parseVkey(vkey, sha256),
    )
    late = await aFakeWitness(() => ({ status: 404 }))
    const url = `${witnessService.url}/log/witness`
    writePolicy(url, 'any')
    service = await start({})
  })

  afterAll(async () => {
    expect(await service.stop()).toBe(0)
    expect(await witnessService.stop()).toBe(0)
    await late.close()
    for (const database of databases) await database.drop()
  })

  function writePolicy(url: string, quorum: string) {
    const lines = [
      ...witnessKeys.map((key, i) => `witness north-${i} ${formatVkey(key)} ${url}`),
      `witness late ${formatVkey(lateSigner.key)} ${late.url}`,
      `group both ${quorum} north-0 late`,
      'quorum both',
    ]
    writeFileSync(policyFile, `${lines.join('\n')}\n`)
  }

  const start = (env: Record<string, string>) =>
    startService({
      databaseUrl: databases[1]!.url,
      signingKeyDir: keyDirs[0],
      env: { LOG_ORIGIN: 'log.example', LOG_WITNESS_POLICY: policyFile, METRICS_PORT: '0', ...env },
    })

  const cosigns = (body: string) => ({
    status: 200,
    body: lateSigner.line(open(parseAddCheckpoint(body).checkpoint)),
  })
  const open = (note: string) =>
    openCheckpoint(note, { logs: logKeys, witnesses: [...witnessKeys, lateSigner.key] }, noteCrypto)
  const execute = async () => {
    const transaction = aTransaction()
    expect((await service.post('/execute', transaction)).status).toBe(200)
    return transaction.businessTransactionId
  }
  const servedOpened = async () => {
    const { status, text } = await service.get('/log/checkpoint', { key: null })
    return status === 200 ? open(text) : undefined
  }

  test('a second service cosigns each checkpoint of the first one with both keys, and what is served holds both', async () => {
    for (let i = 0; i < 2; i++) {
      await execute()
      const { size } = await until(async () => {
        const served = await servedOpened()
        return served?.cosignedBy.length === 2 ? served : undefined
      }, 'two cosignatures')
      const { body } = await service.get(`/log/consistency?from=1&to=${size}`, { key: null })
      const hashes = (body as { hashes: string[] }).hashes.map((hash) => Buffer.from(hash, 'base64'))
      expect(hashes.length).toBeGreaterThan(0)
    }
    const id = await execute()
    const proof = await until(async () => {
      const { status, text } = await service.get(`/log/proofs/receipt/${id}`, {
        headers: { Prefer: 'wait=10' },
      })
      const note = text.slice(text.indexOf('\n\n') + 2)
      return status === 200 && open(note).cosignedBy.length === 2 ? note : undefined
    }, 'a proof under a cosigned checkpoint')
    expect(open(proof).signedBy).toHaveLength(2)
  })

  // proves fault: A witness of the evidence log is away
  test('a witness that is away stops nothing: /ready names it after a minute, the metrics know who has cosigned, and it catches up', async () => {
    const url = /"url":"(http:[^"]+\/metrics)"/.exec(service.output())![1]!
    const age = await until(async () => {
      const text = await (await fetch(url)).text()
      return /^countersign_log_witness_checkpoint_age_seconds\{witness="north-0"\} ([\d.]+)$/m.exec(text)
    }, 'the age in the metrics')
    expect(Number(age[1])).toBeLessThan(60)
    expect((await service.get('/ready', { key: null })).body).not.toHaveProperty('warnings')
    // A minute later, for the service.
    await until(async () => {
      const { rowCount } = await databases[1]!.pool.query(
        `UPDATE log_witnesses SET failing_since = now() - interval '2 minutes' WHERE failing_since IS NOT NULL`,
      )
      return rowCount === 1
    }, 'the other witness to fail')
    const [warning] = await until(async () => {
      const { body } = await service.get('/ready', { key: null })
      return (body as { warnings?: string[] }).warnings
    }, 'a warning')
    expect(warning).toMatch(
      /^The witness 'late' has cosigned nothing since 20\S+Z: it answered 404: it does not know this log\.$/,
    )
    await execute()
    late.answer = (body) => {
      const { checkpoint, oldSize, proof } = parseAddCheckpoint(body)
      // Not a tree that it has: asked again at once from the size that it says.
      if (oldSize === 0) return { status: 409, body: '1\n', type: 'text/x.tlog.size' }
      const tree = open(checkpoint)
      expect(proof.length).toBeGreaterThan(0)
      return { status: 200, body: lateSigner.line(tree) }
    }
    await databases[1]!.pool.query('UPDATE log_witnesses SET due_at = now()')
    const served = await until(async () => {
      const opened = await servedOpened()
      return opened?.cosignedBy.some(({ key }) => key === lateSigner.key) ? opened : undefined
    }, 'the witness that was away')
    expect(served.cosignedBy.length).toBeGreaterThan(0)
    await until(async () => {
      const { body } = await service.get('/ready', { key: null })
      return !Object.hasOwn(body as object, 'warnings')
    }, 'no warning any more')
  })

  test('LOG_WITNESS_MODE=required serves no checkpoint, tile or proof before the quorum has cosigned it', async () => {
    late.answer = cosigns
    await until(async () => {
      const [served, newest] = [await servedOpened(), await latestCheckpoint(databases[1]!.pool)]
      return (
        served?.size === newest?.size && served?.cosignedBy.some(({ key }) => key.name === 'late.example')
      )
    }, 'the newest checkpoint to be cosigned by all')
    expect(await service.stop()).toBe(0)
    late.answer = () => ({ status: 404 })
    writePolicy(`${witnessService.url}/log/witness`, 'all')
    service = await start({ LOG_WITNESS_MODE: 'required' })
    // The one before was cosigned by all.
    const before = await until(servedOpened, 'a checkpoint')
    expect(before.cosignedBy.map(({ key }) => key.name)).toContain('late.example')
    const id = await execute()
    const newest = await until(async () => {
      const row = await latestCheckpoint(databases[1]!.pool)
      return row !== undefined && row.size > before.size ? row : undefined
    }, 'a newer checkpoint')
    expect((await servedOpened())?.size).toBe(before.size)
    const asked = await service.get(`/log/consistency?from=1&to=${newest.size}`, { key: null })
    expect(asked.status).toBe(400)
    expect((await service.get(`/log/proofs/receipt/${id}`)).status).toBe(202)
    late.answer = cosigns
    const after = await until(async () => {
      // A witness that refuses meanwhile is due later again.
      await databases[1]!.pool.query('UPDATE log_witnesses SET due_at = now() WHERE due_at > now()')
      const served = await servedOpened()
      return served !== undefined && served.size > before.size ? served : undefined
    }, 'the quorum')
    expect(after.cosignedBy.map(({ key }) => key.name)).toEqual(
      expect.arrayContaining(['late.example', 'witness.example/witness']),
    )
    expect((await service.get(`/log/proofs/receipt/${id}`)).status).toBe(200)
    const { body } = await service.get(`/log/consistency?from=${before.size}&to=${after.size}`, { key: null })
    const path = (body as { hashes: string[] }).hashes.map((hash) => Buffer.from(hash, 'base64'))
    const range = { start: 0, end: before.size, size: after.size }
    expect(() =>
      assertConsistent({ ...range, partRoot: before.root, root: after.root, path }, sha256),
    ).not.toThrow()
  })

  test('the description of a witness holds its keys', async () => {
    const { body } = await witnessService.get('/.well-known/countersign-log', { key: null })
    expect((body as { witness: object }).witness).toEqual({ vkeys: witnessKeys.map(formatVkey) })
  })
})

describe('a start', () => {
  test.each([
    ['witness w x\nquorum none\n', 'line 1 of the policy'],
    ['quorum none\n', 'it names no witness.'],
    [
      `witness w ${formatVkey(aSigner('w', 'ed25519-cosignature').key)}\nquorum w\n`,
      "the URL of the witness 'w' is missing",
    ],
    [
      `witness w ${formatVkey(aSigner('w', 'ed25519-cosignature').key)} ftp://w\nquorum w\n`,
      "the URL of the witness 'w' must be http or https",
    ],
    [
      `witness w ${formatVkey(aSigner('w', 'ed25519-cosignature').key)} http://w\nquorum none\n`,
      'its quorum is none',
    ],
  ])('with a policy that cannot be used says so: %#', async (text, problem) => {
    const database = await createDatabase()
    const file = join(folder, 'bad-policy')
    writeFileSync(file, text)
    const env = { LOG_WITNESS_POLICY: file, LOG_WITNESS_MODE: 'required' }
    await expect(startService({ databaseUrl: database.url, env })).rejects.toThrow(
      `LOG_WITNESS_POLICY (${file}): ${problem}`,
    )
    await database.drop()
  })
})
