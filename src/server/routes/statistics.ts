// Counts and sums of executions over time, from the catalogue (docs/handbook/finding.md), and how long approvals take.
import { Type } from 'typebox'
import { limitsInUse } from '../../core/catalogue/limits.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import { readableOwner } from '../../formats/people/caller.ts'
import { completeness } from '../../formats/schemas/catalogue.ts'
import { Instant, Text } from '../../formats/schemas/primitives.ts'
import {
  buckets,
  countGroups,
  groupingNames,
  groupOrders,
  type Bucket,
  type CountedGroup,
} from '../../store/tables/catalogue-read.ts'
import { catalogueFilters, completenessOf, inCatalogue } from './executions.ts'
import { readFilters } from './list.ts'
import { readPeriod } from './paging.ts'
import { get, json, type Route, type RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { People, Reading } from '../service.ts'

const MINUTE_MS = 60_000
const bucketMs: Readonly<Record<Bucket, number>> = {
  minute: MINUTE_MS,
  hour: 60 * MINUTE_MS,
  day: 24 * 60 * MINUTE_MS,
  // The length of the shortest month.
  month: 28 * 24 * 60 * MINUTE_MS,
}
/** Enough for a day by minutes, or two months by hours. */
const BUCKETS_MAX = 1_500
const SINCE_DEFAULT_MS = 24 * 60 * MINUTE_MS

const Sum = Type.Object({
  currency: Type.Optional(Type.String({ description: 'absent: the policy names none' })),
  amount: Type.Number(),
})

const Group = Type.Object({
  key: Type.Union([Text, Type.Null()], {
    description:
      'the value that `by` asks for; null without `by`, for executions that have none, and for all others',
  }),
  others: Type.Optional(
    Type.Literal(true, { description: 'all groups but those that are shown: ten, or `groups`' }),
  ),
  count: Type.Integer({ minimum: 0 }),
  sums: Type.Array(Sum, { description: 'of the amounts, by currency' }),
})

const Statistics = Type.Object({
  since: Instant,
  until: Instant,
  buckets: Type.Array(Type.Object({ start: Instant, groups: Type.Array(Group) }), {
    description: 'those with executions, the oldest first',
  }),
  orderedBy: Type.Optional(
    Type.Object(
      { currency: Type.Optional(Text) },
      {
        description:
          'with `order=amount`: the currency whose sums decided; absent where the policies name none',
      },
    ),
  ),
  limits: Type.Array(
    Type.Object({
      policy: Text,
      policyVersion: Text,
      signal: Text,
      window: Type.String({ description: 'as the policy has it, such as 24h; it ends now' }),
      per: Type.Array(Type.Enum(['callerId', 'target', 'currency'])),
      limit: Type.Optional(
        Type.Number({ description: 'the number that the rules compare the signal with, where it is one' }),
      ),
      used: Type.Array(
        Type.Object({
          callerId: Type.Optional(Text),
          target: Type.Optional(Text),
          currency: Type.Optional(Text),
          count: Type.Integer(),
          amount: Type.Number(),
        }),
        { description: 'the ten greatest sums' },
      ),
    }),
    {
      description:
        'of the policies in effect: limits on a sum of the amount that `display` names, and what is used of them now, whatever range is asked for',
    },
  ),
  ...completeness,
})

const { q: _q, minAmount: _min, maxAmount: _max, ...filters } = catalogueFilters

const query = {
  limits: {
    schema: Type.Enum(['true', 'false']),
    description: 'With `false` the list of limits is empty, and the reply comes sooner.',
  },
  bucket: { schema: Type.Enum([...buckets]), description: 'Default: the whole range is one.' },
  by: { schema: Type.Enum([...groupingNames]), description: 'What executions are grouped by.' },
  groups: {
    schema: Type.String({ pattern: '^([1-9][0-9]?|100)$' }),
    mustBe: 'a number from 1 to 100',
    description: 'How many groups are shown, 1 to 100; all others are one. Default: 10.',
  },
  order: {
    schema: Type.Enum([...groupOrders]),
    description:
      'Which groups are shown: those with most executions (`count`, the default) or those with the largest sums (`amount`), in the currency that most of the executions have.',
  },
  ...filters,
} as const

export const statistics = [
  {
    ...get,
    ...inCatalogue,
    path: '/statistics',
    operationId: 'getStatistics',
    tag: 'Catalogue',
    summary: 'Executions counted, and their amounts',
    description: `For each bucket of time and each group: how many executions, and the sums of their amounts by currency. A caller's own; everybody's for humans and auditors. Default: the last 24 hours as one bucket. At most ${BUCKETS_MAX} buckets, which are of UTC.`,
    query,
    answers: {
      200: {
        description: 'The counts.',
        schema: Statistics,
        example: {
          since: '2026-11-21T00:00:00.000Z',
          until: '2026-11-22T00:00:00.000Z',
          buckets: [
            {
              start: '2026-11-21T14:00:00.000Z',
              groups: [
                { key: 'completed', count: 73, sums: [{ currency: 'EUR', amount: 12_480.5 }] },
                { key: 'refused', count: 30, sums: [{ currency: 'EUR', amount: 4_200 }] },
              ],
            },
          ],
          limits: [
            {
              policy: 'vendor-payment',
              policyVersion: '2.1.0',
              signal: 'paidToVendor',
              window: '24h',
              per: ['target', 'currency'],
              limit: 10_000,
              used: [{ target: 'vendor-17', currency: 'EUR', count: 31, amount: 7_400 }],
            },
          ],
          completeUntil: '2026-11-21T14:28:03.120Z',
          completeSince: null,
        },
      },
    },
    failures: ['overloaded'],
    readsDatabase: true,
    handle: readStatistics,
  },
] as const satisfies readonly Route[]

async function readStatistics(
  { query: given, caller }: RouteRequest,
  { pool, authority }: Reading & People,
): Promise<Answer | Failure> {
  const asked = readFilters(given, query)
  if (asked instanceof Failure) return asked
  const { limits: wantsLimits, bucket, by, groups: most, order, ...wanted } = asked
  const range = readRange(given, bucket)
  if (range instanceof Failure) return range
  const reach = await completenessOf(pool)
  const owner = readableOwner(caller)
  // Without `until` the range has no end, like a list with the same filters, and whole hours need not be cut at this moment.
  const until = wanted.until === null ? null : range.until
  const groups = await countGroups(
    pool,
    { ...wanted, since: range.since, until, callerId: given.get('callerId'), owner },
    { bucket, by, order: order ?? 'count', ...(most === null ? {} : { groups: Number(most) }) },
  )
  const policies = wantsLimits === 'false' ? [] : authority.current().policies
  const limits = await limitsInUse(pool, policies, { owner, nowMs: Date.now() })
  return json({
    ...range,
    buckets: bucketsOf(groups, range.since),
    ...(order === 'amount' && orderedBy(groups)),
    limits,
    ...reach,
  })
}

function readRange(
  given: URLSearchParams,
  bucket: Bucket | null,
): { since: string; until: string } | Failure {
  const period = readPeriod(given, SINCE_DEFAULT_MS)
  if (period instanceof Failure) return period
  const { sinceMs, untilMs } = period
  if (bucket !== null && (untilMs - sinceMs) / bucketMs[bucket] > BUCKETS_MAX)
    return failures.invalidQuery(
      `bucket must be larger, or the range shorter: it has more than ${BUCKETS_MAX} of a ${bucket}.`,
    )
  return { since: new Date(sinceMs).toISOString(), until: new Date(untilMs).toISOString() }
}

function orderedBy([first]: readonly CountedGroup[]) {
  const currency = first?.mainCurrency ?? null
  return { orderedBy: currency === null ? {} : { currency } }
}

function bucketsOf(counted: readonly CountedGroup[], since: string) {
  return Array.from(
    Map.groupBy(counted, ({ start }) => start ?? since),
    ([start, groups]) => ({
      start,
      groups: Array.from(
        Map.groupBy(groups, ({ key, others }) => JSON.stringify([key, others])).values(),
        groupOf,
      ),
    }),
  )
}

function groupOf(rows: readonly CountedGroup[]) {
  const { key, others } = rows[0]!
  return {
    key,
    ...(others ? { others } : {}),
    count: rows.reduce((sum, { count }) => sum + count, 0),
    sums: rows.flatMap(({ currency, amount }) =>
      amount === null ? [] : [{ ...(currency === null ? {} : { currency }), amount: Number(amount) }],
    ),
  }
}
