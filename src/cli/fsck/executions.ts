// business_transactions, each with its intent and its trust record (interface §2.1, §2.2; decisions §4, §8).
import { withSharedSignatures } from '../../store/tables/batch-signatures.ts'
import { groupsOf, type Countable } from '../../core/policy/counting.ts'
import { intentStates } from '../../formats/schemas/intent-states.ts'
import { checkTrustRecord } from '../../formats/artifacts/trust-record.ts'
import { members, mustHold, string } from '../../formats/artifacts/evidence.ts'
import type { Members } from '../../formats/json/members.ts'
import { readTransitions } from '../../store/tables/intent-transitions.ts'
import { openIntents } from '../../store/tables/released-batches.ts'
import { proofIn } from '../../core/intents/proof.ts'
import { lazy } from '../../formats/lazy.ts'
import { lazyMembers, sameTime, checkOf, type SelectedRow, type Rule } from './check.ts'
import { usedApprovals } from './used-approvals.ts'
import type { Tools } from './tools.ts'

const columns = {
  key: ['text', 'c.business_transaction_id'],
  callerId: 'text',
  createdAt: 'timestamptz',
  body: 'text',
  authorization: ['text?', 'c.execution_authorization'],
  deadline: ['boolean?', 'isfinite(c.deadline)'],
  // The intent as the release before has stored it.
  nonce: ['text?', 'i.nonce'],
  state: ['text?', 'i.state'],
  resolution: ['text?', 'i.resolution'],
  closedAt: ['timestamptz?', 'i.closed_at'],
  hasDeadline: ['boolean', 'isfinite(i.deadline)'],
  recordBody: ['text?', 'r.body'],
  recordSeal: ['text?', 'r.seal'],
  recordCallerId: ['text?', 'r.caller_id'],
  recordCreatedAt: ['timestamptz?', 'r.created_at'],
  errored: ['boolean?', 'e.errored'],
  refused: ['boolean', 'f.business_transaction_id IS NOT NULL'],
  listed: ['boolean', 'h.business_transaction_id IS NOT NULL'],
  // Hashes of the groups that limits count it in.
  groups: [
    'text[]',
    'ARRAY(SELECT group_hash FROM history_groups AS g WHERE g.business_transaction_id = c.business_transaction_id)',
  ],
  // How many there are, and how many there should be by their numbers.
  verifications: ['text', 'verifications.count'],
  verificationsDue: ['integer', 'verifications.due'],
  receipts: ['text', 'receipts.count'],
  receiptsDue: ['integer', 'receipts.due'],
} as const

// Counts rows in the tables below the views: Citus would copy everything that a view unites to the coordinator.
const numbers = (name: 'verifications' | 'receipts', first: 'e.verification' | 'e.receipt') => `
  LEFT JOIN LATERAL (
    SELECT count(*) + (${first} IS NOT NULL)::integer AS count,
      CASE WHEN ${first} IS NOT NULL THEN coalesce(max(ordinal), 1) WHEN min(ordinal) = 1 THEN max(ordinal) ELSE -1 END AS due
    FROM appended_${name} WHERE business_transaction_id = c.business_transaction_id
  ) AS ${name} ON r.business_transaction_id IS NOT NULL`

const joins = `
  LEFT JOIN execution_intents_before AS i USING (business_transaction_id)
  LEFT JOIN trust_records AS r USING (business_transaction_id)
  LEFT JOIN execution_evidence AS e USING (business_transaction_id)
  LEFT JOIN refusal_records AS f USING (business_transaction_id)
  LEFT JOIN history_entries AS h USING (business_transaction_id)
  ${numbers('verifications', 'e.verification')} ${numbers('receipts', 'e.receipt')}`

interface Row extends SelectedRow<typeof columns> {
  /** Bodies of the intent's transitions. */
  readonly transitions: readonly string[]
  /** In how many batches of open intents it is. */
  readonly opened: number
}

async function withIntentsAndSignatures(
  rows: readonly SelectedRow<typeof columns>[],
  { sql }: Tools,
): Promise<readonly Row[]> {
  const ids = rows.map(({ key }) => key)
  const transitions = await readTransitions(sql, ids)
  const open = await sql.query<{ id: string }>({
    text: `SELECT i.id FROM ${openIntents} WHERE i.id = ANY($1::uuid[])`,
    values: [ids],
  })
  const opened = Map.groupBy(open.rows, ({ id }) => id)
  const seals = await withSharedSignatures(
    sql,
    rows.map(({ recordSeal }) => recordSeal),
  )
  return rows.map((row, i) => ({
    ...row,
    recordSeal: seals[i] ?? null,
    transitions: (transitions.get(row.key) ?? []).map(({ body }) => body),
    opened: opened.get(row.key)?.length ?? 0,
  }))
}

