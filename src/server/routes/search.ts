// Searches for a text and answers hits in groups: executions and their targets in the catalogue, requests, and names that the service works by
// (docs/handbook/finding.md).
import { Type } from 'typebox'
import { Failure, failures } from '../../core/errors/errors.ts'
import { actionCode, actionCodeIn } from '../../formats/approval-requests/action-code.ts'
import { readableOwner } from '../../formats/people/caller.ts'
import { openDocuments } from '../../core/catalogue/row.ts'
import { rowOf } from '../../core/policy/display.ts'
import type { ApprovalRequestContent } from '../../formats/schemas/approval-request.ts'
import { CatalogueEntry, completeness } from '../../formats/schemas/catalogue.ts'
import { NonEmptyText, Uuid } from '../../formats/schemas/primitives.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { findApprovalRequests } from '../../store/tables/approval-requests.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { findEntries } from '../../store/tables/catalogue-read.ts'
import { partOfWord } from '../openapi/parameters.ts'
import { completenessOf, entryText, executionExample, inCatalogue } from './executions.ts'
import { readFilters } from './list.ts'
import { get, type Route, type RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { People, Reading } from '../service.ts'

/** Hits that a group shows. */
const HITS_MAX = 5
/** Targets come from this many of the newest executions that fit. */
const LOOKED_AT = 200

/** Covers all open requests, and some hundreds more: computing a code takes some microseconds of the main thread. */
const CODES_MAX = 1_500

const RequestHit = Type.Object({
  requestId: Uuid,
  actionCode: NonEmptyText,
  requestedBy: NonEmptyText,
  capability: NonEmptyText,
  target: NonEmptyText,
  summary: Type.String({ description: "the action in its policy's words (`display`), or action and target" }),
  amount: Type.Optional(Type.Number()),
  currency: Type.Optional(Type.String()),
})

type RequestHit = Type.Static<typeof RequestHit>

const names = (what: string) => Type.Array(NonEmptyText, { description: what })

const Found = Type.Object({
  executions: Type.Array(CatalogueEntry, { description: 'the newest' }),
  requests: Type.Array(RequestHit, { description: 'approval requests, the newest' }),
  targets: names('targets of the newest executions that fit'),
  callers: names('callerIds whose keys are in effect'),
  policies: names('policyIds'),
  approvers: names('approverIds'),
  ...completeness,
})

const query = { q: { ...partOfWord, required: true } } as const

export const search = [
  {
    ...get,
    ...inCatalogue,
    path: '/search',
    operationId: 'search',
    tag: 'Catalogue',
    summary: 'Find what a text names',
    description: `At most ${HITS_MAX} hits of each kind. A caller finds its own executions and requests, and itself; humans and auditors find everybody's.`,
    query: { q: { ...query.q, example: 'vendor' } },
    answers: {
      200: {
        description: 'The hits of each kind.',
        schema: Found,
        example: {
          executions: [executionExample],
          requests: [],
          targets: ['vendor-17'],
          callers: [],
          policies: ['vendor-payment'],
          approvers: [],
          completeUntil: '2026-11-21T14:28:03.120Z',
          completeSince: null,
        },
      },
    },
    failures: ['overloaded'],
    readsDatabase: true,
    handle: find,
  },
] as const satisfies readonly Route[]

async function find(
  { query: given, caller }: RouteRequest,
  { pool, callers, authority }: Reading & People,
): Promise<Answer | Failure> {
  const asked = readFilters(given, query)
  if (asked instanceof Failure) return asked
  const { q } = asked
  if (q === null) return failures.invalidQuery(`q must be ${partOfWord.mustBe}.`)
  const owner = readableOwner(caller)
  // Read first: everything that it promises is then in the entries that are read after it.
  const reach = await completenessOf(pool)
  const [entries, requests] = await Promise.all([
    findEntries(pool, { q, owner }, LOOKED_AT),
    requestsOf(q, { pool, owner }),
  ])
  const part = q.toLowerCase()
  const matching = (all: Iterable<string>) =>
    [...new Set(all)].filter((name) => name.toLowerCase().includes(part)).toSorted()
  const hits = (all: Iterable<string>) => matching(all).slice(0, HITS_MAX)
  const { policies, approvers } = authority.current()
  const found = {
    requests,
    targets: [...new Set(entries.map(({ target }) => target))]
      .filter((target) => target.toLowerCase().includes(part))
      .slice(0, HITS_MAX),
    callers: hits(owner === null ? callers.inEffect().map(({ caller: { callerId } }) => callerId) : [owner]),
    policies: hits(policies.map(({ name }) => name)),
    approvers: owner === null ? hits(approvers.map(({ approverId }) => approverId)) : [],
    ...reach,
  }
  const executions = entries.slice(0, HITS_MAX).map(entryText).join(',')
  return { status: 200, body: `{"executions":[${executions}],${JSON.stringify(found).slice(1)}` }
}

const keyOf = ({ policy: { name, version } }: ApprovalRequestContent) => `${name}/${version}`

/** No column has the action code: it is computed from open requests and the newest ones, and compared. */
async function requestsOf(
  q: string,
  { pool, owner }: { readonly pool: Sql; readonly owner: string | null },
): Promise<RequestHit[]> {
  const code = actionCodeIn(q)
  const rows = await findApprovalRequests(
    pool,
    code === undefined ? { q, owner } : { owner },
    code === undefined ? { limit: HITS_MAX } : { limit: CODES_MAX, openFirst: true },
  )
  const found = rows
    .map(({ body }) => {
      const content = JSON.parse(body) as ApprovalRequestContent
      return { content, actionCode: actionCode(content, sha256Hex) }
    })
    .filter((one) => code === undefined || one.actionCode === code)
    .slice(0, HITS_MAX)
  const policies = await openDocuments().read(pool, new Set(found.map(({ content }) => keyOf(content))))
  return found.map(({ content, actionCode: of }) => {
    const { requestId, requestedBy, capability, target } = content
    const row = rowOf(policies.get(keyOf(content))?.document ?? {}, content)
    return { requestId, actionCode: of, requestedBy, capability, target, ...row }
  })
}
