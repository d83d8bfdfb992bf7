// The evidence log over HTTP: what is served holds for a reader who has the log description and nothing else of the service.
import { createPublicKey, randomUUID, verify } from 'node:crypto'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { openCheckpoint, readCheckpoint, type Checkpoint } from '../../src/formats/log/checkpoint.ts'
import { parseEntry } from '../../src/formats/log/entry.ts'
import { splitHashes } from '../../src/formats/log/frontier.ts'
import { parseVkey } from '../../src/formats/log/note.ts'
import { policyOfKeys } from '../../src/formats/log/policy.ts'
import { parseProof } from '../../src/formats/log/proof.ts'
import { decodeBundle, tilePath, TILE_WIDTH } from '../../src/formats/log/tiles.ts'
import { assertConsistent } from '../../src/formats/merkle/consistency.ts'
import { buildTree, leafHash, rootOfInclusion } from '../../src/formats/merkle/tree.ts'
import { noteCrypto, readLogKeys } from '../../src/core/signing/log-keys.ts'
import { sha256 } from '../../src/store/sha256.ts'
import type { TestDatabase } from '../database.ts'
import { forHere, sectionBlocks } from '../handbook.ts'
import { anEntry, hex, queue } from '../log/log.ts'
import { verifyBySigstore } from '../log/sigstore.ts'
import { baseEnvironment } from '../run/environment.ts'
import { aCaller, reply, type Called, type TestService } from '../service.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import { verifyProof } from '../log/verify-proof.ts'
import { withDatabase } from '../with-service.ts'

const stranger = aCaller('stranger')
const auditor = aCaller('auditor', { readAll: true, allowedCapabilities: [] })
const callers = [stranger.entry, auditor.entry]
const EMPTY = [
  '/log/checkpoint',
  '/log/tile/0/000.p/1',
  '/log/tile/entries/000.p/1',
  '/log/consistency?from=1',
]

let database: TestDatabase
/** LOG_ACCESS=readAll, the default; and one with LOG_ACCESS=open on the same database. */
let service: TestService
let open: TestService
/** LOG=off, the first that ran. */
let off: TestService
/** Executed before the log was on. */
let unlogged: string
/** A log without a checkpoint answers these. */
let empty: Called[]

withDatabase(async ({ database: made, start }) => {
  database = made
  off = await start({ callers, env: { LOG: 'off' } })
  const { signingKeyDir, key } = off
  const same = { callers, signingKeyDir, key }
  unlogged = await executed(off)
  for (const path of [...EMPTY, '/.well-known/countersign-log', `/log/proofs/receipt/${unlogged}`])
    expect(reply(await off.get(path)), path).toEqual({ status: 404, body: { error: 'Not Found' } })
  const list = await off.post('/log/completeness', { stream: { caller: 'tester' } })
  expect(reply(list)).toEqual({ status: 404, body: { error: 'Not Found' } })
  service = await start(same)
  empty = await Promise.all(EMPTY.map((path) => service.get(path, auditor)))
  open = await start({ ...same, env: { LOG_ACCESS: 'open' } })
  // Full tiles, and one that is not.
  await queue(
    database.pool,
    Array.from({ length: 600 }, () => anEntry()),
  )
  await proofOf(await executed(service))
})

async function executed(on: TestService): Promise<string> {
  const { status, body } = await on.post('/execute', aTransaction())
  expect(status).toBe(200)
  return (body as { businessTransactionId: string }).businessTransactionId
}

const proofOf = (id: string, kind = 'receipt') =>
  service.get(`/log/proofs/${kind}/${id}`, { headers: { prefer: 'wait=10' } })

/** Reads the keys of the log, which a reader has. */
async function trustedKeys() {
  const { body } = await service.get('/.well-known/countersign-log', { key: null })
  const [{ vkeys }] = (body as { logs: [{ vkeys: string[] }] }).logs
  return vkeys.map((vkey) => parseVkey(vkey, sha256))
}

async function newest(at = service): Promise<Checkpoint> {
  const { text } = await at.get('/log/checkpoint', { key: null })
  return openCheckpoint(text, { logs: await trustedKeys(), witnesses: [] }, noteCrypto)
}

