// Refusal Records (decisions §9). A read answers the stored text as it was signed.
import { readableOwner } from '../../formats/people/caller.ts'
import { APPROVAL_REQUEST_LINK, failures } from '../../core/errors/errors.ts'
import { isUuid } from '../../formats/schemas/primitives.ts'
import { RefusalPage, RefusalRecord, RefusalVerification } from '../../formats/schemas/refusal-record.ts'
import { sealedText } from '../../store/tables/sealed.ts'
import { listEntries } from '../../store/tables/catalogue-read.ts'
import { listRefusals, readRefusal, readRefusalsOf } from '../../store/tables/refusal-records.ts'
import example from '../openapi/examples/refusal-record.json' with { type: 'json' }
import { catalogueFilters } from './executions.ts'
import { ofCaller, timeRange, transactionId } from '../openapi/parameters.ts'
import { wantsLines } from './lines.ts'
import { list } from './list.ts'
import { get, post, type Route } from '../route.ts'
import { onThread } from './on-thread.ts'

const { capability, target, policy, policyVersion, rule, currency, minAmount, maxAmount, q } =
  catalogueFilters
/** Filters for which the refusals themselves have no index. */
const byCatalogue = {
  approvable: catalogueFilters.approvable,
  contradicted: catalogueFilters.contradicted,
  capability,
  target,
  policy,
  policyVersion,
  rule,
  currency,
  minAmount,
  maxAmount,
  q,
} as const
const namesInCatalogue = Object.keys(byCatalogue) as (keyof typeof byCatalogue)[]

export const refusals = [
  list({
    ...get,
    path: '/refusals',
    operationId: 'listRefusals',
    tag: 'Refusals',
    summary: 'Refused transactions',
    description:
      "A caller's own; everybody's for humans and auditors. With `Accept: application/x-ndjson` the whole range in one reply that streams, one refusal a line; without its last line, `exportEnd`, it is cut short.",
    filters: { ...byCatalogue, ...timeRange, ...ofCaller },
    schema: RefusalPage,
    member: 'refusals',
    example: [example],
    lines: 'refusal-record',
    refuse(asked, _request, { config }) {
      const name = namesInCatalogue.find((one) => asked[one] !== null)
      if (config.catalogue !== undefined || name === undefined) return undefined
      return failures.invalidQuery(`${name} needs the catalogue, which this service does not have.`)
    },
    async read(range, asked, { pool, exportPool }, request) {
      const sql = wantsLines(request) ? exportPool : pool
      if (namesInCatalogue.every((name) => asked[name] === null)) return listRefusals(sql, range, asked)
      const owner = readableOwner(request.caller)
      return readRefusalsOf(sql, await listEntries(sql, range, { ...asked, owner, status: 'refused' }))
    },
    textOf: sealedText,
  }),
  {
    ...get,
    path: '/refusal/{businessTransactionId}',
    operationId: 'getRefusal',
    tag: 'Refusals',
    summary: 'The Refusal Record of a transaction',
    params: { businessTransactionId: transactionId(example.businessTransactionId) },
    answers: {
      200: {
        description: 'The signed record.',
        schema: RefusalRecord,
        example,
        cached: true,
        optionalHeaders: ['Link'],
      },
    },
    failures: ['refusalNotFound', 'overloaded'],
    readsDatabase: true,
    async handle({ params: { businessTransactionId: id }, caller }, { pool }) {
      const stored = isUuid(id) ? await readRefusal(pool, id, readableOwner(caller)) : null
      if (stored === null) return failures.refusalNotFound()
      const { approvable } = JSON.parse(stored.body) as RefusalRecord
      return {
        status: 200,
        headers: approvable === true ? { Link: APPROVAL_REQUEST_LINK } : {},
        body: sealedText(stored),
        cache: 'private, no-cache',
      }
    },
  },
  {
    ...post,
    path: '/refusal/verify',
    session: true,
    open: true,
    limit: 'public',
    cost: 'compute',
    operationId: 'verifyRefusal',
    tag: 'Refusals',
    summary: 'Verify a Refusal Record that you received',
    description:
      'Any JSON object is answered: where a member is missing or of another type, the check that reads it fails.',
    body: { schema: RefusalRecord, example },
    answers: {
      200: {
        description: '`valid` is true if every check passes; a signature by an unpublished key is not valid.',
        schema: RefusalVerification,
        example: {
          valid: true,
          checks: [
            { name: 'refusal hash', valid: true },
            { name: 'refusal signature', valid: true },
            { name: 'decision binding', valid: true },
            { name: 'approvals', valid: true },
          ],
        },
      },
    },
    failures: ['invalidEvidence', 'internal'],
    handle: onThread('verify-refusal'),
  },
] as const satisfies readonly Route[]
