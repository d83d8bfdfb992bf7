// Reads the catalogue by what people look for.
import { catalogueStatuses } from '../../formats/schemas/catalogue.ts'
import { ENTRY, type CatalogueEntry } from './catalogue-entries.ts'
import { textOrId, whereOf, type Conditions, type FiltersOf } from './filters.ts'
import { readPageOf, type Page, type PageRange } from './page.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'

/** Every list and every sum takes these. */
const conditions = {
  // A constant, by which the partial index of a status can be chosen.
  status: (status) => `item.status = '${catalogueStatuses.find((known) => known === status) ?? ''}'`,
  // Null is no: what was not refused, too, would not have been lifted.
  approvable: (approvable) => `item.approvable IS ${approvable === 'true' ? '' : 'NOT '}TRUE`,
  capability: 'lower(item.capability) = lower($::text)',
  target: 'lower(item.target) = lower($::text)',
  policy: 'lower(item.policy_name) = lower($::text)',
  policyVersion: 'item.policy_version = $::text',
  rule: 'lower(item.rule) = lower($::text)',
  callerId: 'lower(item.caller_id) = lower($::text)',
  currency: 'lower(item.currency) = lower($::text)',
  minAmount: 'item.amount >= $::numeric',
  maxAmount: 'item.amount <= $::numeric',
  since: 'item.decided_at >= $::timestamptz',
  until: 'item.decided_at < $::timestamptz',
  q: textOrId({ text: 'item.search', id: 'item.business_transaction_id' }),
  /** The caller that may see its own alone: exactly this one. */
  owner(owner, parameter) {
    const value = `${parameter(owner)}::text`
    // The index has names without their case.
    return `lower(item.caller_id) = lower(${value}) AND item.caller_id = ${value}`
  },
} as const satisfies Conditions

export type CatalogueFilters = FiltersOf<typeof conditions>

/** A page of entries, newest first. It is planned with its values: no single plan is good for every filter. */
export function listEntries(
  sql: Sql,
  range: PageRange,
  { until = null, ...filters }: CatalogueFilters,
): Promise<Page<CatalogueEntry>> {
  const { where, values } = whereOf(conditions, filters, 5)
  return readPageOf(
    sql,
    {
      table: 'catalogue_entries',
      time: 'decided_at',
      id: 'business_transaction_id',
      // Rows are cut when they are made, so that a hundred of them never fill a page.
      bytes: '0',
      columns: ENTRY,
      where,
    },
    range,
    { until, values },
  )
}

/** The newest entries that fit, without a page's further statements. */
export async function findEntries(
  sql: Sql,
  filters: CatalogueFilters,
  limit: number,
): Promise<CatalogueEntry[]> {
  const { where, values } = whereOf(conditions, filters, 2)
  const { rows } = await sql.query<CatalogueEntry>(
    `SELECT ${ENTRY} FROM catalogue_entries AS item WHERE ${where}
     ORDER BY item.decided_at DESC, item.business_transaction_id DESC LIMIT $1::integer`,
    [limit, ...values],
  )
  return rows
}

/** What sums can be grouped by: SQL over an entry `item`. */
const groupings = {
  status: 'item.status',
  capability: 'item.capability',
  target: 'item.target',
  policy: 'item.policy_name',
  rule: 'item.rule',
  callerId: 'item.caller_id',
} as const
export type Grouping = keyof typeof groupings
export const groupingNames = Object.keys(groupings) as Grouping[]

export const buckets = ['minute', 'hour', 'day', 'month'] as const
export type Bucket = (typeof buckets)[number]

export interface CountedGroup {
  /** ISO 8601: when its bucket begins, in UTC; null: there is one for the whole range. */
  readonly start: string | null
  /** Null: without one, or all others. */
  readonly key: string | null
  readonly others: boolean
  readonly currency: string | null
  readonly count: number
  /** A decimal number; null where none of them has an amount. */
  readonly amount: string | null
}

/** From a midnight on, a bucket of fixed length is found by integers alone: for 300,000 entries that halves the time that `date_trunc` takes. */
const binned = (length: string) => (time: string) =>
  `date_bin('${length}', ${time}, '2000-01-01T00:00:00Z'::timestamptz)`
const bucketStarts: Readonly<Record<Bucket, (time: string) => string>> = {
  minute: binned('1 minute'),
  hour: binned('1 hour'),
  day: binned('1 day'),
  month: (time) => `date_trunc('month', ${time}, 'UTC')`,
}

/** Groups that are shown; the rest is one group of all others. */
const GROUPS_MAX = 10

/** How executions are counted. Null: the whole range is one bucket; all are one group. */
export interface CountedBy {
  readonly bucket: Bucket | null
  readonly by: Grouping | null
}