const freeze = (why: string | null) => database.pool.query('UPDATE log_state SET frozen = $1::text', [why])

/** Nothing is appended or published meanwhile. */
async function whileFrozen<T>(run: () => Promise<T>): Promise<T> {
  await freeze('a test')
  try {
    return await run()
  } finally {
    await freeze(null)
  }
}

/** As it came, not decompressed by the client. */
async function raw(path: string, headers: Record<string, string> = {}) {
  const authorization = `Bearer ${auditor.key}`
  const request = httpGet(service.url + path, { headers: { authorization, ...headers } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) }
}

/** All entries under a checkpoint, as a mirror reads them. */
async function entriesOf({ size }: Checkpoint, prefix = '/log'): Promise<Uint8Array[]> {
  const entries: Uint8Array[] = []
  for (let n = 0; n * TILE_WIDTH < size; n++) {
    const width = Math.min(TILE_WIDTH, size - n * TILE_WIDTH)
    const { status, body } = await raw(`${prefix}/tile/${tilePath({ level: 'entries', n, width })}`)
    expect(status).toBe(200)
    entries.push(...decodeBundle(body))
  }
  expect(entries).toHaveLength(size)
  return entries
}

describe('GET /.well-known/countersign-log 200', () => {
  test('names the log, its keys and its delay, and caches may keep it', async () => {
    const { status, headers, body } = await service.get('/.well-known/countersign-log', { key: null })
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=300'])
    const { origin } = await newest()
    const vkeys = [expect.stringContaining(`${origin}+`), expect.stringContaining(`${origin}+`)]
    expect(body).toEqual({
      logs: [{ origin, vkeys, validFrom: expect.any(String), maximumDelaySeconds: 60 }],
    })
    const types = (await trustedKeys()).map(({ type }) => type)
    expect(types.toSorted()).toEqual(['ed25519', 'ml-dsa-44-cosignature'])
  })
})

describe('GET /log/checkpoint 200', () => {
  test('is a note that both keys of the log have signed, and that no cache keeps', async () => {
    const { status, headers, text } = await service.get('/log/checkpoint', { key: null })
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(headers.get('cache-control')).toBe('public, no-cache')
    const { signedBy } = openCheckpoint(text, { logs: await trustedKeys(), witnesses: [] }, noteCrypto)
    expect(signedBy).toHaveLength(2)
    const etag = headers.get('etag') ?? ''
    const again = await service.get('/log/checkpoint', { key: null, headers: { 'If-None-Match': etag } })
    expect(again.status).toBe(304)
  })

  test('is at the prefix that its origin names, too', async () => {
    const { origin } = await newest()
    const { text } = await service.get(origin.slice(origin.indexOf('/')) + '/checkpoint', { key: null })
    expect(readCheckpoint(text).origin).toBe(origin)
  })
})

describe('GET /log/tile/entries/{bundle} 200', () => {
  test('has all entries under the checkpoint: their root is the one that is signed', async () => {
    const checkpoint = await newest()
    expect(checkpoint.size).toBeGreaterThan(2 * TILE_WIDTH)
    for (const prefix of ['/log', '/log/1']) {
      const leaves = (await entriesOf(checkpoint, prefix)).map((entry) => leafHash(entry, sha256))
      expect(hex(buildTree(leaves, sha256).root)).toBe(hex(checkpoint.root))
    }
  })

  test('is compressed for who accepts that, and the same for who does not', async () => {
    const path = '/log/tile/entries/000'
    const plain = await raw(path, { 'Accept-Encoding': 'identity, gzip;q=0' })
    expect(plain.headers['content-encoding']).toBeUndefined()
    for (const accepted of ['gzip', 'br, gzip;q=0.5', '*']) {
      const { headers, body } = await raw(path, { 'Accept-Encoding': accepted })
      expect([headers['content-encoding'], headers.vary]).toEqual(['gzip', 'Accept-Encoding'])
      expect(headers['content-type']).toBe('application/octet-stream')
      expect(body.length).toBeLessThan(plain.body.length)
      expect(Buffer.compare(gunzipSync(body), plain.body)).toBe(0)
      expect(headers.etag).not.toBe(plain.headers.etag)
    }
  })

  test('a bundle that is full is served as long as it was not, too', async () => {
    const whole = decodeBundle((await raw('/log/tile/entries/000')).body)
    const { body } = await raw('/log/tile/entries/000.p/7')
    expect(decodeBundle(body).map(hex)).toEqual(whole.slice(0, 7).map(hex))
  })

  test('with LOG_ACCESS=open needs no key, and public caches may keep it', async () => {
    const { status, headers } = await open.get('/log/1/tile/entries/000', { key: null })
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
  })
})

