// Searches the catalogue, and counts and sums its entries.
import { catalogueStatuses } from '../../formats/schemas/catalogue.ts'
import { ENTRY, type CatalogueEntry } from './catalogue-entries.ts'
import { textOrId, whereOf, type Conditions, type FiltersOf } from './filters.ts'
import { readPageOf, type Page, type PageRange } from './page.ts'
import { storedJson } from '../postgres/json.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'

/**
 * SQL: whether a provider's delivery contradicts an entry `item`. An index of the audit finds the few candidates; the deliveries say whether they
 * still contradict, because a delivery that is processed again may have another outcome.
 */
const CONTRADICTED = `item.business_transaction_id IN (
  SELECT w.business_transaction_id FROM audit_events AS a JOIN webhook_events AS w
    ON w.provider = ${storedJson('a.body')} #>> '{detail,provider}' AND w.event_id = ${storedJson('a.body')} #>> '{detail,eventId}'
  WHERE a.type = 'confirmation.contradicts' AND w.outcome = 'contradicted' AND w.business_transaction_id IS NOT NULL)`

/** The filters of every list and every sum. */
const conditions = {
  // A constant, by which the partial index of a status can be chosen.
  status: (status) => `item.status = '${catalogueStatuses.find((known) => known === status) ?? ''}'`,
  // Null means no: approvals would not have lifted an execution that was not refused, either.
  approvable: (approvable) => `item.approvable IS ${approvable === 'true' ? '' : 'NOT '}TRUE`,
  contradicted: (contradicted) => (contradicted === 'true' ? CONTRADICTED : `NOT (${CONTRADICTED})`),
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
  /** For a caller that may see only its own executions: exactly this caller. */
  owner(owner, parameter) {
    const value = `${parameter(owner)}::text`
    // The index has names in lower case.
    return `lower(item.caller_id) = lower(${value}) AND item.caller_id = ${value}`
  },
} as const satisfies Conditions

export type CatalogueFilters = FiltersOf<typeof conditions>

/** An entry as lists show it. */
export interface ListedEntry extends CatalogueEntry {
  /** A provider's delivery contradicts it; null: none does. */
  readonly contradicted: true | null
}

const LISTED = `${ENTRY}, CASE WHEN ${CONTRADICTED} THEN true END AS contradicted`