interface Item extends Row {
  readonly transaction: () => Members
  readonly signedAuthorization: () => Members
  readonly proof: () => ReturnType<typeof proofIn>
}

function read(row: Row, { crypto }: Tools): Item {
  const { key: id, body, authorization, recordBody, recordSeal } = row
  const signedAuthorization = lazyMembers(authorization, 'business_transactions', 'execution_authorization')
  return {
    ...row,
    transaction: lazyMembers(body, 'business_transactions'),
    signedAuthorization,
    proof: lazy(() => proofIn({ id, body: recordBody ?? '', seal: recordSeal ?? '' }, crypto)),
  }
}

const payloadOf = (signedAuthorization: () => Members) => members(signedAuthorization()['payload'])
const hasRecord = ({ recordBody }: Item) => recordBody !== null
const isReleased = ({ authorization }: Item) => authorization !== null
const isOpen = ({ opened }: Item) => opened > 0
/** Closed by the release before. */
const isClosed = ({ state }: Item) => state !== null && state !== 'PREPARED' && state !== 'RELEASED'
/** A record that is invalid is reported for the record itself. */
const provenEnd = ({ proof }: Item) => {
  const found = proof()
  return found.kind === 'proven' ? found.end.state : undefined
}

/** The rule, for released transactions alone. */
function released(problem: string, holds: Rule<Item>[1]): Rule<Item> {
  return [problem, (item, tools) => !isReleased(item) || holds(item, tools)]
}

const OF_TRANSACTIONS: readonly Rule<Item>[] = [
  [
    'body names another transaction',
    ({ key, transaction }) => transaction()['businessTransactionId'] === key,
  ],
  [
    'caller differs from submittedBy in the body',
    ({ callerId, transaction }) => members(transaction()['metadata'])['submittedBy'] === callerId,
  ],
  [
    'time differs from the body',
    ({ createdAt, transaction }) => sameTime(createdAt, transaction()['createdAt']),
  ],
  released('execution authorization does not verify', isAuthorized),
  released('execution authorization is for another policy', ({ transaction, signedAuthorization }) => {
    const { policyName, policyVersion } = payloadOf(signedAuthorization)
    const { name, version } = members(transaction()['policy'])
    return policyName === name && policyVersion === version
  }),
  released(
    'was released under a policy version that is not stored as approved with that content',
    (item, tools) => {
      const policy = policyOf(item, tools)
      return (
        policy?.approved === true &&
        policy.contentHash === payloadOf(item.signedAuthorization)['policyContentHash']
      )
    },
  ),
  released(
    'was released under a velocity limit, but its history entry is missing',
    (item, tools) => policyOf(item, tools)?.limited !== true || item.listed,
  ),
  released(
    'was released under a velocity limit with per or where, but is missing in a group that it counts',
    isInGroups,
  ),
  // Claim and batch are one commit, as are an end and its proof: no intent in doubt can be missing.
  released(
    'was released, but has no trust record and no transition, and is not open',
    (item) => isOpen(item) || hasRecord(item) || item.transitions.length > 0 || isClosed(item),
  ),
  released('deadline is not a timestamp', ({ deadline, state }) => deadline ?? state !== null),
  released('was released, but has a refusal record', ({ refused }) => !refused),
]

/** Only the limits of its own version count. Other versions may have been added since. */
function isInGroups(item: Item, tools: Tools): boolean {
  const { callerId, groups, transaction, signedAuthorization } = item
  const { policyName, authorizedAt } = payloadOf(signedAuthorization)
  const execution = { ...(transaction() as unknown as Countable), callerId, name: string(policyName) }
  return groupsOf(policyOf(item, tools)?.groupings ?? [], execution, new Date(string(authorizedAt))).every(
    (hash) => groups.includes(hash),
  )
}

function policyOf({ signedAuthorization }: Item, { policies }: Tools) {
  const { policyName, policyVersion } = payloadOf(signedAuthorization)
  return policies.get(`${string(policyName)}/${string(policyVersion)}`)
}

/** A valid record has verified it, and another rule compares the stored text with the record's. */
function isAuthorized(item: Item, { crypto }: Tools): boolean {
  const { key: id, transaction, signedAuthorization } = item
  if (hasRecord(item) && item.proof().kind === 'proven') return true
  const evidence = {
    businessTransactionId: id,
    transaction: transaction(),
    authorization: signedAuthorization(),
    executions: [],
  }
  const wanted = ['authorization signature', 'transaction binding', 'caller authentication']
  return mustHold(checkTrustRecord(evidence, crypto).filter(({ name }) => wanted.includes(name)))
}

