// One Execution Trust Record (interface §4.3), and the export of all in bulk (decisions §5).
import { Type } from 'typebox'
import { readableOwner } from '../../core/callers.ts'
import { Failure, failures } from '../../core/errors.ts'
import { isUuid } from '../../core/schemas/primitives.ts'
import { ExecutionTrustRecord } from '../../core/schemas/trust-record.ts'
import { trustRecordText } from '../../core/sealed.ts'
import { listTrustRecords, readTrustRecord } from '../../core/tables/trust-records.ts'
import example from '../openapi/examples/trust-record.json' with { type: 'json' }
import { linkedPaging, listFailures, timeRange, transactionId } from '../openapi/parameters.ts'
import { pageHeaders, readRange, readTimes } from './paging.ts'
import type { Route } from './route.ts'

export const trustRecords = [
  {
    method: 'GET',
    path: '/trust-records',
    cost: 'compute',
    operationId: 'listTrustRecords',
    tag: 'Evidence',
    summary: 'Export records in bulk',
    description:
      'Follow `Link` to the end: a page costs the same however deep it is, and ends early where it reaches 4 MiB.',
    query: { ...linkedPaging, ...timeRange },
    answers: {
      200: {
        description: 'One page, newest first.',
        schema: Type.Array(ExecutionTrustRecord),
        example: [example],
        optionalHeaders: ['Link'],
      },
    },
    failures: listFailures,
    readsDatabase: true,
    async handle({ query, caller }, { exportPool }) {
      const range = readRange(query)
      if (range instanceof Failure) return range
      const times = readTimes(query)
      if (times instanceof Failure) return times
      const page = await listTrustRecords(exportPool, range, { callerId: readableOwner(caller), ...times })
      return {
        status: 200,
        ...pageHeaders('/trust-records', query, page.next),
        body: `[${page.rows.map(trustRecordText).join(',')}]`,
      }
    },
  },
  {
    method: 'GET',
    path: '/trust-records/{id}',
    operationId: 'getTrustRecord',
    tag: 'Evidence',
    summary: 'One record',
    params: { id: transactionId(example.businessTransactionId) },
    answers: {
      200: {
        description: 'With its newest 100 verifications and receipts.',
        schema: ExecutionTrustRecord,
        example,
        cached: true,
      },
    },
    failures: ['trustRecordNotFound', 'overloaded'],
    readsDatabase: true,
    async handle({ params, caller }, { pool }) {
      const id = params['id'] ?? ''
      const stored = isUuid(id) ? await readTrustRecord(pool, id, readableOwner(caller)) : null
      if (stored === null) return failures.trustRecordNotFound()
      return { status: 200, body: trustRecordText(stored), cache: 'private, no-cache' }
    },
  },
] as const satisfies readonly Route[]