/** A page of entries, newest first. It is planned with its values: no single plan is good for every filter. */
export function listEntries(
  sql: Sql,
  range: PageRange,
  { until = null, ...filters }: CatalogueFilters,
): Promise<Page<ListedEntry>> {
  const { where, values } = whereOf(conditions, filters, 5)
  return readPageOf(
    sql,
    {
      table: 'catalogue_entries',
      time: 'decided_at',
      id: 'business_transaction_id',
      // Rows are cut when they are made, so that a hundred of them never fill a page.
      bytes: '0',
      columns: LISTED,
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
): Promise<ListedEntry[]> {
  const { where, values } = whereOf(conditions, filters, 2)
  const { rows } = await sql.query<ListedEntry>(
    `SELECT ${LISTED} FROM catalogue_entries AS item WHERE ${where}
     ORDER BY item.decided_at DESC, item.business_transaction_id DESC LIMIT $1::integer`,
    [limit, ...values],
  )
  return rows
}

/** The values that sums can be grouped by: SQL over an entry `item`. */
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
  /** ISO 8601: when its bucket begins, in UTC; null: one bucket is the whole range. */
  readonly start: string | null
  /** Null: entries without a key, or the group of all others. */
  readonly key: string | null
  readonly others: boolean
  readonly currency: string | null
  readonly count: number
  /** A decimal number; null where none of them has an amount. */
  readonly amount: string | null
  /** The currency whose sums decide which groups are shown; null: none of them has a currency, or the count decides. */
  readonly mainCurrency: string | null
}

/**
 * Buckets of fixed length that start at a midnight need only integer arithmetic: for 300,000 entries that halves the time that `date_trunc` takes.
 */
const binned = (length: string) => (time: string) =>
  `date_bin('${length}', ${time}, '2000-01-01T00:00:00Z'::timestamptz)`
const bucketStarts: Readonly<Record<Bucket, (time: string) => string>> = {
  minute: binned('1 minute'),
  hour: binned('1 hour'),
  day: binned('1 day'),
  month: (time) => `date_trunc('month', ${time}, 'UTC')`,
}

/** How many groups are shown by default; the rest is one group of all others. */
const GROUPS = 10

/**
 * The order that decides which groups are shown: SQL over the rows of a group. Sums of two currencies cannot be compared, so the currency of most
 * executions decides; amounts without a currency count where there are no others.
 */
const orders = {
  count: 'sum(count) DESC',
  amount:
    'sum(amount) FILTER (WHERE lower(currency) IS NOT DISTINCT FROM (SELECT folded FROM main)) DESC NULLS LAST, sum(count) DESC',
} as const
export type GroupOrder = keyof typeof orders
export const groupOrders = Object.keys(orders) as GroupOrder[]

/** How executions are counted. Null: the whole range is one bucket; all are one group. */
export interface CountedBy {
  readonly bucket: Bucket | null
  readonly by: Grouping | null
  /** How many groups are shown. */
  readonly groups?: number
  /** Which groups are shown: those with most executions, or those with the largest sums. */
  readonly order?: GroupOrder
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
    ), main AS MATERIALIZED (
      SELECT lower(currency) AS folded, min(currency) AS currency FROM counted WHERE amount IS NOT NULL
      GROUP BY lower(currency) ORDER BY lower(currency) IS NULL, sum(count) DESC, lower(currency) LIMIT 1
    ), shown AS MATERIALIZED (
      SELECT key FROM counted GROUP BY key ORDER BY ${orders[how.order ?? 'count']}, key LIMIT ${how.groups ?? GROUPS}
    ), named AS (
      SELECT c.*, NOT EXISTS (SELECT FROM shown WHERE shown.key IS NOT DISTINCT FROM c.key) AS others FROM counted AS c
    )
    SELECT ${isoTime('start')} AS start, CASE WHEN NOT others THEN key END AS key, others, currency,
      sum(count)::float8 AS count, trim_scale(sum(amount))::text AS amount,
      ${how.order === 'amount' ? '(SELECT currency FROM main)' : 'NULL::text'} AS "mainCurrency"
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
  // Written as the index has it, which finds the sums of one caller, or those of all callers together.
  const sums = `item.grain = '${of}' AND lower(item.caller_id) IS ${needsCaller(filters, by) ? 'NOT ' : ''}NULL`
  return `
      SELECT ${bucket === null ? 'NULL::timestamptz' : bucketStarts[bucket](time)} AS start, ${by === null ? 'NULL::text' : groupings[by]} AS key,
        item.currency, ${count} AS count, ${withAmount} AS with_amount, sum(item.amount) AS amount
      FROM ${from} AS item WHERE ${[where, ...range, ...(isSum ? [sums] : [])].join(' AND ')} GROUP BY 1, 2, 3`
}

const HOUR_MS = 60 * 60 * 1000
const grainMs = { hour: HOUR_MS, day: 24 * HOUR_MS } as const
type Grain = keyof typeof grainMs

/** A part of a range, and the rows that are added up in it. */
interface Span {
  readonly of: 'entries' | Grain
  /** ISO 8601; null: no bound. */
  readonly since: string | null
  readonly until: string | null
}

function needsCaller({ callerId = null, owner = null }: CountedFilters, by: Grouping | null): boolean {
  return by === 'callerId' || callerId !== null || owner !== null
}