describe('GET /log/tile/{tile} 200', () => {
  test('has the hashes of the entries, and above them those of its full tiles', async () => {
    const checkpoint = await newest()
    const leaves = (await entriesOf(checkpoint)).map((entry) => leafHash(entry, sha256))
    const full = Math.floor(checkpoint.size / TILE_WIDTH)
    const roots: string[] = []
    for (let n = 0; n < full; n++) {
      const { body } = await raw(`/log/tile/0/00${n}`)
      expect(splitHashes(body).map(hex)).toEqual(leaves.slice(n * TILE_WIDTH, (n + 1) * TILE_WIDTH).map(hex))
      roots.push(hex(buildTree(splitHashes(body), sha256).root))
    }
    const tail = await raw(`/log/tile/0/00${full}.p/${checkpoint.size - full * TILE_WIDTH}`)
    expect(splitHashes(tail.body).map(hex)).toEqual(leaves.slice(full * TILE_WIDTH).map(hex))
    const above = await raw(`/log/tile/1/000.p/${full}`)
    expect(above.headers['content-type']).toBe('application/octet-stream')
    expect(splitHashes(above.body).map(hex)).toEqual(roots)
  })

  test('under the number of its log it never changes; without, it is asked for again', async () => {
    const { headers } = await raw('/log/1/tile/0/000')
    expect(headers['cache-control']).toBe('private, max-age=31536000, immutable')
    const newestOfAll = await raw('/log/tile/0/000')
    expect(newestOfAll.headers['cache-control']).toBe('private, no-cache')
    const again = await service.get('/log/tile/0/000', {
      key: auditor.key,
      headers: { 'If-None-Match': newestOfAll.headers.etag! },
    })
    expect(again.status).toBe(304)
    const bundle = await service.get('/log/tile/entries/000', {
      key: auditor.key,
      headers: { 'If-None-Match': '*' },
    })
    expect(bundle.status).toBe(304)
  })
})

describe('404 tileNotFound', () => {
  test.each([
    '0/000.p/0',
    '0/000.p/256',
    '0/0',
    '00/000',
    '64/000',
    '0/x000/000',
    '0/999',
    '1/000',
    '63/000',
    '0/x999/x999/x999/999',
    'x',
  ])('/log/tile/%s', async (tile) => {
    const error = 'There is no such tile under the newest checkpoint.'
    expect(reply(await service.get(`/log/tile/${tile}`, auditor))).toEqual({ status: 404, body: { error } })
  })

  test.each(['000.p/0', '000.p/256', '0', 'x000/000', '999', 'x999/x999/x999/999', 'x', 'entries/000'])(
    '/log/tile/entries/%s',
    async (bundle) => {
      const error = 'There is no such tile under the newest checkpoint.'
      const answer = await service.get(`/log/tile/entries/${bundle}`, auditor)
      expect(reply(answer)).toEqual({ status: 404, body: { error } })
    },
  )

  test('nor is there what is in the tree, and not yet under a checkpoint', async () => {
    const id = await executed(service)
    const { text } = await proofOf(id)
    const { index } = parseProof(text)
    const n = Math.floor(index / TILE_WIDTH)
    const path = `/log/tile/${tilePath({ level: 'entries', n, width: index - n * TILE_WIDTH + 1 })}`
    expect((await service.get(path, auditor)).status).toBe(200)
    await whileFrozen(async () => {
      const { rows } = await database.pool.query<{ row: object }>(
        'DELETE FROM log_checkpoints AS c WHERE size > $1::bigint RETURNING to_jsonb(c) AS row',
        [index],
      )
      expect((await service.get(path, auditor)).status).toBe(404)
      expect((await service.get(`/log/proofs/receipt/${id}`)).status).toBe(202)
      await database.pool.query(
        'INSERT INTO log_checkpoints SELECT * FROM jsonb_populate_recordset(NULL::log_checkpoints, $1::jsonb)',
        [JSON.stringify(rows.map(({ row }) => row))],
      )
    })
  })
})