/** Without `since` a range begins with the oldest entry, without `until` it has no end. Both are ISO 8601 in UTC. */
export type CountedFilters = Omit<CatalogueFilters, 'q' | 'minAmount' | 'maxAmount'>

/** Counts entries, and sums their amounts by currency, for each bucket and group. */
export async function countGroups(
  sql: Sql,
  filters: CountedFilters,
  how: CountedBy,
): Promise<CountedGroup[]> {
  const values: (string | null)[] = []
  const sources = spansOf(filters, how).map((span) => sourceOf(span, { filters, how, values }))
  const { rows } = await sql.query<CountedGroup>(
    `
    WITH counted AS MATERIALIZED (
      SELECT start, key, currency, sum(count) AS count, CASE WHEN sum(with_amount) > 0 THEN sum(amount) END AS amount
      FROM (${sources.join(' UNION ALL ')}) AS source GROUP BY 1, 2, 3
    ), shown AS MATERIALIZED (
      SELECT key FROM counted GROUP BY key ORDER BY sum(count) DESC, key LIMIT ${GROUPS_MAX}
    ), named AS (
      SELECT c.*, NOT EXISTS (SELECT FROM shown WHERE shown.key IS NOT DISTINCT FROM c.key) AS others FROM counted AS c
    )
    SELECT ${isoTime('start')} AS start, CASE WHEN NOT others THEN key END AS key, others, currency,
      sum(count)::float8 AS count, trim_scale(sum(amount))::text AS amount
    FROM named GROUP BY start, CASE WHEN NOT others THEN key END, others, currency
    ORDER BY named.start, others, key, currency`,
    values,
  )
  return rows
}

/** @param asked.values takes the parameters of the source */
function sourceOf(
  { of, since, until }: Span,
  {
    filters,
    how: { bucket, by },
    values,
  }: { readonly filters: CountedFilters; readonly how: CountedBy; readonly values: (string | null)[] },
): string {
  const isSum = of !== 'entries'
  const [from, time] = isSum ? ['catalogue_sums', 'item.start'] : ['catalogue_entries', 'item.decided_at']
  const [count, withAmount] = isSum
    ? ['sum(item.count)', 'sum(item.with_amount)']
    : ['count(*)', 'count(item.amount)']
  const { since: _since, until: _until, ...others } = filters
  const { where, values: given } = whereOf(conditions, others, values.length + 1)
  values.push(...given)
  const range = [
    ['>=', since],
    ['<', until],
  ].flatMap(([operator, at]) =>
    at === null ? [] : [`${time} ${operator} $${values.push(at!)}::timestamptz`],
  )
  // As the index has it, by which the sums of one caller, or those of all together, are found.
  const sums = `item.grain = '${of}' AND lower(item.caller_id) IS ${needsCaller(filters, by) ? 'NOT ' : ''}NULL`
  return `
      SELECT ${bucket === null ? 'NULL::timestamptz' : bucketStarts[bucket](time)} AS start, ${by === null ? 'NULL::text' : groupings[by]} AS key,
        item.currency, ${count} AS count, ${withAmount} AS with_amount, sum(item.amount) AS amount
      FROM ${from} AS item WHERE ${[where, ...range, ...(isSum ? [sums] : [])].join(' AND ')} GROUP BY 1, 2, 3`
}

const HOUR_MS = 60 * 60 * 1000
const grainMs = { hour: HOUR_MS, day: 24 * HOUR_MS } as const
type Grain = keyof typeof grainMs

/** A part of a range, and what is added up in it. */
interface Span {
  readonly of: 'entries' | Grain
  /** ISO 8601; null: no bound. */
  readonly since: string | null
  readonly until: string | null
}

function needsCaller({ callerId = null, owner = null }: CountedFilters, by: Grouping | null): boolean {
  return by === 'callerId' || callerId !== null || owner !== null
}

/** The sums that can answer, the longest first. Those of a caller are by day, and none knows targets. */
function grainsFor(filters: CountedFilters, { bucket, by }: CountedBy): readonly Grain[] {
  if (bucket === 'minute' || by === 'target' || (filters.target ?? null) !== null) return []
  const grains: readonly Grain[] = needsCaller(filters, by) ? ['day'] : ['day', 'hour']
  return bucket === 'hour' ? grains.filter((grain) => grain === 'hour') : grains
}

/**
 * Cuts a range into whole days and hours, whose sums are kept, and the rest before and behind them, whose entries are counted: each entry of
 * the range is in one part.
 */
export function spansOf({ since = null, until = null, ...filters }: CountedFilters, how: CountedBy): Span[] {
  return cutInto(grainsFor(filters, how), { since, until })
}

