// The verifications and receipts of a record: the latest (interface §4.3) or all (decisions §12). Reads answer stored text.
import { Type, type TSchema } from 'typebox'
import { readableOwner } from '../../formats/people/caller.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import { isUuid } from '../../formats/schemas/primitives.ts'
import { Receipt } from '../../formats/schemas/receipt.ts'
import { RecordReference, ReplayRequest, ReplayResult } from '../../formats/schemas/replay.ts'
import { Verification } from '../../formats/schemas/verification.ts'
import { listAppended, type AppendedTable } from '../../store/tables/trust-records.ts'
import trustRecord from '../openapi/examples/trust-record.json' with { type: 'json' }
import { linkedPaging, listFailures, transactionId } from '../openapi/parameters.ts'
import { nextLink, readBehind } from './paging.ts'
import { get, post, type Route, type RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { Reading } from '../service.ts'
import { onThread } from './on-thread.ts'

const { businessTransactionId, trustRecordHash, verifications, receipts } = trustRecord
const params = { id: transactionId(businessTransactionId) }

export const evidence = [
  {
    ...post,
    path: '/verify',
    appends: true,
    cost: 'compute',
    operationId: 'verify',
    tag: 'Evidence',
    summary: 'Verify a record again',
    description:
      'Appends a new Verification; earlier ones are kept. A record has at most 10,000; the next request answers 409.',
    body: { schema: RecordReference, example: { businessTransactionId } },
    answers: {
      200: {
        description: '`status` says whether the record is valid.',
        schema: Verification,
        example: verifications[0],
      },
    },
    failures: ['invalidBusinessTransactionId', 'fieldRequired', 'noRecordToVerify', 'conflict'],
    readsDatabase: true,
    handle: onThread('verify-record'),
  },
  {
    ...get,
    path: '/verification/{id}',
    operationId: 'getLatestVerification',
    tag: 'Evidence',
    summary: 'The latest verification',
    description: 'Does not run a verification.',
    params,
    answers: {
      200: { description: 'The latest verification.', schema: Verification, example: verifications[0] },
    },
    failures: ['trustRecordNotFound', 'verificationNotFound'],
    readsDatabase: true,
    async handle(request, { pool }) {
      const stored = await readLatest('verifications', request, pool)
      if (stored === null) return failures.trustRecordNotFound()
      return stored.last === null ? failures.verificationNotFound() : { status: 200, body: stored.last }
    },
  },
  {
    ...get,
    path: '/verifications/{id}',
    operationId: 'listVerifications',
    summary: 'All verifications of a record',
    ...listOf('verifications', Verification, verifications[0]),
  },
  {
    ...post,
    path: '/receipt',
    appends: true,
    cost: 'compute',
    operationId: 'createReceipt',
    tag: 'Evidence',
    summary: 'Generate a receipt',
    description:
      'The latest verification must be VERIFIED. A record has at most 1,000 receipts; the next request answers 409 `CONFLICT`.',
    body: { schema: RecordReference, example: { businessTransactionId } },
    answers: { 200: { description: 'The new receipt.', schema: Receipt, example: receipts[0] } },
    failures: [
      'invalidBusinessTransactionId',
      'fieldRequired',
      'noRecordToVerify',
      'receiptNotVerified',
      'conflict',
    ],
    readsDatabase: true,
    handle: onThread('issue-receipt'),
  },
  {
    ...get,
    path: '/receipt/latest/{id}',
    operationId: 'getLatestReceipt',
    tag: 'Evidence',
    summary: 'The latest receipt',
    description: 'Does not generate a receipt.',
    params,
    answers: {
      200: { description: 'The latest receipt.', schema: Receipt, example: receipts[0], cached: true },
    },
    failures: ['trustRecordNotFound', 'receiptNotFound'],
    readsDatabase: true,
    async handle(request, { pool }) {
      const stored = await readLatest('receipts', request, pool)
      if (stored === null) return failures.trustRecordNotFound()
      return stored.last === null
        ? failures.receiptNotFound()
        : { status: 200, body: stored.last, cache: 'private, no-cache' }
    },
  },
  {
    ...get,
    path: '/receipts/{id}',
    operationId: 'listReceipts',
    summary: 'All receipts of a record',
    ...listOf('receipts', Receipt, receipts[0]),
  },
  {
    ...post,
    path: '/replay',
    cost: 'compute',
    operationId: 'replay',
    tag: 'Evidence',
    summary: "Check a record's signature again",
    description: 'Neither executes the transaction nor evaluates its policy, and stores nothing.',
    body: { schema: ReplayRequest, example: { businessTransactionId } },
    answers: {
      200: {
        description: '`verified` says whether the signature is valid.',
        schema: ReplayResult,
        example: { businessTransactionId, trustRecordHash, verified: true },
      },
    },
    failures: ['fieldRequired', 'noRecordToVerify'],
    readsDatabase: true,
    handle: onThread('replay'),
  },
] as const satisfies readonly Route[]

/** Makes the parts that the lists of verifications and receipts have in common. */
function listOf(table: AppendedTable, schema: TSchema, example: unknown) {
  return {
    cost: 'compute',
    tag: 'Evidence',
    description: 'Follow `Link` to the end. The record itself holds the newest 100.',
    params,
    query: linkedPaging,
    answers: {
      200: {
        description: 'One page, newest first.',
        schema: Type.Array(schema),
        example: [example],
        optionalHeaders: ['Link'],
      },
    },
    failures: ['trustRecordNotFound', ...listFailures],
    readsDatabase: true,
    handle: (request: RouteRequest, { pool }: Reading) => listPage(table, request, pool),
  } as const
}

/** Newest first. The page needs no limit in bytes: it has at most a hundred entries of a few kilobytes each. */
async function listPage(
  table: AppendedTable,
  { params: { id }, query, caller }: RouteRequest,
  pool: Reading['pool'],
): Promise<Answer | Failure> {
  const range = readBehind(query, readOrdinal)
  if (range instanceof Failure) return range
  const page = isUuid(id)
    ? await listAppended(pool, table, { id, callerId: readableOwner(caller) }, range)
    : null
  if (page === null) return failures.trustRecordNotFound()
  const link = page.next === null ? null : nextLink(`/${table}/${id}`, query, ordinalCursor(page.next))
  return {
    status: 200,
    ...(link === null ? {} : { headers: { Link: link } }),
    body: `[${page.texts.join(',')}]`,
  }
}

/** @returns null where the caller has no such record; `last` is null where the record has no entry in the table */
async function readLatest(
  table: AppendedTable,
  { params: { id }, caller }: RouteRequest,
  pool: Reading['pool'],
): Promise<{ last: string | null } | null> {
  if (!isUuid(id)) return null
  const range = { limit: 1, offset: 0, after: null }
  const newest = await listAppended(pool, table, { id, callerId: readableOwner(caller) }, range)
  return newest && { last: newest.texts[0] ?? null }
}

/** Callers treat a cursor as opaque. */
function ordinalCursor(ordinal: number): string {
  return Buffer.from(`behind ${ordinal}`).toString('base64url')
}

function readOrdinal(cursor: string): number | undefined {
  const [, ordinal] = /^behind ([1-9][0-9]{0,8})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  return ordinal === undefined ? undefined : Number(ordinal)
}
