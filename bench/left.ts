// Counts the rows that requests leave behind in PostgreSQL, by tables and columns that every version of the service keeps, because a
// service of another checkout has another schema. Any other rows that an execution takes are that version's own affair.
import type { Client } from 'pg'
import { sum } from './figures.ts'

const hasNone = (table: string) =>
  `NOT EXISTS (SELECT FROM ${table} AS other WHERE other.business_transaction_id = t.business_transaction_id)`
const CLAIMS_WITHOUT_RECORD = `
  business_transactions AS t WHERE t.execution_authorization IS NOT NULL AND ${hasNone('trust_records')}`
/** Released executions without a signed end: in flight, or in doubt. */
export const UNFINISHED = `${CLAIMS_WITHOUT_RECORD} AND ${hasNone('intent_transitions')}`

/** Tables whose rows are always counted. */
const ALWAYS = {
  claims: 'business_transactions',
  records: 'trust_records',
  'claims without a record': CLAIMS_WITHOUT_RECORD,
  refusals: 'refusal_records',
  // The first verification and the first receipt belong to the execution, wherever they are stored.
  'later verifications': 'verifications WHERE ordinal > 1',
  'later receipts': 'receipts WHERE ordinal > 1',
}

/** Tables that are counted only where requests leave rows in them, because other work writes them too. */
const SOMETIMES = {
  deliveries: 'webhook_events',
  confirmations: 'provider_confirmations',
  'audit events': 'audit_events',
}

const COUNTED = { ...ALWAYS, ...SOMETIMES }
type Name = keyof typeof COUNTED

/** The number of rows of each name. */
export type Left = Readonly<Partial<Record<Name, number>>>

/** Requests whose replies are counted. */
export interface Leaving {
  readonly name: string
  /** The status that every one of these requests must be answered with. */
  readonly status: number
  /** The rows that each reply with that status leaves behind. */
  readonly leaves?: Left
}

/** Replies by kind and status; 0 where the connection broke or nothing came within ten seconds. */
export type Replies = Readonly<Record<string, Readonly<Record<string, number>>>>

/** @returns names of the counts for these requests */
function countedFor(kinds: readonly Leaving[]): Name[] {
  const names = [ALWAYS, ...kinds.map(({ leaves = {} }) => leaves)].flatMap((of) => Object.keys(of))
  return [...new Set(names)] as Name[]
}

export async function countLeft(database: Client, kinds: readonly Leaving[]): Promise<Left> {
  const counts = countedFor(kinds).map(
    (name) => `(SELECT count(*)::integer FROM ${COUNTED[name]}) AS "${name}"`,
  )
  const { rows } = await database.query<Left>(`SELECT ${counts.join(', ')}`)
  return rows[0] ?? {}
}

/** @returns a sentence for each count that has grown by another number than the acknowledged replies say */
export function miscounted(
  { from, to }: { from: Left; to: Left },
  kinds: readonly Leaving[],
  runs: readonly Replies[],
): string[] {
  return countedFor(kinds).flatMap((what) => {
    const grown = (to[what] ?? 0) - (from[what] ?? 0)
    const expected = sum(
      kinds.map(({ name, status, leaves = {} }) => {
        const answered = sum(runs.map((replies) => replies[name]?.[status] ?? 0))
        return (leaves[what] ?? 0) * answered
      }),
    )
    return grown === expected ? [] : [`${grown} more ${what}, but the acknowledged replies make ${expected}`]
  })
}

/** @returns bytes of all tables with their indexes, without what `VACUUM` frees */
export async function storedBytes(database: Client): Promise<number> {
  await database.query('VACUUM')
  const { rows } = await database.query<{ bytes: number }>(
    `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  )
  return rows[0]!.bytes
}
