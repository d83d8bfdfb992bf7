// The evidence log for its readers (C2SP tlog-tiles), and proofs from it (C2SP tlog-proof). With LOG=off only the description is mounted, and
// only where the service is a witness.
// The newest log is at /log/…, and each log, also a closed one, at /log/<number>/…: the prefix that its origin names.
import { gunzipSync } from 'node:zlib'
import { Type, type Static } from 'typebox'
import { readableOwner } from '../../formats/people/caller.ts'
import type { Config } from '../../core/config/config.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import { DamagedLog } from '../../formats/log/damaged.ts'
import { MAXIMUM_DELAY_SECONDS } from '../../formats/log/entry.ts'
import { parseTilePath, widthOf } from '../../formats/log/tiles.ts'
import { NonEmptyText } from '../../formats/schemas/primitives.ts'
import { LogConsistency, LogDescription } from '../../formats/schemas/log.ts'
import { logVkeys } from '../../core/signing/log-keys.ts'
import { readEntryBundle } from '../../store/tables/log-bundles.ts'
import type { CheckpointRow } from '../../store/tables/log-checkpoints.ts'
import { readLogs } from '../../store/tables/log-state.ts'
import { tileReader } from '../../store/tables/log-tiles.ts'
import { readConsistency } from '../../store/tables/log-tree.ts'
import type { PathParams } from '../../core/threads/thread-messages.ts'
import { proofKinds } from '../../formats/log/ids.ts'
import { preferredCoding } from '../http/negotiate.ts'
import { isProofKind, proofText } from '../evidence/log-proofs.ts'
import trustRecord from '../openapi/examples/trust-record.json' with { type: 'json' }
import { acceptsType, waitMsOf } from './preferences.ts'
import { get, json, openGet, type Route, type RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { Logs } from '../service.ts'

/** The members that every route of the log has. */
export const logRoute = {
  tag: 'Log',
  readsDatabase: true,
  mounted: (_params: PathParams, { evidenceLog }: Config) => evidenceLog !== undefined,
} as const

const Text = Type.String({ description: 'text' })
const Bytes = Type.String({ description: 'bytes' })
const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' }

/** The answer for a stored artifact that no checkpoint covers yet. */
export const queued: Answer = { status: 202, headers: { ...TEXT, 'Retry-After': '1' }, body: '' }
/** The OpenAPI description of `queued`. */
export const queuedShape = {
  schema: Text,
  example: '',
  contentType: 'text/plain',
  headers: ['Retry-After'],
} as const

const tileRoute = {
  ...logRoute,
  ...get,
  // LOG_ACCESS
  open: 'configured',
  tail: true,
} as const

export const evidenceLog = [
  {
    ...logRoute,
    ...openGet,
    mounted: (params, config) => logRoute.mounted(params, config) || config.witness !== undefined,
    path: '/.well-known/countersign-log',
    operationId: 'getLogDescription',
    summary: 'The evidence logs of this service and their keys',
    description:
      'Save the answer as a file for the option `--log` of every verifier, and keep it: a proof is only as trustworthy as the keys that you had before.',
    answers: {
      200: {
        description:
          'From the first log to the newest. A witness with `LOG=off` has none, and names its keys.',
        schema: LogDescription,
        example: {
          logs: [
            {
              origin: 'countersign.example.com/log/1',
              vkeys: ['countersign.example.com/log/1+14c6f4b5+ATFB0RSWFWfmc6jEwK8wLf2g1Zj+VJxU2fL1wYrMKqpB'],
              validFrom: '2026-11-21T01:00:00.000Z',
              maximumDelaySeconds: MAXIMUM_DELAY_SECONDS,
            },
          ],
        },
        cached: true,
      },
    },
    failures: ['pathNotFound'],
    handle: description,
  },
  {
    ...logRoute,
    ...openGet,
    path: '/log/checkpoint',
    alsoAt: '/log/{log}/checkpoint',
    operationId: 'getCheckpoint',
    summary: 'The newest checkpoint',
    description: 'A C2SP `tlog-checkpoint`: the signed head of the tree.',
    answers: {
      200: {
        description: 'A signed note.',
        schema: Text,
        example: 'countersign.example.com/log/1\n…',
        contentType: 'text/plain',
        cached: true,
      },
    },
    failures: ['pathNotFound', 'noCheckpoint'],
    async handle({ params }, service) {
      const checkpoint = await newestCheckpoint(params, service)
      if (checkpoint === undefined) return failures.noCheckpoint()
      return { status: 200, headers: TEXT, body: checkpoint.note, cache: 'public, no-cache' }
    },
  },
  {
    ...tileRoute,
    path: '/log/tile/entries/{bundle}',
    alsoAt: '/log/{log}/tile/entries/{bundle}',
    operationId: 'getEntries',
    summary: 'Entries of the log, 256 in a bundle',
    description:
      'C2SP `tlog-tiles`: `<N>`, or `<N>.p/<W>` for the first W of them, N in groups as `x001/x234/067`. Each entry follows its length in two bytes. For humans and auditors; with `LOG_ACCESS=open` for everybody.',
    params: {
      bundle: { schema: NonEmptyText, description: '`<N>[.p/<W>]`, slashes and all.', example: '000.p/1' },
    },
    answers: {
      200: {
        description: 'A bundle.',
        schema: Bytes,
        example: '…',
        contentType: 'application/octet-stream',
        cached: true,
        headers: ['Vary'],
        optionalHeaders: ['Content-Encoding'],
      },
    },
    failures: ['pathNotFound', 'nonHumanCaller', 'noCheckpoint', 'tileNotFound'],
    handle: entries,
  },
  {
    ...tileRoute,
    path: '/log/tile/{tile}',
    alsoAt: '/log/{log}/tile/{tile}',
    operationId: 'getTile',
    summary: 'Hashes of the tree, 256 in a tile',
    description:
      'C2SP `tlog-tiles`: `<L>/<N>`, or `<L>/<N>.p/<W>` for the first W of them, N in groups as `x001/x234/067`. For humans and auditors; with `LOG_ACCESS=open` for everybody.',
    params: {
      tile: {
        schema: NonEmptyText,
        description: '`<L>/<N>[.p/<W>]`, slashes and all.',
        example: '0/000.p/1',
      },
    },
    answers: {
      200: {
        description: '32 bytes for each hash.',
        schema: Bytes,
        example: '…',
        contentType: 'application/octet-stream',
        cached: true,
      },
    },
    failures: ['pathNotFound', 'nonHumanCaller', 'noCheckpoint', 'tileNotFound'],
    handle: tile,
  },
  {
    ...logRoute,
    ...openGet,
    path: '/log/consistency',
    alsoAt: '/log/{log}/consistency',
    operationId: 'getConsistency',
    summary: 'Proof that a later tree extends an earlier one',
    description: 'RFC 9162 §2.1.4: no entry of the earlier tree was changed or removed.',
    query: {
      from: {
        schema: Type.Integer({ minimum: 1 }),
        description: 'The size of the earlier tree.',
        required: true,
        example: 1,
      },
      to: {
        schema: Type.Integer({ minimum: 1 }),
        description: 'The size of the later tree (default: that of the newest checkpoint).',
      },
    },
    answers: {
      200: {
        description: 'The proof.',
        schema: LogConsistency,
        example: { from: 1, to: 2, hashes: ['Sx2NcfFMTPSZ3yxYkiJx3AAgBGzVbJ3mt7c/tdvNKhU='] },
      },
    },
    failures: ['pathNotFound', 'noCheckpoint', 'fieldRequired'],
    handle: consistency,
  },
  {
    ...logRoute,
    ...get,
    path: '/log/proofs/{kind}/{id}',
    operationId: 'getLogProof',
    summary: 'Proof that an artifact is in the log',
    description:
      'A C2SP `.tlog-proof` under the newest checkpoint, whose `extra` is the entry. A checkpoint covers an artifact within a second; `Prefer: wait=N` waits for it, at most 10 seconds. With `Accept: application/cose` it is a COSE receipt (RFC 9942), whose signature does not cover size and index.',
    mounted: (params, config) => logRoute.mounted(params, config) && isProofKind(params['kind'] ?? ''),
    params: {
      kind: {
        schema: Type.Enum(Object.keys(proofKinds)),
        description: 'The kind of the artifact. A record is proven by the receipt that states its hash.',
        example: 'receipt',
      },
      id: {
        schema: NonEmptyText,
        description:
          'The id of the artifact; for an authorization, a record, a refusal and a receipt (the newest) the businessTransactionId.',
        example: trustRecord.businessTransactionId,
      },
    },
    answers: {
      200: {
        description: 'The proof.',
        schema: Text,
        example: 'c2sp.org/tlog-proof@v1\n…',
        contentType: 'text/plain',
        otherContentTypes: ['application/cose'],
        headers: ['Vary'],
      },
      202: { description: 'Stored, and not yet under a checkpoint.', ...queuedShape },
    },
    failures: ['pathNotFound', 'artifactNotFound', 'notLogged'],
    handle: proof,
  },
] as const satisfies readonly Route[]

const COSE = { 'Content-Type': 'application/cose; cose-type="cose-sign1"' }
const DESCRIPTION_CACHE = 'public, max-age=300'

async function description(_request: RouteRequest, service: Logs): Promise<Answer> {
  const { config, witness } = service
  const logs = config.evidenceLog === undefined ? [] : await describeLogs(service)
  return json({ logs, ...(witness && { witness: { vkeys: witness.vkeys } }) }, { cache: DESCRIPTION_CACHE })
}

async function describeLogs({ pool, logKeys }: Logs): Promise<Static<typeof LogDescription>['logs']> {
  const opened = await readLogs(pool)
  const publicKeys = logKeys()
  return opened.map(({ origin, openedAt, previous }, i) => ({
    origin,
    vkeys: logVkeys(origin, { publicKeys }),
    validFrom: openedAt.toISOString(),
    ...(i + 1 < opened.length && { validUntil: opened[i + 1]!.openedAt.toISOString() }),
    maximumDelaySeconds: MAXIMUM_DELAY_SECONDS,
    ...(previous !== null && { previous }),
  }))
}

/**
 * The newest checkpoint of the newest log, or of the log whose number is in the path. Entries after it are not served: they are not signed, or
 * lack the cosignatures that are required.
 */
export async function newestCheckpoint(
  { log }: PathParams,
  { pool, servedCheckpoint }: Logs,
): Promise<CheckpointRow | undefined> {
  if (log === undefined) return servedCheckpoint(pool)
  return /^[1-9][0-9]{0,8}$/.test(log) ? servedCheckpoint(pool, Number(log)) : undefined
}

async function tile(request: RouteRequest, service: Logs): Promise<Answer | Failure> {
  const found = await readTile(request, service, request.params['tile'] ?? '')
  if (found instanceof Failure) return found
  const { log, level, n, width } = found
  if (level === 'entries') return failures.tileNotFound()
  const [bytes] = await tileReader(service.pool, log)([{ level, n, width }])
  return { status: 200, headers: BYTES, body: bytes!, cache: cacheOf(request, service) }
}

async function entries(request: RouteRequest, service: Logs): Promise<Answer | Failure> {
  const found = await readTile(request, service, `entries/${request.params['bundle'] ?? ''}`)
  if (found instanceof Failure) return found
  const bundle = await readEntryBundle(service.pool, found)
  if (bundle === undefined) throw new DamagedLog(`Bundle ${found.n} of log ${found.log} is missing.`)
  const { bytes, encoding } = bundle
  const answer = { status: 200, cache: cacheOf(request, service) }
  const headers = { ...BYTES, Vary: 'Accept-Encoding' }
  if (encoding === 'identity') return { ...answer, headers, body: bytes }
  if (preferredCoding(request.header('accept-encoding'), ['gzip', 'identity']) === 'gzip')
    return { ...answer, headers: { ...headers, 'Content-Encoding': 'gzip' }, body: bytes }
  return { ...answer, headers, body: gunzipSync(bytes) }
}

const BYTES = { 'Content-Type': 'application/octet-stream' }

/** The tile of a path, in the requested log, if the log's checkpoint covers it and the caller may read it. */
async function readTile(
  { params, caller }: RouteRequest,
  service: Logs,
  path: string,
): Promise<{ log: number; level: number | 'entries'; n: number; width: number } | Failure> {
  const { config } = service
  if (config.evidenceLog?.access !== 'open') {
    if (caller === undefined && !config.authDisabled) return failures.authenticationRequired()
    if (readableOwner(caller) !== null) return failures.nonHumanCaller()
  }
  const parsed = parseTilePath(path)
  if (parsed === undefined) return failures.tileNotFound()
  const checkpoint = await newestCheckpoint(params, service)
  if (checkpoint === undefined) return failures.noCheckpoint()
  const { log, size } = checkpoint
  const level = parsed.level === 'entries' ? 0 : parsed.level
  return parsed.width <= widthOf({ level, n: parsed.n }, size) ? { log, ...parsed } : failures.tileNotFound()
}

/** Entries under a checkpoint never change. A path without the number of a log will name the next log too. */
function cacheOf({ params }: RouteRequest, { config }: Logs): string {
  const scope = config.evidenceLog?.access === 'open' ? 'public' : 'private'
  return params['log'] === undefined ? `${scope}, no-cache` : `${scope}, max-age=31536000, immutable`
}

async function consistency({ params, query }: RouteRequest, service: Logs): Promise<Answer | Failure> {
  const from = wholeNumber(query, 'from')
  if (from instanceof Failure) return from
  if (from === undefined) return failures.fieldRequired('from')
  const wanted = wholeNumber(query, 'to')
  if (wanted instanceof Failure) return wanted
  const checkpoint = await newestCheckpoint(params, service)
  if (checkpoint === undefined) return failures.noCheckpoint()
  const { log, size } = checkpoint
  const to = wanted ?? size
  if (to > size)
    return failures.invalidQuery(`to must be at most ${size}, the size of the newest checkpoint.`)
  if (from > to) return failures.invalidQuery(`from must be at most ${to}, the size of the later tree.`)
  const hashes = await readConsistency(service.pool, { log, from, to })
  return json({ from, to, hashes: hashes.map((hash) => Buffer.from(hash).toString('base64')) })
}

async function proof(
  request: RouteRequest,
  { pool, logProofs, issueReceipt }: Logs,
): Promise<Answer | Failure> {
  const { kind = '', id = '' } = request.params
  if (!isProofKind(kind)) return failures.pathNotFound()
  const given = { owner: readableOwner(request.caller), waitMs: waitMsOf(request), sql: pool }
  const [proven] = await logProofs.prove([{ kind, id }], given)
  if (proven === undefined) return failures.artifactNotFound(kind)
  if (proven.state === 'not logged') return failures.notLogged()
  if (proven.state === 'queued') return queued
  const vary = { Vary: 'Accept' }
  if (acceptsType(request, 'application/cose'))
    return { status: 200, headers: { ...COSE, ...vary }, body: await issueReceipt(proven.proof) }
  return { status: 200, headers: { ...TEXT, ...vary }, body: proofText(proven.proof) }
}

/** A whole number of the query, 1 or more; undefined where it is left out. */
function wholeNumber(query: URLSearchParams, name: string): number | undefined | Failure {
  const text = query.get(name)
  if (text === null) return undefined
  const value = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(value)
    ? value
    : failures.invalidQuery(`${name} must be a whole number, 1 or more.`)
}