function cutInto([grain, ...shorter]: readonly Grain[], range: Omit<Span, 'of'>): Span[] {
  if (grain === undefined) return [{ of: 'entries', ...range }]
  const begin = range.since === null ? null : wholeFrom(Math.ceil, range.since, grain)
  const end = range.until === null ? null : wholeFrom(Math.floor, range.until, grain)
  if (begin !== null && end !== null && begin >= end) return cutInto(shorter, range)
  return [
    ...(begin === range.since || begin === null
      ? []
      : cutInto(shorter, { since: range.since, until: begin })),
    { of: grain, since: begin, until: end },
    ...(end === range.until || end === null ? [] : cutInto(shorter, { since: end, until: range.until })),
  ]
}

/** @returns the time at which an hour or a day begins that is next to `time`: ISO 8601, so that a time that is one already stays the same text */
function wholeFrom(round: (value: number) => number, time: string, grain: Grain): string {
  const ms = grainMs[grain]
  return new Date(round(Date.parse(time) / ms) * ms).toISOString()
}

/** What was done on a target, in one currency. */
export interface DoneOnTarget {
  readonly currency: string | null
  readonly count: number
  readonly highest: number
}

/** The newest executions of an action on a target that are looked through, whatever became of them. */
const NEWEST_ON_TARGET = 100

interface OnTarget {
  readonly capability: string
  readonly target: string
}

const keyOf = ({ capability, target }: OnTarget) => JSON.stringify([capability, target])

/**
 * Finds what was carried out or may have been, by anybody, among the newest executions of each action on its target.
 * @returns by the place of the action, from 0: for each currency how many had an amount, and the highest; nothing where none had
 */
export async function doneOnTargets(
  sql: Sql,
  actions: readonly OnTarget[],
): Promise<ReadonlyMap<number, readonly DoneOnTarget[]>> {
  if (actions.length === 0) return new Map()
  // Requests that wait are often for the same target.
  const asked = new Map(actions.map((action) => [keyOf(action), action]))
  const { rows } = await sql.query<DoneOnTarget & { place: number }>({
    name: 'catalogue_done_on_targets',
    text: `
      SELECT (asked.place - 1)::integer AS place, newest.currency, count(*)::integer AS count, max(newest.amount)::float8 AS highest
      FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (capability, target, place), LATERAL (
        SELECT item.status, item.amount, item.currency FROM catalogue_entries AS item
        WHERE lower(item.target) = lower(asked.target)
          -- As a CASE, because the planner takes an equation of expressions for rare, and would sort all entries of the target.
          AND CASE WHEN lower(item.capability) = lower(asked.capability) THEN true ELSE false END
        ORDER BY item.decided_at DESC, item.business_transaction_id DESC LIMIT ${NEWEST_ON_TARGET}) AS newest
      WHERE newest.status IN ('completed', 'in_doubt') AND newest.amount IS NOT NULL
      GROUP BY asked.place, newest.currency ORDER BY asked.place, newest.currency`,
    values: [
      Array.from(asked.values(), ({ capability }) => capability),
      Array.from(asked.values(), ({ target }) => target),
    ],
  })
  const keys = [...asked.keys()]
  const found = Map.groupBy(rows, ({ place }) => keys[place]!)
  return new Map(
    actions.flatMap((action, place) => {
      const done = found.get(keyOf(action))?.map(({ place: _place, ...one }) => one)
      return done === undefined ? [] : [[place, done] as const]
    }),
  )
}

/** What a limit can count by: SQL over an entry `item`. */
const usedPlaces = { callerId: 'item.caller_id', target: 'item.target', currency: 'item.currency' } as const
export type UsedPlace = keyof typeof usedPlaces

type Used = { readonly [Place in UsedPlace]?: string } & { readonly count: number; readonly amount: number }

/** Groups of a limit that are shown. */
const USED_MAX = 10

/** Sums the amounts of executions that happened or may have, for each value of some places; the greatest sums first. */
export async function sumUsed(
  sql: Sql,
  filters: CatalogueFilters,
  per: readonly UsedPlace[],
): Promise<Used[]> {
  const { where, values } = whereOf(conditions, filters, 1)
  const { rows } = await sql.query<Used>(
    `
    SELECT ${per.map((place) => `${usedPlaces[place]} AS "${place}", `).join('')}
      count(*)::float8 AS count, coalesce(sum(item.amount), 0)::float8 AS amount
    FROM catalogue_entries AS item WHERE ${where} AND item.status IN ('completed', 'in_doubt')
    GROUP BY ${[...per.map((place) => usedPlaces[place]), '()'].join(', ')} ORDER BY amount DESC LIMIT ${USED_MAX}`,
    values,
  )
  return rows
}
