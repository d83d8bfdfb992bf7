// Counts of executions as the pages of the console ask for them and show them (GET /statistics).

export interface Counted {
  readonly key: string | null
  readonly others?: true
  readonly count: number
  readonly sums: readonly { readonly currency?: string; readonly amount: number }[]
}

export interface Limit {
  readonly policy: string
  readonly policyVersion: string
  readonly signal: string
  readonly window: string
  readonly per: readonly ('callerId' | 'target' | 'currency')[]
  readonly limit?: number
  readonly used: readonly {
    readonly callerId?: string
    readonly target?: string
    readonly currency?: string
    readonly count: number
    readonly amount: number
  }[]
}

export interface Statistics {
  readonly since: string
  readonly until: string
  readonly buckets: readonly { readonly start: string; readonly groups: readonly Counted[] }[]
  /** With `order=amount`. */
  readonly orderedBy?: { readonly currency?: string }
  readonly limits: readonly Limit[]
  readonly completeUntil: string | null
  readonly completeSince: string | null
}

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000]

/**
 * The filter of executions that came to an end. A refusal that lacked an approval is no end: the same action may have been executed later with an
 * approval, and would be counted twice.
 */
export const ENDED = { approvable: 'false' } as const

/** The filters of the refusals that approvals would have lifted, and the name that pages give them. */
export const LACKED = { name: 'lacked approval', filters: { status: 'refused', approvable: 'true' } } as const

/** The filter of executions that a provider contradicts, whatever outcome the service has recorded. */
export const CONTRADICTED = { contradicted: 'true' } as const

/** How executions end, in the order in which plots stack them. */
export const OUTCOMES = [
  { key: 'completed', name: 'completed', colour: 'accent', filters: { status: 'completed' } },
  { key: 'refused', name: 'refused', colour: 'quiet', filters: { status: 'refused', ...ENDED } },
  { key: 'failed', name: 'failed', colour: 'bad', filters: { status: 'failed' } },
  { key: 'in_doubt', name: 'in doubt', colour: 'open', filters: { status: 'in_doubt' } },
] as const

/** Time ranges that a page can show, each with a bucket size at which a plot has room for all buckets. */
export const ranges = {
  '1h': { title: '1 h', ms: HOUR_MS, bucket: 'minute', bucketMs: MINUTE_MS },
  '24h': { title: '24 h', ms: DAY_MS, bucket: 'hour', bucketMs: HOUR_MS },
  '7d': { title: '7 d', ms: 7 * DAY_MS, bucket: 'hour', bucketMs: HOUR_MS },
  '30d': { title: '30 d', ms: 30 * DAY_MS, bucket: 'day', bucketMs: DAY_MS },
} as const
export type RangeName = keyof typeof ranges

/** @returns the start of a range, at the start of a bucket: ISO 8601 */
export function sinceOf(range: RangeName, nowMs: number): string {
  const { ms, bucketMs } = ranges[range]
  return new Date(Math.floor((nowMs - ms) / bucketMs + 1) * bucketMs).toISOString()
}

/** @returns the start of each bucket between two times, in milliseconds since 1970 */
export function bucketTimes(since: string, untilMs: number, bucketMs: number): number[] {
  const times: number[] = []
  for (let at = Date.parse(since); at < untilMs; at += bucketMs) times.push(at)
  return times
}

/** @returns the count of a group in each bucket */
export function countsOf({ buckets }: Statistics, times: readonly number[], key: string): number[] {
  const byStart = new Map(
    buckets.map(({ start, groups }) => [
      Date.parse(start),
      groups.find((group) => group.key === key)?.count ?? 0,
    ]),
  )
  return times.map((time) => byStart.get(time) ?? 0)
}

/** @returns each group over all buckets, the greatest first */
export function totalsOf({ buckets }: Pick<Statistics, 'buckets'>): Counted[] {
  const byKey = Map.groupBy(
    buckets.flatMap(({ groups }) => groups),
    ({ key, others }) => JSON.stringify([key, others]),
  )
  const totals = Array.from(byKey.values(), (groups) => ({
    ...groups[0]!,
    count: groups.reduce((sum, { count }) => sum + count, 0),
    sums: addedUp(groups.flatMap(({ sums }) => sums)),
  }))
  return totals.toSorted((a, b) => Number(a.others ?? 0) - Number(b.others ?? 0) || b.count - a.count)
}

function addedUp(sums: Counted['sums']): Counted['sums'] {
  return Array.from(
    Map.groupBy(sums, ({ currency }) => currency),
    ([currency, of]) => ({
      ...(currency === undefined ? {} : { currency }),
      // Amounts have at most nine decimal places; sums of binary floating-point numbers have more.
      amount: Number(of.reduce((sum, { amount }) => sum + amount, 0).toFixed(9)),
    }),
  )
}

/** The number of executions of all groups together. */
export function countOf(statistics: Pick<Statistics, 'buckets'>): number {
  return totalsOf(statistics).reduce((sum, { count }) => sum + count, 0)
}

/** @param filters of GET /statistics, without the limits in use unless they are asked for; empty ones are left out */
export function statisticsPath(filters: Readonly<Record<string, string | undefined>>): string {
  return `/statistics?${queryOf({ limits: 'false', ...filters })}`
}

/** @param filters of GET /executions; empty ones are left out */
export function executionsPath(filters: Readonly<Record<string, string | undefined>>): string {
  return `/console/executions?${queryOf(filters)}`
}

function queryOf(filters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(filters).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  )
  return new URLSearchParams(given).toString()
}
