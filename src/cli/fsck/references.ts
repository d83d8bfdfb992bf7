// A row that is named in another table must exist. The schema has no foreign keys (every table can be distributed by its key), so these checks
// replace them; each statement returns the rows with a broken reference.
import {
  DEAD_WEBHOOK_QUEUE,
  deliveriesIn,
  WEBHOOK_BATCH_QUEUE,
  WEBHOOK_QUEUE,
} from '../../store/queues/webhook-queue.ts'
import type { Check } from './check.ts'

interface Reference {
  readonly table: string
  /** SQL of the key of a row `c`. */
  readonly key: string
  /** SQL that finds the row it names; `c` is the row itself. */
  readonly named: string
  /** Which rows name another; left out: all. */
  readonly where?: string
  readonly problem: string
}

const ofTransaction = (table: string, named: string, what: string): Reference => ({
  table,
  key: `c.business_transaction_id`,
  named: `${named} AS n WHERE n.business_transaction_id = c.business_transaction_id`,
  problem: `${what} is missing`,
})

/** An intent is the authorization of its transaction. */
const ofIntent = (table: string): Reference => {
  const reference = ofTransaction(table, 'business_transactions', 'execution intent')
  return { ...reference, named: `${reference.named} AND n.execution_authorization IS NOT NULL` }
}

const appended = (table: string): Reference => ({
  ...ofTransaction(table, 'trust_records', 'trust record'),
  key: `c.business_transaction_id || ' ' || c.ordinal`,
})

const byChange = (table: string, key: string, column: string): Reference => ({
  table,
  key,
  named: `pending_changes AS n WHERE n.change_id = c.${column}`,
  where: `c.${column} IS NOT NULL`,
  problem: `the change in ${column} is missing`,
})

const AUTHORITY = `c.kind || ' ' || c.key`
/** SQL: a row of `authority` is an event endpoint in effect. */
const inEffect = (row: string) => `${row}.kind = 'event-endpoint' AND ${row}.ended_at IS NULL`

const REFERENCES: readonly Reference[] = [
  ofTransaction('execution_intents_before', 'business_transactions', 'transaction'),
  ofTransaction('trust_records', 'business_transactions', 'transaction'),
  appended('verifications'),
  appended('receipts'),
  ofTransaction('refusal_records', 'business_transactions', 'transaction'),
  ofIntent('history_entries'),
  { ...ofIntent('history_groups'), key: `c.business_transaction_id || ' ' || left(c.group_hash, 16)` },
  ofIntent('in_doubt_intents'),
  {
    table: 'step_up_nonces',
    key: 'c.nonce',
    // The step-up of an execution in doubt names the execution; a human's first statement may be replaced by a later one, and its event stays.
    named: `(
      SELECT FROM pending_changes AS n WHERE n.change_id = c.change_id
      UNION ALL
      SELECT FROM intent_transitions AS n WHERE n.business_transaction_id = c.change_id AND strpos(n.body, c.nonce) > 0
      UNION ALL
      SELECT FROM audit_events AS n WHERE n.type = 'intent.first_word' AND strpos(n.body, c.change_id::text) > 0
    ) AS n`,
    problem:
      'its signed act is missing: change_id names neither a change nor a statement on an execution in doubt',
  },
  byChange('authority', AUTHORITY, 'began_by_change'),
  byChange('authority', AUTHORITY, 'ended_by_change'),
  {
    table: 'authority',
    key: AUTHORITY,
    named: 'event_deliveries AS n WHERE n.endpoint_id::text = c.key',
    where: inEffect('c'),
    problem: 'is in effect, but how far it was served is missing',
  },
  {
    table: 'event_deliveries',
    key: 'c.endpoint_id',
    named: `authority AS n WHERE n.key = c.endpoint_id::text AND ${inEffect('n')}`,
    problem: 'no such event endpoint is in effect',
  },
  {
    table: 'approvals',
    key: 'c.approval_id',
    named: `authority AS n WHERE n.kind = 'approver' AND n.key = c.approver_id || ':' || c.key_id`,
    problem: "the approver's key is missing",
  },
  {
    table: 'approvals',
    key: 'c.approval_id',
    named: 'approval_requests AS n WHERE n.request_hash = c.request_hash',
    where: 'c.request_hash IS NOT NULL',
    problem: 'the approval request is missing',
  },
]

/** `completed` and the later states in pg-boss's order are left out: such a job is not run again. */
function isOfWebhooks(job: string): string {
  const names = [WEBHOOK_QUEUE, WEBHOOK_BATCH_QUEUE, DEAD_WEBHOOK_QUEUE].map((name) => `'${name}'`)
  return `${job}.name IN (${names.join(', ')}) AND ${job}.state < 'completed'`
}

/** pg-boss makes its tables where a service takes deliveries. */
const JOBS: readonly Reference[] = [
  {
    table: 'webhook_events',
    key: 'c.event_key',
    named: `pgboss.job AS n CROSS JOIN LATERAL jsonb_array_elements(${deliveriesIn('n')}) AS d
      WHERE ${isOfWebhooks('n')} AND d ->> 'id' = c.event_key::text`,
    where: 'c.processed_at IS NULL',
    problem: 'is not processed, but its job is missing',
  },
  {
    table: 'pgboss.job',
    key: 'c.id',
    named: `(SELECT count(*) AS found FROM jsonb_array_elements(${deliveriesIn('c')}) AS d
      JOIN webhook_events AS e ON e.event_key = (d ->> 'id')::uuid) AS n
      WHERE n.found = jsonb_array_length(${deliveriesIn('c')})`,
    where: isOfWebhooks('c'),
    problem: 'delivery is missing',
  },
]

/** Tables that have exactly one row. */
const SINGLE = ['authority_epoch', 'sweep_horizon']

/** @param options.hasJobs whether pg-boss's tables exist */
export function referenceChecks({ hasJobs }: { readonly hasJobs: boolean }): Check[] {
  const missing = [...REFERENCES, ...(hasJobs ? JOBS : [])].map(
    ({ table, key, named, where = 'true', problem }) =>
      answersWithFindings(
        table,
        problem,
        `SELECT (${key})::text AS key FROM $table AS c WHERE ${where} AND NOT EXISTS (SELECT FROM ${named})`,
      ),
  )
  const single = SINGLE.map((table) =>
    answersWithFindings(
      table,
      'does not have exactly one row',
      `SELECT '-' AS key FROM ${table} HAVING count(*) <> 1`,
    ),
  )
  return [...missing, ...single]
}

function answersWithFindings(table: string, problem: string, text: string): Check {
  return {
    table,
    text,
    examine: (rows) =>
      Promise.resolve({
        counted: {},
        findings: (rows as { key: string }[]).map(({ key }) => ({ table, key, problem })),
      }),
  }
}
