// approvals (decisions §7): signed by an enrolled key, and used up by an execution whose record holds it.
import { approval } from '../../formats/artifacts/approval.ts'
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import { findReleased } from '../../store/tables/execution-intents.ts'
import { readRecordBodies } from '../../store/tables/trust-records.ts'
import { instantMs } from '../../formats/artifacts/instant.ts'
import { members, string } from '../../formats/artifacts/evidence.ts'
import { isMembers } from '../../formats/json/members.ts'
import { lazy } from '../../formats/lazy.ts'
import { lazyMembers, checkOf } from './check.ts'

/** Columns that repeat members of the payload as they are. */
const REPEATED = ['approvalId', 'nonce', 'approverId', 'keyId', 'capability', 'target'] as const

export const approvals = checkOf({
  table: 'approvals',
  columns: {
    key: ['text', 'c.approval_id'],
    ...approval.stored.columns,
    body: 'text',
    consumedBy: 'text?',
    consumedAt: 'timestamptz?',
    audited: [
      'boolean',
      `EXISTS (SELECT FROM audit_events AS e WHERE e.type = 'approval.delivered' AND e.occurred_at = c.delivered_at
        AND strpos(e.body, to_json(c.approval_id)::text) > 0
        AND strpos(e.body, '"callerId":' || to_json(c.delivered_by)) > 0)`,
    ],
  },
  async complete(rows, { sql }) {
    const ids = [...new Set(rows.flatMap(({ consumedBy }) => consumedBy ?? []))]
    const released = await findReleased(sql, ids)
    const records = await readRecordBodies(sql, ids)
    return rows.map((row) => ({
      ...row,
      /** Whether the execution that consumed it has an intent. */
      released: released.has(row.consumedBy ?? ''),
      /** Whether the trust record of that execution holds it; undefined where there is no such record. */
      held: records.get(row.consumedBy ?? '')?.includes(row.body),
    }))
  },
  read(row) {
    const signed = lazyMembers(row.body, 'approvals')
    return { ...row, payload: lazy(() => members(signed()['payload'])) }
  },
  rules: [
    [
      "signature is not the approver's",
      ({ body, payload }, { crypto }) => {
        const { algorithm, signature, webauthn } = lazyMembers(body, 'approvals')()
        const { approverId, keyId } = payload()
        const carried = {
          algorithm: string(algorithm),
          keyId: `${string(approverId)}:${string(keyId)}`,
          value: string(signature),
          webauthn,
        }
        return crypto.verifySignature('approval', canonicalize(payload()), carried)
      },
    ],
    [
      'columns differ from the body',
      (row) => {
        const signed = row.payload()
        return (
          REPEATED.every((name) => signed[name] === row[name]) &&
          hashIn(signed['scope']) === row.parametersHash &&
          (signed['requestHash'] ?? null) === row.requestHash &&
          row.issuedAt.getTime() === instantMs(string(signed['issuedAt'])) &&
          row.expiresAt.getTime() === instantMs(string(signed['expiresAt']))
        )
      },
    ],
    [
      'consumed_by and consumed_at contradict each other',
      ({ consumedBy, consumedAt }) => (consumedBy === null) === (consumedAt === null),
    ],
    [
      'is consumed by an execution that was never released',
      ({ consumedBy, released }) => consumedBy === null || released,
    ],
    [
      'is not in the trust record of the execution that consumed it',
      ({ consumedBy, held }) => consumedBy === null || held !== false,
    ],
    ['audit event approval.delivered is missing', ({ audited }) => audited],
  ],
})

/** Null: its scope is limits. */
function hashIn(scope: Json | undefined): Json {
  return isMembers(scope) ? (scope['parametersHash'] ?? null) : null
}