describe('401 authenticationRequired', () => {
  test.each(['/log/tile/0/000', '/log/tile/entries/000', '/log/1/tile/0/000'])(
    '%s without LOG_ACCESS=open needs a key',
    async (path) => {
      const { status, headers } = await service.get(path, { key: null })
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="countersign"'])
    },
  )
})

describe('403 nonHumanCaller', () => {
  test.each(['/log/tile/0/000', '/log/tile/entries/000'])('%s is not for other callers', async (path) => {
    const { status, body } = await service.get(path, stranger)
    expect([status, body.code]).toEqual([403, 'NON_HUMAN_CALLER_DENIED'])
  })
})

describe('404 noCheckpoint', () => {
  const noCheckpoint = {
    status: 404,
    body: {
      error: 'There is no such log, or it has no checkpoint yet, or its witnesses have not cosigned one.',
    },
  }

  test('a log that has none yet', () => {
    expect(empty.map(reply)).toEqual(EMPTY.map(() => noCheckpoint))
  })

  test.each(['2', '0', '01', 'x', '9999999999'])('there is no log %s', async (log) => {
    for (const path of EMPTY)
      expect(reply(await service.get(path.replace('/log', `/log/${log}`), auditor))).toEqual(noCheckpoint)
  })
})

describe('GET /log/consistency 200', () => {
  test('proves that the tree begins with each earlier one', () =>
    whileFrozen(async () => {
      const checkpoint = await newest()
      const { size, root } = checkpoint
      const leaves = (await entriesOf(checkpoint)).map((entry) => leafHash(entry, sha256))
      const rootAt = (end: number) => buildTree(leaves.slice(0, end), sha256).root
      for (const [from, to] of [
        [1, 2],
        [255, 256],
        [256, 600],
        [599, 600],
        [300, undefined],
        [size, size],
      ] as const) {
        const query = `from=${from}${to === undefined ? '' : `&to=${to}`}`
        const { status, body } = await service.get(`/log/consistency?${query}`, { key: null })
        expect(status).toBe(200)
        const { to: end, hashes } = body as { to: number; hashes: string[] }
        expect(body).toEqual({ from, to: to ?? expect.any(Number), hashes })
        if (to === undefined) expect(end).toBe(size)
        const path = hashes.map((hash) => Buffer.from(hash, 'base64'))
        const tree = { start: 0, end: from, size: end, partRoot: rootAt(from), path }
        assertConsistent({ ...tree, root: end === size ? root : rootAt(end) }, sha256)
      }
    }))
})

describe('GET /log/consistency 400 invalidQuery', () => {
  test.each([
    ['from=0', 'from must be a whole number, 1 or more.'],
    ['from=-1', 'from must be a whole number, 1 or more.'],
    ['from=1e3', 'from must be a whole number, 1 or more.'],
    ['from=9007199254740993', 'from must be a whole number, 1 or more.'],
    ['from=1&to=x', 'to must be a whole number, 1 or more.'],
    ['from=3&to=2', 'from must be at most 2, the size of the later tree.'],
  ])('%s', async (query, error) => {
    const answer = await service.get(`/log/consistency?${query}`, { key: null })
    expect(reply(answer)).toEqual({ status: 400, body: { error } })
  })

  test('nothing beyond the newest checkpoint', async () => {
    const { body, status } = await service.get('/log/consistency?from=1&to=1000000', { key: null })
    expect(status).toBe(400)
    expect(body.error).toMatch(/^to must be at most \d+, the size of the newest checkpoint\.$/)
  })
})