/** The stored sums that can answer, the longest grain first. Sums of a caller are by day, and no sum knows targets or contradictions. */
function grainsFor(filters: CountedFilters, { bucket, by }: CountedBy): readonly Grain[] {
  const ofEntries = [filters.target, filters.contradicted].some((value) => (value ?? null) !== null)
  if (bucket === 'minute' || by === 'target' || ofEntries) return []
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

/** @returns the start of an hour or day next to `time`: ISO 8601, so that a time that is a start already stays the same text */
function wholeFrom(round: (value: number) => number, time: string, grain: Grain): string {
  const ms = grainMs[grain]
  return new Date(round(Date.parse(time) / ms) * ms).toISOString()
}

/** The executions on a target, of one outcome and in one currency. */
export interface DoneOnTarget {
  readonly status: 'completed' | 'in_doubt'
  readonly currency: string | null
  readonly count: number
  /** Null: none had an amount. */
  readonly highest: number | null
  /** How many of them were by the caller in question. */
  readonly byCaller: number
}

/** An action that somebody is asked to approve. */
export interface AskedAction {
  readonly capability: string
  readonly target: string
  readonly callerId: string
}

/** How many of the newest executions are looked through, whatever their outcome: of an action on a target, or of a caller. */
const NEWEST = 100
/** How many executions in doubt are looked through, newest first. */
const DOUBTS_MAX = 1_000

/** SQL: as a CASE, because the planner expects a comparison of expressions to hold rarely, and would sort all entries of a target or caller. */
const holds = (condition: string) => `CASE WHEN ${condition} THEN true ELSE false END`

const placed = <Row extends { readonly place: number }>(rows: readonly Row[]) =>
  new Map(
    Array.from(
      Map.groupBy(rows, ({ place }) => place),
      ([place, of]) => [place, of.map(({ place: _place, ...one }) => one)] as const,
    ),
  )

/**
 * Finds the completed executions of any caller among the newest ones of each action on its target, and all executions in doubt there.
 * @param until ISO 8601: only executions decided before it; null: all
 * @returns by the place of the action, from 0; nothing for an action without executions
 */
export async function doneOnTargets(
  sql: Sql,
  actions: readonly AskedAction[],
  until: string | null,
): Promise<ReadonlyMap<number, readonly DoneOnTarget[]>> {
  if (actions.length === 0) return new Map()
  const { rows } = await sql.query<DoneOnTarget & { place: number }>({
    name: 'catalogue_done_on_targets',
    text: `
      WITH asked AS MATERIALIZED (
        SELECT place, lower(capability) AS capability, lower(target) AS target, caller_id
        FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS one (capability, target, caller_id, place)
      ), newest AS MATERIALIZED (
        -- Requests that wait are often for the same target, which is looked at once.
        SELECT on_target.capability, on_target.target, item.* FROM (SELECT DISTINCT capability, target FROM asked) AS on_target, LATERAL (
          SELECT item.status, item.amount, item.currency, item.caller_id FROM catalogue_entries AS item
          WHERE lower(item.target) = on_target.target AND ($4::timestamptz IS NULL OR item.decided_at < $4::timestamptz)
            AND ${holds('lower(item.capability) = on_target.capability')}
          ORDER BY item.decided_at DESC, item.business_transaction_id DESC LIMIT ${NEWEST}) AS item
      ), doubts AS MATERIALIZED (
        SELECT lower(capability) AS capability, lower(target) AS target, status, amount, currency, caller_id FROM catalogue_entries
        WHERE status = 'in_doubt' AND ($4::timestamptz IS NULL OR decided_at < $4::timestamptz)
        ORDER BY decided_at DESC, business_transaction_id DESC LIMIT ${DOUBTS_MAX})
      SELECT (asked.place - 1)::integer AS place, found.status, found.currency, count(*)::integer AS count, max(found.amount)::float8 AS highest,
        (count(*) FILTER (WHERE found.caller_id = asked.caller_id))::integer AS "byCaller"
      FROM asked JOIN (SELECT * FROM newest WHERE status = 'completed' UNION ALL SELECT * FROM doubts) AS found USING (capability, target)
      GROUP BY asked.place, found.status, found.currency ORDER BY asked.place, found.status, found.currency`,
    values: [...columnsOf(actions, ['capability', 'target', 'callerId']), until],
  })
  return placed(rows)
}

const columnsOf = <Row, Name extends keyof Row>(rows: readonly Row[], of: readonly Name[]) =>
  of.map((name) => rows.map((row) => row[name]))

type DoneByCaller = Pick<DoneOnTarget, 'currency' | 'count' | 'highest'>

/** As `doneOnTargets`: the executions of each action that its caller completed, on any target. */
export async function doneByCallers(
  sql: Sql,
  actions: readonly AskedAction[],
  until: string | null,
): Promise<ReadonlyMap<number, readonly DoneByCaller[]>> {
  if (actions.length === 0) return new Map()
  const { rows } = await sql.query<DoneByCaller & { place: number }>({
    name: 'catalogue_done_by_callers',
    text: `
      WITH asked AS MATERIALIZED (
        SELECT place, capability, caller_id FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS one (capability, caller_id, place)
      ), newest AS MATERIALIZED (
        SELECT item.* FROM (SELECT DISTINCT caller_id FROM asked) AS caller, LATERAL (
          SELECT item.caller_id, item.capability, item.status, item.amount, item.currency FROM catalogue_entries AS item
          WHERE lower(item.caller_id) = lower(caller.caller_id) AND ${holds('item.caller_id = caller.caller_id')}
            AND ($3::timestamptz IS NULL OR item.decided_at < $3::timestamptz)
          ORDER BY item.decided_at DESC, item.business_transaction_id DESC LIMIT ${NEWEST}) AS item)
      SELECT (asked.place - 1)::integer AS place, newest.currency, count(*)::integer AS count, max(newest.amount)::float8 AS highest
      FROM asked JOIN newest ON newest.caller_id = asked.caller_id AND lower(newest.capability) = lower(asked.capability)
      WHERE newest.status = 'completed' GROUP BY asked.place, newest.currency ORDER BY asked.place, newest.currency`,
    values: [...columnsOf(actions, ['capability', 'callerId']), until],
  })
  return placed(rows)
}

/** How many of the newest executions under a policy are searched for the same action on other targets. */
const NEWEST_OF_POLICY = 1_000
/** How many executions are found. */
const ALIKE_MAX = 500

/** SQL: the newest executions `item` under each policy of `$1`, decided before `$2`. */
const OF_POLICIES = `
  (SELECT DISTINCT lower(name) AS name FROM unnest($1::text[]) AS given (name)) AS policy, LATERAL (
    SELECT * FROM catalogue_entries AS item
    WHERE lower(item.policy_name) = policy.name AND ($2::timestamptz IS NULL OR item.decided_at < $2::timestamptz)
    ORDER BY item.decided_at DESC, item.business_transaction_id DESC LIMIT ${NEWEST_OF_POLICY}) AS item`

/** An amount that an action may have, by the place of the action. */
export interface AskedAmount {
  readonly place: number
  readonly policy: string
  readonly capability: string
  readonly target: string
  /** A decimal number. */
  readonly amount: number
}

interface AlikeEntry {
  readonly place: number
  readonly businessTransactionId: string
  readonly target: string
  readonly status: 'completed' | 'in_doubt'
  /** Its values, lower case, each on its line. */
  readonly search: string
}

/** Executions of the same action on another target with the same amount, newest first. */
export async function findAlike(
  sql: Sql,
  amounts: readonly AskedAmount[],
  until: string | null,
): Promise<AlikeEntry[]> {
  if (amounts.length === 0) return []
  const { rows } = await sql.query<AlikeEntry>({
    name: 'catalogue_alike',
    text: `
      SELECT asked.place, item.business_transaction_id AS "businessTransactionId", item.target, item.status, item.search
      FROM ${OF_POLICIES}
        JOIN unnest($3::integer[], $4::text[], $5::text[], $6::numeric[]) AS asked (place, capability, target, amount)
          ON asked.amount = item.amount AND lower(asked.capability) = lower(item.capability) AND lower(asked.target) <> lower(item.target)
      WHERE item.status IN ('completed', 'in_doubt')
      ORDER BY item.decided_at DESC, item.business_transaction_id DESC LIMIT ${ALIKE_MAX}`,
    values: [
      amounts.map(({ policy }) => policy),
      until,
      ...columnsOf(amounts, ['place', 'capability', 'target', 'amount']),
    ],
  })
  return rows
}

/**
 * Counts on how many targets each value was used, among the newest executions under some policies.
 * @param values lower case
 */
export async function countTargetsOf(
  sql: Sql,
  policies: readonly string[],
  values: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (values.length === 0) return new Map()
  const { rows } = await sql.query<{ value: string; targets: number }>({
    name: 'catalogue_targets_of_values',
    text: `
      SELECT asked.value, count(DISTINCT lower(item.target))::integer AS targets
      FROM ${OF_POLICIES} JOIN unnest($3::text[]) AS asked (value)
        ON strpos(E'\n' || item.search || E'\n', E'\n' || asked.value || E'\n') > 0
      GROUP BY asked.value`,
    values: [policies, null, values],
  })
  return new Map(rows.map(({ value, targets }) => [value, targets]))
}

/** The values that a limit can count by: SQL over an entry `item`. */
const usedPlaces = { callerId: 'item.caller_id', target: 'item.target', currency: 'item.currency' } as const
export type UsedPlace = keyof typeof usedPlaces

type Used = { readonly [Place in UsedPlace]?: string } & { readonly count: number; readonly amount: number }

/** How many groups of a limit are shown. */
const USED_MAX = 10

/** Sums the amounts of executions that happened or may have happened, for each value of some places; the greatest sums first. */
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