const OF_INTENTS: readonly Rule<Item>[] = [
  ['transaction was not released', isReleased],
  [
    'nonce differs from the execution authorization',
    (item) => !isReleased(item) || payloadOf(item.signedAuthorization)['nonce'] === item.nonce,
  ],
  ['state is not a known value', ({ state }) => intentStates.some((known) => known === state)],
  ['deadline is not a timestamp', ({ hasDeadline }) => hasDeadline],
  ['closed_at does not fit the state', (item) => isClosed(item) === (item.closedAt !== null)],
  [
    'resolution does not fit the state',
    ({ state, resolution }) => (state === 'RESOLVED') === (resolution !== null),
  ],
  ['is FINALIZED, but its trust record is missing', (item) => item.state !== 'FINALIZED' || hasRecord(item)],
  [
    'is FINALIZED, but its trust record says ERRORED',
    (item) => item.state !== 'FINALIZED' || !hasRecord(item) || provenEnd(item) !== 'ERRORED',
  ],
  [
    'is ERRORED, but its trust record says FINALIZED',
    (item) => item.state !== 'ERRORED' || !hasRecord(item) || provenEnd(item) !== 'FINALIZED',
  ],
  [
    'is ERRORED, but neither a trust record nor a transition says so',
    (item) => item.state !== 'ERRORED' || hasRecord(item) || isTransitioned(item),
  ],
  ['is RESOLVED, but no transition says so', (item) => item.state !== 'RESOLVED' || isTransitioned(item)],
]

const OF_OPEN: readonly Rule<Item>[] = [
  ['transaction was not released', isReleased],
  ['is in more than one batch of open intents', ({ opened }) => opened === 1],
  ['is still open, but has a trust record: finalize it', (item) => !hasRecord(item)],
  ['is still open, but a transition says how it ended', ({ transitions }) => transitions.length === 0],
  ['is still open, but was closed by the release before', (item) => !isClosed(item)],
]

const isResolution = (body: string) => lazyMembers(body, 'intent_transitions')()['to'] === 'RESOLVED'

/** Reads the transitions as they are; another check verifies their signatures. */
function isTransitioned({ state, resolution, transitions }: Item): boolean {
  return transitions.some((body) => {
    const { to, resolution: said = null } = lazyMembers(body, 'intent_transitions')()
    return to === state && said === resolution
  })
}

const SEALED = new Set(['trustRecordHash', 'signature', 'signatures'])

const OF_RECORDS: readonly Rule<Item>[] = [
  ['transaction was not released', isReleased],
  [
    'end of its intent differs from the body',
    (item) => {
      const { errored } = item
      const end = provenEnd(item)
      return errored === null || end === undefined || end === (errored ? 'ERRORED' : 'FINALIZED')
    },
  ],
  ['a transition says that its execution is RESOLVED', ({ transitions }) => !transitions.some(isResolution)],
  [
    'does not verify',
    ({ proof }) => {
      const found = proof()
      if (found.kind === 'refused') throw new Error(found.problem)
      return true
    },
  ],
  // In a row from before copies were left out, these texts stand twice.
  [
    'has another transaction or execution authorization than business_transactions',
    ({ body, authorization, recordBody, proof }) =>
      proof().kind !== 'proven' ||
      (recordBody?.startsWith(`{"authorization":${authorization}`) === true &&
        recordBody.includes(`,"transaction":${body},"trustRecordId":`)),
  ],
  ["caller differs from the transaction's", ({ callerId, recordCallerId }) => callerId === recordCallerId],
  [
    'time differs from the body',
    ({ recordBody, recordCreatedAt }) =>
      recordCreatedAt !== null &&
      sameTime(recordCreatedAt, lazyMembers(recordBody, 'trust_records')()['createdAt']),
  ],
  [
    'seal has members that no signature covers',
    ({ recordSeal }) =>
      Object.keys(lazyMembers(recordSeal, 'trust_records', 'seal')()).every((name) => SEALED.has(name)),
  ],
  [
    'verifications are missing or not numbered from 1 without a gap',
    ({ verifications, verificationsDue }) => Number(verifications) === verificationsDue,
  ],
  [
    'receipts are missing or not numbered from 1 without a gap',
    ({ receipts, receiptsDue }) => Number(receipts) === receiptsDue,
  ],
]

export const executions = checkOf({
  table: 'business_transactions',
  columns,
  joins,
  complete: withIntentsAndSignatures,
  read,
  rules: OF_TRANSACTIONS,
  beside: [
    { table: 'execution_intents_before', when: ({ state }) => state !== null, rules: OF_INTENTS },
    { table: 'released_batches', when: isOpen, rules: OF_OPEN },
    { table: 'trust_records', when: hasRecord, rules: OF_RECORDS },
  ],
  page: (items, tools) =>
    usedApprovals(
      items.flatMap(({ key: id, recordBody, proof }) =>
        recordBody !== null && proof().kind === 'proven' ? [{ id, recordBody }] : [],
      ),
      tools,
    ),
})