describe('GET /log/consistency 400 fieldRequired', () => {
  test('from', async () => {
    const answer = await service.get('/log/consistency?to=2', { key: null })
    expect(reply(answer)).toEqual({ status: 400, body: { error: 'from is required.' } })
  })
})

describe('GET /log/proofs/{kind}/{id} 200', () => {
  test('proves what an execution made, to our verifier and to one of others', async () => {
    const { body } = await service.post('/execute', aTransaction())
    const { businessTransactionId: id, receipts } = body as {
      businessTransactionId: string
      receipts: [{ receiptHash: string }]
    }
    const keys = await trustedKeys()
    const key = readLogKeys(service.signingKeyDir).ed25519.public
    const indexes = new Map<string, number>()
    for (const kind of ['receipt', 'record', 'authorization']) {
      const { status, headers, text } = await proofOf(id, kind)
      expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
      expect(headers.get('cache-control')).toBe('private, no-store')
      const parsed = parseProof(text)
      const entry = parsed.extra!
      const { origin, signedBy } = verifyProof({ entry, proof: text, policy: policyOfKeys(keys) }, noteCrypto)
      expect(signedBy).toHaveLength(2)
      verifyBySigstore({ ...parsed, entry }, { origin, key })
      indexes.set(kind, parsed.index)
      const { kind: logged, hash } = parseEntry(Buffer.from(entry).toString('latin1'))
      if (kind === 'authorization') expect(logged).toBe(kind)
      else expect([logged, hash]).toEqual(['receipt', receipts[0].receiptHash])
    }
    expect(indexes.get('record')).toBe(indexes.get('receipt'))
    expect(indexes.get('authorization')).toBeLessThan(indexes.get('receipt')!)
  })

  test('of several receipts the newest is meant', async () => {
    const businessTransactionId = await executed(service)
    const { body } = await service.post('/receipt', { businessTransactionId })
    const { text } = await proofOf(businessTransactionId)
    const entry = Buffer.from(parseProof(text).extra!).toString('latin1')
    expect(parseEntry(entry).hash).toBe((body as { receiptHash: string }).receiptHash)
  })

  test('of a refusal; and an auditor gets what any caller would', async () => {
    const transaction = aRejectedTransaction()
    await service.post('/execute', transaction)
    const id = transaction.businessTransactionId
    expect((await proofOf(id, 'refusal')).status).toBe(200)
    expect((await service.get(`/log/proofs/refusal/${id}`, auditor)).status).toBe(200)
  })
})

/** CBOR (RFC 8949) of definite lengths, by a decoder that shares nothing with what encodes it. */
function decodeCbor(bytes: Buffer): unknown {
  let at = 0
  const number = (extra: number) => {
    if (extra < 24) return extra
    const length = 2 ** (extra - 24)
    at += length
    return Number(BigInt(`0x${bytes.subarray(at - length, at).toString('hex')}`))
  }
  const item = (): unknown => {
    const first = bytes[at++]!
    const argument = first === 0xf6 ? 0 : number(first & 31)
    switch (first >> 5) {
      case 0:
        return argument
      case 1:
        return -1 - argument
      case 2:
      case 3: {
        at += argument
        const text = bytes.subarray(at - argument, at)
        return first >> 5 === 2 ? text : text.toString()
      }
      case 4:
        return Array.from({ length: argument }, item)
      case 5:
        return new Map(Array.from({ length: argument }, () => [item(), item()] as const))
      case 6:
        return { tag: argument, value: item() }
      default:
        expect(first).toBe(0xf6)
        return null
    }
  }
  const decoded = item()
  expect(at).toBe(bytes.length)
  return decoded
}

