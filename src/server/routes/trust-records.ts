// One Execution Trust Record (interface §4.3), and the bulk export of all records (decisions §5).
import { Type } from 'typebox'
import { readableOwner } from '../../formats/people/caller.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import { isUuid } from '../../formats/schemas/primitives.ts'
import { ExecutionTrustRecord } from '../../formats/schemas/trust-record.ts'
import { EvidenceBundle } from '../../formats/schemas/evidence-bundle.ts'
import { trustRecordText } from '../../store/tables/sealed.ts'
import { readWholeRecord } from '../../store/tables/provider-confirmations.ts'
import { listTrustRecords } from '../../store/tables/trust-records.ts'
import { readBundle } from '../evidence/bundle.ts'
import example from '../openapi/examples/trust-record.json' with { type: 'json' }
import { ofCaller, timeRange, transactionId } from '../openapi/parameters.ts'
import { queued, queuedShape } from './log.ts'
import { list } from './list.ts'
import { waitMsOf } from './preferences.ts'
import { get, type Route, type RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { Logs } from '../service.ts'

/** JSON, with a name apart from the record's: a client that knows one of the two types never gets the other. */
const BUNDLE = 'application/vnd.countersign.bundle+json'

const bundleExample = {
  bundle: 'countersign/1',
  record: example,
  policy: '{"policyId":"sandbox-echo",…}',
  approverKeys: [],
  changes: [],
  proofs: [{ kind: 'receipt', id: example.businessTransactionId, proof: 'c2sp.org/tlog-proof@v1\n…' }],
}

export const trustRecords = [
  list({
    ...get,
    path: '/trust-records',
    operationId: 'listTrustRecords',
    tag: 'Evidence',
    summary: 'Export records in bulk',
    description:
      'Follow `Link` to the end: a late page costs as little as the first one. A page has at most 4 MiB. With `Accept: application/x-ndjson` the whole range in one reply that streams, one record a line; without its last line, `exportEnd`, it is cut short.',
    filters: { ...timeRange, ...ofCaller },
    schema: Type.Array(ExecutionTrustRecord),
    example: [example],
    lines: 'trust-record',
    read: (range, asked, { exportPool }) => listTrustRecords(exportPool, range, asked),
    textOf: trustRecordText,
  }),
  {
    ...get,
    path: '/trust-records/{id}',
    operationId: 'getTrustRecord',
    tag: 'Evidence',
    summary: 'One record',
    description:
      'With `?bundle` the reply holds all evidence of the execution with proofs of inclusion in the evidence log, all for one checkpoint. A checkpoint covers the record within a second; `Prefer: wait=N` waits for it, at most 10 seconds.',
    params: { id: transactionId(example.businessTransactionId) },
    query: {
      bundle: {
        schema: Type.String({ maxLength: 0 }),
        description: 'Answers the bundle of the record, which one file verifies offline.',
      },
    },
    answers: {
      200: {
        description:
          'With its newest 100 verifications and receipts, and where providers say something of it, the newest 100 of their confirmations.',
        schema: ExecutionTrustRecord,
        example,
        alternatives: { [BUNDLE]: { schema: EvidenceBundle, example: bundleExample } },
        cached: true,
      },
      202: { description: 'With `?bundle`: stored, and not yet under a checkpoint.', ...queuedShape },
    },
    failures: ['trustRecordNotFound', 'noBundle', 'overloaded'],
    readsDatabase: true,
    async handle(request, service) {
      if (request.query.has('bundle')) return bundle(request, service)
      const { id } = request.params
      const owner = readableOwner(request.caller)
      const stored = isUuid(id) ? await readWholeRecord(service.pool, id, owner) : null
      if (stored === null) return failures.trustRecordNotFound()
      return { status: 200, body: trustRecordText(stored), cache: 'private, no-cache' }
    },
  },
] as const satisfies readonly Route[]

async function bundle(request: RouteRequest, { config, pool, logProofs }: Logs): Promise<Answer | Failure> {
  const { params, query, caller } = request
  if (query.get('bundle') !== '') return failures.invalidQuery('bundle must be empty.')
  if (config.evidenceLog === undefined) return failures.noBundle('the evidence log is off')
  const waitMs = waitMsOf(request)
  const text = await readBundle(params['id'] ?? '', { caller, waitMs }, { pool, logProofs })
  if (text instanceof Failure) return text
  if (text === undefined) return queued
  return { status: 200, headers: { 'Content-Type': BUNDLE }, body: text, cache: 'private, no-cache' }
}
