// How approval requests ended and how long decisions took (docs/handbook/finding.md).
import { Type } from 'typebox'
import { Failure, failures } from '../../core/errors/errors.ts'
import { readableOwner } from '../../formats/people/caller.ts'
import { Instant, NonEmptyText } from '../../formats/schemas/primitives.ts'
import { countRequestStatuses, readDecisions } from '../../store/tables/approval-statistics.ts'
import { timeRange } from '../openapi/parameters.ts'
import { readPeriod } from './paging.ts'
import { get, textWithoutNulls, type Route, type RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { People, Reading } from '../service.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const SINCE_DEFAULT_DAYS = 30
/** Bounds the work: each request costs some tens of microseconds. */
const DAYS_MAX = 92

const count = Type.Integer({ minimum: 0 })
const seconds = (share: string) =>
  Type.Optional(
    Type.Number({
      description: `seconds from the opening of a request to the decision that ${share} did not exceed`,
    }),
  )
const decisions = {
  approved: Type.Integer({ minimum: 0, description: 'approvals that were given' }),
  declined: count,
  p50Seconds: seconds('half of the decisions'),
  p90Seconds: seconds('9 of 10 decisions'),
}

const ApprovalStatistics = Type.Object({
  since: Instant,
  until: Instant,
  requests: Type.Object(
    {
      opened: count,
      pending: count,
      approved: count,
      declined: count,
      expired: count,
      withdrawn: count,
      ended: count,
      used: Type.Integer({ minimum: 0, description: 'of those approved: an execution used the approvals' }),
    },
    { description: 'by what they are now; `approved` are also those that were used' },
  ),
  decisions: Type.Object(decisions),
  approvers: Type.Array(Type.Object({ approverId: NonEmptyText, ...decisions }), {
    description: 'those with most decisions first, 100 at most',
  }),
})

export const approvalStatistics = [
  {
    ...get,
    path: '/statistics/approvals',
    operationId: 'getApprovalStatistics',
    tag: 'Approvals',
    summary: 'How requests ended, and how long decisions took',
    description: `Of the approval requests that were opened in the range, ${DAYS_MAX} days at most; default: the last ${SINCE_DEFAULT_DAYS} days. A caller's own; everybody's for humans and auditors.`,
    query: timeRange,
    answers: {
      200: {
        description: 'Counts and times.',
        schema: ApprovalStatistics,
        example: {
          since: '2026-11-01T00:00:00.000Z',
          until: '2026-12-01T00:00:00.000Z',
          requests: {
            opened: 60,
            pending: 4,
            approved: 41,
            declined: 6,
            expired: 7,
            withdrawn: 1,
            ended: 1,
            used: 39,
          },
          decisions: { approved: 43, declined: 6, p50Seconds: 240.5, p90Seconds: 1_830 },
          approvers: [
            { approverId: 'dana', approved: 43, declined: 6, p50Seconds: 240.5, p90Seconds: 1_830 },
          ],
        },
      },
    },
    failures: ['overloaded'],
    readsDatabase: true,
    handle: readStatistics,
  },
] as const satisfies readonly Route[]

async function readStatistics(
  { query, caller }: RouteRequest,
  { pool, authority, callers }: Reading & People,
): Promise<Answer | Failure> {
  const range = readRange(query)
  if (range instanceof Failure) return range
  const of = { ...range, owner: readableOwner(caller) }
  const counts = await countRequestStatuses(pool, of, authority.current().persons)
  const approverIds = callers
    .inEffect()
    .flatMap(({ caller: { callerId, approverId } }) =>
      approverId === undefined ? [] : [[callerId, approverId]],
    )
  const [all, ...each] = await readDecisions(
    pool,
    of,
    Object.fromEntries(approverIds) as Record<string, string>,
  )
  const status = (...names: Parameters<typeof counts.get>[0][]) =>
    names.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0)
  const { approverId: _, ...decided } = all ?? { approverId: null, approved: 0, declined: 0 }
  const body = {
    ...range,
    requests: {
      opened: [...counts.values()].reduce((sum, one) => sum + one, 0),
      pending: status('PENDING'),
      approved: status('APPROVED', 'USED'),
      declined: status('DECLINED'),
      expired: status('EXPIRED'),
      withdrawn: status('WITHDRAWN'),
      ended: status('ENDED'),
      used: status('USED'),
    },
    decisions: decided,
    approvers: each,
  }
  return { status: 200, body: textWithoutNulls(body) }
}

function readRange(query: URLSearchParams): { since: string; until: string } | Failure {
  const period = readPeriod(query, SINCE_DEFAULT_DAYS * DAY_MS)
  if (period instanceof Failure) return period
  const { sinceMs, untilMs } = period
  if (untilMs - sinceMs > DAYS_MAX * DAY_MS)
    return failures.invalidQuery(`since must be at most ${DAYS_MAX} days before until.`)
  return { since: new Date(sinceMs).toISOString(), until: new Date(untilMs).toISOString() }
}