describe('GET /log/proofs/{kind}/{id} as application/cose', () => {
  test('is a receipt of RFC 9942, signed by the log over the root that its path leads to', async () => {
    const id = await executed(service)
    const { index } = parseProof((await proofOf(id)).text)
    const accept = 'application/cbor, application/cose;q=0.9'
    const { headers, body } = await raw(`/log/proofs/receipt/${id}`, { accept })
    expect(headers['content-type']).toBe('application/cose; cose-type="cose-sign1"')
    expect(headers.vary).toBe('Accept')
    const { tag, value } = decodeCbor(body) as { tag: number; value: unknown[] }
    const [protectedHeader, unprotected, payload, signature] = value as [
      Buffer,
      Map<unknown, unknown>,
      null,
      Buffer,
    ]
    expect([tag, value.length, payload]).toEqual([18, 4, null])
    const key = (await trustedKeys()).find(({ type }) => type === 'ed25519')!
    const kid = Buffer.from(`${key.name}+${key.keyId}`)
    expect(decodeCbor(protectedHeader)).toEqual(
      new Map<number, unknown>([
        [1, -19],
        [4, kid],
        [395, 1],
      ]),
    )
    const proofs = (unprotected.get(396) as Map<number, Buffer[]>).get(-1)!
    expect(proofs).toHaveLength(1)
    const [size, leaf, path] = decodeCbor(proofs[0]!) as [number, number, Buffer[]]
    expect(leaf).toBe(index)
    const entry = unprotected.get('entry') as Buffer
    expect(parseEntry(entry.toString()).kind).toBe('receipt')
    const root = rootOfInclusion({ leafHash: leafHash(entry, sha256), index: leaf, size, path }, sha256)
    // The Sig_structure of RFC 9052 §4.4, written out.
    const signed = Buffer.concat([
      Buffer.from('846a5369676e617475726531', 'hex'),
      Buffer.of(0x58, protectedHeader.length),
      protectedHeader,
      Buffer.of(0x40, 0x58, 32),
      root,
    ])
    const publicKey = createPublicKey(readLogKeys(service.signingKeyDir).ed25519.public.pem)
    expect(verify(null, signed, publicKey, signature)).toBe(true)
  })
})

describe('GET /log/proofs/{kind}/{id} 202', () => {
  test('what is not yet under a checkpoint: soon, or as long as the caller waits', async () => {
    const { id, waiting } = await whileFrozen(async () => {
      const stored = await executed(service)
      for (const prefer of ['', 'wait=0', 'wait=1', 'respond-async, wait="1"']) {
        const startedMs = performance.now()
        const answer = await service.get(`/log/proofs/receipt/${stored}`, { headers: { prefer } })
        const { status, headers, text } = answer
        expect([status, headers.get('retry-after'), text]).toEqual([202, '1', ''])
        if (/1/.test(prefer)) expect(performance.now() - startedMs).toBeGreaterThanOrEqual(1000)
      }
      return { id: stored, waiting: proofOf(stored) }
    })
    expect((await waiting).status).toBe(200)
    expect((await service.get(`/log/proofs/receipt/${id}`)).status).toBe(200)
  })
})

describe('404 artifactNotFound', () => {
  test('is the same for an unknown id and for what is another caller’s', async () => {
    const id = await executed(service)
    await proofOf(id)
    for (const kind of ['receipt', 'record', 'authorization', 'refusal', 'change', 'event', 'approval'])
      for (const [of, key] of [
        [id, stranger.key],
        [randomUUID(), service.key],
        [randomUUID(), auditor.key],
        ['x', service.key],
        ['%00', service.key],
      ] as const)
        expect(reply(await service.get(`/log/proofs/${kind}/${of}`, { key })), `${kind} ${of}`).toEqual({
          status: 404,
          body: { error: `There is no such ${kind}.` },
        })
  })

  test('also where the log is off, or the kind is none', async () => {
    for (const kind of ['heads', 'toString', 'governance-change'])
      expect(reply(await service.get(`/log/proofs/${kind}/${randomUUID()}`))).toEqual({
        status: 404,
        body: { error: 'Not Found' },
      })
  })
})

describe('404 notLogged', () => {
  test('what was stored while the log was off', async () => {
    expect(reply(await proofOf(unlogged))).toEqual({
      status: 404,
      body: {
        error: 'This is not in the evidence log: it was stored while the log was off.',
        code: 'NOT_LOGGED',
      },
    })
    // A caller that may not read it learns nothing.
    expect((await service.get(`/log/proofs/receipt/${unlogged}`, stranger)).body).toEqual({
      error: 'There is no such receipt.',
    })
  })
})

/** Changes a bit of an entry where it is stored, and returns what changes it back. */
async function flip(entry: Uint8Array): Promise<() => Promise<unknown>> {
  const { rows } = await database.pool.query<{ start: string; at: number }>(
    'SELECT start, position($1::bytea IN entries) AS at FROM log_tail WHERE position($1::bytea IN entries) > 0',
    [Buffer.from(entry)],
  )
  const [place] = rows
  const flipped = () =>
    database.pool.query(
      'UPDATE log_tail SET entries = set_byte(entries, $2::integer, get_byte(entries, $2::integer) # 1) WHERE start = $1',
      [place?.start, place?.at],
    )
  expect((await flipped()).rowCount).toBe(1)
  return flipped
}

describe('500 internal', () => {
  test('a proof of what is damaged is not served', async () => {
    const id = await executed(service)
    const { text } = await proofOf(id)
    await whileFrozen(async () => {
      const back = await flip(parseProof(text).extra!)
      expect((await service.get(`/log/proofs/receipt/${id}`)).status).toBe(500)
      await back()
      expect(parseProof((await service.get(`/log/proofs/receipt/${id}`)).text).index).toBe(
        parseProof(text).index,
      )
    })
  })
})

test('the handbook reads the log and proves a receipt, with nothing of Countersign', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-log-'))
  mkdirSync(join(folder, 'mine'))
  const shown = ['Read the log', 'Prove that one artifact is in it'].flatMap((heading) =>
    sectionBlocks('log.md', heading, 'sh'),
  )
  expect(shown).toHaveLength(3)
  const env = { ...baseEnvironment, KEY: auditor.key, AUDITOR_KEY: auditor.key, ID: await executed(service) }
  const run = (script: string) =>
    spawnSync('sh', ['-ec', forHere(script, service.url)], { cwd: folder, encoding: 'utf8', env })
  const outputs = shown.map((script) => {
    const { status, stdout, stderr } = run(script)
    expect([status, stderr]).toEqual([0, ''])
    return stdout
  })
  const { origin } = await newest()
  expect(outputs[0]).toContain(`${origin}\n`)
  expect(outputs[0]).toMatch(/\{"from":1,"to":\d+,"hashes":\[[^]*\}countersign\/1 receipt [0-9a-f]{64} /)
  expect(outputs[2]).toMatch(/^at index \d+ of \d+ in \S+\nSignature Verified Successfully\n$/)
  // As it is pasted: openssl follows a script that failed, and must not read what an earlier run left.
  const pasted = (script: string) => spawnSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8', env })
  for (const [file, change, error] of [
    ['receipt.tlog-proof', [/^index .*/m, 'index 0'], 'the entry is not in the tree'],
    [
      'receipt.tlog-proof',
      [/^(index .*\n).*\n/m, '$1'],
      'the path does not fit|the entry is not in the tree',
    ],
    ['receipt.tlog-proof', [/(?<=\n\n.*\n)\d+\n/, '1\n'], 'not an index of the tree'],
    // The key id begins the Base64 of a signature.
    ['receipt.tlog-proof', [/^(— \S+ )..../gm, '$1AAAA'], 'no Ed25519 key of mine/log.json has signed'],
    ['log.json', [/log\/1/g, 'log/2'], 'no Ed25519 key of mine/log.json has signed'],
    ['receipt.json', [/"issuedAt":"2/, '"issuedAt":"1'], 'the entry is of another receipt'],
  ] as const) {
    const path = join(folder, 'mine', file)
    const text = readFileSync(path, 'utf8')
    expect(text).toMatch(change[0])
    writeFileSync(path, text.replace(change[0], change[1]))
    const { stdout, stderr } = pasted(shown[2]!)
    writeFileSync(path, text)
    expect(stderr).toMatch(new RegExp(error))
    expect(stdout).toBe('')
  }
  rmSync(folder, { recursive: true })
})
